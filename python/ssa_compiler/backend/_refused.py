"""Ops that are not given to IREE: its result is wrong, it takes all memory, or they draw random numbers.

What IREE refuses is found out by asking it (`_driver`); only what it gets wrong silently, and what makes the asking slow, has
to be written down. Each entry has its reason and says which op it is about by operator name and operand type, so that the
rest of the op's uses compile.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from iree.compiler import ir

from .._functionalized import original_operator
from ._callbacks import torch_operator

__all__ = ["must_call_back"]


def _element(op: ir.Operation) -> str:
    """Element type of the first tensor operand, "" without one."""
    for operand in op.operands:
        text = str(operand.type)
        if text.startswith("!torch.vtensor<["):
            return text[:-1].partition("],")[2]
    return ""


def _is_int64(op: ir.Operation) -> bool:
    return _element(op) == "si64"


def _is_half(op: ir.Operation) -> bool:
    return _element(op) in ("f16", "bf16")


def _has_mask(op: ir.Operation) -> bool:
    """Whether one of the index tensors, in the list that is the second operand, is a boolean mask."""
    return any(_is_mask(index) for index in _listed(op.operands[1]))


def _accumulates_at_mask(op: ir.Operation) -> bool:
    """Whether an `index_put` adds to the elements at a boolean mask, or may do so."""
    flag = op.operands[3].owner
    replaces = (
        not isinstance(flag, ir.Block)
        and flag.operation.name == "torch.constant.bool"
        and str(flag.operation.attributes["value"]) == "false"
    )
    return not replaces and _has_mask(op)


def _listed(value: ir.Value) -> list[ir.Value]:
    """The values of a list that is constructed in the program, as they were before they became optional."""
    op = None if isinstance(value.owner, ir.Block) else value.owner.operation
    if op is None or op.name not in ("torch.prim.ListConstruct", "torch.derefine"):
        return [value]
    return [item for operand in op.operands for item in _listed(operand)]


def _is_mask(value: ir.Value) -> bool:
    text = str(value.type)
    return text.startswith("!torch.vtensor<[") and text.endswith(",i1>")


_MASK = "IREE 3.13.0 fails on boolean masks, of two dimensions only after it has taken all memory"
_ADDED = "IREE takes a boolean mask for the indices 0 and 1 when it adds"

# operator -> (applies to the op, reason). Seen with IREE 3.13.0; a test compiles each without the entry and expects it wrong,
# or expects the failure.
_REFUSED: dict[str, tuple[Callable[[ir.Operation], bool], str]] = {
    "aten::floor_divide": (_is_int64, "IREE divides int64 through floating point: wrong beyond 2**33"),
    "aten::floor_divide.Scalar": (_is_int64, "IREE divides int64 through floating point: wrong beyond 2**33"),
    "aten::div.Tensor_mode": (_is_int64, "IREE divides int64 through floating point: wrong beyond 2**33"),
    "aten::div.Scalar_mode": (_is_int64, "IREE divides int64 through floating point: wrong beyond 2**33"),
    "aten::instance_norm": (_is_half, "IREE accumulates the moments in half precision"),
    "aten::index.Tensor": (_has_mask, _MASK),
    "aten::index.Tensor_hacked_twin": (_has_mask, _MASK),
    "aten::index_put": (_accumulates_at_mask, _ADDED),
    "aten::index_put.hacked_twin": (_accumulates_at_mask, _ADDED),
}


@cache
def _is_random(operator: str) -> bool:
    """Whether PyTorch tags an operator as drawing from the global random stream."""
    import torch

    namespace, _, rest = operator.partition("::")
    name, _, overload = rest.partition(".")
    packet = getattr(getattr(torch.ops, namespace), name, None)
    chosen = getattr(packet, overload or "default", None)
    return chosen is not None and torch.Tag.nondeterministic_seeded in getattr(chosen, "tags", ())


def must_call_back(op: ir.Operation) -> str | None:
    """Return why an op has to run in PyTorch, None if it may be compiled.

    Args:
        op: any op of an `iree`-stage module.
    """
    operator = torch_operator(op)
    if operator is None or operator.startswith("prim::"):
        return None
    if original_operator(operator) is not None:
        return "PyTorch has it only as an op that writes in place"
    if operator in _REFUSED and _REFUSED[operator][0](op):
        return _REFUSED[operator][1]
    if _is_random(operator):
        return "it draws from PyTorch's random stream"
    return None
