"""Running sums and products of single precision, which eager keeps in double precision on the way."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from ._registry import implements

__all__: list[str] = []


def _is_single(arguments: Mapping[str, Any]) -> bool:
    return arguments["self"].dtype == torch.float32 and arguments["dtype"] in (None, torch.float32)


@implements("aten::cumsum", where=_is_single)
def cumsum(self: Tensor, dim: int) -> Tensor:
    """The sum of each element and those before it."""
    return torch.cumsum(self.to(torch.float64), dim).to(torch.float32)


@implements("aten::cumprod", where=_is_single)
def cumprod(self: Tensor, dim: int) -> Tensor:
    """The product of each element and those before it."""
    return torch.cumprod(self.to(torch.float64), dim).to(torch.float32)
