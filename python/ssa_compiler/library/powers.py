"""Powers with a number for the exponent or the base, of which IREE loses what has no logarithm: as powers of two
tensors.

The backend puts into those what IEEE 754 says of negative numbers, zeros and infinities.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from ._registry import implements

__all__: list[str] = []


def _is_constant(number: Any) -> bool:
    return isinstance(number, (int, float)) and not isinstance(number, bool)


def _is_small(arguments: Mapping[str, Any]) -> bool:
    exponent, dtype = arguments["exponent"], arguments["self"].dtype
    fits = dtype in (torch.float32, torch.float64) or not (dtype.is_floating_point or dtype.is_complex)
    return bool(fits and dtype != torch.bool and _is_constant(exponent) and exponent in (2, 3, 4))


@implements("aten::pow.Tensor_Scalar", where=_is_small)
def product(self: Tensor, exponent: float) -> Tensor:
    """A power by multiplication, as eager multiplies for squares and cubes: kernels have no powers."""
    square = self * self
    if exponent == 2:
        return square
    return square * self if exponent == 3 else square * square


def _is_negative_whole(arguments: Mapping[str, Any]) -> bool:
    exponent = arguments["exponent"]
    fits = arguments["self"].dtype.is_floating_point and _is_constant(exponent)
    return bool(fits and -64 <= exponent < 0 and exponent == int(exponent))


@implements("aten::pow.Tensor_Scalar", where=_is_negative_whole)
def inverse_power(self: Tensor, exponent: float) -> Tensor:
    """The inverse of a power with a whole number."""
    return torch.reciprocal(torch.pow(self, -exponent))


def _needs_a_logarithm(arguments: Mapping[str, Any]) -> bool:
    """Whether an exponent is none that IREE multiplies with, or takes roots for."""
    exponent = arguments["exponent"]
    if not arguments["self"].dtype.is_floating_point:
        return False
    if not _is_constant(exponent):
        return isinstance(exponent, (torch.SymInt, torch.SymFloat))
    if exponent in (0.5, -0.5):
        return not _takes_roots(arguments)
    return not (0 <= exponent <= 128 and exponent == int(exponent))


def _takes_roots(arguments: Mapping[str, Any]) -> bool:
    """Whether eager takes the square root for an exponent of 0.5, and its inverse for -0.5: of -inf and -0.0 those
    differ.
    """
    return arguments["self"].dtype in (torch.bfloat16, torch.float32, torch.float64)


def _may_be_root(arguments: Mapping[str, Any]) -> bool:
    return isinstance(arguments["exponent"], torch.SymFloat) and _takes_roots(arguments)


@implements("aten::pow.Tensor_Scalar", where=_may_be_root)
def power_or_root(self: Tensor, exponent: float) -> Tensor:
    """A power with a number that may be 0.5 or -0.5."""
    if exponent == 0.5:
        return torch.sqrt(self)
    if exponent == -0.5:
        return torch.rsqrt(self)
    return torch.pow(self, torch.full([], exponent, dtype=self.dtype, device=self.device))


@implements("aten::pow.Tensor_Scalar", where=_needs_a_logarithm)
def power(self: Tensor, exponent: float) -> Tensor:
    """A power with any number."""
    return torch.pow(self, torch.full([], exponent, dtype=self.dtype, device=self.device))


def _has_no_logarithm(arguments: Mapping[str, Any]) -> bool:
    """Whether a base is none of those of which IREE is right, or unknown."""
    base = arguments["self"]
    exponent = arguments["exponent"].dtype
    if exponent.is_complex or (not exponent.is_floating_point and not isinstance(base, (float, torch.SymFloat))):
        return False
    if not _is_constant(base):
        return isinstance(base, (torch.SymInt, torch.SymFloat))
    return not 0 < base < float("inf") or base == 1


@implements("aten::pow.Scalar", where=_has_no_logarithm)
def power_of_number(self: float, exponent: Tensor) -> Tensor:
    """The powers of any number."""
    if not exponent.is_floating_point():
        exponent = exponent * 1.0
    return torch.pow(torch.full([], self, dtype=exponent.dtype, device=exponent.device), exponent)


def _are_real(arguments: Mapping[str, Any]) -> bool:
    """Whether no operand is complex."""
    given = (arguments["self"], arguments["exponent"])
    return not any(
        value.dtype.is_complex if isinstance(value, torch.Tensor) else isinstance(value, complex) for value in given
    )


@implements("aten::float_power.Tensor_Tensor", where=_are_real)
def double_power(self: Tensor, exponent: Tensor) -> Tensor:
    """A power in double precision."""
    return torch.pow(self.to(torch.float64), exponent.to(torch.float64))


@implements("aten::float_power.Tensor_Scalar", where=_are_real)
def double_power_with(self: Tensor, exponent: float) -> Tensor:
    """A power with a number, in double precision."""
    return torch.pow(self.to(torch.float64), exponent)


@implements("aten::float_power.Scalar", where=_are_real)
def double_power_of(self: float, exponent: Tensor) -> Tensor:
    """A power of a number, in double precision."""
    return torch.pow(self, exponent.to(torch.float64))
