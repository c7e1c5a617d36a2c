"""Sums of products whose factors are 0: what is multiplied by 0 is not read, so that its NaN and infinities do not
count.

`beta` 0 says so for every op and dtype. `alpha` 0 does in the kernels of BLAS; the others multiply. What is not read
becomes zeros here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor

from ._registry import implements

__all__: list[str] = []

_REAL = (torch.float32, torch.float64)
_SMALL = 400
"""Products per matrix below which a batch of them is not left to BLAS."""


def _is_zero(arguments: Mapping[str, Any], name: str) -> bool:
    return isinstance(arguments[name], (int, float)) and arguments[name] == 0


def _without_self(arguments: Mapping[str, Any]) -> bool:
    """Whether the sum is of the product only, of numbers among which there are NaN."""
    dtype = arguments["self"].dtype
    return _is_zero(arguments, "beta") and (dtype.is_floating_point or dtype.is_complex)


def _without_product(*dtypes: torch.dtype) -> Callable[[Mapping[str, Any]], bool]:
    return lambda arguments: _is_zero(arguments, "alpha") and arguments["self"].dtype in dtypes


def _without_products(arguments: Mapping[str, Any]) -> bool:
    """Whether products of matrices in a batch are not computed: that depends on their sizes."""
    if not _without_product(*_REAL)(arguments):
        return False
    sizes = [*arguments["batch1"].shape[1:], arguments["batch2"].shape[2]]
    return all(isinstance(size, int) for size in sizes) and sizes[0] * sizes[1] * sizes[2] >= _SMALL


@implements("aten::addmm", where=_without_self)
def product(self: Tensor, mat1: Tensor, mat2: Tensor, alpha: float) -> Tensor:
    """The product of two matrices."""
    return torch.addmm(torch.zeros_like(self), mat1, mat2, beta=1, alpha=alpha)


@implements("aten::addmm", where=_without_product(*_REAL, torch.complex64, torch.complex128))
def summand(self: Tensor, mat1: Tensor, mat2: Tensor, beta: float) -> Tensor:
    """The matrix that a product is added to."""
    return torch.addmm(self, torch.zeros_like(mat1), torch.zeros_like(mat2), beta=beta, alpha=1)


@implements("aten::addmv", where=_without_self)
def product_with_vector(self: Tensor, mat: Tensor, vec: Tensor, alpha: float) -> Tensor:
    """The product of a matrix and a vector."""
    return torch.addmv(torch.zeros_like(self), mat, vec, beta=1, alpha=alpha)


@implements("aten::addmv", where=_without_product(*_REAL))
def summand_of_vectors(self: Tensor, mat: Tensor, vec: Tensor, beta: float) -> Tensor:
    """The vector that a product is added to."""
    return torch.addmv(self, torch.zeros_like(mat), torch.zeros_like(vec), beta=beta, alpha=1)


@implements("aten::addr", where=_without_self)
def outer_product(self: Tensor, vec1: Tensor, vec2: Tensor, alpha: float) -> Tensor:
    """The outer product of two vectors."""
    return torch.addr(torch.zeros_like(self), vec1, vec2, beta=1, alpha=alpha)


def _is_scaled(arguments: Mapping[str, Any]) -> bool:
    alpha = arguments["alpha"]
    return arguments["self"].dtype in _REAL and not (isinstance(alpha, (int, float)) and alpha == 1)


@implements("aten::addr", where=_is_scaled)
def scaled_outer_product(self: Tensor, vec1: Tensor, vec2: Tensor, beta: float, alpha: float) -> Tensor:
    """A matrix and an outer product; the first vector is scaled, before the product may overflow."""
    return torch.addr(self, vec1 * alpha, vec2, beta=beta, alpha=1)


@implements("aten::baddbmm", where=_without_self)
def products(self: Tensor, batch1: Tensor, batch2: Tensor, alpha: float) -> Tensor:
    """The products of pairs of matrices."""
    return torch.baddbmm(torch.zeros_like(self), batch1, batch2, beta=1, alpha=alpha)


@implements("aten::baddbmm", where=_without_products)
def summands(self: Tensor, batch1: Tensor, batch2: Tensor, beta: float) -> Tensor:
    """The matrices that products are added to."""
    return torch.baddbmm(self, torch.zeros_like(batch1), torch.zeros_like(batch2), beta=beta, alpha=1)


@implements("aten::addbmm", where=_without_self)
def sum_of_products(self: Tensor, batch1: Tensor, batch2: Tensor, alpha: float) -> Tensor:
    """The sum of the products of pairs of matrices."""
    return torch.addbmm(torch.zeros_like(self), batch1, batch2, beta=1, alpha=alpha)


@implements("aten::addbmm", where=_without_product(*_REAL, torch.complex64, torch.complex128))
def summand_of_products(self: Tensor, batch1: Tensor, batch2: Tensor, beta: float) -> Tensor:
    """The matrix that products are added to."""
    return torch.addbmm(self, torch.zeros_like(batch1), torch.zeros_like(batch2), beta=beta, alpha=1)


def _has_dynamic_factors(arguments: Mapping[str, Any]) -> bool:
    """Whether a factor may turn out to be 0."""
    dynamic = any(isinstance(arguments[name], (torch.SymFloat, torch.SymInt)) for name in ("beta", "alpha"))
    return dynamic and arguments["self"].dtype in _REAL


def _scaled(x: Tensor, factor: float) -> Tensor:
    """A summand times a factor; it is not read if that is 0."""
    return torch.zeros_like(x) if factor == 0.0 else x * factor


@implements("aten::addmm", where=_has_dynamic_factors)
def addmm(self: Tensor, mat1: Tensor, mat2: Tensor, beta: float, alpha: float) -> Tensor:
    """A matrix and the product of two matrices."""
    return _scaled(self, beta) + _scaled(torch.mm(mat1, mat2), alpha)


@implements("aten::addmv", where=_has_dynamic_factors)
def addmv(self: Tensor, mat: Tensor, vec: Tensor, beta: float, alpha: float) -> Tensor:
    """A vector and the product of a matrix and a vector."""
    return _scaled(self, beta) + _scaled(torch.mv(mat, vec), alpha)


@implements("aten::addbmm", where=_has_dynamic_factors)
def addbmm(self: Tensor, batch1: Tensor, batch2: Tensor, beta: float, alpha: float) -> Tensor:
    """A matrix and the sum of the products of pairs of matrices."""
    return _scaled(self, beta) + _scaled(torch.bmm(batch1, batch2).sum(0), alpha)


@implements("aten::addr", where=_has_dynamic_factors)
def addr(self: Tensor, vec1: Tensor, vec2: Tensor, beta: float, alpha: float) -> Tensor:
    """A matrix and an outer product."""
    return _scaled(self, beta) + torch.outer(vec1 * alpha, vec2)


@implements("aten::baddbmm", where=_has_dynamic_factors)
def baddbmm(self: Tensor, batch1: Tensor, batch2: Tensor, beta: float, alpha: float) -> Tensor:
    """Matrices and the products of pairs of matrices."""
    products = torch.bmm(batch1, batch2)
    if batch1.size(1) * batch1.size(2) * batch2.size(2) < 400:  # _SMALL
        return _scaled(self, beta) + products * alpha
    return _scaled(self, beta) + _scaled(products, alpha)


def _has_dynamic_sizes(arguments: Mapping[str, Any]) -> bool:
    """Whether a summand of static sizes is to be expanded to dynamic ones, which PyTorch's own shape function cannot
    do.
    """
    sizes = [*arguments["batch1"].shape[:2], arguments["batch2"].shape[2]]
    static = all(isinstance(size, int) for size in arguments["self"].shape)
    return static and not all(isinstance(size, int) for size in sizes)


@implements("aten::baddbmm", where=_has_dynamic_sizes, laid_out=True)
def baddbmm_of_expanded(self: Tensor, batch1: Tensor, batch2: Tensor, beta: float, alpha: float) -> Tensor:
    """Matrices that are expanded, and the products of pairs of matrices."""
    summand = self.expand(batch1.size(0), batch1.size(1), batch2.size(2))
    return torch.baddbmm(summand, batch1, batch2, beta=beta, alpha=alpha)


def _has_dynamic_beta(arguments: Mapping[str, Any]) -> bool:
    """Whether it may turn out that the summand is not read, of numbers that are rounded or multiplied in another
    way.
    """
    dtype = arguments["self"].dtype
    numbers = (dtype.is_floating_point or dtype.is_complex) and dtype not in _REAL
    return numbers and isinstance(arguments["beta"], (torch.SymFloat, torch.SymInt))


@implements("aten::addmm", where=_has_dynamic_beta)
def addmm_of_scaled(self: Tensor, mat1: Tensor, mat2: Tensor, beta: float, alpha: float) -> Tensor:
    """A matrix and the product of two matrices."""
    return torch.addmm(_scaled(self, beta), mat1, mat2, beta=1, alpha=alpha)


@implements("aten::addmv", where=_has_dynamic_beta)
def addmv_of_scaled(self: Tensor, mat: Tensor, vec: Tensor, beta: float, alpha: float) -> Tensor:
    """A vector and the product of a matrix and a vector."""
    return torch.addmv(_scaled(self, beta), mat, vec, beta=1, alpha=alpha)


@implements("aten::addbmm", where=_has_dynamic_beta)
def addbmm_of_scaled(self: Tensor, batch1: Tensor, batch2: Tensor, beta: float, alpha: float) -> Tensor:
    """A matrix and the sum of the products of pairs of matrices."""
    return torch.addbmm(_scaled(self, beta), batch1, batch2, beta=1, alpha=alpha)


@implements("aten::baddbmm", where=_has_dynamic_beta)
def baddbmm_of_scaled(self: Tensor, batch1: Tensor, batch2: Tensor, beta: float, alpha: float) -> Tensor:
    """Matrices and the products of pairs of matrices."""
    return torch.baddbmm(_scaled(self, beta), batch1, batch2, beta=1, alpha=alpha)


@implements("aten::addr", where=_has_dynamic_beta)
def addr_of_scaled(self: Tensor, vec1: Tensor, vec2: Tensor, beta: float, alpha: float) -> Tensor:
    """A matrix and an outer product."""
    return torch.addr(_scaled(self, beta), vec1, vec2, beta=1, alpha=alpha)
