"""What programs of special functions are made of: polynomials, Chebyshev series, sines of large arguments, erf.

IREE has exp, log and sqrt of float64 that are exact to a few units in the last place, but no sine or erf of float64,
and its float32 sine loses digits beyond 1,000. Coefficients are those of the Cephes library (S. Moshier), which
PyTorch's kernels use.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

__all__ = [
    "are_real",
    "cosine_of_pi_times",
    "erf_and_erfc",
    "is_real",
    "like",
    "outside",
    "polynomial",
    "real",
    "scaled_erfc",
    "series",
    "sine_and_cosine",
    "sine_of_pi_times",
    "wide",
]

_REAL = (torch.float32, torch.float64)


def is_real(arguments: Mapping[str, Any]) -> bool:
    """Whether an op has one tensor, of float32 or float64, or of integers that become float32."""
    (tensor,) = [value for value in arguments.values() if isinstance(value, torch.Tensor)]
    whole = not tensor.dtype.is_floating_point and not tensor.dtype.is_complex
    return tensor.dtype in _REAL or (whole and torch.get_default_dtype() == torch.float32)


def are_real(arguments: Mapping[str, Any]) -> bool:
    """Whether the tensors of an op are all of float32 or all of float64."""
    dtypes = {value.dtype for value in arguments.values() if isinstance(value, torch.Tensor)}
    return len(dtypes) == 1 and next(iter(dtypes)) in _REAL


def real(x: Tensor) -> Tensor:
    """A tensor as it is, or integers as float32."""
    if x.is_floating_point():
        return x
    return x.to(torch.float32)


def wide(x: Tensor) -> Tensor:
    """A tensor as float64."""
    return x.to(torch.float64)


def like(y: Tensor, x: Tensor) -> Tensor:
    """A result in the dtype that a function of `x` has."""
    if x.dtype == torch.float64:
        return y
    return y.to(torch.float32)


def polynomial(x: Tensor, coefficients: list[float]) -> Tensor:
    """A polynomial; the coefficient of the highest power comes first."""
    y = torch.full_like(x, coefficients[0])
    for coefficient in coefficients[1:]:
        y = y * x + coefficient
    return y


def series(x: Tensor, coefficients: list[float]) -> Tensor:
    """A Chebyshev series as Cephes writes it, by Clenshaw's recurrence; the coefficient of the highest order comes
    first.
    """
    this = torch.full_like(x, coefficients[0])
    before = torch.zeros_like(x)
    last = torch.zeros_like(x)
    for coefficient in coefficients[1:]:
        last = before
        before = this
        this = x * before - last + coefficient
    return 0.5 * (this - last)


def outside(y: Tensor, x: Tensor, pole: float) -> Tensor:
    """Put in what a function is at 0, and NaN for negative numbers."""
    return torch.where(x < 0.0, math.nan, torch.where(x == 0.0, pole, y))


def _sine(x: Tensor) -> Tensor:
    """The sine of float64 numbers of at most 1.6: Taylor's series."""
    z = x * x
    terms = [
        1.9572941063391263e-20,
        -8.22063524662433e-18,
        2.8114572543455206e-15,
        -7.647163731819816e-13,
        1.6059043836821613e-10,
        -2.505210838544172e-08,
        2.7557319223985893e-06,
        -0.0001984126984126984,
        0.008333333333333333,
        -0.16666666666666666,
    ]
    return x + x * z * polynomial(z, terms)


def _cosine(x: Tensor) -> Tensor:
    z = x * x
    terms = [
        4.110317623312165e-19,
        -1.5619206968586225e-16,
        4.779477332387385e-14,
        -1.1470745597729725e-11,
        2.08767569878681e-09,
        -2.755731922398589e-07,
        2.48015873015873e-05,
        -0.001388888888888889,
        0.041666666666666664,
        -0.5,
    ]
    return 1.0 + z * polynomial(z, terms)


def sine_and_cosine(x: Tensor) -> tuple[Tensor, Tensor]:
    """The sine and cosine of float64 numbers up to 8e9; of larger ones some numbers of at most 1.

    The multiple of pi/2 is taken off in four parts, of which products with a number of 33 bits are exact but for the
    last.
    """
    count = torch.round(x * 0.6366197723675814)
    rest = x - count * 1.5707950592041016
    rest = rest - count * 1.2675900507019833e-06
    rest = rest - count * 7.443542310303641e-13
    rest = rest - count * 5.170182981794105e-19
    rest = torch.clamp(rest, -1.6, 1.6)
    rest = torch.where(torch.abs(x) < math.inf, rest, math.nan)
    sine, cosine = _sine(rest), _cosine(rest)
    quarter = count - 4.0 * torch.floor(count * 0.25)
    odd = torch.logical_or(quarter == 1.0, quarter == 3.0)
    swapped, other = torch.where(odd, cosine, sine), torch.where(odd, sine, cosine)
    sine = torch.where(quarter >= 2.0, -swapped, swapped)
    cosine = torch.where(torch.logical_or(quarter == 1.0, quarter == 2.0), -other, other)
    return sine, cosine


def sine_of_pi_times(x: Tensor) -> Tensor:
    """sin(pi x) of float64 numbers."""
    whole = torch.round(x)
    y = _sine((x - whole) * 3.141592653589793)
    odd = whole - 2.0 * torch.floor(whole * 0.5) == 1.0
    return torch.where(odd, -y, y)


def cosine_of_pi_times(x: Tensor) -> Tensor:
    """cos(pi x) of float64 numbers."""
    whole = torch.round(x)
    y = _cosine((x - whole) * 3.141592653589793)
    odd = whole - 2.0 * torch.floor(whole * 0.5) == 1.0
    return torch.where(odd, -y, y)


def erf_near_zero(x: Tensor) -> Tensor:
    """erf of float64 numbers between -1 and 1."""
    above = [
        9.60497373987051638749,
        90.0260197203842689217,
        2232.00534594684319226,
        7003.32514112805075473,
        55592.3013010394962768,
    ]
    below = [
        1.0,
        33.5617141647503099647,
        521.357949780152679795,
        4594.32382970980127987,
        22629.0000613890934246,
        49267.3942608635921086,
    ]
    z = x * x
    return x * polynomial(z, above) / polynomial(z, below)


def scaled_erfc(x: Tensor) -> Tensor:
    """exp(x * x) * erfc(x) of float64 numbers of at least 1."""
    above = [
        2.46196981473530512524e-10,
        0.564189564831068821977,
        7.46321056442269912687,
        48.6371970985681366614,
        196.520832956077098242,
        526.445194995477358631,
        934.528527171957607540,
        1027.55188689515710272,
        557.535335369399327526,
    ]
    below = [
        1.0,
        13.2281951154744992508,
        86.7072140885989742329,
        354.937778887819891062,
        975.708501743205489753,
        1823.90916687909736289,
        2246.33760818710981792,
        1656.66309194161350182,
        557.535340817727675546,
    ]
    middle = torch.clamp(x, 1.0, 8.0)
    inner = polynomial(middle, above) / polynomial(middle, below)
    above_8 = [
        0.564189583547755073984,
        1.27536670759978104416,
        5.01905042251180477414,
        6.16021097993053585195,
        7.40974269950448939160,
        2.97886665372100240670,
    ]
    below_8 = [
        1.0,
        2.26052863220117276590,
        9.39603524938001434673,
        12.0489539808096656605,
        17.0814450747565897222,
        9.60896809063285878198,
        3.36907645100081516050,
    ]
    large = torch.clamp(x, 8.0, 1e6)
    outer = polynomial(large, above_8) / polynomial(large, below_8)
    outer = torch.where(x > 1e6, 0.5641895835477563 / x, outer)
    return torch.where(x < 8.0, inner, outer)


def erf_and_erfc(x: Tensor) -> tuple[Tensor, Tensor]:
    """erf and erfc of float64 numbers, NaN for NaN."""
    size = torch.abs(x)
    near = erf_near_zero(torch.clamp(x, -1.0, 1.0))
    tail = torch.exp(-x * x) * scaled_erfc(size)
    erfc = torch.where(size < 1.0, 1.0 - near, torch.where(x < 0.0, 2.0 - tail, tail))
    erf = torch.where(size < 1.0, near, torch.where(x < 0.0, tail - 1.0, 1.0 - tail))
    missing = torch.isnan(x)
    return torch.where(missing, x, erf), torch.where(missing, x, erfc)
