"""Quotients that are rounded down and what is left of divisions, angles and sums of exponentials: of two floating-point
numbers.

torch-mlir takes `floor(x / y)` for `x // y`, which makes `1.0 // 0.1` 10 instead of 9, and `x - trunc(x / y) * y` for
fmod; what IREE has for the others is NaN, or is not, at zeros and infinities. The remainder with the sign of the
divisor is exact.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from . import _bits  # noqa: F401 - defines ssa_compiler::bits
from ._registry import implements

__all__: list[str] = []


def _is_negative(x: Tensor) -> Tensor:
    """Whether numbers have a negative sign; zeros may."""
    return torch.logical_or(x < 0.0, torch.reciprocal(x) < 0.0)


def _is_float(arguments: Mapping[str, Any]) -> bool:
    """Whether the result is a float: of floats, or of an integer and a float."""
    kinds = {torch.SymInt: 1, torch.SymFloat: 1.0, torch.SymBool: True}
    self, other = (kinds.get(type(arguments[name]), arguments[name]) for name in ("self", "other"))
    return torch.result_type(self, other).is_floating_point


def _divides_to_float(arguments: Mapping[str, Any]) -> bool:
    """Whether a quotient is a float: of any real numbers, unless the default dtype is one in which eager rounds
    otherwise.
    """
    complex_ = any(arguments[name].dtype.is_complex for name in ("self", "other"))
    return not complex_ and (_is_float(arguments) or torch.get_default_dtype() in (torch.float32, torch.float64))


def _rounds_down(arguments: Mapping[str, Any]) -> bool:
    return _is_float(arguments) and arguments["rounding_mode"] == "floor"


def _computed(x: Tensor, result: Tensor) -> Tensor:
    """An operand in the dtype in which eager computes a result: halves in float32."""
    if result.dtype == torch.float64:
        return x.to(torch.float64)
    return x.to(torch.float32)


def _rest(x: Tensor, y: Tensor) -> Tensor:
    """What is left of a division that is rounded to zero: it has the sign of the dividend."""
    size = torch.remainder(x.abs(), y.abs())
    return torch.where(_is_negative(x), -size, size)


def _quotient(x: Tensor, y: Tensor) -> Tensor:
    """The exact quotient, rounded down, as Python's `//` of floats computes it."""
    rest = _rest(x, y)
    quotient = (x - rest) / y
    quotient = torch.where(torch.logical_and(rest != 0.0, (y < 0.0) != (rest < 0.0)), quotient - 1.0, quotient)
    rounded = torch.floor(quotient)
    rounded = torch.where(quotient - rounded > 0.5, rounded + 1.0, rounded)
    plain = x / y
    rounded = torch.where(quotient != 0.0, rounded, plain * 0.0)  # a zero has the sign of the quotient
    return torch.where(y == 0.0, plain, rounded)


def _rounded(number: float, result: Tensor) -> Tensor:
    """A number rounded to the dtype of a result, in the dtype in which that is computed.

    IREE leaves out conversions to bfloat16 and back of what one kernel computes, so its bits are rounded.
    """
    if result.dtype == torch.bfloat16:
        wide = torch.full([1], number, dtype=torch.float32, device=result.device)
        bits = torch.ops.ssa_compiler.bits(wide)
        odd = (torch.bitwise_and(bits, 0x10000) != 0).to(torch.int32)
        upper = torch.bitwise_and(bits + odd + 0x7FFF, -0x10000)
        return torch.where(torch.isnan(wide), wide, torch.ops.ssa_compiler.from_bits(upper)).reshape([])
    return _computed(torch.full([], number, dtype=result.dtype, device=result.device), result)


@implements("aten::fmod.Tensor", where=_is_float)
def fmod(self: Tensor, other: Tensor) -> Tensor:
    """What is left of divisions."""
    plain = self / other
    return _rest(_computed(self, plain), _computed(other, plain)).to(plain.dtype)


@implements("aten::fmod.Scalar", where=_is_float)
def fmod_by_number(self: Tensor, other: float) -> Tensor:
    """What is left of divisions by a number, which eager rounds to the dtype of the result."""
    plain = self / other
    return _rest(_computed(self, plain), _rounded(other, plain)).to(plain.dtype)


def _is_half(arguments: Mapping[str, Any]) -> bool:
    tensor, other = arguments["self"], arguments["other"]
    return tensor.dtype in (torch.float16, torch.bfloat16) and not isinstance(other, (complex, torch.Tensor))


@implements("aten::remainder.Scalar", where=_is_half)
def remainder_by_number(self: Tensor, other: float) -> Tensor:
    """What is left of divisions that are rounded down, by a number which eager rounds to half precision."""
    return torch.remainder(self.to(torch.float32), _rounded(other, self)).to(self.dtype)


def _is_truncated_half(arguments: Mapping[str, Any]) -> bool:
    return _is_half(arguments) and arguments["rounding_mode"] == "trunc"


@implements("aten::div.Scalar_mode", where=_is_truncated_half)
def truncated_quotient_by_number(self: Tensor, other: float) -> Tensor:
    """Quotients rounded to zero, by a number in single precision."""
    divisor = torch.full([], other, dtype=torch.float32, device=self.device)
    return torch.trunc(self.to(torch.float32) / divisor).to(self.dtype)


@implements("aten::floor_divide", where=_is_float)
@implements("aten::div.Tensor_mode", where=_rounds_down)
def floor_divide(self: Tensor, other: Tensor) -> Tensor:
    """Quotients."""
    plain = self / other
    return _quotient(_computed(self, plain), _computed(other, plain)).to(plain.dtype)


@implements("aten::floor_divide.Scalar", where=_is_float)
@implements("aten::div.Scalar_mode", where=_rounds_down)
def floor_divide_by_number(self: Tensor, other: float) -> Tensor:
    """Quotients with a number."""
    plain = self / other
    x = _computed(self, plain)
    return _quotient(x, torch.full([], other, dtype=x.dtype, device=x.device)).to(plain.dtype)


@implements("aten::atan2", where=_divides_to_float)
def atan2(self: Tensor, other: Tensor) -> Tensor:
    """The angle of the vector (other, self), from -pi to pi."""
    plain = self / other  # also for integers a float
    above, right = _computed(self, plain), _computed(other, plain)
    y, x = above.abs(), right.abs()
    same = y == x  # also two zeros, and two infinities
    ratio = torch.where(same, torch.where(y == 0.0, 0.0, 1.0), torch.minimum(y, x) / torch.maximum(y, x))
    angle = torch.atan(ratio)
    angle = torch.where(y > x, math.pi / 2 - angle, angle)
    angle = torch.where(_is_negative(right), math.pi - angle, angle)
    return torch.where(_is_negative(above), -angle, angle).to(plain.dtype)


@implements("aten::logaddexp", where=_is_float)
def logaddexp(self: Tensor, other: Tensor) -> Tensor:
    """The logarithm of the sum of two exponentials."""
    plain = self + other
    x, y = _computed(self, plain), _computed(other, plain)
    larger = torch.maximum(x, y)
    sum_ = larger + torch.log1p(torch.exp(-(x - y).abs()))
    return torch.where(torch.isinf(larger), larger, sum_).to(plain.dtype)
