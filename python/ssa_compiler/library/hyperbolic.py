"""Hyperbolic functions and their inverses, of numbers of any size and sign.

torch-mlir takes the logarithm of `x + sqrt(x * x + 1)`: of large negative numbers that is 0, and the square of large
numbers is infinite. `acosh` of numbers below 1 is NaN. The sum of exp(x) and exp(-x) is infinite before its half is,
and their difference has few digits near 0; so has the logarithm of `(1 + x) / (1 - x)`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from ._functions import polynomial
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


@implements("aten::atanh", where=_is_float)
def atanh(self: Tensor) -> Tensor:
    """The inverse of tanh, odd, on numbers from -1 to 1; NaN beyond."""
    x = _wide(self)
    size = torch.abs(x)
    value = 0.5 * torch.log1p((size + size) / (1.0 - size))
    return torch.where(x == 0.0, x, torch.where(x < 0.0, -value, value)).to(self.dtype)


def _becomes_float(arguments: Mapping[str, Any]) -> bool:
    whole = not arguments["self"].dtype.is_complex and torch.get_default_dtype() == torch.float32
    return _is_float(arguments) or whole


def _half_exponential(x: Tensor) -> Tensor:
    """Half of exp(abs(x)), infinite only where that is: the product of two roots."""
    root = torch.exp(0.5 * torch.abs(x))
    return 0.5 * root * root


@implements("aten::sinh", where=_becomes_float)
def sinh(self: Tensor) -> Tensor:
    """Half the difference of exp(x) and exp(-x), near 0 Taylor's series."""
    x = self if self.dtype == torch.float64 else self.to(torch.float32)
    half = _half_exponential(x)
    large = half - 0.25 / half
    terms = [2.7557319223985893e-06, 0.0001984126984126984, 0.008333333333333333, 0.16666666666666666]
    if x.dtype == torch.float64:
        more = [8.22063524662433e-18, 2.8114572543455206e-15, 7.647163731819816e-13, 1.6059043836821613e-10]
        terms = more + [2.505210838544172e-08] + terms  # noqa: RUF005 - TorchScript knows no other way
    z = x * x
    small = x + x * z * polynomial(z, terms)
    result = torch.where(torch.abs(x) < 1.0, small, torch.where(x < 0.0, -large, large))
    return result.to(self.dtype if self.is_floating_point() else torch.float32)


@implements("aten::cosh", where=_becomes_float)
def cosh(self: Tensor) -> Tensor:
    """Half the sum of exp(x) and exp(-x)."""
    half = _half_exponential(self if self.dtype == torch.float64 else self.to(torch.float32))
    return (half + 0.25 / half).to(self.dtype if self.is_floating_point() else torch.float32)
