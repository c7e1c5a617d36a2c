"""Sine, cosine, tangent and their inverses of float32 and smaller numbers; degrees.

IREE reduces an angle to one period in float32, whose error grows with the angle: 8e-6 at 300, 0.03 at a million. Its
tangent is wrong by 2e-4 near its poles. Here angles are reduced, and the functions computed, in float64. The reduction
is exact up to 4e8, and wrong by 1e-7 at 1e9; beyond, neighbouring float32 numbers are farther apart than a period is
long, and the results are those of some angle.

IREE's inverse functions do not link in kernels.

Source: the reductions and the polynomials are those of FreeBSD's msun (`e_rem_pio2f.c`, `k_sinf.c`, `k_cosf.c`,
`s_atanf.c`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from ._registry import implements

__all__: list[str] = []


def _is_small(arguments: Mapping[str, Any]) -> bool:
    dtype = arguments["self"].dtype
    return not dtype.is_complex and dtype != torch.float64


def _rounded(x: Tensor) -> Tensor:
    """The nearest whole number, of numbers below 2**51: float64 has no bits for the rest beside 2**52."""
    return (x + 6755399441055744.0) - 6755399441055744.0


def _sine_and_cosine(self: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Sine and cosine of what an angle is beyond a multiple of pi / 2, float64; and which multiple: 0, 1, -1, 2 or
    -2.
    """
    x = self.to(torch.float64)
    n = _rounded(x * 0.63661977236758134308)
    r = (x - n * 1.57079631090164184570) - n * 1.58932547735281966916e-08
    limit = torch.full_like(
        r, 0.8
    )  # larger only where the reduction is not exact: a sine stays within -1 and 1 there too
    r = torch.maximum(torch.minimum(r, limit), -limit)
    quarter = n - 4.0 * _rounded(n * 0.25)
    z = r * r
    w = z * z
    sine = -0.000198393348360966317347 + z * 0.0000027183114939898219064
    sine = (-0.166666666416265235595 + z * 0.0083333293858894631756) + w * sine
    sine = r * (1.0 + z * sine)  # a product, which keeps the sign of zero
    cosine = -0.00138867637746099294692 + z * 0.0000243904487962774090654
    cosine = ((1.0 + z * -0.499999997251031003120) + w * 0.0416666233237390631894) + (w * z) * cosine
    return sine, cosine, quarter


def _result(value: Tensor, self: Tensor) -> Tensor:
    return value.to(self.dtype if self.is_floating_point() else torch.float32)


@implements("aten::sin", where=_is_small)
def sine(self: Tensor) -> Tensor:
    """The sine."""
    sine, cosine, quarter = _sine_and_cosine(self)
    value = torch.where(torch.abs(quarter) == 1.0, cosine, sine)
    return _result(torch.where(torch.logical_or(quarter == -1.0, torch.abs(quarter) == 2.0), -value, value), self)


@implements("aten::cos", where=_is_small)
def cosine(self: Tensor) -> Tensor:
    """The cosine."""
    sine, cosine, quarter = _sine_and_cosine(self)
    value = torch.where(torch.abs(quarter) == 1.0, sine, cosine)
    return _result(torch.where(torch.logical_or(quarter == 1.0, torch.abs(quarter) == 2.0), -value, value), self)


@implements("aten::tan", where=_is_small)
def tangent(self: Tensor) -> Tensor:
    """The tangent."""
    sine, cosine, quarter = _sine_and_cosine(self)
    odd = torch.abs(quarter) == 1.0
    return _result(torch.where(odd, -cosine, sine) / torch.where(odd, sine, cosine), self)


def _arc_tangent(x: Tensor) -> Tensor:
    """The angle that has a tangent, of float64, as exact as float32 has bits for."""
    a = x.abs()
    # What is left of the angle beyond atan(1 / 2), pi / 4, atan(3 / 2) or pi / 2.
    rest = torch.where(a < 2.4375, (a - 1.5) / (1.0 + 1.5 * a), -1.0 / a)
    rest = torch.where(a < 1.1875, (a - 1.0) / (a + 1.0), rest)
    rest = torch.where(a < 0.6875, (2.0 * a - 1.0) / (2.0 + a), rest)
    rest = torch.where(a < 0.4375, a, rest)
    base = torch.where(a < 2.4375, 0.982793723247329, torch.full_like(a, 1.5707963267948966))
    base = torch.where(a < 1.1875, 0.7853981633974483, base)
    base = torch.where(a < 0.6875, 0.4636476090008061, base)
    base = torch.where(a < 0.4375, 0.0, base)
    z = rest * rest
    w = z * z
    odd = z * (3.3333328366e-01 + w * (1.4253635705e-01 + w * 6.1687607318e-02))
    even = w * (-1.9999158382e-01 + w * -1.0648017377e-01)
    angle = base + (rest - rest * (odd + even))
    return torch.where(x < 0.0, -angle, torch.where(x == 0.0, x, angle))


@implements("aten::atan", where=_is_small)
def arc_tangent(self: Tensor) -> Tensor:
    """The angle that has a tangent."""
    return _result(_arc_tangent(self.to(torch.float64)), self)


@implements("aten::asin", where=_is_small)
def arc_sine(self: Tensor) -> Tensor:
    """The angle that has a sine."""
    x = self.to(torch.float64)
    return _result(_arc_tangent(x / torch.sqrt(1.0 - x * x)), self)


@implements("aten::acos", where=_is_small)
def arc_cosine(self: Tensor) -> Tensor:
    """The angle that has a cosine."""
    x = self.to(torch.float64)
    return _result(1.5707963267948966 - _arc_tangent(x / torch.sqrt(1.0 - x * x)), self)


@implements("aten::polar", where=lambda arguments: arguments["abs"].dtype == arguments["angle"].dtype == torch.float32)
def polar(abs: Tensor, angle: Tensor) -> Tensor:
    """Complex numbers by size and angle."""
    return torch.complex(abs * torch.cos(angle), abs * torch.sin(angle))


def _is_float64(arguments: Mapping[str, Any]) -> bool:
    return bool(arguments["self"].dtype == torch.float64)


@implements("aten::rad2deg", where=_is_float64)
def degrees(self: Tensor) -> Tensor:
    """Angles in degrees; torch-mlir's factor is one of float32."""
    return self * 57.29577951308232


@implements("aten::deg2rad", where=_is_float64)
def radians(self: Tensor) -> Tensor:
    """Angles in radians."""
    return self * 0.017453292519943295
