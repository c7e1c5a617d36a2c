"""Ops that are not given to IREE although it compiles them: because its result is wrong, or because they draw random numbers.

What IREE refuses is found out by asking it (`_driver`); only what it gets wrong silently has to be written down. Each entry
has its reason and says which op it is about by operator name and operand type, so that the rest of the op's uses compile.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from iree.compiler import ir

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


# operator -> (applies to the op, reason). Seen with IREE 3.13.0; a test compiles each without the entry and expects it wrong.
_WRONG: dict[str, tuple[Callable[[ir.Operation], bool], str]] = {
    "aten::floor_divide": (_is_int64, "IREE divides int64 through floating point: wrong beyond 2**33"),
    "aten::floor_divide.Scalar": (_is_int64, "IREE divides int64 through floating point: wrong beyond 2**33"),
    "aten::div.Tensor_mode": (_is_int64, "IREE divides int64 through floating point: wrong beyond 2**33"),
    "aten::div.Scalar_mode": (_is_int64, "IREE divides int64 through floating point: wrong beyond 2**33"),
    "aten::instance_norm": (_is_half, "IREE accumulates the moments in half precision"),
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
    if operator in _WRONG and _WRONG[operator][0](op):
        return _WRONG[operator][1]
    if _is_random(operator):
        return "it draws from PyTorch's random stream"
    return None
