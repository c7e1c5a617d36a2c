"""Ops on half precision, computed in single precision and rounded once.

So does eager on the CPU. torch-mlir writes functions as several ops, and rounds after each; `baddbmm` rounds the product before
it adds.
"""

from __future__ import annotations

from functools import cache

from iree.compiler import ir

from ._callbacks import torch_operator
from ._ir import build, torch_integer

__all__ = ["widen_halves"]

_HALVES = {"f16": 5, "bf16": 15}
"""Element types, with PyTorch's numbers of them."""
_SINGLE = 6
_ACCUMULATING = frozenset(f"aten::{name}" for name in ("addmm", "addmv", "addr", "baddbmm", "addbmm"))
_ROUNDING_ONCE = frozenset(
    f"aten::{name}"
    for name in (
        *("abs", "add", "clamp", "clamp_max", "clamp_min", "clone", "copy", "div", "masked_fill", "maximum", "minimum"),
        *(
            "mul",
            "neg",
            "relu",
            "sqrt",
            "sub",
            "threshold",
            "where",
            "_to_copy",
            "to",
            "ceil",
            "floor",
            "trunc",
            "sign",
        ),
    )
)
"""Ops that are one op of the processor, or compute nothing."""


@cache
def _is_computed(operator: str) -> bool:
    """Whether PyTorch computes an operator element by element, in more than one step, or sums products and something else."""
    import torch

    namespace, _, rest = operator.partition("::")
    name, _, overload = rest.partition(".")
    if namespace != "aten" or f"aten::{name}" in _ROUNDING_ONCE:
        return False
    packet = getattr(torch.ops.aten, name, None)
    chosen = getattr(packet, overload or "default", None)
    pointwise = chosen is not None and torch.Tag.pointwise in chosen.tags
    return pointwise or f"aten::{name}" in _ACCUMULATING


def _element(type_: ir.Type) -> str:
    text = str(type_)
    return text[:-1].rpartition("],")[2] if text.startswith("!torch.vtensor<[") else ""


def widen_halves(op: ir.Operation) -> int:
    """Compute an op on half precision in single precision.

    Returns:
        1 if it was rewritten, else 0.
    """
    if len(op.results) != 1 or not any(_element(operand.type) in _HALVES for operand in op.operands):
        return 0
    operator = torch_operator(op)
    half = _element(op.results[0].type)
    if operator is None or half not in _HALVES or not _is_computed(operator):
        return 0
    where = ir.InsertionPoint(op)
    operands = [
        _converted(operand, _SINGLE, "f32", where) if _element(operand.type) in _HALVES else operand
        for operand in op.operands
    ]
    type_ = _typed(op.results[0].type, "f32")
    attributes = {name: op.attributes[name] for name in ("name",) if op.name == "torch.operator"}
    value = build(op.name, [type_], operands, where, attributes).results[0]
    op.results[0].replace_all_uses_with(_converted(value, _HALVES[half], half, where))
    op.erase()
    return 1


def _typed(type_: ir.Type, element: str) -> ir.Type:
    return ir.Type.parse(f"{str(type_)[:-1].rpartition(',')[0]},{element}>", type_.context)


def _converted(value: ir.Value, dtype: int, element: str, where: ir.InsertionPoint) -> ir.Value:
    context = value.type.context
    false = build(
        "torch.constant.bool",
        [ir.Type.parse("!torch.bool", context)],
        [],
        where,
        {"value": ir.BoolAttr.get(False, context)},
    ).results[0]
    none = build("torch.constant.none", [ir.Type.parse("!torch.none", context)], [], where).results[0]
    operands = [value, torch_integer(dtype, where), false, false, none]
    return build("torch.aten.to.dtype", [_typed(value.type, element)], operands, where).results[0]
