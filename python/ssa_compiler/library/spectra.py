"""Singular values, eigenvalues of symmetric matrices, and what follows from them and has no signs to choose.

By Hestenes' method: columns of a matrix are turned in pairs until all are orthogonal; all disjoint pairs at once, in
the order of a round robin. Their lengths are the singular values then. Source: Golub and Van Loan, Matrix Computations,
section 8.6 (one-sided Jacobi, parallel ordering).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Optional

import torch
from torch import Tensor
from torch.linalg import LinAlgError  # type: ignore[attr-defined]

from ._functions import like, wide
from ._registry import implements
from .linalg import are_matrices, is_square

__all__: list[str] = []


def _orthogonal(a: Tensor, rows: int) -> Tensor:
    """Turn pairs of columns of float64 matrices [b, m, 2 h] until they are orthogonal in the first rows."""
    h = a.size(2) // 2
    left, right = a[:, :, :h].clone(), a[:, :, h:].clone()
    tiny = 1e-32 * a[:, :rows, :].square().sum([1, 2]).unsqueeze(1)
    sweep = 0
    going = True
    while going:
        largest = torch.zeros([], dtype=torch.float64, device=a.device)
        for _ in range(2 * h - 1):
            x, y = left[:, :rows, :], right[:, :rows, :]
            xx, yy, xy = (x * x).sum(1), (y * y).sum(1), (x * y).sum(1)
            done = torch.logical_or(xy.abs() <= 1e-15 * torch.sqrt(xx * yy), torch.minimum(xx, yy) <= tiny)
            largest = torch.maximum(largest, torch.where(done, 0.0, 1.0).to(torch.float64).amax())
            zeta = (yy - xx) / (2.0 * torch.where(done, 1.0, xy))
            t = torch.where(zeta < 0.0, -1.0, 1.0) / (zeta.abs() + torch.sqrt(1.0 + zeta * zeta))
            t = torch.where(done, 0.0, t)
            c = 1.0 / torch.sqrt(1.0 + t * t)
            s = (c * t).unsqueeze(1)
            c = c.unsqueeze(1)
            turned, other = c * left - s * right, s * left + c * right
            if h > 1:
                left = torch.cat([turned[:, :, :1], other[:, :, :1], turned[:, :, 1 : h - 1]], 2)
                right = torch.cat([other[:, :, 1:], turned[:, :, h - 1 :]], 2)
            else:
                left, right = turned, other
        sweep += 1
        going = bool(largest > 0.0) and sweep < 30
    return torch.cat([left, right], 2)


def _decomposed(a: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Left vectors times values [b, m, k], values [b, k], and right vectors [b, n, k] of float64 matrices [b, m, n].

    There are k of each, in the order of the values, m not being less than n.
    """
    b, m, n = a.size(0), a.size(1), a.size(2)
    identity = torch.eye(n, dtype=a.dtype, device=a.device).unsqueeze(0).expand(b, n, n)
    both = torch.cat([a, identity], 1)
    if n % 2 == 1:
        both = torch.cat([both, torch.zeros([b, m + n, 1], dtype=a.dtype, device=a.device)], 2)
    turned = _orthogonal(both, m)
    lengths = torch.sqrt(turned[:, :m, :].square().sum(1))
    if n % 2 == 1:  # the column of zeros, wherever it is, comes last
        empty = turned[:, m:, :].square().sum(1) < 0.5
        lengths = torch.where(empty, -1.0, lengths)
    order = torch.argsort(lengths, dim=1, descending=True, stable=True)[:, :n]
    turned = turned.gather(2, order.unsqueeze(1).expand(b, m + n, n))
    return turned[:, :m, :], lengths.gather(1, order), turned[:, m:, :]


def _upright(a: Tensor) -> Tensor:
    """Matrices as a batch in float64, transposed if they have more columns than rows."""
    batch = wide(a).reshape([-1, a.size(-2), a.size(-1)])
    return batch if a.size(-2) >= a.size(-1) else batch.mT.contiguous()


def _finite(a: Tensor) -> tuple[Tensor, Tensor]:
    """Which of the matrices [b, m, n] are finite, [b, 1, 1], and zeros instead of those that are not."""
    finite = torch.isfinite(a).reshape([a.size(0), -1]).all(1).reshape([-1, 1, 1])
    return finite, torch.where(finite, a, 0.0)


def _raise_if_nan(a: Tensor) -> None:
    if bool(torch.isnan(a).any()):
        raise LinAlgError(
            "linalg.svd: The algorithm failed to converge because the input matrix contained non-finite values."
        )


def _raise_if_no_number(a: Tensor) -> None:
    """Raise LinAlgError, as eager does, for NaN; LAPACK finds no eigenvalues then, but for some special matrices."""
    if bool(torch.isnan(a).any()):
        raise LinAlgError(
            "linalg.eigh: The algorithm failed to converge because the input matrix is ill-conditioned or has too many "
            "repeated eigenvalues."
        )


def _has_values_only(arguments: Mapping[str, Any]) -> bool:
    return are_matrices({"A": arguments["A"]}) and arguments["compute_uv"] is False and arguments["driver"] is None


@implements("aten::_linalg_svd", where=_has_values_only)
def singular_values(A: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The singular values, the largest first; NaN of infinities."""
    _raise_if_nan(A)
    finite, a = _finite(_upright(A))
    values = torch.where(finite.squeeze(2), _decomposed(a)[1], math.nan)
    nothing = torch.zeros([0], dtype=A.dtype, device=A.device)
    shape = list(A.shape[:-2]) + [values.size(1)]  # noqa: RUF005
    return nothing, like(values, A).reshape(shape), nothing.clone()


def _symmetric(a: Tensor, upper: bool) -> Tensor:
    """Matrices whose one triangle is given, as a batch in float64."""
    batch = wide(a).reshape([-1, a.size(-2), a.size(-1)])
    if upper:
        batch = batch.mT
    return torch.tril(batch) + torch.tril(batch, -1).mT


def _eigen(a: Tensor) -> tuple[Tensor, Tensor]:
    """Eigenvalues, the smallest first, and vectors of symmetric float64 matrices [b, n, n].

    These are singular values of a matrix without negative eigenvalues: with its norm added to the diagonal.
    """
    shift = torch.sqrt(a.square().sum([1, 2])).unsqueeze(1)
    identity = torch.eye(a.size(1), dtype=a.dtype, device=a.device)
    _, values, vectors = _decomposed(a + shift.unsqueeze(2) * identity)
    return (values - shift).flip([1]), vectors.flip([2])


def _has_eigenvalues_only(arguments: Mapping[str, Any]) -> bool:
    return is_square({"A": arguments["A"]}) and arguments["compute_v"] is False


@implements("aten::_linalg_eigh", where=_has_eigenvalues_only)
def eigenvalues(A: Tensor, UPLO: str) -> tuple[Tensor, Tensor]:
    """The eigenvalues of symmetric matrices, the smallest first; NaN of infinities."""
    a = _symmetric(A, UPLO == "U" or UPLO == "u")
    _raise_if_no_number(a)
    finite, a = _finite(a)
    values = torch.where(finite.squeeze(2), _eigen(a)[0], math.nan)
    nothing = torch.zeros([0], dtype=A.dtype, device=A.device)
    return like(values, A).reshape(A.shape[:-1]), nothing


def _has_inverse(arguments: Mapping[str, Any]) -> bool:
    a = arguments["self"]
    if a.dim() < 2 or not isinstance(arguments["hermitian"], bool):
        return False
    for bound in (arguments["atol"], arguments["rtol"]):
        if bound is not None and (not bound.dtype.is_floating_point or tuple(bound.shape) not in ((), a.shape[:-2])):
            return False
    return is_square({"A": a}) if arguments["hermitian"] else are_matrices({"A": a})


@implements("aten::linalg_pinv.atol_rtol_tensor", where=_has_inverse)
def pseudoinverse(
    self: Tensor,
    atol: Optional[Tensor],  # noqa: UP045 - TorchScript
    rtol: Optional[Tensor],  # noqa: UP045
    hermitian: bool,
) -> Tensor:
    """The pseudoinverse, for which values up to a tolerance are 0."""
    m, n = self.size(-2), self.size(-1)
    batch = list(self.shape[:-2])
    a = _symmetric(self, False) if hermitian else _upright(self)
    if hermitian:
        _raise_if_no_number(a)
    else:
        _raise_if_nan(a)
    finite, a = _finite(a)
    eps = 2.220446049250313e-16 if self.dtype == torch.float64 else 1.1920928955078125e-07
    least = torch.zeros(batch, dtype=torch.float64, device=self.device)
    if atol is not None:
        least = least + wide(atol)
    relative = torch.zeros(batch, dtype=torch.float64, device=self.device)
    if rtol is not None:
        relative = relative + wide(rtol)
    elif atol is not None:
        relative = torch.where(least > 0.0, relative, eps * max(m, n))
    else:
        relative = relative + eps * max(m, n)
    if hermitian:
        values, vectors = _eigen(a)
        left, sizes = vectors, values.abs()
    else:
        left, values, vectors = _decomposed(a)
        sizes = values
    bound = torch.maximum(least.reshape([-1, 1]), relative.reshape([-1, 1]) * sizes.amax(1, keepdim=True))
    kept = sizes > bound
    inverse = torch.where(kept, 1.0 / torch.where(kept, values, 1.0), 0.0).unsqueeze(1)
    if not hermitian:  # the left vectors have the lengths of the values
        left = left * inverse
    result = torch.where(finite, torch.matmul(vectors * inverse, left.mT), math.nan)
    if not hermitian and m < n:
        result = result.mT
    return like(result.contiguous(), self).reshape(batch + [n, m])  # noqa: RUF005
