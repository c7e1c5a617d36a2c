"""Keep what is stored at an index inside of the tensor, whatever the index is.

A check in front of the store raises if the index is out of range. But IREE runs kernels before the host has read what the check
asks for, and clamps the index to the number of rows: it would write the row behind the last one.
"""

from __future__ import annotations

from iree.compiler import ir

from ._callbacks import torch_operator
from ._ir import build, walk
from ._masks import sizes

__all__ = ["clamp_stores"]


def clamp_stores(module: ir.Module) -> int:
    """Clamp the index of each row that is stored, unless it is a constant.

    Args:
        module: an `iree`-stage module, rewritten in place.
    Returns:
        The number of indices.
    """
    count = 0
    for op in list(walk(module.operation)):
        if torch_operator(op) != "aten::select_scatter":
            continue
        dim, index = _constant(op.operands[2]), op.operands[3]
        if dim is None or _constant(index) is not None:
            continue
        op.operands[3] = _clamped(index, op.operands[0], dim, ir.InsertionPoint(op))
        count += 1
    return count


def _clamped(index: ir.Value, base: ir.Value, dim: int, where: ir.InsertionPoint) -> ir.Value:
    context = index.context
    i64 = ir.IntegerType.get_signless(64, context)

    def number(value: int) -> ir.Value:
        return build("arith.constant", [i64], [], where, {"value": ir.IntegerAttr.get(i64, value)}).results[0]

    def arith(name: str, *operands: ir.Value) -> ir.Value:
        return build(f"arith.{name}", [i64], operands, where).results[0]

    place = build("torch_c.to_i64", [i64], [index], where).results[0]
    known = sizes(base)[dim]
    if known != "?":
        first, last = number(-int(known)), number(int(known) - 1)
    else:
        constant = {"value": ir.IntegerAttr.get(i64, dim)}
        which = build("torch.constant.int", [index.type], [], where, constant).results[0]
        asked = build("torch.aten.size.int", [index.type], [base, which], where).results[0]
        size = build("torch_c.to_i64", [i64], [asked], where).results[0]
        first, last = arith("subi", number(0), size), arith("subi", size, number(1))
    inside = arith("minsi", arith("maxsi", place, first), last)
    return build("torch_c.from_i64", [index.type], [inside], where).results[0]


def _constant(value: ir.Value) -> int | None:
    owner = value.owner
    if isinstance(owner, ir.Block) or owner.operation.name != "torch.constant.int":
        return None
    return int(ir.IntegerAttr(owner.operation.attributes["value"]).value)
