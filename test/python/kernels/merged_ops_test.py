"""Ops that read the same elements are one pass in a kernel, and write where they may."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from ssa_compiler import compile
from ssa_compiler.testing import check

NAN, INF = float("nan"), float("inf")


def exchanges(x: Tensor, distance: int) -> Tensor:
    """Orders pairs at a distance, in place."""
    pairs = x.view(-1, 2, distance)
    low = torch.minimum(pairs[:, 0], pairs[:, 1])
    high = torch.maximum(pairs[:, 0], pairs[:, 1])
    pairs[:, 0] = low
    pairs[:, 1] = high
    return x * 1


def crosses(x: Tensor, distance: int) -> Tensor:
    """The second half is made of what the first one was."""
    pairs = x.view(-1, 2, distance)
    pairs[:, 0], pairs[:, 1] = pairs[:, 1] + pairs[:, 0], pairs[:, 0] - pairs[:, 1]
    return x * 1


def turns_around(x: Tensor, distance: int) -> Tensor:
    """Both halves are read in the other order than they are written in."""
    pairs = x.view(-1, 2, distance)
    first, second = pairs[:, 1].flip(1) * 2, pairs[:, 1].flip(1) + 1
    pairs[:, 0] = first
    pairs[:, 1] = second
    return x * 1


def neighbours(x: Tensor, distance: int) -> Tensor:
    """The parts that are written overlap those that are read, by all but `distance` elements."""
    left = x[:-distance] + x[distance:]
    right = x[:-distance] - x[distance:]
    x[distance:] = left
    x[:-distance] += right
    return x * 1


def rotates(x: Tensor, distance: int) -> Tensor:
    """Givens rotations of two rows that move on."""
    y = x.view(distance, -1)
    for i in range(y.shape[0] - 1):
        c, s = torch.cos(y[i, 0]), torch.sin(y[i, 0])
        upper = c * y[i] - s * y[i + 1]
        lower = s * y[i] + c * y[i + 1]
        y[i] = upper
        y[i + 1] = lower
    return x * 1


X = torch.tensor([3.0, -1.0, NAN, 2.0, INF, 0.5, -0.0, 0.0, 7.0, -INF, 1.0, NAN, 4.0, 4.0, -2.0, 9.0])


@pytest.mark.parametrize("function", [exchanges, crosses, turns_around, neighbours, rotates])
def test_halves(function: Callable[..., Any]) -> None:
    y = torch.rand(16)
    checked = check(function, *[(x, distance) for distance in (2, 1, 4, 8) for x in (X, y)])
    # A kernel has no cosine, and one of few ops does not pay.
    assert checked.compiled.explain().kernel or function in (rotates, crosses)


def between(x: Tensor, y: Tensor, at: int) -> tuple[Tensor, Tensor, Tensor]:
    """What the first sum reads is written before the second one, and an index is checked."""
    a = x + y
    y[at] = 5.0
    b = x * y[0]
    z = a.clone()
    z[at] = b[1]
    c = x - 1
    return a, z + c, y * 1


def test_writes_and_checks_between() -> None:
    x, y = torch.rand(6), torch.rand(6)
    checked = check(between, *[(x, y, at) for at in (0, 5, -1, 6, -7)])
    assert checked.compiled.artifact.is_kernel
    assert [error is not None for error in checked.errors] == [False, False, False, True, True]


def step(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    return torch.minimum(a, b) * 1.5, torch.maximum(a, b) - a


def two(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    a, b = step(a, b)
    return step(a, b)


def four(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    a, b = two(a, b)
    return two(a, b)


def eight(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    a, b = four(a, b)
    return four(a, b)


def sixteen(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    a, b = eight(a, b)
    return eight(a, b)


def test_a_chain_of_pairs_grows_with_its_length() -> None:
    """Each link uses both results of the one before it: computed for each use, they would double with each link."""
    a, b = torch.rand(8), torch.rand(8)
    lines = {}
    for count, chain in ((4, four), (8, eight), (16, sixteen)):
        checked = check(chain, (a, b), (b, a))
        assert checked.compiled.artifact.is_kernel
        lines[count] = checked.compiled.artifact.kernel.count("arith.")
    assert lines[16] <= 2.5 * lines[8] <= 6.25 * lines[4]


def test_both_halves_are_tested_for_nan_once() -> None:
    compiled = compile(exchanges, (X.clone(), 2), cache=False)
    assert compiled.artifact.kernel.count("arith.cmpf une") == 2
