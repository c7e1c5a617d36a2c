"""The places in a triangle of a matrix whose sizes are dynamic: `triu_indices` and `tril_indices`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Optional

import torch
from torch import Tensor

from ._registry import implements

__all__: list[str] = []


def _is_dynamic(arguments: Mapping[str, Any]) -> bool:
    """Whether the places are not known at import, where they are a constant."""
    return not all(isinstance(arguments[name], int) for name in ("row", "col", "offset"))


def _diagonals(row: int, col: int, device: Optional[torch.device]) -> Tensor:  # noqa: UP045 - TorchScript
    """For each place of a matrix [row, col] the number of its diagonal; 0 is the main one."""
    if row < 0:
        raise RuntimeError("row must be non-negative")
    if col < 0:
        raise RuntimeError("col must be non-negative")
    return torch.arange(col, device=device).unsqueeze(0) - torch.arange(row, device=device).unsqueeze(1)


def _places(inside: Tensor, dtype: Optional[torch.dtype]) -> Tensor:  # noqa: UP045 - TorchScript
    return inside.nonzero().t().contiguous().to(torch.int64 if dtype is None else dtype)


@implements("aten::triu_indices", where=_is_dynamic)
def triu_indices(
    row: int,
    col: int,
    offset: int,
    dtype: Optional[torch.dtype],  # noqa: UP045 - TorchScript
    device: Optional[torch.device],  # noqa: UP045 - TorchScript
) -> Tensor:
    """Rows and columns [2, places] of the upper triangle, row by row."""
    return _places(_diagonals(row, col, device) >= offset, dtype)


@implements("aten::tril_indices", where=_is_dynamic)
def tril_indices(
    row: int,
    col: int,
    offset: int,
    dtype: Optional[torch.dtype],  # noqa: UP045 - TorchScript
    device: Optional[torch.device],  # noqa: UP045 - TorchScript
) -> Tensor:
    """Rows and columns [2, places] of the lower triangle, row by row."""
    return _places(_diagonals(row, col, device) <= offset, dtype)
