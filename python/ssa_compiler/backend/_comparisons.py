"""Comparisons of floating-point tensors with numbers: torch-mlir compares in double precision, eager in the tensor's.

0.1 rounded to float32 is larger than 0.1: `x <= 0.1` is true of it in eager.
"""

from __future__ import annotations

from iree.compiler import ir

from ._ir import DTYPES, build, constant_number, element_of, torch_integer

__all__ = ["COMPARISONS", "compare_rounded"]

COMPARISONS = frozenset(f"torch.aten.{name}.Scalar" for name in ("eq", "ne", "lt", "le", "gt", "ge"))
_ROUNDED = ("f16", "bf16", "f32", "f64")


def compare_rounded(op: ir.Operation) -> int:
    """Round the number that a tensor is compared with.

    Args:
        op: one of `COMPARISONS`.
    Returns:
        1 if it was rewritten, otherwise 0.
    """
    import torch

    element = element_of(op.operands[0].type)
    if element not in _ROUNDED:
        return 0
    where = ir.InsertionPoint(op)
    number = constant_number(op.operands[1])
    if number is not None:
        dtype = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64}[element]
        rounded = torch.tensor(number, dtype=dtype).item()
        if rounded == number or number != number:
            return 0
        op.operands[1] = _float(rounded, where)
        return 1
    if element == "f64" and str(op.operands[1].type) == "!torch.float":
        return 0
    one = _tensor(op.operands[1], element, where)
    compared = build(op.name.replace(".Scalar", ".Tensor"), [op.results[0].type], [op.operands[0], one], where)
    op.results[0].replace_all_uses_with(compared.results[0])
    op.erase()
    return 1


def _float(number: float, where: ir.InsertionPoint) -> ir.Value:
    context = where.block.owner.context
    attribute = ir.FloatAttr.get(ir.F64Type.get(context), number, ir.Location.unknown(context))
    type_ = ir.Type.parse("!torch.float", context)
    return build("torch.constant.float", [type_], [], where, {"value": attribute}).results[0]


def _tensor(number: ir.Value, element: str, where: ir.InsertionPoint) -> ir.Value:
    """A tensor without dimensions of a number."""
    context = where.block.owner.context
    sizes = build("torch.prim.ListConstruct", [ir.Type.parse("!torch.list<int>", context)], [], where).results[0]
    none = build("torch.constant.none", [ir.Type.parse("!torch.none", context)], [], where).results[0]
    operands = [sizes, number, torch_integer(DTYPES[element], where), none, none, none]
    return build("torch.aten.full", [ir.Type.parse(f"!torch.vtensor<[],{element}>", context)], operands, where).results[
        0
    ]
