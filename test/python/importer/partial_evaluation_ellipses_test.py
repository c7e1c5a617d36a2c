"""Tensors and lists beside an ellipsis in an index, which TorchScript does not take."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from ssa_compiler.testing import check


def _read(x: torch.Tensor, k: torch.Tensor, n: int) -> Any:
    return x[..., [-1]], x[..., k], x[None, ..., [0, 2], 1], x[..., k, k], x[k, ..., n], x[[0, 1], ..., 1:]


def _bools(x: torch.Tensor, k: torch.Tensor, n: int) -> Any:
    mask = x > 0.5
    return x[..., mask[0, 0]], x[..., mask[0]], x[n, ..., mask[0, 0]]


def _written(x: torch.Tensor, k: torch.Tensor, n: int) -> Any:
    x = x.clone()
    for i in range(n):
        x[..., [0, i]] = x[..., [1]] * 2
        x[..., k] += 1
        x[i, ..., k] = 0.0
    return x


@pytest.mark.parametrize("program", [_read, _bools, _written])
def test_beside_an_ellipsis(program: Callable[..., Any]) -> None:
    for n in (0, 1, 2):
        check(program, (torch.rand(3, 4, 4), torch.tensor([1, 2]), n))


def test_lower_ranks() -> None:
    def program(x: torch.Tensor) -> Any:
        return x[..., [0]], x[[1], ...]

    check(program, (torch.rand(3),))
    check(program, (torch.rand(3, 2, 2),))
