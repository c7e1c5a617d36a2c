"""Running sums and products of single precision, which eager keeps in double precision on the way."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Optional

import torch
from torch import Tensor

from ._registry import implements

__all__: list[str] = []

_FLOAT32, _FLOAT64 = 6, 7
"""What TorchScript has for these dtypes."""


def _is_single(arguments: Mapping[str, Any]) -> bool:
    if arguments["dtype"] is None:
        return bool(arguments["self"].dtype == torch.float32)
    return arguments["dtype"] in (torch.float32, _FLOAT32) and not arguments["self"].dtype.is_complex


@implements("aten::cumsum", where=_is_single)
def cumsum(self: Tensor, dim: int) -> Tensor:
    """The sum of each element, which is converted first, and those before it."""
    return torch.cumsum(self.to(torch.float32).to(torch.float64), dim).to(torch.float32)


def _products(x: Tensor, dim: int) -> Tensor:
    rows = x.movedim(dim, 0)
    result = rows.clone(memory_format=torch.contiguous_format)
    for i in range(1, rows.size(0)):
        result[i] = result[i - 1] * rows[i]
    return result.movedim(0, dim)


def _to_float(arguments: Mapping[str, Any]) -> bool:
    known = arguments["dtype"] is None or arguments["dtype"] in (torch.float32, torch.float64, _FLOAT32, _FLOAT64)
    rank = max(arguments["self"].dim(), 1)
    inside = isinstance(arguments["dim"], int) and -rank <= arguments["dim"] < rank
    return known and inside and arguments["self"].dtype in (torch.float32, torch.float64)


@implements("aten::cumprod", where=_to_float)
def cumprod(self: Tensor, dim: int, dtype: Optional[int]) -> Tensor:  # noqa: UP045 - TorchScript
    """The product of each element and those before it."""
    given = self if dtype is None else self.to(dtype)
    if given.dim() == 0:
        return given.clone()
    return _products(given.to(torch.float64), dim).to(given.dtype)
