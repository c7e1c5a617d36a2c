"""erfc and what belongs to it: erfinv, erfcx, ndtri, log_ndtr, and erf of float64, which IREE does not have."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from ._functions import erf_and_erfc, is_real, like, polynomial, real, scaled_erfc, wide
from ._registry import implements

__all__: list[str] = []


def _is_float64(arguments: Mapping[str, Any]) -> bool:
    return bool(arguments["self"].dtype == torch.float64)


@implements("aten::erf", where=_is_float64)
def erf(self: Tensor) -> Tensor:
    """The error function."""
    return erf_and_erfc(self)[0]


@implements("aten::erfc", where=is_real)
def erfc(self: Tensor) -> Tensor:
    """One less the error function."""
    return like(erf_and_erfc(wide(self))[1], self)


def _scaled(x: Tensor, power: Tensor) -> Tensor:
    """exp(x * x) * erfc(x) of float64 numbers, of which the squares are given."""
    size = torch.abs(x)
    tail = scaled_erfc(size)
    square = torch.exp(power)
    y = torch.where(x < 0.0, 2.0 * square - tail, tail)
    _, small = erf_and_erfc(torch.clamp(x, -1.0, 1.0))
    y = torch.where(size < 1.0, square * small, y)
    y = torch.where(x < -26.7, math.inf, y)
    return torch.where(torch.isnan(x), x, y)


@implements("aten::special_erfcx", where=is_real)
def erfcx(self: Tensor) -> Tensor:
    """erfc, times exp(x * x)."""
    x = real(self)
    return like(_scaled(wide(x), wide(x * x)), self)  # eager rounds the square


@implements("aten::special_log_ndtr", where=is_real)
def log_ndtr(self: Tensor) -> Tensor:
    """The logarithm of the normal distribution function."""
    x = wide(self)
    t = x * 0.7071067811865476
    positive = torch.clamp(-t, min=0.0)
    below = torch.log(0.5 * _scaled(positive, positive * positive)) - t * t
    _, tail = erf_and_erfc(t)
    y = torch.where(x < -1.0, below, torch.log1p(-0.5 * tail))
    return like(torch.where(torch.isnan(x), x, y), self)


def _ndtri_center(tail: Tensor) -> Tensor:
    """The inverse of the normal distribution function divided by the square root of 2 pi, between the tails."""
    upper_0 = [
        -59.96335010141079,
        98.00107541859997,
        -56.67628574690703,
        13.931260938727968,
        -1.2391658386738125,
    ]
    lower_0 = [
        1.0,
        1.9544885833814176,
        4.676279128988815,
        86.36024213908905,
        -225.46268785411937,
        200.26021238006066,
        -82.03722561683334,
        15.90562251262117,
        -1.1833162112133,
    ]
    middle = tail - 0.5
    square = middle * middle
    return middle + middle * (square * polynomial(square, upper_0) / polynomial(square, lower_0))


def _ndtri_tail(tail: Tensor) -> Tensor:
    """The negative of the inverse of the normal distribution function, in the lower tail."""
    upper_1 = [
        4.0554489230596245,
        31.525109459989388,
        57.16281922464213,
        44.08050738932008,
        14.684956192885803,
        2.1866330685079025,
        -0.1402560791713545,
        -0.03504246268278482,
        -0.0008574567851546854,
    ]
    lower_1 = [
        1.0,
        15.779988325646675,
        45.39076351288792,
        41.3172038254672,
        15.04253856929075,
        2.504649462083094,
        -0.14218292285478779,
        -0.03808064076915783,
        -0.0009332594808954574,
    ]
    upper_2 = [
        3.2377489177694603,
        6.915228890689842,
        3.9388102529247444,
        1.3330346081580755,
        0.20148538954917908,
        0.012371663481782003,
        0.00030158155350823543,
        2.6580697468673755e-06,
        6.239745391849833e-09,
    ]
    lower_2 = [
        1.0,
        6.02427039364742,
        3.6798356385616087,
        1.3770209948908132,
        0.21623699359449663,
        0.013420400608854318,
        0.00032801446468212774,
        2.8924786474538068e-06,
        6.790194080099813e-09,
    ]
    x = torch.sqrt(-2.0 * torch.log(tail))
    z = 1.0 / x
    first = z * polynomial(z, upper_1) / polynomial(z, lower_1)
    second = z * polynomial(z, upper_2) / polynomial(z, lower_2)
    return x - torch.log(x) / x - torch.where(x < 8.0, first, second)


@implements("aten::special_ndtri", where=is_real)
def ndtri(self: Tensor) -> Tensor:
    """The inverse of the normal distribution function, by the approximations of Cephes."""
    y = real(self)
    high = y > 1.0 - 0.13533528323661269189
    tail = torch.where(high, 1.0 - y, y)
    x = _ndtri_tail(tail)
    x = torch.where(high, x, -x)
    x = torch.where(tail > 0.13533528323661269189, _ndtri_center(tail) * 2.50662827463100050242, x)
    x = torch.where(y == 0.0, -math.inf, torch.where(y == 1.0, math.inf, x))
    return torch.where(torch.logical_or(y < 0.0, y > 1.0), math.nan, x)


def _newton(x: Tensor, y: Tensor) -> Tensor:
    """A step towards erf(x) = y, of float32 numbers, with an erf that is as exact as float32 allows."""
    error = erf_and_erfc(wide(x))[0].to(torch.float32) - y
    return x - error / (1.1283791670955126 * torch.exp(-x * x))


def _is_float32(arguments: Mapping[str, Any]) -> bool:
    return bool(arguments["self"].dtype == torch.float32)


@implements("aten::erfinv", where=_is_float32)
def erfinv(self: Tensor) -> Tensor:
    """The inverse of erf: a rational approximation and two of Newton's steps."""
    size = torch.abs(self)
    z = self * self
    near = self * polynomial(z, [-0.140543331, 0.914624893, -1.645349621, 0.886226899])
    near = near / polynomial(z, [0.012229801, -0.329097515, 1.442710462, -2.118377725, 1.0])
    z = torch.sqrt(-torch.log((1.0 - size) / 2.0))
    far = polynomial(z, [1.641345311, 3.429567803, -1.624906493, -1.970840454])
    far = torch.where(self < 0.0, -far, far) / polynomial(z, [1.637067800, 3.543889200, 1.0])
    x = torch.where(size <= 0.7, near, far)
    x = _newton(_newton(x, self), self)
    x = torch.where(size == 1.0, self * math.inf, x)
    return torch.where(size > 1.0, math.nan, x)
