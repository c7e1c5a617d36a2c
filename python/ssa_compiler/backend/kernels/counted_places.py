"""`nonzero` for parts of programs: a kernel makes the places, as many as there are elements, and the host takes those
that are.

IREE computes `nonzero` with a dozen kernels, and no kernel of ours returns a tensor whose size its elements decide.
"""

from __future__ import annotations

from collections.abc import Sequence

from iree.compiler import ir

from ..ir.bindings import build, torch_integer, walk
from ..ir.types import element_of, sizes

__all__ = ["count_places", "takes_counted"]

_TAKES = "tssa.takes_counted"


def count_places(module: ir.Module) -> int:
    """Rewrite each `nonzero` of a bool tensor with one dimension of known size.

    Args:
        module: an `iree`-stage module, rewritten in place.
    Returns:
        How many were rewritten.
    """
    found = [op for op in walk(module.operation) if op.name == "torch.aten.nonzero" and _is_known(op.operands[0])]
    for op in found:
        _rewrite(op)
    return len(found)


def takes_counted(op: ir.Operation) -> bool:
    """Whether an op takes the places that are of those that a kernel made."""
    return _TAKES in op.attributes


def _is_known(flags: ir.Value) -> bool:
    shape = sizes(flags)
    return len(shape) == 1 and shape[0].isdigit() and element_of(flags.type) == "i1"


def _rewrite(op: ir.Operation) -> None:
    flags, where, context = op.operands[0], ir.InsertionPoint(op), op.context
    (size,) = sizes(flags)

    def made(op_name: str, type_: str, operands: Sequence[ir.Value], **attributes: ir.Attribute) -> ir.Value:
        return build(op_name, [ir.Type.parse(type_, context)], operands, where, attributes).results[0]

    number = "!torch.int"
    zero, one = torch_integer(0, where), torch_integer(1, where)
    operator = ir.StringAttr.get("torch.ssa_compiler.places", context)
    places = made("torch.operator", f"!torch.vtensor<[{size}],si64>", [flags], name=operator)
    rows = made("torch.aten.unsqueeze", f"!torch.vtensor<[{size},1],si64>", [places, one])
    none = made("torch.constant.none", "!torch.none", [])
    counted = made("torch.aten.sum", "!torch.vtensor<[],si64>", [flags, none])
    count = made("torch.aten.Int.Tensor", number, [counted])
    taken = build("torch.aten.slice.Tensor", [op.results[0].type], [rows, zero, zero, count, one], where)
    taken.attributes[_TAKES] = ir.UnitAttr.get(context)
    op.results[0].replace_all_uses_with(taken.results[0])
    op.erase()
