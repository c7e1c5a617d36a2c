"""The gamma function's relatives: lgamma, digamma, polygamma, zeta, mvlgamma.

Computed in float64, also for float32: eager's results are as exact as float32 allows nearly everywhere, and float32
arithmetic here would differ from eager's in the last places where results are near zero.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from ._functions import (
    are_real,
    cosine_of_pi_times,
    is_real,
    like,
    polynomial,
    real,
    sine_and_cosine,
    sine_of_pi_times,
    wide,
)
from ._registry import implements

__all__: list[str] = []


def log_gamma(x: Tensor) -> Tensor:
    """log(abs(gamma(x))) of float64 numbers, by Lanczos' approximation with Godfrey's coefficients, and by
    reflection.
    """
    reflected = x < 0.5
    z = torch.where(reflected, 1.0 - x, x)
    terms = [
        57.156235665862923517,
        -59.597960355475491248,
        14.136097974741747174,
        -0.49191381609762019978,
        3.3994649984811888699e-5,
        4.6523628927048575665e-5,
        -9.8374475304879564677e-5,
        1.5808870322491248884e-4,
        -2.1026444172410488319e-4,
        2.1743961811521264320e-4,
        -1.6431810653676389022e-4,
        8.4418223983852743293e-5,
        -2.6190838401581408670e-5,
        3.6899182659531622704e-6,
    ]
    total = torch.full_like(z, 0.99999999999999709182)
    step = 0.0
    for term in terms:
        total = total + term / (z + step)
        step = step + 1.0
    # gamma(z) is gamma(z + 1) / z, of which the approximation speaks: its z is one less.
    y = (z - 0.5) * (torch.log(z + 4.7421875 - 0.5) - 1.0) - 4.7421875 + torch.log(2.5066282746310002 * total)
    mirrored = 1.1447298858494002 - torch.log(torch.abs(sine_of_pi_times(x))) - y
    y = torch.where(reflected, mirrored, y)
    pole = torch.logical_and(x <= 0.0, x == torch.floor(x))
    return torch.where(torch.logical_or(pole, torch.isinf(x)), math.inf, y)


@implements("aten::lgamma", where=is_real)
def lgamma(self: Tensor) -> Tensor:
    """The logarithm of the absolute value of gamma."""
    return like(log_gamma(wide(self)), self)


@implements("aten::mvlgamma", where=is_real)
def mvlgamma(self: Tensor, p: int) -> Tensor:
    """The multivariate log-gamma function with dimension p."""
    if p < 1:
        raise RuntimeError("p has to be greater than or equal to 1")
    x = wide(self)
    y = torch.full_like(x, 0.25 * p * (p - 1) * 1.1447298858494002)
    for i in range(p):
        y = y + log_gamma(x - 0.5 * i)
    return like(y, self)


def digamma_of(x: Tensor) -> Tensor:
    """The digamma function of float64 numbers: recurrence to 10 and more, there an asymptotic series; reflection."""
    negative = x < 0.0
    z = torch.where(negative, 1.0 - x, x)
    y = torch.zeros_like(z)
    for _ in [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]:
        small = z < 10.0
        y = torch.where(small, y - 1.0 / z, y)
        z = torch.where(small, z + 1.0, z)
    inverse = 1.0 / (z * z)
    terms = [
        8.33333333333333333333e-2,
        -2.10927960927960927961e-2,
        7.57575757575757575758e-3,
        -4.16666666666666666667e-3,
        3.96825396825396825397e-3,
        -8.33333333333333333333e-3,
        8.33333333333333333333e-2,
    ]
    y = y + torch.log(z) - 0.5 / z - inverse * polynomial(inverse, terms)
    y = torch.where(negative, y - 3.141592653589793 * cosine_of_pi_times(x) / sine_of_pi_times(x), y)
    y = torch.where(torch.logical_and(negative, x == torch.floor(x)), math.nan, y)
    return torch.where(x == 0.0, -1.0 / x, y)


@implements("aten::digamma", where=is_real)
def digamma(self: Tensor) -> Tensor:
    """The derivative of lgamma."""
    return like(digamma_of(wide(self)), self)


def _trigamma(self: Tensor) -> Tensor:
    """The derivative of digamma; the sine of pi x is that of the product as eager rounds it."""
    given = real(self)
    sine, _ = sine_and_cosine(wide(given * 3.141592653589793))
    x = wide(given)
    reflected = x < 0.5
    z = torch.where(reflected, 1.0 - x, x)
    y = torch.zeros_like(z)
    for _step in [0, 1, 2, 3, 4, 5]:
        y = y + 1.0 / (z * z)
        z = z + 1.0
    inverse = 1.0 / (z * z)
    y = y + (1.0 + 0.5 / z + inverse * (1.0 / 6.0 - inverse * (1.0 / 30.0 - inverse / 42.0))) / z
    return like(torch.where(reflected, 9.869604401089358 / (sine * sine) - y, y), self)


def _power(a: Tensor, x: Tensor) -> Tensor:
    """a to the power of -x; of negative numbers for whole x."""
    size = torch.pow(torch.abs(a), -x)
    odd = x - 2.0 * torch.floor(x * 0.5) == 1.0
    return torch.where(torch.logical_and(a < 0.0, odd), -size, size)


def _is_tiny(term: Tensor, total: Tensor) -> Tensor:
    """Whether adding a term changes nothing."""
    bound = 1.11022302462515654042e-16 * total
    return torch.logical_and(-bound < term, term < bound)


def _sum_of_powers(x: Tensor, q: Tensor, narrow: bool) -> Tensor:
    """The sum of (q + k) to the power of -x over k from 0, of float64 numbers: Euler-Maclaurin, as Cephes does it.

    Eager rounds the first power of float32 numbers, and only that; others may cancel it.

    What is infinite or not a number because of its place is left to the caller: poles have been taken out of q.
    """
    a = q
    total = _power(a, x)
    if narrow:
        total = wide(total.to(torch.float32))
    term = torch.zeros_like(total)
    done = torch.zeros_like(total, dtype=torch.bool)
    for _ in range(9):
        a = a + 1.0
        term = torch.where(done, term, _power(a, x))
        total = torch.where(done, total, total + term)
        done = torch.logical_or(done, _is_tiny(term, total))
    below = torch.logical_and(torch.logical_not(done), a <= 9.0)
    while bool(below.any()):
        a = torch.where(below, a + 1.0, a)
        term = torch.where(below, _power(a, x), term)
        total = torch.where(below, total + term, total)
        done = torch.logical_or(done, torch.logical_and(below, _is_tiny(term, total)))
        below = torch.logical_and(torch.logical_not(done), a <= 9.0)
    total = torch.where(done, total, total + term * a / (x - 1.0) - 0.5 * term)
    factor = torch.ones_like(total)
    divisors = torch.tensor(
        [
            12.0,
            -720.0,
            30240.0,
            -1209600.0,
            47900160.0,
            -1.8924375803183791606e9,
            7.47242496e10,
            -2.950130727918164224e12,
            1.1646782814350067249e14,
            -4.5979787224074726105e15,
            1.8152105401943546773e17,
            -7.1661652561756670113e18,
        ],
        dtype=torch.float64,
        device=x.device,
    )
    for number in range(12):
        step = 2.0 * number
        factor = factor * (x + step)
        term = term / a
        part = factor * term / divisors[number]
        total = torch.where(done, total, total + part)
        done = torch.logical_or(done, torch.abs(part / total) < 1.11022302462515654042e-16)
        factor = factor * (x + (step + 1.0))
        term = term / a
    return total


def _zeta(x: Tensor, q: Tensor, narrow: bool) -> Tensor:
    """The Hurwitz zeta function of float64 numbers."""
    sizes = q.shape
    if q.dim() == 0:  # IREE takes minutes to find out what to compute twice of such loops on single numbers
        x, q = x.unsqueeze(0), q.unsqueeze(0)
    whole = q == torch.floor(q)
    pole = torch.logical_and(q <= 0.0, whole)
    nothing = torch.logical_and(torch.logical_and(q <= 0.0, torch.logical_not(whole)), x != torch.floor(x))
    above = x > 1.0
    y = _sum_of_powers(torch.where(above, x, 2.0), torch.where(torch.logical_or(pole, nothing), 1.0, q), narrow)
    y = torch.where(nothing, math.nan, torch.where(pole, math.inf, y))
    y = torch.where(x < 1.0, math.nan, torch.where(x == 1.0, math.inf, y))
    return torch.where(torch.isnan(x), x, y).reshape(sizes)


@implements("aten::special_zeta", where=are_real)
def zeta(self: Tensor, other: Tensor) -> Tensor:
    """The Hurwitz zeta function."""
    x, q = torch.broadcast_tensors(wide(self), wide(other))  # type: ignore[no-untyped-call]
    return like(_zeta(x, q, self.dtype != torch.float64), self)


def _is_known(arguments: Mapping[str, Any]) -> bool:
    return is_real(arguments) and isinstance(arguments["n"], int)


@implements("aten::polygamma", where=_is_known)
def polygamma(n: int, self: Tensor) -> Tensor:
    """The derivative of digamma, n times."""
    if n < 0:
        raise RuntimeError("polygamma(n, x) does not support negative n.")
    if n == 0:
        return digamma(self)
    if n == 1:
        return _trigamma(self)
    q = wide(self)
    y = like(_zeta(torch.full_like(q, n + 1.0), q, self.dtype != torch.float64), self)
    factorial = like(log_gamma(torch.full([], n + 1.0, dtype=torch.float64, device=self.device)), self).exp()
    return y * factorial if n % 2 == 1 else y * -factorial
