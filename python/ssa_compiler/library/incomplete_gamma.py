"""The regularized incomplete gamma functions, in float64.

They are a power series, a continued fraction, or, of large arguments near each other, Temme's uniform expansion.

The regions are those of Cephes, which PyTorch's kernels use. Source: NIST Digital Library of Mathematical Functions,
8.7.3, 8.9.2, 8.11.4 and 8.12.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from ._functions import are_real, erf_and_erfc, like, polynomial, wide
from ._registry import implements
from .gamma import log_gamma

__all__: list[str] = []


def _power_series(a: Tensor, x: Tensor, active: Tensor) -> Tensor:
    """The sum of x^k / (a + 1) ... (a + k), for the lower function."""
    term, total, r = torch.ones_like(x), torch.ones_like(x), a
    step = 0
    while bool(active.any()) and step < 2000:
        r = r + 1.0
        term = torch.where(active, term * x / r, term)
        total = torch.where(active, total + term, total)
        active = torch.logical_and(active, term > 1.1102230246251565e-16 * total)
        step += 1
    return total


def _alternating_series(a: Tensor, x: Tensor, active: Tensor) -> Tensor:
    """The sum of (-x)^n / n! (a + n), n from 1, for the upper function of small x."""
    factor, total = torch.ones_like(x), torch.zeros_like(x)
    step = 0
    while bool(active.any()) and step < 2000:
        step += 1
        factor = torch.where(active, factor * -x / float(step), factor)
        term = factor / (a + float(step))
        total = torch.where(active, total + term, total)
        active = torch.logical_and(active, term.abs() > 1.1102230246251565e-16 * total.abs())
    return total


def _continued_fraction(a: Tensor, x: Tensor, active: Tensor) -> Tensor:
    """The continued fraction of the upper function of large x, from its head on."""
    y = 1.0 - a
    z = x + y + 1.0
    p, q = x + 1.0, z * x
    p_before, q_before = torch.ones_like(x), x
    result = p / q
    step = 0
    while bool(active.any()) and step < 2000:
        step += 1
        y, z = y + 1.0, z + 2.0
        product = y * float(step)
        p_next, q_next = p * z - p_before * product, q * z - q_before * product
        ratio = p_next / torch.where(q_next == 0.0, 1.0, q_next)
        change = torch.where(q_next == 0.0, 1.0, torch.abs((result - ratio) / ratio))
        result = torch.where(torch.logical_and(active, q_next != 0.0), ratio, result)
        scale = torch.where(p_next.abs() > 4503599627370496.0, 2.220446049250313e-16, 1.0)
        p_before, q_before, p, q = p * scale, q * scale, p_next * scale, q_next * scale
        active = torch.logical_and(active, change > 1.1102230246251565e-16)
    return result


def _first_coefficients() -> list[list[float]]:
    """Those of the first powers of 1 / a in Temme's expansion: polynomials, the highest power first."""
    return [
        [
            -2.5514193994946248e-11,
            9.14769958223679e-10,
            -4.382036018453353e-09,
            1.0261809784240309e-08,
            6.707853543401498e-09,
            -1.7665952736826078e-07,
            8.296711340953087e-07,
            -1.85406221071516e-06,
            -2.185448510679992e-06,
            3.919263178522438e-05,
            -0.0001787551440329218,
            0.0003527336860670194,
            0.0011574074074074073,
            -0.014814814814814815,
            0.08333333333333333,
            -0.3333333333333333,
        ],
        [
            4.162792991842583e-10,
            -1.0091543710600413e-09,
            -1.7543241719747647e-11,
            1.1951628599778148e-08,
            -5.752545603517705e-08,
            1.378633446915721e-07,
            4.647127802807434e-09,
            -1.6120900894563446e-06,
            7.64916091608111e-06,
            -1.8098550334489977e-05,
            -4.018775720164609e-07,
            0.00020576131687242798,
            -0.0009902263374485596,
            0.0026455026455026454,
            -0.003472222222222222,
            -0.001851851851851852,
        ],
    ]


def _further_coefficients() -> list[list[float]]:
    return [
        [
            -6.298992138380055e-07,
            1.3721957309062934e-06,
            3.423578734096138e-08,
            -1.2760635188618728e-05,
            5.2923448829120125e-05,
            -0.0001073665322636516,
            2.0093878600823047e-06,
            0.0007716049382716049,
            -0.0026813271604938273,
            0.004133597883597883,
        ],
        [
            -2.7861080291528143e-11,
            1.4230900732435883e-06,
            -5.6749528269915965e-06,
            1.1082654115347302e-05,
            -2.396505113867297e-07,
            -7.561801671883977e-05,
            0.00026772063206283885,
            -0.0004691894943952557,
            0.00022947209362139917,
            0.0006494341563786008,
        ],
        [
            8.907507532205309e-07,
            -1.6954149536558305e-06,
            2.507497226237533e-10,
            1.1375726970678419e-05,
            -3.968365047179435e-05,
            6.641498215465122e-05,
            -1.4638452578843418e-06,
            -0.0002990724803031902,
            0.0007840392217200666,
            -0.0008618882909167117,
        ],
        [
            -3.252473551298454e-10,
            -2.291481176508095e-06,
            8.018470256334202e-06,
            -1.3594048189768693e-05,
            1.419062920643967e-07,
            6.797780477937208e-05,
            -0.00019932570516188847,
            0.0002772753244959392,
            -6.972813758365857e-05,
            -0.00033679855336635813,
        ],
    ]


def _expansion(a: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    """The lower and the upper function of large a, where x is not far from it."""
    sigma = (x - a) / a
    eta = torch.sqrt(torch.clamp(-2.0 * (torch.log1p(sigma) - sigma), min=0.0))
    eta = torch.where(x < a, -eta, eta)
    total, power = torch.zeros_like(x), torch.ones_like(x)
    for coefficients in _first_coefficients():
        total = total + polynomial(eta, coefficients) * power
        power = power / a
    for coefficients in _further_coefficients():
        total = total + polynomial(eta, coefficients) * power
        power = power / a
    rest = torch.exp(-0.5 * a * eta * eta) * total / torch.sqrt(6.283185307179586 * a)
    _, upper = erf_and_erfc(eta * torch.sqrt(a * 0.5))
    _, lower = erf_and_erfc(-eta * torch.sqrt(a * 0.5))
    return 0.5 * lower - rest, 0.5 * upper + rest


def _regular(a: Tensor, x: Tensor, near: Tensor) -> tuple[Tensor, Tensor]:
    """The lower and the upper function of positive finite numbers that are not near each other."""
    far = torch.logical_not(near)
    small = torch.where(x <= 0.5, -0.4 / torch.log(torch.clamp(x, max=0.5)) < a, x * 1.1 < a)
    upper_by_lower = torch.where(x > 1.1, x < a, small)
    lower_by_upper = torch.logical_and(x > 1.0, x > a)
    needs_lower = torch.logical_and(torch.logical_or(upper_by_lower, torch.logical_not(lower_by_upper)), far)
    needs_upper = torch.logical_and(torch.logical_or(torch.logical_not(upper_by_lower), lower_by_upper), far)
    by_fraction = torch.logical_and(needs_upper, x > 1.1)
    by_series = torch.logical_and(needs_upper, x <= 1.1)
    logarithm = torch.log(x)
    weight = torch.exp(a * logarithm - x - log_gamma(a))
    lower = _power_series(a, torch.where(needs_lower, x, 0.0), needs_lower) * weight / a
    fraction = _continued_fraction(torch.where(by_fraction, a, 1.0), torch.where(by_fraction, x, 2.0), by_fraction)
    held = torch.where(by_series, x, 1.0)
    first = -torch.expm1(a * torch.log(held) - log_gamma(a + 1.0))
    series = first - torch.exp(a * torch.log(held) - log_gamma(a)) * _alternating_series(a, held, by_series)
    upper = torch.where(x > 1.1, fraction * weight, series)
    return torch.where(lower_by_upper, 1.0 - upper, lower), torch.where(upper_by_lower, 1.0 - lower, upper)


def _both(self: Tensor, other: Tensor) -> tuple[Tensor, Tensor]:
    """The lower and the upper function of float64 numbers."""
    plain = torch.logical_and(self > 0.0, other > 0.0)
    plain = torch.logical_and(plain, torch.logical_and(self < math.inf, other < math.inf))
    a, x = torch.where(plain, self, 1.0), torch.where(plain, other, 1.0)
    distance = torch.abs(x - a) / a
    near = torch.logical_and(torch.logical_and(a > 20.0, a < 200.0), distance < 0.3)
    near = torch.logical_or(near, torch.logical_and(a > 200.0, distance < 4.5 / torch.sqrt(a)))
    lower, upper = _regular(a, x, near)
    held = torch.where(near, a, 100.0)
    close_lower, close_upper = _expansion(held, torch.where(near, x, 100.0))
    return torch.where(near, close_lower, lower), torch.where(near, close_upper, upper)


def _at_ends(y: Tensor, a: Tensor, x: Tensor, none: float, all_of_it: float) -> Tensor:
    """Put in what eager has where an argument is 0, infinite, negative or NaN, in its order.

    Args:
        y: the function elsewhere.
        a: its first argument.
        x: its second.
        none: what it is at x = 0.
        all_of_it: what it is at infinite x.
    """
    y = torch.where(torch.logical_or(torch.isnan(a), torch.isnan(x)), math.nan, y)
    y = torch.where(x == math.inf, all_of_it, y)
    y = torch.where(a == math.inf, torch.where(x == math.inf, math.nan, none), y)
    y = torch.where(x == 0.0, none, y)
    y = torch.where(a == 0.0, torch.where(x > 0.0, all_of_it, math.nan), y)
    return torch.where(torch.logical_or(a < 0.0, x < 0.0), math.nan, y)


@implements("aten::igamma", "aten::special_gammainc", where=are_real, rows=True)
def igamma(self: Tensor, other: Tensor) -> Tensor:
    """The lower function."""
    a, x = torch.broadcast_tensors(wide(self), wide(other))  # type: ignore[no-untyped-call]
    return like(_at_ends(_both(a, x)[0], a, x, 0.0, 1.0), self)


@implements("aten::igammac", "aten::special_gammaincc", where=are_real, rows=True)
def igammac(self: Tensor, other: Tensor) -> Tensor:
    """The upper function."""
    a, x = torch.broadcast_tensors(wide(self), wide(other))  # type: ignore[no-untyped-call]
    return like(_at_ends(_both(a, x)[1], a, x, 1.0, 0.0), self)
