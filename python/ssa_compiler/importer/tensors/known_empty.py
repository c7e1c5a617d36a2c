"""Ops whose results are known to have no elements: there is nothing to compute, and nothing that they would raise."""

from __future__ import annotations

from typing import Any

import torch

from .index_checks import is_checked

__all__ = ["computes_nothing", "is_empty"]

_INDIFFERENT = frozenset(
    {
        "aten::bilinear",
        "aten::group_norm",
        "aten::linalg_lu_solve",
        "aten::linalg_pinv.atol_rtol_tensor",
        "aten::lu_solve",
        "aten::native_group_norm",
    }
)
"""Ops that look at no numbers where they compute none; iree-compile fails on them, or does not know them."""


def is_empty(tensor: torch.Tensor) -> bool:
    """Whether a tensor is known to have no elements."""
    return any(isinstance(size, int) and size == 0 for size in tensor.shape)


def computes_nothing(op: Any, out: Any, *, indices: bool = True) -> bool:
    """Whether the results of an op are tensors of known sizes without elements, whatever its arguments hold.

    Args:
        op: an OpOverload; what it consists of might raise for indices that it does not look at.
        out: its outcome.
        indices: whether it may be an op that takes indices, not only one that looks at no numbers.
    """
    results = list(out) if isinstance(out, (list, tuple)) else [out]
    if not results or not all(isinstance(result, torch.Tensor) for result in results):
        return False
    asked = op.name() in _INDIFFERENT or (indices and is_checked(op) and isinstance(out, torch.Tensor))
    return asked and all(is_empty(t) and all(isinstance(size, int) for size in t.shape) for t in results)
