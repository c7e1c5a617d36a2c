"""Householder's reflections, as LAPACK has them: QR factors, and products with what they stand for.

Matrices come in batches [b, m, n]. All is computed in float64: elements that cancel have no digits in common with
eager's otherwise. Source: LAPACK Users' Guide, elementary reflectors (geqrf, orgqr, ormqr, larfg).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from ._functions import like, wide
from ._registry import implements
from .linalg import are_matrices

__all__ = ["factor", "product"]


def _are_matrices(arguments: Mapping[str, Any]) -> bool:
    tensors = [value for value in arguments.values() if isinstance(value, torch.Tensor)]
    alike = len({tensor.dtype for tensor in tensors}) == 1
    return alike and tensors[0].dim() >= 2 and are_matrices(arguments)


def factor(a: Tensor) -> tuple[Tensor, Tensor]:
    """Factor float64 matrices [b, m, n].

    Returns:
        R with the reflections below its diagonal, whose first element is 1; and their factors [b, min(m, n)].
    """
    b, m, n = a.size(0), a.size(1), a.size(2)
    k_max = min(m, n)
    rows = torch.arange(m, device=a.device).unsqueeze(0)
    columns = torch.arange(n, device=a.device).unsqueeze(0)
    work = a.clone()
    factors = torch.zeros([b, k_max], dtype=a.dtype, device=a.device)
    for k in range(k_max):
        column = work[:, :, k].clone()
        head = work[:, k, k].clone()
        below = torch.where(rows > k, column, 0.0)
        scale = below.abs().amax(1)
        scale = torch.where(scale == 0.0, 1.0, scale)
        length = scale * torch.sqrt((below / scale.unsqueeze(1)).square().sum(1))
        larger = torch.maximum(head.abs(), length)
        divisor = torch.where(larger == 0.0, 1.0, larger)
        norm = larger * torch.sqrt((head / divisor).square() + (length / divisor).square())
        pivot = torch.where(head < 0.0, norm, -norm)
        plain = length == 0.0  # nothing is to be reflected
        pivot = torch.where(plain, head, pivot)
        tau = torch.where(plain, 0.0, (pivot - head) / torch.where(plain, 1.0, pivot))
        vector = below / torch.where(plain, 1.0, head - pivot).unsqueeze(1)
        vector = torch.where(rows == k, 1.0, vector)
        part = (vector.unsqueeze(2) * work).sum(1) * tau.unsqueeze(1)
        changes = torch.logical_and((rows >= k).unsqueeze(2), (columns > k).unsqueeze(1))
        work = torch.where(changes, work - vector.unsqueeze(2) * part.unsqueeze(1), work)
        work[:, :, k] = torch.where(rows == k, pivot.unsqueeze(1), torch.where(rows > k, vector, column))
        factors[:, k] = tau
    return work, factors


def product(a: Tensor, factors: Tensor, c: Tensor, transposed: bool) -> Tensor:
    """Multiply float64 matrices [b, m, l] by the product of reflections, or its transpose, from the left.

    Args:
        a: the reflections, below the diagonal: [b, m, n].
        factors: their factors [b, k].
        c: what is multiplied.
        transposed: whether by the transpose.
    """
    rows = torch.arange(a.size(1), device=a.device).unsqueeze(0)
    columns = torch.arange(c.size(2), device=a.device).unsqueeze(0)
    result = c.clone()
    count = factors.size(1)
    for i in range(count):
        k = i if transposed else count - 1 - i
        result = _reflected(result, a[:, :, k], factors[:, k], rows >= k, rows == k, columns >= 0, columns < 0)
    return result


def _columns_of_product(a: Tensor, factors: Tensor) -> Tensor:
    """Return as many columns of the product of float64 reflections as `a` has.

    Each column of the identity is multiplied by those reflections alone that change it, as in LAPACK's org2r: NaN in
    the others is not seen.
    """
    rows = torch.arange(a.size(1), device=a.device).unsqueeze(0)
    columns = torch.arange(a.size(2), device=a.device).unsqueeze(0)
    result = torch.eye(a.size(1), a.size(2), dtype=torch.float64, device=a.device)
    result = result.unsqueeze(0).expand(a.size(0), a.size(1), a.size(2)).contiguous()
    count = factors.size(1)
    for i in range(count):
        k = count - 1 - i
        result = _reflected(result, a[:, :, k], factors[:, k], rows >= k, rows == k, columns >= k, columns == k)
    return result


def _reflected(
    c: Tensor, vector: Tensor, factor: Tensor, rows: Tensor, first: Tensor, columns: Tensor, units: Tensor
) -> Tensor:
    """Multiply matrices [b, m, l] by a reflection each from the left, in some of their columns.

    Args:
        c: the matrices.
        vector: what it reflects along, [b, m]: 1 in its first row, whatever stands there.
        factor: [b]; nothing is reflected where it is 0.
        rows: which rows the vector has, [1, m]; the others are neither read nor changed.
        first: the first of them, [1, m].
        columns: which columns are reflected, [1, l].
        units: which of them are 1 in the vector's first row, and else 0, [1, l].
    """
    vector = torch.where(first, 1.0, vector).unsqueeze(2)
    part = torch.where(rows.unsqueeze(2), vector * c, 0.0).sum(1) * factor.unsqueeze(1)
    part = torch.where(units, factor.unsqueeze(1), part)
    changes = torch.logical_and(rows.unsqueeze(2), columns.unsqueeze(1))
    changes = torch.logical_and(changes, (factor != 0.0).unsqueeze(1).unsqueeze(2))
    return torch.where(changes, c - vector * part.unsqueeze(1), c)


def _batch(a: Tensor) -> Tensor:
    return wide(a).reshape([-1, a.size(-2), a.size(-1)])


def _identity(rows: int, columns: int, b: int, x: Tensor) -> Tensor:
    eye = torch.eye(rows, columns, dtype=torch.float64, device=x.device)
    return eye.unsqueeze(0).expand(b, rows, columns).contiguous()


@implements("aten::geqrf", where=_are_matrices)
def geqrf(self: Tensor) -> tuple[Tensor, Tensor]:
    """R and the reflections in one matrix, and the factors of the reflections."""
    work, factors = factor(_batch(self))
    batch = list(self.shape[:-2])
    return like(work, self).reshape(self.shape), like(factors, self).reshape(batch + [factors.size(1)])  # noqa: RUF005


@implements("aten::linalg_qr", where=_are_matrices)
def linalg_qr(A: Tensor, mode: str) -> tuple[Tensor, Tensor]:
    """An orthogonal and an upper triangular matrix; of the former what the mode asks for."""
    m, n = A.size(-2), A.size(-1)
    work, factors = factor(_batch(A))
    batch = list(A.shape[:-2])
    k = m if mode == "complete" else min(m, n)
    upper = like(torch.triu(work[:, :k, :]), A).reshape(batch + [k, n])  # noqa: RUF005
    if mode == "r":
        return torch.zeros([0], dtype=A.dtype, device=A.device), upper
    q = product(work, factors, _identity(m, k, work.size(0), A), False)
    return like(q, A).reshape(batch + [m, k]), upper  # noqa: RUF005


def _are_reflections(arguments: Mapping[str, Any]) -> bool:
    a, tau = arguments["input"], arguments["tau"]
    fits = a.dim() >= 2 and a.shape[:-2] == tau.shape[:-1]
    return fits and _are_matrices(arguments) and a.shape[-2] >= a.shape[-1] >= tau.shape[-1]


@implements("aten::linalg_householder_product", where=_are_reflections)
def linalg_householder_product(input: Tensor, tau: Tensor) -> Tensor:
    """The first columns of the product of reflections."""
    a = _batch(input)
    q = _columns_of_product(a, wide(tau).reshape([-1, tau.size(-1)]))
    return like(q, input).reshape(input.shape)


def _has_none(arguments: Mapping[str, Any]) -> bool:
    a, tau = arguments["input"], arguments["tau"]
    fits = a.dim() == 2 and tuple(tau.shape) == (0,) and a.dtype == tau.dtype
    return fits and are_matrices({"A": a}) and a.shape[0] >= a.shape[1]


@implements("aten::linalg_householder_product", where=_has_none)
def product_of_none(input: Tensor) -> Tensor:
    """The first columns of the identity."""
    return torch.eye(input.size(0), input.size(1), dtype=input.dtype, device=input.device)


def _multiply(arguments: Mapping[str, Any]) -> bool:
    a, tau, c = (arguments[name] for name in ("self", "input2", "input3"))
    if not _are_matrices(arguments) or not a.dim() == c.dim() == tau.dim() + 1 or a.dim() < 2:
        return False
    if not isinstance(arguments["left"], bool) or not isinstance(arguments["transpose"], bool):
        return False
    size = c.shape[-2] if arguments["left"] else c.shape[-1]
    same = a.shape[:-2] == c.shape[:-2] == tau.shape[:-1]
    return same and size == a.shape[-2] and a.shape[-2] >= a.shape[-1] >= tau.shape[-1]


@implements("aten::ormqr", where=_multiply)
def ormqr(self: Tensor, input2: Tensor, input3: Tensor, left: bool, transpose: bool) -> Tensor:
    """Matrices times the product of reflections, from the left or the right."""
    a, factors = _batch(self), wide(input2).reshape([-1, input2.size(-1)])
    if left:
        return like(product(a, factors, _batch(input3), transpose), input3).reshape(input3.shape)
    turned = product(a, factors, _batch(input3).mT.contiguous(), not transpose)
    return like(turned.mT.contiguous(), input3).reshape(input3.shape)
