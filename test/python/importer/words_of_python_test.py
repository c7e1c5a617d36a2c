"""Statements, operators and functions of Python that TorchScript does not know."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import Tensor

from ssa_compiler.testing import check

X = torch.tensor([0.0, 1.0, 3.0, 5.0, 2.0, 2.0])


def returned_from_else(x: Tensor, n: int) -> Tensor:
    for i in range(n):
        if x[i] > 2:
            break
    else:
        return x * 0
    return x + i


def while_else(x: Tensor, n: int) -> Tensor:
    k = n
    while k > 0:
        if k == 3:
            break
        k -= 2
    else:
        k = 100
    return x * k


def outer_continued(x: Tensor, n: int) -> tuple[int, Tensor]:
    a = 0
    for a in range(n):
        for b in range(n):
            if a * b > 3:
                break
        else:
            continue
        break
    return a, x


def break_in_else(x: Tensor, n: int) -> int:
    count = 0
    for a in range(n):
        for b in range(3):
            if b == n:
                break
        else:
            count += 1
            if a == 2:
                break
        count += 10
    else:
        count += 100
    return count


def written_out(x: Tensor, n: int) -> Tensor:
    for limit in (1, 2, 3):
        if x.sum() > limit + n:
            break
    else:
        limit = 10
    return x * limit


def backwards(x: Tensor, n: int) -> tuple[Tensor, list[int], list[int]]:
    seen = []
    for i in reversed(range(n)):
        x = x * 2 + i
        seen.append(i)
    return x, seen, [i for i in reversed(range(1, n, 2))]  # noqa: C416


def of_numbers(x: Tensor, n: int) -> Any:
    n %= 5
    total = float(x.sum()) / 7
    rounded = round(total, 1), round(n / 3, 2), round(total), round(n, -1)
    return rounded, ~n, math.log2(n + 1), math.hypot(n, 2.0), len(range(0, n, 2)), len(range(n))


def of_tensors(x: Tensor, n: int) -> Any:
    scale = 2 if x.dtype.is_floating_point else 3
    return (x > n).bool(), x.nelement() * scale, x.ndimension(), x.dtype.is_complex


@pytest.mark.parametrize(
    "program",
    [
        returned_from_else,
        while_else,
        outer_continued,
        break_in_else,
        written_out,
        backwards,
        of_numbers,
        of_tensors,
    ],
)
def test_words(program: Any) -> None:
    check(program, *((X, n) for n in (4, 0, 1, 2, 3, 6)), compiled=program in (of_numbers, while_else))


def first_larger(xs, n):
    for x in xs:
        if x.sum() > n:
            found = x
            break
    else:
        found = xs[0] * 0
    return found


def test_a_variable_that_one_end_of_the_loop_sets() -> None:
    check(first_larger, *(([X, X * 2], n) for n in (3, 100, 20)), compiled=False)


def domain(x: Tensor, n: int) -> float:
    return math.log2(n)


def test_errors_of_functions_of_numbers() -> None:
    checked = check(domain, (X, 4), (X, 0), (X, -1))
    assert [type(error) for error in checked.errors] == [type(None), ValueError, ValueError]


def neighbours(x: Tensor) -> Any:
    values, counts = x.unique_consecutive(return_counts=True)
    return x.unique_consecutive(), values, counts


def test_a_method_of_which_torchscript_returns_more() -> None:
    check(neighbours, (X,), (X.flip(0),), (X * 0,), compiled=False)


def methods_of_numbers(x, n):
    return x * 1, (n / 2).is_integer(), n.bit_length()


def test_methods_of_numbers() -> None:
    check(methods_of_numbers, *((X, n) for n in (3, 0, 2, -7)))


def scaled(x, *factors):  # `*factors` makes what calls it a program that is evaluated partially
    return x * 1


def marked(x, n):
    mask = x > 1
    alias = mask
    for i in range(n):
        mask |= x > i - 3
        mask &= x < 4 - i
    mask ^= scaled(x) > 2
    return mask, alias


def raised(x, n):
    y = scaled(x)
    alias = y
    y **= n
    number = 6
    number |= n
    x **= 2
    return y, alias, number, x


def test_updates_that_torchscript_takes_for_pure_ones() -> None:
    for program in (marked, raised):
        check(program, *((X.clone(), n) for n in (3, 0, 1, 2)), compiled=False)


class Masked(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mask", torch.zeros(6, dtype=torch.bool))

    def forward(self, x, n):
        mask = self.mask
        for i in range(n):
            mask |= scaled(x) == i
        return mask * 1


def test_an_update_of_a_buffer_by_another_name() -> None:
    check(Masked(), *((X.clone(), n) for n in (3, 0, 1, 6)), compiled=False)
