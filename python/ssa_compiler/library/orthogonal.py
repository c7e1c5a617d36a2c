"""Orthogonal polynomials of a degree that may differ from element to element, by recurrence or, between the ends of the
interval where they are bounded, by the angle whose cosine the argument is, as PyTorch's kernels compute them.

With the angle eager's results are as exact as n times the last digit of the angle, and these agree with them so far.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from ._functions import are_real, like, sine_and_cosine, wide
from ._registry import implements

__all__: list[str] = []


def _degree(n: Tensor) -> Tensor:
    """The degrees as whole numbers, negative ones for what is too large to be one."""
    whole = torch.trunc(n)
    return torch.where(torch.abs(n) < 9.2e18, whole, -1.0)


def _is_even(n: Tensor) -> Tensor:
    return n - 2.0 * torch.floor(n * 0.5) == 0.0


def _angle(x: Tensor) -> Tensor:
    """The angle whose cosine is x, between -1 and 1: IREE's float32 one, corrected."""
    near = wide(torch.acos(x.to(torch.float32)))
    sine, cosine = sine_and_cosine(near)
    cosine_of_x = wide(x)
    sine_of_x = torch.sqrt((1.0 - cosine_of_x) * (1.0 + cosine_of_x))
    turn = sine_of_x * cosine - cosine_of_x * sine
    return like(near + turn + turn * turn * turn / 6.0, x)


def _sine(x: Tensor) -> Tensor:
    return like(sine_and_cosine(wide(x))[0], x)


def _cosine(x: Tensor) -> Tensor:
    return like(sine_and_cosine(wide(x))[1], x)


def _times_plus(a: Tensor, b: Tensor, c: Tensor) -> Tensor:
    """a * b + c, rounded once if in float32, as PyTorch's kernels have it: where terms cancel, the first digits depend
    on it.
    """
    return like(wide(a) * wide(b) + wide(c), a)


def _chebyshev(x: Tensor, first: Tensor, n: Tensor, decided: Tensor) -> Tensor:
    """The n-th of 1, first, and then 2 * x times the last less the one before."""
    before, last = torch.ones_like(x), first
    k = 2
    active = torch.logical_and(torch.logical_not(decided), n >= 2.0)
    while bool(active.any()):
        following = _times_plus(x + x, last, -before)
        before = torch.where(active, last, before)
        last = torch.where(active, following, last)
        k = k + 1
        going = torch.logical_and(n >= k, torch.logical_not(torch.isnan(last)))
        active = torch.logical_and(active, going)
    return torch.where(n == 0.0, 1.0, last)


def _t(x: Tensor, n: Tensor, at_ends: Tensor, most: float) -> Tensor:
    by_angle = torch.logical_and(n > most, torch.abs(x) < 1.0)
    y = _chebyshev(x, x, n, torch.logical_or(by_angle, at_ends))
    y = torch.where(by_angle, _cosine(n * _angle(torch.clamp(x, -1.0, 1.0))), y)
    sign = torch.where(torch.logical_or(x > 0.0, _is_even(n)), 1.0, -1.0).to(x.dtype)
    return torch.where(n < 0.0, 0.0, torch.where(at_ends, sign, y))


def _u(x: Tensor, n: Tensor, at_ends: Tensor, most: float) -> Tensor:
    by_angle = torch.logical_and(n > most, torch.abs(x) < 1.0)
    y = _chebyshev(x, x + x, n, torch.logical_or(by_angle, at_ends))
    angle = _angle(torch.clamp(x, -1.0, 1.0))
    y = torch.where(by_angle, _sine((n + 1.0) * angle) / _sine(angle), y)
    end = torch.where(torch.logical_or(x > 0.0, _is_even(n)), n + 1.0, -(n + 1.0))
    return torch.where(n < 0.0, 0.0, torch.where(at_ends, end, y))


def _v(x: Tensor, n: Tensor, at_ends: Tensor, most: float) -> Tensor:
    by_angle = torch.logical_and(n > most, torch.abs(x) < 1.0)
    y = _chebyshev(x, x + x - 1.0, n, torch.logical_or(by_angle, at_ends))
    angle = _angle(torch.clamp(x, -1.0, 1.0))
    below = torch.where(_is_even(n), n + n + 1.0, -(n + n + 1.0))
    bounded = _cosine((n + 0.5) * angle) / _cosine(angle / 2.0)
    y = torch.where(by_angle, torch.where(_sine(angle / 2.0) == 1.0, below, bounded), y)
    return torch.where(n < 0.0, 0.0, torch.where(at_ends, torch.where(x > 0.0, 1.0, below), y))


def _w(x: Tensor, n: Tensor, at_ends: Tensor, most: float, shifted: bool) -> Tensor:
    by_angle = torch.logical_and(n > most, torch.abs(x) < 1.0)
    y = _chebyshev(x, x + x + 1.0, n, torch.logical_or(by_angle, at_ends))
    angle = _angle(torch.clamp(x, -1.0, 1.0))
    below = torch.where(_is_even(n), 1.0, -1.0).to(x.dtype)
    above = n + n + 1.0
    end = torch.where(x > 0.0, above, below)
    near = below if shifted else end  # eager's shifted one forgets the side
    bounded = _sine((n + 0.5) * angle) / _sine(angle / 2.0)
    y = torch.where(by_angle, torch.where(_cosine(angle / 2.0) == 1.0, near, bounded), y)
    return torch.where(n < 0.0, 0.0, torch.where(at_ends, end, y))


@implements("aten::special_chebyshev_polynomial_t", where=are_real)
def chebyshev_t(x: Tensor, n: Tensor) -> Tensor:
    """Chebyshev polynomials of the first kind."""
    x, n = torch.broadcast_tensors(x, n)  # type: ignore[no-untyped-call]
    return _t(x, _degree(n), torch.abs(x) == 1.0, 6.0)


@implements("aten::special_chebyshev_polynomial_u", where=are_real)
def chebyshev_u(x: Tensor, n: Tensor) -> Tensor:
    """Chebyshev polynomials of the second kind."""
    x, n = torch.broadcast_tensors(x, n)  # type: ignore[no-untyped-call]
    return _u(x, _degree(n), torch.abs(x) == 1.0, 8.0)


@implements("aten::special_chebyshev_polynomial_v", where=are_real)
def chebyshev_v(x: Tensor, n: Tensor) -> Tensor:
    """Chebyshev polynomials of the third kind."""
    x, n = torch.broadcast_tensors(x, n)  # type: ignore[no-untyped-call]
    return _v(x, _degree(n), torch.abs(x) == 1.0, 8.0)


@implements("aten::special_chebyshev_polynomial_w", where=are_real)
def chebyshev_w(x: Tensor, n: Tensor) -> Tensor:
    """Chebyshev polynomials of the fourth kind."""
    x, n = torch.broadcast_tensors(x, n)  # type: ignore[no-untyped-call]
    return _w(x, _degree(n), torch.abs(x) == 1.0, 8.0, False)


def _shift(x: Tensor) -> tuple[Tensor, Tensor]:
    """The argument of a shifted polynomial, and whether it is 0 or 1 before that."""
    return x + x - 1.0, torch.logical_or(x == 0.0, x == 1.0)


@implements("aten::special_shifted_chebyshev_polynomial_t", where=are_real)
def shifted_chebyshev_t(x: Tensor, n: Tensor) -> Tensor:
    """Those of 2 * x - 1."""
    x, n = torch.broadcast_tensors(x, n)  # type: ignore[no-untyped-call]
    y, at_ends = _shift(x)
    return _t(y, _degree(n), at_ends, 6.0)


@implements("aten::special_shifted_chebyshev_polynomial_u", where=are_real)
def shifted_chebyshev_u(x: Tensor, n: Tensor) -> Tensor:
    """Those of 2 * x - 1."""
    x, n = torch.broadcast_tensors(x, n)  # type: ignore[no-untyped-call]
    y, at_ends = _shift(x)
    return _u(y, _degree(n), at_ends, 6.0)


@implements("aten::special_shifted_chebyshev_polynomial_v", where=are_real)
def shifted_chebyshev_v(x: Tensor, n: Tensor) -> Tensor:
    """Those of 2 * x - 1."""
    x, n = torch.broadcast_tensors(x, n)  # type: ignore[no-untyped-call]
    y, at_ends = _shift(x)
    return _v(y, _degree(n), at_ends, 6.0)


@implements("aten::special_shifted_chebyshev_polynomial_w", where=are_real)
def shifted_chebyshev_w(x: Tensor, n: Tensor) -> Tensor:
    """Those of 2 * x - 1."""
    x, n = torch.broadcast_tensors(x, n)  # type: ignore[no-untyped-call]
    y, at_ends = _shift(x)
    return _w(y, _degree(n), at_ends, 4.0, True)


def _most(x: Tensor) -> float:
    """The degree beyond which eager gives no Hermite polynomials."""
    return 512.0 if x.dtype == torch.float64 else 128.0


@implements("aten::special_hermite_polynomial_h", where=are_real)
def hermite_h(x: Tensor, n: Tensor) -> Tensor:
    """Hermite polynomials of the physicists."""
    x, n = torch.broadcast_tensors(x, n)  # type: ignore[no-untyped-call]
    n = _degree(n)
    before, last = torch.ones_like(x), x + x
    k = 2
    above = n > _most(x)
    active = torch.logical_and(n >= 2.0, torch.logical_not(above))
    while bool(active.any()):
        following = _times_plus(x + x, last, -(float(2 * k - 2) * before))
        before = torch.where(active, last, before)
        last = torch.where(active, following, last)
        k = k + 1
        active = torch.logical_and(active, n >= k)
    y = torch.where(n == 0.0, 1.0, last)
    return torch.where(n < 0.0, 0.0, torch.where(above, math.nan, y))


@implements("aten::special_hermite_polynomial_he", where=are_real)
def hermite_he(x: Tensor, n: Tensor) -> Tensor:
    """Hermite polynomials of probability theory."""
    x, n = torch.broadcast_tensors(x, n)  # type: ignore[no-untyped-call]
    n = _degree(n)
    before, last = torch.ones_like(x), x
    k = 2
    above = n > _most(x)
    active = torch.logical_and(n >= 2.0, torch.logical_not(above))
    while bool(active.any()):
        following = _times_plus(x, last, -(float(k - 1) * before))
        before = torch.where(active, last, before)
        last = torch.where(active, following, last)
        k = k + 1
        active = torch.logical_and(active, n >= k)
    y = torch.where(n == 0.0, 1.0, last)
    return torch.where(n < 0.0, 0.0, torch.where(above, math.nan, y))


@implements("aten::special_laguerre_polynomial_l", where=are_real)
def laguerre(x: Tensor, n: Tensor) -> Tensor:
    """Laguerre polynomials."""
    x, n = torch.broadcast_tensors(x, n)  # type: ignore[no-untyped-call]
    n = _degree(n)
    before, last = torch.ones_like(x), 1.0 - x
    k = 2
    active = torch.logical_and(n >= 2.0, torch.logical_and(x != 0.0, torch.logical_not(torch.isnan(x))))
    while bool(active.any()):
        following = _times_plus(float(2 * k - 2) + (1.0 - x), last, -(float(k - 1) * before)) / float(k)
        before = torch.where(active, last, before)
        last = torch.where(active, following, last)
        k = k + 1
        going = torch.logical_and(n >= k, torch.logical_not(torch.isnan(last)))
        active = torch.logical_and(active, going)
    y = torch.where(torch.logical_or(n == 0.0, x == 0.0), 1.0, last)
    return torch.where(n < 0.0, 0.0, y)


@implements("aten::special_legendre_polynomial_p", where=are_real)
def legendre(x: Tensor, n: Tensor) -> Tensor:
    """Legendre polynomials."""
    x, n = torch.broadcast_tensors(x, n)  # type: ignore[no-untyped-call]
    n = _degree(n)
    before, last = torch.ones_like(x), x
    k = 2
    at_ends = torch.abs(x) == 1.0
    inside = torch.logical_not(torch.logical_or(at_ends, torch.isnan(x)))
    active = torch.logical_and(n >= 2.0, inside)
    while bool(active.any()):
        following = _times_plus(float(2 * k - 1) * x, last, -(float(k - 1) * before)) / float(k)
        before = torch.where(active, last, before)
        last = torch.where(active, following, last)
        k = k + 1
        going = torch.logical_and(n >= k, torch.logical_not(torch.isnan(last)))
        active = torch.logical_and(active, going)
    y = torch.where(n == 0.0, 1.0, last)
    sign = torch.where(torch.logical_or(x > 0.0, _is_even(n)), 1.0, -1.0).to(x.dtype)
    return torch.where(n < 0.0, 0.0, torch.where(at_ends, sign, y))
