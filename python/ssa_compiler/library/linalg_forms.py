"""Other forms of the ops of `linalg`: results with a code instead of an error, old names, systems of tensors."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Optional

import torch
from torch import Tensor

from ._registry import implements
from .linalg import (
    are_matrices,
    factored,
    is_square,
    linalg_inv,
    linalg_solve,
    lu_factor,
    lu_substitute,
    order_of,
    solve_any,
    solve_lower,
    solve_upper,
    triangular,
)

__all__: list[str] = []


def _without_check(arguments: Mapping[str, Any]) -> bool:
    return is_square(arguments) and arguments["check_errors"] is False


@implements("aten::linalg_cholesky_ex", where=_without_check)
def linalg_cholesky_ex(self: Tensor, upper: bool) -> tuple[Tensor, Tensor]:
    """Cholesky's factor, and which leading minor is not positive."""
    return factored(self, upper)


@implements("aten::linalg_inv_ex", where=_without_check)
def linalg_inv_ex(A: Tensor) -> tuple[Tensor, Tensor]:
    """The inverse, and which pivot is 0."""
    n = A.size(-1)
    lu, pivots, info = lu_factor(A.reshape([-1, n, n]))
    identity = torch.eye(n, dtype=A.dtype, device=A.device).expand([lu.size(0), n, n]).contiguous()
    return lu_substitute(lu, pivots, identity).reshape(A.shape), info.reshape(A.shape[:-2])


def _is_system(arguments: Mapping[str, Any]) -> bool:
    return _without_check(arguments) and are_matrices({"A": arguments["A"], "B": arguments["B"]})


@implements("aten::linalg_solve_ex", where=_is_system)
def linalg_solve_ex(A: Tensor, B: Tensor, left: bool) -> tuple[Tensor, Tensor]:
    """The solution of a system, and which pivot is 0."""
    x, info = solve_any(A, B, left)
    return x, info.reshape(A.shape[:-2])


def _is_triangular(arguments: Mapping[str, Any]) -> bool:
    a, b = arguments["A"], arguments["self"]
    return (
        is_square({"A": a}) and are_matrices({"A": a, "B": b}) and a.dim() == b.dim() and a.shape[:-2] == b.shape[:-2]
    )


@implements("aten::triangular_solve", where=_is_triangular)
def triangular_solve(
    self: Tensor, A: Tensor, upper: bool, transpose: bool, unitriangular: bool
) -> tuple[Tensor, Tensor]:
    """The solution of a triangular system, and the matrix."""
    if transpose:
        return triangular(A.mT, self, not upper, True, unitriangular), A.clone()
    return triangular(A, self, upper, True, unitriangular), A.clone()


def _lu_solve(lu: Tensor, pivots: Tensor, b: Tensor, adjoint: bool) -> Tensor:
    if not adjoint:
        return lu_substitute(lu, pivots, b)
    x = solve_upper(lu.mT, solve_lower(lu.mT, b, False), True)
    order = order_of(pivots, lu.size(1))
    inverse = torch.zeros_like(order).scatter(1, order, torch.arange(lu.size(1), device=b.device).expand_as(order))
    return x.gather(1, inverse.unsqueeze(2).expand(b.size(0), b.size(1), b.size(2)))


def _is_factored(arguments: Mapping[str, Any]) -> bool:
    lu, pivots, b = arguments["LU"], arguments["pivots"], arguments["B"]
    alike = lu.dim() >= 2 and lu.dim() == b.dim() and lu.shape[:-2] == b.shape[:-2] == pivots.shape[:-1]
    return alike and pivots.dtype == torch.int32 and is_square({"A": lu}) and are_matrices({"A": lu, "B": b})


@implements("aten::linalg_lu_solve", where=_is_factored)
def linalg_lu_solve(LU: Tensor, pivots: Tensor, B: Tensor, left: bool, adjoint: bool) -> Tensor:
    """The solution of a system whose matrix is factored."""
    n = LU.size(-1)
    lu, exchanges = LU.reshape([-1, n, n]), pivots.reshape([-1, n])
    if bool(torch.logical_or(exchanges < 1, exchanges > n).any()):
        raise RuntimeError("Pivots given to lu_solve must all be greater or equal to 1 and at most the number of rows.")
    if left:
        return _lu_solve(lu, exchanges, B.reshape([-1, n, B.size(-1)]), adjoint).reshape(B.shape)
    turned = B.mT
    return (
        _lu_solve(lu, exchanges, turned.reshape([-1, n, B.size(-2)]), not adjoint).reshape(turned.shape).mT.contiguous()
    )


def _was_factored(arguments: Mapping[str, Any]) -> bool:
    return _is_factored({"LU": arguments["LU_data"], "pivots": arguments["LU_pivots"], "B": arguments["self"]})


@implements("aten::lu_solve", where=_was_factored)
def lu_solve(self: Tensor, LU_data: Tensor, LU_pivots: Tensor) -> Tensor:
    """The same."""
    return linalg_lu_solve(LU_data, LU_pivots, self, True, False)


def _is_square_tensor(arguments: Mapping[str, Any]) -> bool:
    a, ind = arguments["self"], arguments["ind"]
    if not are_matrices({"A": a}) or not isinstance(ind, int) or not 0 < ind < a.dim():
        return False
    return math.prod(a.shape[:ind]) == math.prod(a.shape[ind:])


@implements("aten::linalg_tensorinv", where=_is_square_tensor)
def linalg_tensorinv(self: Tensor, ind: int) -> Tensor:
    """The inverse of a tensor that maps the last dimensions to the first."""
    n = 1
    for size in self.shape[:ind]:
        n = n * size
    return linalg_inv(self.reshape([n, n])).reshape(list(self.shape[ind:]) + list(self.shape[:ind]))


def _is_tensor_system(arguments: Mapping[str, Any]) -> bool:
    a, b = arguments["self"], arguments["other"]
    if not are_matrices({"A": a, "B": b}) or a.dim() <= b.dim():
        return False
    moved = {dim % a.dim() for dim in arguments["dims"] or ()}
    sizes = [size for dim, size in enumerate(a.shape) if dim not in moved] + [
        a.shape[dim] for dim in arguments["dims"] or ()
    ]
    return math.prod(sizes[: b.dim()]) == math.prod(sizes[b.dim() :]) == math.prod(b.shape)


@implements("aten::linalg_tensorsolve", where=_is_tensor_system)
def linalg_tensorsolve(self: Tensor, other: Tensor, dims: Optional[list[int]]) -> Tensor:  # noqa: UP045 - TorchScript
    """The solution of a system of which a tensor is the matrix."""
    a = self
    if dims is not None:
        a = a.movedim(dims, [i - len(dims) for i in range(len(dims))])
    n = other.numel()
    return linalg_solve(a.reshape([n, n]), other.reshape([n]), True).reshape(a.shape[other.dim() :])
