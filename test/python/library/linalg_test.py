"""Linear algebra and reducing writes of the library: natively, as eager has them, errors included."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import Tensor

from ssa_compiler.testing import check


def factors(a: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    lu, pivots, info = torch.linalg.lu_factor_ex(a)
    p, lower, upper = torch.lu_unpack(lu, pivots)
    return lu, pivots, p, lower @ upper, info


def determinants(a: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    sign, logarithm = torch.linalg.slogdet(a)
    return torch.linalg.det(a), sign, logarithm, torch.logdet(a)


def systems(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    upper = torch.linalg.solve_triangular(a, b, upper=True)
    lower = torch.linalg.solve_triangular(a, b.mT, upper=False, left=False, unitriangular=True)
    return torch.linalg.solve(a, b), torch.linalg.solve(a, b.select(-1, 0)), upper, lower


def inverse(a: Tensor) -> Tensor:
    return torch.linalg.inv(a)


def positive(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    lower, upper = torch.linalg.cholesky(a), torch.linalg.cholesky(a, upper=True)
    return upper, torch.cholesky_solve(b, lower), torch.cholesky_inverse(upper, upper=True)


def partial_factors(a: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """What PyTorch defines of factors of matrices of which the third leading minor is not positive."""
    lower, info = torch.linalg.cholesky_ex(a)
    upper = torch.linalg.cholesky_ex(a, upper=True).L
    return info, lower.triu(1) + upper.tril(-1), lower[..., :2] - upper[..., :2, :].mT


def reflections(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    work, factors = torch.geqrf(a)
    q, r = torch.linalg.qr(a, mode="complete")
    turned = torch.ormqr(work, factors, b.mT.contiguous(), left=False, transpose=True)
    return torch.ormqr(work, factors, b), turned, torch.linalg.householder_product(work, factors), q, r


def reflected(a: Tensor, factors: Tensor) -> Tensor:
    return torch.linalg.householder_product(a, factors)


def eigenvalues(a: Tensor) -> Tensor:
    return torch.linalg.eigvals(a).abs().amax()


def spectra(a: Tensor) -> tuple[Tensor, Tensor]:
    return torch.linalg.pinv(a.mT), torch.linalg.eigvalsh(a[:, :3], UPLO="U")


def covariances(x: Tensor, counts: Tensor, weights: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    weighed = torch.cov(x, correction=0, fweights=counts, aweights=weights)
    return torch.cov(x), torch.corrcoef(x), weighed, torch.corrcoef(x[0])


def reduced(x: Tensor, i: Tensor, s: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    y = x.clone()
    y.index_reduce_(0, i, s, "mean")
    return (
        y,
        torch.index_reduce(x, 0, i, s, "prod"),
        torch.index_reduce(x.t(), 1, i, s.t(), "amax"),
        torch.index_reduce(x, 0, i, s, "amin", include_self=False),
        torch.index_reduce(x, 0, i, s, "mean", include_self=False),
    )


def segments(x: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    offsets = torch.cat([lengths.new_zeros([1]), lengths.cumsum(0)])
    return (
        torch.segment_reduce(x, "mean", lengths=lengths),
        torch.segment_reduce(x, "max", lengths=lengths, initial=1.0),
        torch.segment_reduce(x, "prod", offsets=offsets),
    )


def stored(x: Tensor, y: Tensor, i: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    strided = torch.as_strided_scatter(x, y, [4], [3], 1)
    added = torch.scatter(x, 1, i, 2.5, reduce="multiply")
    return torch.diagonal_scatter(x, y, 1), strided, added, torch.put(x, i[:0], x[:0])


def put(x: Tensor, i: Tensor, s: Tensor) -> tuple[Tensor, Tensor]:
    return torch.put(x, i, s), torch.put(x, i, s, accumulate=True)


def _native(program: Any, *sets: Any) -> Any:
    checked = check(program, *sets, rtol=1e-3, atol=1e-4)
    assert checked.compiled.explain().callbacks == ()
    return checked


_A = torch.randn(2, 4, 4, generator=torch.Generator().manual_seed(0))
_B = torch.randn(2, 4, 3, generator=torch.Generator().manual_seed(1))
_POSITIVE = _A @ _A.mT + torch.eye(4)


def test_factors() -> None:
    exchanged = torch.eye(4).flip(0).repeat(2, 1, 1)
    _native(factors, (_A,), (exchanged,), (torch.zeros_like(_A),), (_A.round(),))


def test_factors_of_a_rectangle() -> None:
    _native(factors, (_A[:, :3].contiguous(),), (-_A[:, :3].contiguous(),))


@pytest.mark.slow
def test_determinants() -> None:
    exchanged = torch.eye(4)[[1, 0, 2, 3]].repeat(2, 1, 1)
    _native(determinants, (_A,), (exchanged,), (torch.zeros_like(_A),), (_A.mT.contiguous(),))


@pytest.mark.slow
def test_systems() -> None:
    _native(systems, (_A, _B), (_A.mT.contiguous(), _B))


def test_singular_matrix_raises() -> None:
    checked = _native(inverse, (_A,), (torch.ones_like(_A),), (_POSITIVE,))
    assert isinstance(checked.errors[1], RuntimeError)


@pytest.mark.slow
def test_positive_definite() -> None:
    checked = _native(positive, (_POSITIVE, _B), (-_POSITIVE, _B))
    assert isinstance(checked.errors[1], RuntimeError)


def test_not_positive_definite() -> None:
    indefinite = torch.tensor([[2.0, 1.0, 2.0], [1.0, 6.0, 5.0], [2.0, 5.0, 0.0]])
    zero, missing = indefinite.clone(), indefinite.clone()
    zero[2], zero[:, 2], missing[2, 2] = 0.0, 0.0, math.nan
    positive = torch.eye(3)
    _native(partial_factors, *((torch.stack([each, positive]),) for each in (indefinite, zero, missing)))


def test_index_reduce() -> None:
    x, s = torch.randn(5, 4), torch.randn(6, 4)
    x[0, 1], s[1, 2], s[2, 2] = math.nan, math.nan, math.inf
    i = torch.tensor([0, 4, 2, 0, 0, 2])
    checked = _native(reduced, (x, i, s), (x, torch.tensor([0, 4, 5, 0, 0, 2]), s), (x, i.flip(0), s))
    assert isinstance(checked.errors[1], IndexError)


def test_put() -> None:
    x, i = torch.randn(3, 4), torch.tensor([[1, -1], [3, 1]])
    checked = _native(put, (x, i, torch.randn(2, 2)), (x, i + 20, torch.randn(2, 2)))
    assert isinstance(checked.errors[1], IndexError)


@pytest.mark.parametrize("left", [True, False])
def test_one_system(left: bool) -> None:
    def program(a: Tensor, b: Tensor) -> Tensor:
        return torch.linalg.solve(a, b, left=True)

    def from_the_right(a: Tensor, b: Tensor) -> Tensor:
        return torch.linalg.solve(a, b, left=False)

    b = _B if left else _B.mT.contiguous()
    _native(program if left else from_the_right, (_A, b), (_POSITIVE, b))


@pytest.mark.slow
def test_reflections() -> None:
    """Of several matrices: with a column that is zero below the diagonal, and one that is zero."""
    a = torch.randn(2, 4, 3, generator=torch.Generator().manual_seed(2))
    special = a.clone()
    special[0, 1:, 0], special[1, :, 1] = 0.0, 0.0
    _native(reflections, (a, torch.randn(2, 4, 2)), (special, torch.randn(2, 4, 2)))


def test_products_of_reflections_see_no_nan_that_they_do_not_use() -> None:
    sets = [(torch.randn(4, 3), torch.rand(3))]
    for row, column in ((0, 1), (3, 0), (3, 1), (2, 2)):
        a = sets[0][0].clone()
        a[row, column] = math.nan
        sets.append((a, sets[0][1]))
    sets += [(sets[0][0], torch.tensor(values)) for values in ((0.5, math.nan, 0.5), (0.5, 0.5, 0.0))]
    check(reflected, *sets, compiled=False)


def test_eigenvalues_of_infinities() -> None:
    """FakeTensors ask for vectors, too, for which infinities raise."""
    a = torch.eye(3)
    infinite = a.clone()
    infinite[0, 0] = math.inf
    check(eigenvalues, (a,), (infinite,), compiled=False)


@pytest.mark.slow
def test_spectra() -> None:
    """Of several matrices: singular, without numbers, with infinities; NaN raises."""
    a = torch.randn(2, 4, 3, generator=torch.Generator().manual_seed(3))
    singular, infinite, missing = a.clone(), a.clone(), a.clone()
    singular[0, :, 2], infinite[1, 3, 0], missing[0, 0, 1] = singular[0, :, 0] * 2.0, math.inf, math.nan
    checked = _native(spectra, (a,), (singular,), (torch.zeros_like(a),), (infinite,), (missing,))
    assert isinstance(checked.errors[4], RuntimeError)


def test_covariances() -> None:
    x, counts, weights = torch.randn(3, 5), torch.tensor([1, 0, 2, 1, 1]), torch.rand(5)
    missing = torch.where(x > 1.0, math.nan, x)
    sets = [(x, counts, weights), (missing, counts, weights), (x, counts - 1, weights), (x, counts * 0, weights)]
    checked = _native(covariances, *sets)
    assert [type(error) for error in checked.errors[:2]] == [type(None)] * 2
    assert all(isinstance(error, RuntimeError) for error in checked.errors[2:])


def test_segments() -> None:
    x = torch.randn(6, 2)
    x[1, 0], x[2, 1] = math.nan, math.inf
    _native(segments, (x, torch.tensor([2, 0, 3, 1])), (x, torch.tensor([6, 0, 0, 0])), (x, torch.tensor([1, 1, 1, 1])))


def test_stored() -> None:
    x, i = torch.randn(5, 5), torch.tensor([[0, 3, 3], [1, 1, 1]])
    checked = _native(stored, (x, torch.randn(4), i), (x, torch.randn(4), i + 4))
    assert isinstance(checked.errors[1], RuntimeError)
