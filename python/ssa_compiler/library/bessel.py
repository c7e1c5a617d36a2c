"""Bessel functions of the first and second kind and Airy's, from the rational approximations of Cephes, which PyTorch
uses.

They are computed in the dtype of their argument, as eager does it, but for sines and cosines: those of large arguments
need more digits than IREE's have.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from ._functions import is_real, like, outside, polynomial, real, sine_and_cosine, wide
from ._registry import implements

__all__: list[str] = []


def _far0(x: Tensor) -> tuple[Tensor, Tensor]:
    """J0 and Y0 of numbers from 5."""
    upper_p = [
        0.0007969367292973471,
        0.08283523921074408,
        1.239533716464143,
        5.447250030587687,
        8.74716500199817,
        5.303240382353949,
        1.0,
    ]
    lower_p = [
        0.0009244088105588637,
        0.08562884743544745,
        1.2535274390105895,
        5.470977403304171,
        8.761908832370695,
        5.306052882353947,
        1.0,
    ]
    upper_q = [
        -0.011366383889846916,
        -1.2825271867050931,
        -19.553954425773597,
        -93.20601521237683,
        -177.68116798048806,
        -147.07750515495118,
        -51.41053267665993,
        -6.050143506007285,
    ]
    lower_q = [
        64.3178256118178,
        856.4300259769806,
        3882.4018360540163,
        7240.467741956525,
        5930.727011873169,
        2062.0933166032783,
        242.0057402402914,
    ]
    z = 25.0 / (x * x)
    p = polynomial(z, upper_p) / polynomial(z, lower_p)
    q = 5.0 / x * (polynomial(z, upper_q) / polynomial(z, lower_q))
    sine64, cosine64 = sine_and_cosine(wide(x - 0.7853981633974483))
    sine, cosine = like(sine64, x), like(cosine64, x)
    scale = 0.7978845608028654 / torch.sqrt(x)
    return (p * cosine - q * sine) * scale, (p * sine + q * cosine) * scale


def _near0(x: Tensor) -> Tensor:
    """J0 of numbers from 0 to 5."""
    upper = [
        -4794432209.782018,
        1956174919465.5657,
        -249248344360967.72,
        9708622510473064.0,
    ]
    lower = [
        499.563147152651,
        173785.4016763747,
        48440965.83399621,
        11185553704.535683,
        2112775201154.892,
        310518229857422.56,
        3.1812195594320496e16,
        1.7108629408104315e18,
    ]
    z = x * x
    y = (z - 5.78318596294678452118) * (z - 30.4712623436620863991) * polynomial(z, upper) / polynomial(z, lower)
    return torch.where(x < 0.00001, 1.0 - z / 4.0, y)


@implements("aten::special_bessel_j0", where=is_real, rows=True)
def j0(self: Tensor) -> Tensor:
    """The Bessel function of the first kind, of order 0."""
    x = real(self)
    size = torch.abs(x)
    far, _ = _far0(torch.clamp(size, min=5.0))
    y = torch.where(size <= 5.0, _near0(torch.clamp(size, max=5.0)), far)
    return y


@implements("aten::special_bessel_y0", where=is_real, rows=True)
def y0(self: Tensor) -> Tensor:
    """The Bessel function of the second kind, of order 0."""
    x = real(self)
    _, far = _far0(torch.clamp(x, min=5.0))
    upper = [
        15592.436785523574,
        -14663929.59039716,
        5435264770.518765,
        -982136065717.9115,
        87590639439536.7,
        -3466283033847297.0,
        4.4273326857256984e16,
        -1.8495080043698668e16,
    ]
    lower = [
        1041.2835366425984,
        626107.330137135,
        268919633.39381415,
        86400248710.3935,
        20297961275010.555,
        3171577528429750.5,
        2.5059625617265306e17,
    ]
    small = torch.clamp(x, max=5.0)
    z = small * small
    rational = polynomial(z, upper) / polynomial(z, lower)
    logarithm = torch.log(small)
    near = rational + 0.6366197723675814 * logarithm * _near0(small)
    return outside(torch.where(x <= 5.0, near, far), x, -math.inf)


def _far1(x: Tensor) -> tuple[Tensor, Tensor]:
    """J1 and Y1 of numbers from 5."""
    upper_p = [
        0.0007621256162081731,
        0.07313970569409176,
        1.1271960812968493,
        5.112079511468076,
        8.424045901417724,
        5.214515986823615,
        1.0,
    ]
    lower_p = [
        0.0005713231280725487,
        0.06884559087544954,
        1.105142326340617,
        5.073863861286015,
        8.399855543276042,
        5.209828486823619,
        1.0,
    ]
    upper_q = [
        0.05108625947501766,
        4.982138729512334,
        75.82382841325453,
        366.7796093601508,
        710.8563049989261,
        597.4896124006136,
        211.68875710057213,
        25.207020585802372,
    ]
    lower_q = [
        74.23732770356752,
        1056.4488603826283,
        4986.410583376536,
        9562.318924047562,
        7997.041604473507,
        2826.1927851763908,
        336.0936078106983,
    ]
    z = (5.0 / x) * (5.0 / x)
    p = polynomial(z, upper_p) / polynomial(z, lower_p)
    q = 5.0 / x * (polynomial(z, upper_q) / polynomial(z, lower_q))
    sine64, cosine64 = sine_and_cosine(wide(x - 2.356194490192345))
    sine, cosine = like(sine64, x), like(cosine64, x)
    scale = 0.7978845608028654 / torch.sqrt(x)
    return (p * cosine - q * sine) * scale, (p * sine + q * cosine) * scale


def _near1(x: Tensor) -> Tensor:
    """J1 of numbers from 0 to 5."""
    upper = [
        -899971225.7055594,
        452228297998.19403,
        -72749424522181.83,
        3682957328638529.0,
    ]
    lower = [
        620.8364781180543,
        256987.25675774884,
        83514679.14319493,
        22151159547.97925,
        4749141220799.914,
        784369607876235.9,
        8.952223361846274e16,
        5.322786203326801e18,
    ]
    z = x * x
    return polynomial(z, upper) / polynomial(z, lower) * x * (z - 14.6819706421238932572) * (z - 49.2184563216946036703)


@implements("aten::special_bessel_j1", where=is_real, rows=True)
def j1(self: Tensor) -> Tensor:
    """The Bessel function of the first kind, of order 1."""
    x = real(self)
    size = torch.abs(x)
    far, _ = _far1(torch.clamp(size, min=5.0))
    y = torch.where(size <= 5.0, _near1(torch.clamp(size, max=5.0)), far)
    return torch.where(x == 0.0, x, torch.where(x < 0.0, -y, y))


@implements("aten::special_bessel_y1", where=is_real, rows=True)
def y1(self: Tensor) -> Tensor:
    """The Bessel function of the second kind, of order 1."""
    x = real(self)
    _, far = _far1(torch.clamp(x, min=5.0))
    upper = [
        1263204747.9017804,
        -647355876379.1603,
        114509511541823.73,
        -8127702555013251.0,
        2.024394757135949e17,
        -7.788771962659501e17,
    ]
    lower = [
        594.3015923461282,
        235564.09294306856,
        73481194.44597217,
        18760131610.870617,
        3882312774962.3857,
        620557727146953.8,
        6.871410873553005e16,
        3.9727060811656064e18,
    ]
    small = torch.clamp(x, max=5.0)
    z = small * small
    rational = polynomial(z, upper) / polynomial(z, lower)
    logarithm = torch.log(small)
    near = small * rational + 0.6366197723675814 * (_near1(small) * logarithm - 1.0 / small)
    return outside(torch.where(x <= 5.0, near, far), x, -math.inf)


@implements("aten::special_spherical_bessel_j0", where=is_real, rows=True)
def spherical_j0(x: Tensor) -> Tensor:
    """sin(x) / x."""
    y = real(x)
    z = y * y
    terms = [
        1.0 / 6227020800.0,
        -1.0 / 39916800.0,
        1.0 / 362880.0,
        -1.0 / 5040.0,
        1.0 / 120.0,
        -1.0 / 6.0,
        1.0,
    ]
    sine, _ = sine_and_cosine(wide(y))
    far = torch.where(torch.isinf(y), 0.0, like(sine, y) / y)
    return torch.where(torch.abs(y) < 0.5, polynomial(z, terms), far)


def _airy_far_below(x: Tensor) -> Tensor:
    """Airy's Ai of numbers up to -2.09."""
    upper_f = [
        -0.1316963234183318,
        -0.6264565444319123,
        -0.6931580360369335,
        -0.2797799815451191,
        -0.04919001326095003,
        -0.004062659235948854,
        -0.0001592764962392621,
        -2.776491081552329e-06,
        -1.6778769848911465e-08,
    ]
    lower_f = [
        13.356042070655324,
        32.682503279522464,
        26.736704094149957,
        9.187074029072596,
        1.4752914677166642,
        0.11568717379518804,
        0.004402916416152112,
        7.547203482874142e-05,
        4.5185009297058035e-07,
    ]
    upper_g = [
        0.01973399320916857,
        0.39110302961568827,
        1.0657989759959559,
        0.9391692298166502,
        0.35146565610554764,
        0.06338889196289255,
        0.005858041130483885,
        0.000282851600836737,
        6.98793669997261e-06,
        8.117892395543892e-08,
        3.415517847659236e-10,
    ]
    lower_g = [
        9.30892908077442,
        19.835292871831214,
        15.564662893286462,
        5.476860694229755,
        0.9542936116189619,
        0.08645808263523921,
        0.004126565238242226,
        0.00010125908511650914,
        1.1716673321441352e-06,
        4.9183457006293e-09,
    ]
    root = like(torch.sqrt(wide(-x)), x)  # rounded right: the phase is many times as large
    z = 1.0 / (-2.0 * x * root / 3.0)
    square = z * z
    f = 1.0 + square * polynomial(square, upper_f) / polynomial(square, lower_f)
    g = z * polynomial(square, upper_g) / polynomial(square, lower_g)
    sine, cosine = sine_and_cosine(wide(-2.0 * x * root / 3.0 + 0.7853981633974483))
    return 0.5641895835477563 / torch.sqrt(root) * (like(sine, x) * f - like(cosine, x) * g)


def _airy_above(x: Tensor) -> Tensor:
    """Airy's Ai of numbers from 2.09."""
    upper = [
        0.346538101525629,
        12.007595273964581,
        76.27960536152345,
        168.08922493463058,
        159.75639135016442,
        70.53609068404442,
        14.026469116338967,
        1.0,
    ]
    lower = [
        0.5675945326387702,
        14.75625625848472,
        84.51389701414746,
        177.31808814540045,
        164.2346928715297,
        71.47784008255756,
        14.095913560783403,
        1.0,
    ]
    root = torch.sqrt(x)
    zeta = 2.0 * x * root / 3.0
    inverse = 1.0 / zeta
    ratio = polynomial(inverse, upper) / polynomial(inverse, lower)
    return 0.5641895835477563 * ratio / (2.0 * torch.sqrt(root) * torch.exp(zeta))


def _airy_near_zero(x: Tensor) -> Tensor:
    """Airy's Ai of numbers between -2.09 and 2.09, by its power series."""
    z = x * x * x
    first, second = torch.ones_like(x), x
    f, g = first, second
    for k in [1.0, 4.0, 7.0, 10.0, 13.0, 16.0, 19.0, 22.0, 25.0, 28.0, 31.0, 34.0, 37.0, 40.0]:
        first = first * z / (k + 1.0) / (k + 2.0)
        second = second * z / (k + 2.0) / (k + 3.0)
        f = f + first
        g = g + second
    return 0.355028053887817239260 * f - 0.258819403792806798405 * g


@implements("aten::special_airy_ai", where=is_real, rows=True)
def airy_ai(x: Tensor) -> Tensor:
    """Airy's function Ai."""
    y = real(x)
    near = _airy_near_zero(torch.clamp(y, -2.09, 2.09))
    below = _airy_far_below(torch.clamp(y, max=-2.0))
    above = _airy_above(torch.clamp(y, 2.0, 103.892))
    result = torch.where(y < -2.09, below, torch.where(y >= 2.09, above, near))
    result = torch.where(y > 103.892, 0.0, result)
    return torch.where(torch.isinf(y), math.nan, torch.where(torch.isnan(y), y, result))
