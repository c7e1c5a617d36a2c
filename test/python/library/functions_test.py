"""Special functions of the library: natively, over the whole domain, as eager has them."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from _nightly import with_nightly
from ssa_compiler.testing import check


def gammas(x: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    return torch.lgamma(x), torch.digamma(x), torch.mvlgamma(x.abs() + 1.1, 3), torch.polygamma(0, x)


def derivatives(x: Tensor) -> tuple[Tensor, Tensor]:
    return torch.polygamma(1, x), torch.polygamma(4, x)


def zetas(x: Tensor, q: Tensor) -> Tensor:
    return torch.special.zeta(x, q)


def error_functions(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return torch.erfc(x), torch.special.erfcx(x), torch.special.log_ndtr(x)


def inverses(x: Tensor) -> tuple[Tensor, Tensor]:
    return torch.erfinv(x), torch.special.ndtri(x)


def wide_error_functions(x: Tensor) -> tuple[Tensor, Tensor]:
    return torch.erf(x), torch.special.ndtri(x)


def first_kind(x: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    special = torch.special
    return torch.i0(x), special.i0e(x), special.i1(x), special.i1e(x), special.modified_bessel_i1(x)


def second_kind(x: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    special = torch.special
    return (
        special.modified_bessel_k0(x),
        special.modified_bessel_k1(x),
        special.scaled_modified_bessel_k0(x),
        special.scaled_modified_bessel_k1(x),
    )


def oscillating(x: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:
    special = torch.special
    j0, j1, y0, y1 = special.bessel_j0(x), special.bessel_j1(x), special.bessel_y0(x), special.bessel_y1(x)
    return j0, j1, y0, y1, special.airy_ai(x), special.spherical_bessel_j0(x)


def chebyshev(x: Tensor, n: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    special = torch.special
    return (
        special.chebyshev_polynomial_t(x, n),
        special.chebyshev_polynomial_u(x, n),
        special.chebyshev_polynomial_v(x, n),
        special.chebyshev_polynomial_w(x, n),
    )


def shifted(x: Tensor, n: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    special = torch.special
    return (
        special.shifted_chebyshev_polynomial_t(x, n),
        special.shifted_chebyshev_polynomial_u(x, n),
        special.shifted_chebyshev_polynomial_v(x, n),
        special.shifted_chebyshev_polynomial_w(x, n),
    )


def others(x: Tensor, n: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    special = torch.special
    return (
        special.hermite_polynomial_h(x, n),
        special.hermite_polynomial_he(x, n),
        special.laguerre_polynomial_l(x, n),
        special.legendre_polynomial_p(x, n),
    )


def in_place(x: Tensor) -> Tensor:
    y = x.clone()
    y[0].polygamma_(1)
    y[1].lgamma_()
    y[2].digamma_().add_(1)
    y[3].i0_()
    y[4].erfinv_()
    y[5].erfc_()
    return y


_CORNERS = [0.0, -0.0, 1.0, 2.0, -1.0, -2.0, -3.0, math.inf, -math.inf, math.nan, 1e-30, -1e-30, 0.5, -0.5, 9.0, 10.0]
_NUMBERS = torch.cat(
    [
        torch.tensor([*_CORNERS, 1e5, -1e5, 3e37, 5.0, 8.0, 2.09, -2.09, 104.0]),
        torch.linspace(-12, 12, 481),
        torch.linspace(-200.3, 300, 333),
        torch.linspace(-1, 1, 400),
    ]
)
_DEGREES = torch.cat([torch.arange(300) % 13 - 1, torch.arange(30)]).float()
_POINTS = torch.cat([torch.tensor([0.0, 1.0, -1.0, math.inf]), torch.linspace(-3, 3, 326)])


@pytest.mark.parametrize("dtype", with_nightly([torch.float32], [torch.float64]))
@pytest.mark.parametrize("program", [gammas, derivatives, error_functions, first_kind, second_kind, oscillating])
@pytest.mark.slow
def test_function(program: Any, dtype: torch.dtype) -> None:
    x = _NUMBERS.to(dtype)
    checked = check(program, (x,), (x.flip(0),), rtol=1.3e-6 if dtype == torch.float32 else 1e-7, atol=1e-5)
    assert checked.compiled.explain().callbacks == ()


@pytest.mark.slow
def test_inverses() -> None:
    x = torch.cat(
        [torch.linspace(-0.999, 0.999, 801), torch.tensor([1.0, -1.0, 1.5, -2.0, math.nan, math.inf, 0.0, 1e-9])]
    )
    checked = check(inverses, (x,), rtol=1.3e-6, atol=1e-5)
    assert checked.compiled.explain().callbacks == ()


def test_float64() -> None:
    checked = check(wide_error_functions, (_NUMBERS.double(),), rtol=1e-7, atol=1e-7)
    assert checked.compiled.explain().callbacks == ()


@pytest.mark.slow
def test_zeta() -> None:
    x = _NUMBERS.abs().flip(0) * 0.3 + 1
    checked = check(zetas, (x, _NUMBERS), (x.round(), _NUMBERS), (_NUMBERS, x), rtol=1.3e-6, atol=1e-5)
    assert checked.compiled.explain().callbacks == ()


def zeta_of_one(x: Tensor, q: Tensor) -> tuple[Tensor, Tensor]:
    return torch.special.zeta(x, q), torch.polygamma(3, q)


def test_zeta_keeps_its_series_as_loops() -> None:
    """Written out they take IREE a minute, and those of single numbers five."""
    one, two = torch.tensor(2.5), torch.tensor(0.75)
    checked = check(zeta_of_one, (one, two), (two + 1, one), (one, two * 20), rtol=1.3e-6, atol=1e-5)
    assert checked.loops() == 6


@pytest.mark.slow
@pytest.mark.parametrize("program", [chebyshev, shifted, others])
def test_polynomials(program: Any) -> None:
    n = _DEGREES[: len(_POINTS)]
    two = torch.full_like(_POINTS, 2)
    sets = [(_POINTS, n), (_POINTS, n + 0.4), (_POINTS, two), (_POINTS, torch.full_like(_POINTS, -math.inf))]
    checked = check(program, *sets, rtol=5e-6, atol=1e-5)
    assert checked.compiled.explain().callbacks == ()


@pytest.mark.slow
def test_in_place() -> None:
    torch.manual_seed(0)
    checked = check(in_place, (torch.rand(6, 5),), (torch.rand(6, 5) - 0.5,))
    assert checked.compiled.explain().callbacks == ()


def polygamma_of_a_number(x: Tensor) -> Tensor:
    return torch.polygamma(2, x)


def test_of_tensors_without_dimensions() -> None:
    check(polygamma_of_a_number, (torch.tensor(1.5),), (torch.tensor(0.25),), compiled=False, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("affine", [True, False])
def test_batch_statistics_averaged_over_all_batches(affine: bool) -> None:
    """With `momentum=None` the factor is one over a buffer that counts."""
    model = nn.Sequential(nn.BatchNorm2d(3, momentum=None, affine=affine)).train()
    check(model, *[(torch.randn(4, 3, 2, 2, generator=torch.Generator().manual_seed(n)),) for n in range(3)])


def of_one(x: Tensor) -> Tensor:
    return torch.special.bessel_j0(x)


def test_bessel_functions_of_one_number() -> None:
    """They are rows of one element to the library."""
    checked = check(of_one, (torch.tensor(2.5),), (torch.tensor(0.0),), (torch.tensor(-math.inf),))
    assert checked.compiled.explain().callbacks == ()
