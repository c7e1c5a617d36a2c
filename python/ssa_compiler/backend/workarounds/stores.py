"""Keep what is stored at an index or in a slice inside of the tensor, whatever the index is.

A check in front of the store raises if the index is out of range, or the slice has another length than what is stored.
But IREE runs kernels before the host has read what the check asks for, and clamps a start to the number of rows: it
would write behind the last one.
"""

from __future__ import annotations

from iree.compiler import ir

from ..callbacks.callbacks import torch_operator
from ..ir.bindings import build, constant_integer, walk
from ..ir.types import is_torch, sizes

__all__ = ["clamp_stores"]


def clamp_stores(module: ir.Module) -> int:
    """Clamp the index of each row that is stored, and the ends of each slice, unless they are constants.

    Args:
        module: an `iree`-stage module, rewritten in place.
    Returns:
        The number of stores.
    """
    count = 0
    for op in list(walk(module.operation)):
        operator = torch_operator(op)
        if operator == "aten::select_scatter":
            count += _clamp_index(op)
        elif operator == "aten::slice_scatter":
            count += _clamp_slice(op)
    return count


def _clamp_index(op: ir.Operation) -> bool:
    base, _, dim, index = op.operands
    number = constant_integer(dim)
    if number is None or constant_integer(index) is not None:
        return False
    emit = _Emitter(ir.InsertionPoint(op))
    size = emit.size(base, number)
    first, last = emit.arith("subi", emit.number(0), size), emit.arith("subi", size, emit.number(1))
    op.operands[3] = emit.torch_int(emit.clamped(emit.integer(index), first, last), index.type)
    return True


def _clamp_slice(op: ir.Operation) -> bool:
    """Let a slice have the length of what is stored and end at the last row at most, as it does if the check holds."""
    base, source, dim, start, end, step = op.operands
    number, stride = constant_integer(dim), constant_integer(step)
    if number is None or stride is None or not is_torch(start, "int"):
        return False
    if constant_integer(start) is not None and (constant_integer(end) is not None or is_torch(end, "none")):
        return False
    emit = _Emitter(ir.InsertionPoint(op))
    size, length = emit.size(base, number), emit.size(source, number)
    # From the first row to the last: none for a slice without rows.
    gaps = emit.arith("maxsi", emit.arith("subi", length, emit.number(1)), emit.number(0))
    rows = emit.arith("minsi", emit.arith("addi", emit.arith("muli", gaps, emit.number(stride)), emit.number(1)), size)
    given, zero = emit.integer(start), emit.number(0)
    negative = emit.compare_less(given, zero)
    counted = emit.arith("select", negative, emit.arith("addi", given, size), given)
    first = emit.clamped(counted, zero, emit.arith("subi", size, rows))
    some = emit.arith("minsi", length, emit.number(1))
    last = emit.arith("addi", first, emit.arith("muli", rows, some))
    op.operands[3] = emit.torch_int(first, start.type)
    op.operands[4] = emit.torch_int(last, start.type)
    return True


class _Emitter:
    """Emits arithmetic on numbers of 64 bits at one place."""

    def __init__(self, where: ir.InsertionPoint) -> None:
        self._where = where
        context = where.block.owner.context
        self._i1, self._i64 = (ir.IntegerType.get_signless(width, context) for width in (1, 64))

    def number(self, value: int) -> ir.Value:
        attribute = {"value": ir.IntegerAttr.get(self._i64, value)}
        return build("arith.constant", [self._i64], [], self._where, attribute).results[0]

    def arith(self, name: str, *operands: ir.Value) -> ir.Value:
        return build(f"arith.{name}", [self._i64], operands, self._where).results[0]

    def compare_less(self, one: ir.Value, other: ir.Value) -> ir.Value:
        attribute = {"predicate": ir.IntegerAttr.get(self._i64, 2)}  # slt
        return build("arith.cmpi", [self._i1], [one, other], self._where, attribute).results[0]

    def clamped(self, value: ir.Value, first: ir.Value, last: ir.Value) -> ir.Value:
        return self.arith("minsi", self.arith("maxsi", value, first), last)

    def integer(self, value: ir.Value) -> ir.Value:
        return build("torch_c.to_i64", [self._i64], [value], self._where).results[0]

    def torch_int(self, value: ir.Value, type_: ir.Type) -> ir.Value:
        return build("torch_c.from_i64", [type_], [value], self._where).results[0]

    def size(self, tensor: ir.Value, dim: int) -> ir.Value:
        known = sizes(tensor)[dim]
        if known != "?":
            return self.number(int(known))
        type_ = ir.Type.parse("!torch.int", tensor.context)
        constant = {"value": ir.IntegerAttr.get(self._i64, dim)}
        which = build("torch.constant.int", [type_], [], self._where, constant).results[0]
        return self.integer(build("torch.aten.size.int", [type_], [tensor, which], self._where).results[0])
