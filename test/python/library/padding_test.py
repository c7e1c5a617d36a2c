"""Padding with a constant by amounts that are dynamic."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch.nn.functional import pad

from ssa_compiler.testing import check


def to_a_length(x: Tensor, n: int) -> Tensor:
    return pad(x, (0, n - x.shape[0]), value=2.5)


def at_both_ends(x: Tensor, n: int) -> Tensor:
    first = int(x[0, 0]) + n
    return pad(x, [first, 1, -1, n])


def in_a_loop(x: Tensor, n: int) -> Tensor:
    result = torch.zeros(x.shape[0] + n, dtype=x.dtype)
    for i in range(n):
        result = result + pad(x, (i, n - i))
    return result


def of_images(x: Tensor, n: int) -> Tensor:
    return pad(x, [n, 1, 0, n]) + 1


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.bool])
def test_amounts_that_are_dynamic(dtype: torch.dtype) -> None:
    x = torch.tensor([0, 1, 2, 3, 4]).to(dtype)
    check(to_a_length, *[(x, n) for n in (7, 5, 3, 0, -1, 20)])
    if dtype != torch.bool:
        check(in_a_loop, *[(x, n) for n in (2, 0, 1, 5)])
        rows = torch.arange(12).view(3, 4).to(dtype)
        check(at_both_ends, *[(rows, n) for n in (2, 0, -1, -2, -3, -4, -5, -7, 9)])
        check(at_both_ends, *[(rows.t(), n) for n in (2, 0, -2)])


def test_images() -> None:
    x = torch.arange(24.0).view(1, 2, 3, 4)
    check(of_images, *[(x, n) for n in (2, 0, -1, -3, -4, -6)])
