"""Scatters along a dimension that is counted from the back: torch-mlir's lowering of them takes memory without end, or
crashes.
"""

from __future__ import annotations

from iree.compiler import ir

from ..ir.bindings import constant_integer, torch_integer
from ..ir.types import sizes

__all__ = ["SCATTERS", "count_from_front"]

SCATTERS = frozenset(
    f"torch.aten.{name}"
    for name in ("scatter.src", "scatter.value", "scatter.reduce", "scatter.value_reduce", "scatter_add")
) | {"torch.aten.scatter_reduce.two"}


def count_from_front(op: ir.Operation) -> int:
    """Count the dimension of one of `SCATTERS` from the front.

    Returns:
        1 if it was rewritten, otherwise 0.
    """
    dim, rank = constant_integer(op.operands[1]), len(sizes(op.operands[0]))
    if dim is None or not -rank <= dim < 0:
        return 0
    op.operands[1] = torch_integer(dim + rank, ir.InsertionPoint(op))
    return 1
