"""PyTorch's own decompositions of ops that IREE cannot compile.

torch-mlir does not know every op, and has no lowering for some that it knows. PyTorch has decompositions of many of
them, made for its own compilers: tables of functions, among them the reference implementations, which consist of
`prims` ops; these in turn say which ATen op they are. One is used if everything that it consists of can be compiled; an
op without one runs in PyTorch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import TYPE_CHECKING, Any

import torch
from torch.utils._pytree import tree_leaves

from ...semantics.dtypes import by_torch
from ..ir.purity import is_built_in
from ..ir.schemas import registered_name
from .batch_norms import batch_norm_decompositions
from .sampling import OF_FLOATS, sampling_decompositions

if TYPE_CHECKING:
    from ..ir.emitter import Emitter
    from .trace import Record

__all__ = ["decomposition", "has_carried", "is_compiled", "is_followed", "is_not_lowered"]

_NOT_LOWERED = frozenset(
    {
        "aten::__and__.Tensor",
        "aten::addcdiv",  # rejected where ranks differ, as is `addcmul`
        "aten::addcmul",
        "aten::aminmax",
        "aten::binary_cross_entropy",
        "aten::copysign.Tensor",
        "aten::cosine_embedding_loss",
        "aten::cosine_similarity",  # it bounds the product of the norms, not each
        "aten::cross_entropy_loss",
        "aten::fft_fft",
        "aten::fft_ifft",
        "aten::fft_rfft",
        "aten::gelu",  # its tanh form is wrong by 5e-5
        "aten::grid_sampler",  # of converted images it reads what is not there
        "aten::grid_sampler_2d",
        "aten::heaviside",  # of a dynamic size of 0 and one of 1 it makes 1, as `linalg_cross`
        "aten::hardshrink",  # NaN becomes 0, as in the next but one, which is wrong below zero as well
        "aten::im2col",
        "aten::isfinite",
        "aten::kl_div",  # NaN where the target is 0
        "aten::linalg_cross",
        "aten::log10",
        "aten::max_unpool2d",
        "aten::max_unpool3d",
        "aten::poisson_nll_loss",
        "aten::renorm",  # wrong for negative dimensions
        "aten::signbit",
        "aten::softshrink",
        "aten::stft",
        "aten::upsample_bilinear2d",
        "aten::upsample_bilinear2d.vec",
        "aten::xlogy.Tensor",
    }
)
"""Ops that torch-mlir knows and IREE 3.13.0 does not compile, or wrongly, and of which PyTorch has decompositions."""


@cache
def _table() -> dict[Any, Callable[..., Any]]:
    import torch._refs
    import torch._refs.linalg
    import torch._refs.nn.functional
    import torch._refs.special
    from torch._decomp import decomposition_table

    own = {
        torch.ops.aten._unsafe_masked_index.default: _unsafe_masked_index,
        torch.ops.aten.linalg_cross.default: _linalg_cross,
    }
    return decomposition_table | batch_norm_decompositions() | sampling_decompositions() | own


def _unsafe_masked_index(self: Any, mask: Any, indices: list[Any], fill: Any) -> Any:
    """As eager computes it; PyTorch's decomposition takes 0 for negative places."""
    places = [
        None if index is None else index.clamp(-size, size - 1)
        for index, size in zip(indices, self.shape, strict=False)
    ]
    return torch.ops.aten.index(self, places).masked_fill(torch.logical_not(mask), fill)


def _linalg_cross(self: Any, other: Any, *, dim: int = -1) -> Any:
    """By columns, which broadcast one by one; the tensors that PyTorch's decomposition broadcasts are not compiled."""
    dim = dim % self.dim()
    (a, b, c), (d, e, f) = self.unbind(dim), other.unbind(dim)
    return torch.stack([b * f - c * e, c * d - a * f, a * e - b * d], dim)


def is_not_lowered(op: Any) -> bool:
    """Whether torch-mlir knows an op that IREE does not compile, and that PyTorch can decompose."""
    return torch.Tag.view_copy in op.tags or op.name() in _NOT_LOWERED


def is_compiled(emitter: Emitter, op: Any) -> bool:
    """Whether IREE may compile an op, or the importer makes a view of it."""
    if is_not_lowered(op):
        return False
    return op.is_view or emitter.registered(f"torch.{registered_name(op._schema)}")


def has_carried(leaves: Iterable[Any]) -> bool:
    """Whether a tensor among the leaves is of a dtype that IREE does not compute with."""
    table = by_torch()
    return any(isinstance(t, torch.Tensor) and t.dtype in table and bool(table[t.dtype].carrier) for t in leaves)


def decomposition(emitter: Emitter, op: Any, leaves: list[Any]) -> Callable[..., Any] | None:
    """Return what an op consists of, as a function of the same arguments.

    Args:
        emitter: knows the ops of torch-mlir.
        op: an OpOverload.
        leaves: the tensors and constants that it is called with.
    Returns:
        The function; None if IREE may compile the op itself, PyTorch has no function, it may mean something else (for
        ops that write or alias, that draw random numbers, and for dynamic scalars), or IREE computes with none
        of its parts either.
    """
    if is_compiled(emitter, op) or torch.Tag.nondeterministic_seeded in op.tags or not is_built_in(op.name()):
        return None
    if any(spec.alias_info is not None for spec in (*op._schema.arguments, *op._schema.returns)):
        return None
    if any(isinstance(leaf, (torch.SymInt, torch.SymFloat, torch.SymBool)) for leaf in leaves) or has_carried(leaves):
        return None
    if op in OF_FLOATS and not all(leaf.is_floating_point() for leaf in leaves if isinstance(leaf, torch.Tensor)):
        return None
    if op.namespace == "prims":
        found: Callable[..., Any] | None = getattr(op._overloadpacket, "impl_aten", None)
        return found
    return _table().get(op) or _composition(op)


def _composition(op: Any) -> Callable[..., Any] | None:
    """What PyTorch's own C++ makes of an op that it implements by others; None if it has kernels."""
    return op.decompose if op._can_decompose() else None


def is_followed(emitter: Emitter, records: list[Record], leaves: list[Any]) -> bool:
    """Whether everything that a decomposition did can be imported and may be compiled.

    Args:
        emitter: knows the ops of torch-mlir.
        records: the base ops that it consists of.
        leaves: what it was called with.
    """
    known = {id(leaf) for leaf in leaves}
    for record in records:
        if not is_compiled(emitter, record.op) or torch.Tag.inplace_view in record.op.tags:
            return False
        for leaf in tree_leaves(record.args):
            if isinstance(leaf, complex) or (isinstance(leaf, torch.Tensor) and id(leaf) not in known):
                return False  # a tensor made from Python's numbers
        known |= {id(leaf) for leaf in tree_leaves(record.out)}
    return True
