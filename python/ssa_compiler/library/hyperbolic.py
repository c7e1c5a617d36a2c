"""Inverse hyperbolic functions of numbers of any size and sign.

torch-mlir takes the logarithm of `x + sqrt(x * x + 1)`: of large negative numbers that is 0, and the square of large numbers is
infinite. `acosh` of numbers below 1 is NaN.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from ._registry import implements

__all__: list[str] = []


def _is_float(arguments: Mapping[str, Any]) -> bool:
    return bool(arguments["self"].dtype.is_floating_point)


def _wide(x: Tensor) -> Tensor:
    return x if x.dtype == torch.float64 else x.to(torch.float32)


@implements("aten::asinh", where=_is_float)
def asinh(self: Tensor) -> Tensor:
    """The inverse of sinh, odd. From `large` on, the square plus 1 has the root x, and may be infinite."""
    x = _wide(self)
    large = 1e7 if x.dtype == torch.float32 else 1e15
    size = torch.abs(x)
    held = size.clamp(max=large)
    squared = held * held
    small = torch.log1p(held + squared / (torch.sqrt(squared + 1.0) + 1.0))
    value = torch.where(size > large, torch.log(size) + 0.6931471805599453, small)
    return torch.where(x == 0.0, x, torch.where(x < 0.0, -value, value)).to(self.dtype)


@implements("aten::acosh", where=_is_float)
def acosh(self: Tensor) -> Tensor:
    """The inverse of cosh on numbers from 1; NaN below."""
    x = _wide(self)
    large = 1e7 if x.dtype == torch.float32 else 1e15
    above = x.clamp(max=large) - 1.0
    near = torch.log1p(above + torch.sqrt(above * (above + 2.0)))
    value = torch.where(x > large, torch.log(x) + 0.6931471805599453, near)
    return torch.where(x < 1.0, math.nan, value).to(self.dtype)
