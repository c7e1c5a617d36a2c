"""Lists that a loop makes longer in one branch of an if, and the other branch does not."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from ssa_compiler.testing import check


def one_branch(x: Tensor, n: Tensor) -> Tensor:
    count = int(n)
    a = [x[0]]
    if count > 1:
        for i in range(count):
            a.append(x[i])
    return torch.stack(a)


def added_to_afterwards(x: Tensor, n: Tensor) -> tuple[Tensor, int]:
    a = [x[0] * 2, x[1] * 2]
    k = int(n)
    if k > 1:
        while k > 0:
            a.append(x[k] * 2)
            k -= 1
    a.append(x[0])
    a[0] = x[2]
    last = a.pop()
    return torch.stack(a) + last, len(a)


def in_a_loop(x: Tensor, n: Tensor) -> tuple[list[int], int]:
    found = [7]
    for i in range(4):
        k = int(n) - i
        if k > 1:
            while k > 0:
                found.append(k)
                k -= 1
        else:
            found.append(-1)
        found.append(100 + i)
    return found, len(found)


def emptied(x: Tensor, n: Tensor) -> list[int]:
    found = [7, 8, 9]
    k = int(n)
    if k > 1:
        found.clear()
        while k > 1:
            found.append(k)
            k -= 1
    elif k == 0:
        found.clear()
    return found


def several(x: Tensor, n: Tensor) -> tuple[list[int], list[float], Tensor]:
    a, b, y = [1], [0.5], x * 2
    k = int(n)
    if k > 1:
        while k > 0:
            a.append(k)
            b.append(k * 0.5)
            y = torch.cat([y, x])
            k -= 1
    else:
        b.append(1.5)
    return a, b, y


@pytest.mark.parametrize(
    "program", [one_branch, added_to_afterwards, in_a_loop, emptied, several], ids=lambda each: each.__name__
)
def test_lists(program) -> None:  # type: ignore[no-untyped-def]
    x = torch.arange(18.0).reshape(6, 3)
    check(program, *((x, torch.tensor(n)) for n in (2, 0, 1, 5, 3)))
