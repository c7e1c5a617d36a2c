"""Shapes, and tuples made of them, in texts and sums: TorchScript takes each for a list."""

from __future__ import annotations

import torch
from torch import Tensor

from ssa_compiler.testing import check

X = torch.arange(6.0).reshape(2, 3)


def quoted(x: Tensor) -> str:
    return f"{x.shape!r} {x.shape} {x.shape[1:]!s}"


def tuples(x, n):
    sizes = tuple(x.shape)
    return f"{sizes} {tuple(x.shape[1:])!r:>8} {sizes[:1]} {n!r}", str(sizes) + repr(x.shape) + str((n, 1))


def rejected(x):
    if x.sum() > 3:
        raise ValueError(f"{tuple(x.shape)} is too much")
    return x


def test_texts() -> None:
    check(quoted, (X,), compiled=False)
    check(tuples, (X, 3), compiled=False)
    check(rejected, (X,), (X - 9,), compiled=False)


def reshaped(x, heads):
    double = lambda t: t * 2  # noqa: E731 - that makes it a program that is evaluated partially
    split = double(x).reshape(x.shape[:-1] + (heads, 1))  # noqa: RUF005 - it is the sum that is tested
    sizes = x.shape[1:]
    sizes += (1,)
    front = (3,) + x.shape[:1]  # noqa: RUF005
    return split, x.t().reshape(front), x[0].reshape(sizes)


def test_sums_of_shapes_and_tuples() -> None:
    check(reshaped, (X, 3), compiled=False)
