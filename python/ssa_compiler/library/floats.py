"""Elementwise ops on floating-point numbers, some of them on their bits, and on tensors without dimensions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Optional

import torch
from torch import Tensor

from . import _bits  # noqa: F401 - defines ssa_compiler::bits
from ._functions import are_real, is_real, real, wide
from ._registry import implements

__all__: list[str] = []

_FLOAT32, _FLOAT64 = 6, 7
"""What TorchScript has for these dtypes."""


def _are_floats(arguments: Mapping[str, Any]) -> bool:
    return all(arguments[name].is_floating_point() for name in ("self", "other"))


@implements("aten::hypot", where=_are_floats)
def hypot(self: Tensor, other: Tensor) -> Tensor:
    """The length of a vector of two components, which does not overflow on the way."""
    plain = self + other
    x, y = torch.broadcast_tensors(wide(self).abs(), wide(other).abs())  # type: ignore[no-untyped-call]
    larger, smaller = torch.maximum(x, y), torch.minimum(x, y)
    scale = torch.where(torch.logical_or(larger == 0.0, torch.isinf(larger)), 1.0, larger)
    ratio = smaller / scale
    length = scale * torch.sqrt(1.0 + ratio * ratio)
    length = torch.where(larger == 0.0, larger, length)
    infinite = torch.logical_or(torch.isinf(x), torch.isinf(y))
    return torch.where(infinite, math.inf, length).to(plain.dtype)


def _smallest(bits: Tensor) -> int:
    """The smallest integer of a dtype: the sign."""
    return -0x80000000 if bits.dtype == torch.int32 else -0x7FFFFFFFFFFFFFFF - 1


@implements("aten::nextafter", where=are_real)
def nextafter(self: Tensor, other: Tensor) -> Tensor:
    """The next number in the direction of another."""
    x, y = torch.broadcast_tensors(self, other)  # type: ignore[no-untyped-call]
    bits = torch.ops.ssa_compiler.bits(x.clone(memory_format=torch.contiguous_format))
    outwards = (x < y) == (x > 0.0)
    moved = torch.where(outwards, bits + 1, bits - 1)
    lowest = torch.where(y > 0.0, torch.ones_like(bits), torch.ones_like(bits) + _smallest(bits))
    moved = torch.where(x == 0.0, lowest, moved)
    result = torch.where(x == y, y, torch.ops.ssa_compiler.from_bits(moved))
    return torch.where(torch.isnan(x), x, torch.where(torch.isnan(y), y, result))


def _sign(arguments: Mapping[str, Any]) -> float:
    """The sign of a number that is known, 0 if it is not, or of a tensor of another kind."""
    other, tensor = arguments["other"], arguments["self"]
    known = isinstance(other, (int, float)) and tensor.dtype in (torch.float32, torch.float64)
    return math.copysign(1.0, other) if known else 0.0


@implements("aten::copysign.Scalar", where=lambda arguments: _sign(arguments) > 0)
def make_positive(self: Tensor) -> Tensor:
    """Numbers without their signs."""
    return torch.abs(self)


@implements("aten::copysign.Scalar", where=lambda arguments: _sign(arguments) < 0)
def make_negative(self: Tensor) -> Tensor:
    """Numbers with a negative sign."""
    return -torch.abs(self)


@implements("aten::angle", where=is_real)
def angle(self: Tensor) -> Tensor:
    """The angle of real numbers: 0 or pi."""
    x = real(self)
    return torch.where(torch.isnan(x), x, torch.where(x < 0.0, torch.full_like(x, math.pi), 0.0))


def _has_no_dimensions(arguments: Mapping[str, Any]) -> bool:
    tensor = arguments["self"]
    known = tensor.dtype in (torch.float32, torch.float64)
    return tensor.dim() == 0 and known and arguments["dtype"] in (None, _FLOAT32, _FLOAT64)


@implements("aten::softmax.int", where=_has_no_dimensions)
def softmax_of_one(self: Tensor, dtype: Optional[int]) -> Tensor:  # noqa: UP045 - TorchScript
    """1, or NaN for what is not finite."""
    x = self if dtype is None else self.to(dtype)
    return torch.exp(x - x)


@implements("aten::log_softmax.int", where=_has_no_dimensions)
def log_softmax_of_one(self: Tensor, dtype: Optional[int]) -> Tensor:  # noqa: UP045 - TorchScript
    """0, or NaN for what is not finite."""
    x = self if dtype is None else self.to(dtype)
    return x - x


def _converts(arguments: Mapping[str, Any]) -> bool:
    return arguments["self"].dim() > 0 and arguments["dtype"] in (_FLOAT32, _FLOAT64)


@implements("aten::log_softmax.int", where=_converts)
def log_softmax_of_converted(self: Tensor, dim: int, dtype: int) -> Tensor:
    """The logarithm of the softmax in another dtype, which torch-mlir does not know."""
    return self.to(dtype).log_softmax(dim)


def _sums_along(arguments: Mapping[str, Any]) -> bool:
    return isinstance(arguments["dim"], int) and arguments["self"].dim() > 0


@implements("aten::count_nonzero", where=_sums_along)
def count_nonzero(self: Tensor, dim: int) -> Tensor:
    """How many elements along a dimension are not 0."""
    return (self != 0).sum(dim)


def _are_alike(arguments: Mapping[str, Any]) -> bool:
    x, y = arguments["elements"], arguments["test_elements"]
    known = [size for size in (*x.shape, *y.shape) if isinstance(size, int)]
    return x.dtype == y.dtype and 0 not in known


@implements("aten::isin.Tensor_Tensor", where=_are_alike)
def isin(elements: Tensor, test_elements: Tensor, invert: bool) -> Tensor:
    """Whether each element is among others."""
    found = (elements.unsqueeze(-1) == test_elements.reshape(-1)).any(-1)
    return torch.logical_not(found) if invert else found


def _is_narrow(arguments: Mapping[str, Any]) -> bool:
    dtype = arguments["self"].dtype
    return not dtype.is_complex and dtype != torch.float64


def _narrowed(value: Tensor, self: Tensor) -> Tensor:
    return value.to(self.dtype if self.is_floating_point() else torch.float32)


@implements("aten::log10", where=_is_narrow)
def log10(self: Tensor) -> Tensor:
    """The decimal logarithm, by way of float64: that of a power of ten is a whole number."""
    return _narrowed(torch.log(self.to(torch.float64)) * 0.43429448190325182765, self)


@implements("aten::log2", where=_is_narrow)
def log2(self: Tensor) -> Tensor:
    """The logarithm to base 2, likewise: the level of a box in a pyramid is a floor of it."""
    return _narrowed(torch.log(self.to(torch.float64)) * 1.4426950408889634, self)


@implements("aten::exp2", where=_is_narrow)
def exp2(self: Tensor) -> Tensor:
    """Powers of 2, exact for whole numbers."""
    return _narrowed(torch.exp(self.to(torch.float64) * 0.6931471805599453), self)


def _is_wide(arguments: Mapping[str, Any]) -> bool:
    """Whether the numbers are of one dtype, and not of half precision, which eager computes in single precision."""
    return all(arguments[name].dtype in (torch.float32, torch.float64) for name in ("self", "end"))


@implements("aten::lerp.Scalar", where=_is_wide)
def lerp(self: Tensor, end: Tensor, weight: float) -> Tensor:
    """The number between two others, counted from the nearer one: of infinities the other way is NaN."""
    distance = end - self
    return self + weight * distance if abs(weight) < 0.5 else end - distance * (1 - weight)


@implements("aten::lerp.Tensor", where=_is_wide)
def lerp_of_tensors(self: Tensor, end: Tensor, weight: Tensor) -> Tensor:
    """The same with a weight for each."""
    distance = end - self
    return torch.where(torch.abs(weight) < 0.5, self + weight * distance, end - distance * (1 - weight))


def _is_half(arguments: Mapping[str, Any]) -> bool:
    return arguments["self"].dtype in (torch.float16, torch.bfloat16)


@implements("aten::softshrink", where=_is_half)
def softshrink(self: Tensor, lambd: float) -> Tensor:
    """Numbers moved towards 0 by what eager rounds to their dtype; torch-mlir's lowering moves those below 0 away from
    it.
    """
    bound = torch.full([], lambd, dtype=self.dtype, device=self.device)
    moved = torch.where(self > bound, self - bound, self + bound)
    return torch.where(self.abs() <= bound, self * 0.0, moved)


def _has_dynamic_factor(arguments: Mapping[str, Any]) -> bool:
    return _are_floats(arguments) and isinstance(arguments["alpha"], (torch.SymFloat, torch.SymInt))


@implements("aten::rsub.Tensor", where=_has_dynamic_factor)
def subtract_from(self: Tensor, other: Tensor, alpha: float) -> Tensor:
    """Numbers minus others that are multiplied by a number first, as eager computes it."""
    return torch.add(other, self, alpha=-alpha)


def _is_scaled_float(arguments: Mapping[str, Any]) -> bool:
    dynamic = isinstance(arguments["alpha"], (torch.SymFloat, torch.SymInt))
    return dynamic and arguments["self"].dtype in (torch.float32, torch.float64)


@implements("aten::rsub.Scalar", where=_is_scaled_float)
def subtract_from_number(self: Tensor, other: float, alpha: float) -> Tensor:
    """A number minus scaled numbers."""
    return torch.add(torch.full([], other, dtype=self.dtype, device=self.device), self, alpha=-alpha)


@implements("aten::signbit", where=lambda arguments: arguments["self"].dtype in (torch.float32, torch.float64))
def signbit(self: Tensor) -> Tensor:
    """Whether the sign is negative, of zeros and NaN too."""
    return torch.ops.ssa_compiler.bits(self.clone(memory_format=torch.contiguous_format)) < 0


@implements("aten::frexp.Tensor", where=lambda arguments: arguments["self"].dtype in (torch.float32, torch.float64))
def frexp(self: Tensor) -> tuple[Tensor, Tensor]:
    """A number from 0.5 to 1, with the sign, and the power of 2 that it is multiplied by; 0 of what is not finite."""
    x = self.clone(memory_format=torch.contiguous_format)
    digits, largest = (52, 2047) if x.dtype == torch.float64 else (23, 255)
    bits = torch.ops.ssa_compiler.bits(x)
    sign = torch.where(bits < 0, -1.0, 1.0).to(x.dtype)
    magnitude = torch.bitwise_and(bits, -1 - _smallest(bits))
    exponent = torch.bitwise_right_shift(magnitude, torch.full_like(bits, digits))
    # Denormals are integers times the smallest of them; others have the exponent of 0.5 instead of theirs.
    whole = torch.where(exponent == 0, magnitude, torch.ones_like(bits)).to(x.dtype)
    normal = torch.where(exponent == 0, torch.ops.ssa_compiler.bits(whole), magnitude)
    high = torch.bitwise_right_shift(normal, torch.full_like(bits, digits))
    half = largest // 2 - 1
    fraction = torch.ops.ssa_compiler.from_bits(
        normal - torch.bitwise_left_shift(high - half, torch.full_like(bits, digits))
    )
    power = torch.where(exponent == 0, high - half - half - digits, exponent - half)
    plain = torch.logical_or(magnitude == 0, exponent == largest)
    return torch.where(plain, self, sign * fraction), torch.where(plain, torch.zeros_like(power), power).to(torch.int32)


def _is_masked(arguments: Mapping[str, Any]) -> bool:
    return arguments["mask"].dtype == torch.bool and bool(arguments["grad_output"].dtype.is_floating_point)


@implements("aten::native_dropout_backward", where=_is_masked)
def native_dropout_backward(grad_output: Tensor, mask: Tensor, scale: float) -> Tensor:
    """The gradient where elements were kept."""
    return grad_output * (mask.to(grad_output.dtype) * scale)
