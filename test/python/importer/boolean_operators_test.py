"""`a or b` and `a and b` are one of their operands, as in Python; to TorchScript they are bools."""

import pytest
import torch
from torch import Tensor

from ssa_compiler.testing import check

X = torch.tensor([1.0, -2.0])


def numbers(x: Tensor, a: int, b: int, u: float) -> tuple[Tensor, int, int, float, int]:
    chosen = a or b
    both = a and b + 1
    several = (a or b or 7) * 2
    if a and (b or x.size(0) > 5):
        chosen += 10
    return x * chosen + (u or 0.5), both, several, u and 2.5, a or (b and 3)


def truths(x: Tensor, a: int, flag: bool) -> tuple[bool, bool, bool, int]:
    known = a > 0 and x.size(0) == 2
    other = not (a or flag)
    count = 0
    while a and count < 3:
        count += 1
    return known, other, bool(a or flag), count if flag and known else -count


def flags(x: Tensor, one: bool, other: bool) -> tuple[bool, bool]:
    return one or other, one and bool(x[0] > 0) and other


def tensors(x: Tensor, y: Tensor) -> Tensor:
    return (x or y) * 2 + (x and y)


def mixed(x: Tensor, a: int, flag: bool) -> Tensor:
    return x * (flag and a)


def test_the_result_is_an_operand() -> None:
    check(numbers, *((X, a, b, u) for a in (0, 3) for b in (0, -2) for u in (0.0, 1.5)))
    check(tensors, *((torch.tensor([a]), torch.tensor([b])) for a in (0.0, 2.0) for b in (0.0, 3.0)))


def test_conditions_and_bools_stay() -> None:
    check(truths, *((X, a, flag) for a in (0, 2) for flag in (False, True)))
    check(flags, *((X, one, other) for one in (False, True) for other in (False, True)))


def test_operands_may_be_of_two_types() -> None:
    check(mixed, *((X, a, flag) for a in (2, 0) for flag in (True, False)), compiled=False)


def positive(n: int) -> bool:
    return n > 0


def same(n: int) -> int:
    return n


def chosen_of_calls(x: Tensor, n: int):  # type: ignore[no-untyped-def]
    number = positive(n) or 7
    scaled = x * (positive(n) and 1.5)
    first = same(n) or same(3) or same(4)
    last = same(n) and same(n + 1)
    return number, scaled, first, last, positive(n) or n > 5, same(n) and "z", not positive(n) and same(n)


def chosen_of_comparisons(x: Tensor, n: int):  # type: ignore[no-untyped-def]
    done = (x > 0).all() and n > 3
    while not done and n < 5:
        n += 1
        done = (x > 0).all() and n > 3
    return done, x.sum() > 1 or False, x.sum() > 1 and x.sum() < 5, n > 0 and n < 5


@pytest.mark.slow
def test_the_operand_of_calls_and_comparisons_is_the_result() -> None:
    x = torch.ones(2)
    for n in (1, 0, -3, 7):
        check(chosen_of_calls, (x, n), compiled=False)
    for value, n in ((x, 1), (x * 9, 7), (-x, 1)):
        check(chosen_of_comparisons, (value, n), compiled=False)
