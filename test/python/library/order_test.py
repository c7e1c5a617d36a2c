"""Elementwise ops on floating-point numbers, and what sorting decides: natively, with ties, NaN and infinities."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import Tensor

from _nightly import with_nightly
from ssa_compiler.testing import check


def floats(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    return torch.hypot(x, y), torch.nextafter(x, y), torch.copysign(x, -2.0), torch.copysign(x, 0.0), torch.angle(x)


def of_one(x: Tensor) -> tuple[Tensor, Tensor]:
    return torch.softmax(x, 0), torch.log_softmax(x, -1)


def medians(x: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    values, places = torch.median(x, 1)
    others, _ = torch.nanmedian(x, 0, keepdim=True)
    return values, x.gather(1, places.unsqueeze(1)), others, torch.median(x), torch.nanmedian(x)


def kth(x: Tensor) -> tuple[Tensor, Tensor]:
    values, places = torch.kthvalue(x, 2, 1, keepdim=True)
    return values, x.gather(1, places)


def running(x: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    a, i = torch.cummax(x, 1)
    b, j = torch.cummin(x, 0)
    return a, i, b, j


def found(rows: Tensor, x: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    left, right = torch.searchsorted(rows, x), torch.searchsorted(rows, x, right=True, out_int32=True)
    return left, right, torch.isin(x, rows[0]), torch.count_nonzero(x, dim=0)


def distances(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return torch.cdist(x, y), torch.cdist(x, y, p=1.0), torch.cdist(x, y, p=0.0)


def _native(program: Any, *sets: Any) -> None:
    checked = check(program, *sets)
    assert checked.compiled.explain().callbacks == ()


_NUMBERS = [0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan, 3e38, 1e-30, 1.5, -2.5, 1e30, 1e-40, -3e-42, 1e-45]
_TIES = [[1.0, 2.0, 2.0, math.nan, 5.0, math.nan, 1.0], [-math.inf, 3.0, 1.0, 3.0, 3.0, 2.0, math.inf]]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_floats(dtype: torch.dtype) -> None:
    x = torch.tensor(_NUMBERS, dtype=dtype)
    _native(floats, (x[:, None].contiguous(), x[None]))


def test_softmax_of_one() -> None:
    _native(of_one, (torch.tensor(2.0),), (torch.tensor(math.inf),), (torch.tensor(math.nan),))


@pytest.mark.parametrize("program", [medians, kth, running])
def test_order(program: Any) -> None:
    x = torch.randn(2, 7)
    _native(program, (torch.tensor(_TIES),), (x,), (x.round(),), (torch.full((2, 7), math.nan),))


def test_found() -> None:
    rows = torch.randn(3, 9).sort(1)[0]
    x = torch.randn(3, 5)
    x[0, 0], x[1, 1], x[2, 2], x[2, 3] = rows[0, 3], math.nan, math.inf, 0.0
    rows_with_nan = rows.clone()
    rows_with_nan[1, 7:] = math.nan
    _native(found, (rows, x), (rows_with_nan, x), (rows.round(), x.round()))


def test_distances() -> None:
    x, y = torch.randn(2, 5, 3), torch.randn(4, 3)
    x[0, 0], x[1, 1, 1] = y[1], math.nan
    _native(distances, (x, y), (x.round(), y.round()))


def farthest(x: Tensor, n: int) -> Tensor:
    centers = [x[0]]
    while len(centers) < n:
        centers.append(x[int(torch.cdist(x, torch.stack(centers)).min(1).values.argmax())])
    return torch.stack(centers)


def test_distances_of_a_dynamic_number_of_points() -> None:
    """Eager takes a matrix product for more than 25."""
    x = torch.randn(12, 3)
    check(farthest, *((x, n) for n in (3, 0, 1, 27)))


def of_no_dimensions(x: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:
    values, places = torch.cummax(x, 0)
    smallest, _ = torch.kthvalue(x, 1, 0, True)
    return values, places, smallest, torch.nanmedian(x), torch.softmax(x, 0, dtype=torch.float64), torch.median(x)


def test_tensors_without_dimensions() -> None:
    _native(of_no_dimensions, (torch.tensor(2.5),), (torch.tensor(math.nan),))


def quantiles(x: Tensor, q: Tensor) -> list[Tensor]:
    middle = torch.nanquantile(x, 0.5, 0, True)
    return [torch.quantile(x, q), torch.quantile(x, q, interpolation="nearest"), torch.nanquantile(x, q), middle]


def test_quantiles_of_infinities_and_nan() -> None:
    inf, nan = math.inf, math.nan
    rows = (
        [1.0, 3.0, 2.0, 0.5],
        [-inf, 4.0, 6.0, 7.0],
        [1.0, inf, inf, 2.0],
        [1.0, nan, 2.0, 3.0],
        [-inf, inf, 3.0, inf],
    )
    inputs = [(torch.tensor(row), torch.tensor(q)) for row in rows for q in ([0.0, 1.0], [0.2, 0.3], [0.5, 0.9])]
    wrong = [(torch.tensor(row), torch.tensor([q, 0.5])) for row in (rows[0], rows[3]) for q in (-0.1, 1.1, nan)]
    found = check(quantiles, *inputs, *wrong)
    assert [type(error) for error in found.errors] == [type(None)] * len(inputs) + [RuntimeError] * len(wrong)


def close(x: Tensor, relative: float, absolute: float):  # type: ignore[no-untyped-def]
    return torch.isclose(x, x + 1, relative, absolute), torch.allclose(x, x + 1, relative, absolute)


def test_tolerances_that_are_negative() -> None:
    x = torch.tensor([1.0, -2.0])
    check(close, (x, 0.5, 0.5), (x, 0.0, 0.0), (x, -0.5, 1.0), (x, 1.0, -0.5), (x, math.nan, 1.0), (x, 1.0, math.nan))


def counted(x: Tensor) -> list[Tensor]:
    counts, edges = torch.histogram(x, 4, density=True)
    found = [counts, edges, torch.histogram(x, 3, range=[-1.0, 2.0], weight=x)[0], torch.histc(x, 5)]
    found += [torch.histc(x, 4, -1, 1), torch.nonzero_static(x, size=9), torch.mode(x, 1, True)[0]]
    return found


def test_counted() -> None:
    """Elements at the edges of bins count for the next one, the last for the last; equal ones, and NaN that raises."""
    x = torch.tensor([[-1.0, 0.0, 0.5, 1.0], [2.0, 0.0, -1.0, 1.0]])
    checked = check(counted, (x,), (torch.randn(2, 4),), (x * 0.0 + 3.0,), (x / 0.0,))
    assert checked.compiled.explain().callbacks == ()
    assert [type(error) for error in checked.errors[:3]] == [type(None)] * 3
    assert isinstance(checked.errors[3], RuntimeError)


def parts(x: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    mantissa, exponent = torch.frexp(x)
    return mantissa, exponent, torch.signbit(x), torch.cumprod(x, 0)


@pytest.mark.parametrize("dtype", with_nightly([torch.float32], [torch.float64]))
def test_parts(dtype: torch.dtype) -> None:
    _native(parts, (torch.tensor(_NUMBERS, dtype=dtype),), (torch.linspace(-2.0, 2.0, 15, dtype=dtype),))
