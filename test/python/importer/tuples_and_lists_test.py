"""What is a list to TorchScript, and a tuple or shape in Python, where partial evaluation wrote the program."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

import ssa_compiler
from ssa_compiler.testing import check

X = torch.arange(6.0).reshape(2, 3)


def same(x, *rest):  # `*rest` makes programs that call it ones that are evaluated partially
    return x * 1


def of_lists(x, numbers):
    made = tuple(numbers)
    found = made == (1, 2), made == (1, 2), made != (1, 2), made == [1, 2], made == numbers, made * 2 == (1, 2, 1, 2)
    return same(x), found, (numbers[0], *numbers[1:]) == (1, 2), tuple(x.sum(1).tolist()) == (3.0, 12.0)


def of_shapes(x):
    sizes = tuple(s for s in x.shape)
    found = sizes == (2, 3), sizes == x.shape, tuple(x.shape) == [2, 3], list(x.shape) == [2, 3], x.shape == (2, 3)
    return same(x), found, (*x.shape, 1) == (2, 3, 1), tuple([x.shape[0], 1]) == (2, 1)  # noqa: C409 - what is tested


def of_tuples(x, pair):
    items = list(pair)
    chosen = x if items == [1, 2] else x * 5
    items.append(3)
    return same(chosen), items == [1, 2, 3], list(pair) == pair, [*pair] == items[:2]


def test_comparisons() -> None:
    check(of_lists, (X, [1, 2]), (X, [2, 1]), compiled=False)
    check(of_shapes, (X,), compiled=False)
    for pair in ((1, 2), (2, 2)):
        check(of_tuples, (X, pair), compiled=False)


def longer(x: Tensor):
    sizes = x.shape
    same_sizes = sizes
    for _ in (1, 2):
        sizes += (1,)
    return x.new_zeros(sizes), x.new_zeros(same_sizes)


def extended(x: Tensor, n: int):
    numbers = [n]
    alias = numbers
    numbers += (2, n)
    return numbers, alias, x


def test_augmented_sums() -> None:
    check(longer, (X,), compiled=False)
    check(extended, (X, 3), compiled=False)


def list_and_tuple(x, numbers):
    return same(x), numbers + (1,)  # noqa: RUF005 - what is tested


def shape_and_list(x):
    return same(x).new_zeros(list(x.shape) + (1,))  # noqa: RUF005


def tuple_and_list(x):
    return same(x).new_zeros((2,) + [1])


@pytest.mark.parametrize(("program", "rest"), [(list_and_tuple, [[1]]), (shape_and_list, []), (tuple_and_list, [])])
def test_sums_of_a_list_and_a_tuple_are_rejected(program: Any, rest: list[Any]) -> None:
    with pytest.raises(ssa_compiler.ScriptError, match="a sum of a list and a tuple"):
        ssa_compiler.compile(program, (X, *rest))
