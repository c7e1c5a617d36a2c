"""Ops that write an argument although their schema does not say so.

`aten::native_batch_norm(..., bool training, ...)` updates its running statistics. Such ops are replaced by PyTorch's
own decomposition, which writes with `copy_`, or by the same op under a schema that announces the writes. Ops that are
not in the table are tried once on small real tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch._decomp import decomposition_table
from torch.utils._pytree import tree_leaves, tree_map

from .batch_norms import batch_norm_decompositions
from .concrete_run import try_op

__all__ = ["UNANNOTATED_WRITES", "Unannotated", "replacement", "writes_unannotated"]


@dataclass(frozen=True)
class Unannotated:
    """An op that writes without announcing it.

    Attributes:
        writes: whether it writes when called with these arguments (by schema name).
        reason: what it writes.
    """

    writes: Callable[[dict[str, Any]], bool]
    reason: str


def _updates_statistics(arguments: dict[str, Any]) -> bool:
    return bool(arguments["training"]) and arguments["running_mean"] is not None


def _always(arguments: dict[str, Any]) -> bool:
    return arguments["running_mean"] is not None


_STATISTICS = "it updates the running statistics when training"

UNANNOTATED_WRITES: dict[str, Unannotated] = {
    "aten::native_batch_norm": Unannotated(_updates_statistics, _STATISTICS),
    "aten::cudnn_batch_norm": Unannotated(_updates_statistics, _STATISTICS),
    "aten::miopen_batch_norm": Unannotated(_updates_statistics, _STATISTICS),
    "aten::batch_norm_update_stats": Unannotated(_always, "it updates the running statistics"),
    "aten::batch_norm_gather_stats": Unannotated(_always, "it updates the running statistics"),
    "aten::batch_norm_gather_stats_with_counts": Unannotated(_always, "it updates the running statistics"),
}
"""Base ops by schema name; composite ops are seen as what they consist of."""


def _by_name(op: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
    names = [argument.name for argument in op._schema.arguments]
    defaults = {argument.name: argument.default_value for argument in op._schema.arguments}
    return {**defaults, **dict(zip(names, args)), **kwargs}


_LOW_PRECISION = (torch.float16, torch.bfloat16)


def _native_batch_norm(*args: Any) -> Any:
    """The same kernel, whose schema announces the writes: it rounds otherwise than the decomposition, in half
    precision.
    """
    return torch.ops.aten._native_batch_norm_legit.default(*args)


def replacement(op: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Callable[..., Any] | None:
    """Return what says with announced writes what an op of the table does.

    Args:
        op: an OpOverload that ran.
        args: its positional arguments.
        kwargs: its keyword arguments.
    Returns:
        A function of the same arguments; None if the op writes nothing unannotated.
    Raises:
        NotImplementedError: PyTorch has no decomposition of it.
    """
    entry = UNANNOTATED_WRITES.get(op._schema.name)
    if entry is None or op._schema.is_mutable or not entry.writes(_by_name(op, args, kwargs)):
        return None
    if op is torch.ops.aten.native_batch_norm.default and args[0].dtype in _LOW_PRECISION:
        return _native_batch_norm
    found = batch_norm_decompositions().get(op) or decomposition_table.get(op)
    if found is None:
        raise NotImplementedError(f"{entry.reason}, which its schema does not say")
    return found


_LARGEST_TRIAL = 1 << 12  # elements of all arguments together
_tried: dict[Any, bool] = {}


def writes_unannotated(op: Any, args: Sequence[Any]) -> bool:
    """Whether an op changes an argument that its schema does not call written, tried on real tensors.

    Each op is tried once for each set of constant arguments and dtypes, if its tensors are small and their sizes known.

    Args:
        op: an OpOverload.
        args: one value per schema argument; tensors give dtypes, sizes and strides.
    """
    if torch.Tag.pointwise in op.tags or torch.Tag.core in op.tags or op.is_view:
        return False
    leaves = tree_leaves(list(args))
    tensors = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
    numbers = [number for tensor in tensors for number in (*tensor.shape, *tensor.stride())]
    if not tensors or any(isinstance(leaf, (torch.SymInt, torch.SymFloat, torch.SymBool)) for leaf in leaves + numbers):
        return False
    if sum(tensor.numel() for tensor in tensors) > _LARGEST_TRIAL:
        return False
    key = (op, repr([str(leaf.dtype) if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]))
    if key not in _tried:
        _tried[key] = _try(op, args)
    return _tried[key]


def _real(leaf: Any) -> Any:
    """A tensor laid out like a FakeTensor; floats are all different, integers zero, which is in range as an index."""
    if not isinstance(leaf, torch.Tensor):
        return leaf
    real = torch.empty_strided(leaf.shape, leaf.stride(), dtype=leaf.dtype).zero_()
    if real.is_floating_point() and real.numel() and not any(stride == 0 for stride in real.stride()):
        real.copy_(torch.linspace(0.25, 0.75, real.numel()).reshape(real.shape))
    return real


def _try(op: Any, args: Sequence[Any]) -> bool:
    written = {a.name for a in op._schema.arguments if a.alias_info is not None and a.alias_info.is_write}
    reals = tree_map(_real, list(args))
    positional, keywords, watched = [], {}, []
    for argument, value in zip(op._schema.arguments, reals):
        if argument.kwarg_only:
            keywords[argument.name] = value
        else:
            positional.append(value)
        if argument.name not in written:
            watched += [leaf for leaf in tree_leaves(value) if isinstance(leaf, torch.Tensor)]
    before = [tensor.clone() for tensor in watched]
    try:
        try_op(op, positional, keywords)
    except Exception:  # noqa: BLE001 - whatever eager does not do on these values
        return False
    return any(not torch.equal(tensor, copy) for tensor, copy in zip(watched, before))
