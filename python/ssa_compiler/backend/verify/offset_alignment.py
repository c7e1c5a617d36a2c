"""Take back what IREE claims of the alignment of offsets that it does not know.

A kernel gets the places of its tensors as offsets into larger allocations, and loads and stores whole vectors where it
is told that an offset is a multiple of their size. `iree-stream-annotate-dispatch-arguments` of IREE 3.13 collects that
from all places that start the kernel, and passes over those of which it knows nothing: where one place passes a
multiple of 64, and another the end of a tensor of dynamic size (the result is put behind it, as in `torch.cat`), the
kernel is compiled for multiples of 64, and the process ends at the other place. So the offsets are looked at once more,
in what the first half of iree-compile wrote.
"""

from __future__ import annotations

from collections import defaultdict

from iree.compiler import ir

from ..ir.bindings import definer, exported_ops, walk

__all__ = ["correct_alignments"]

_CLAIM = "stream.alignment"
_CONVERSIONS = ("arith.index_castui", "arith.index_cast", "arith.extui", "arith.trunci")
_UNKNOWN, _ANY = 1, 1 << 32
_NATURAL = 8
"""Up to this, in bytes, nothing is claimed: an offset suits the elements of its tensor in any case."""
_DEPTH = 16


def correct_alignments(scheduled: ir.Module) -> int:
    """Correct the alignments of offsets that some dispatch of a kernel does not keep to.

    Args:
        scheduled: what `iree-compile --compile-to=stream` wrote, changed in place.
    Returns:
        The number of alignments that were wrong.
    """
    dispatches: dict[str, list[ir.Operation]] = defaultdict(list)
    executables = []
    for view in scheduled.body.operations:
        op = view.operation
        if op.name == "stream.executable":
            executables.append(op)
            continue
        for inner in walk(op):
            if inner.name == "stream.cmd.dispatch":
                for name in ir.ArrayAttr(inner.attributes["entry_points"]):
                    dispatches[ir.SymbolRefAttr(name).value[-1]].append(inner)
    corrected = 0
    for executable in executables:
        for export in [op for op in walk(executable) if op.name == "stream.executable.export"]:
            name = ir.StringAttr(export.attributes["sym_name"]).value
            corrected += sum(_correct(op, dispatches[name]) for op in exported_ops(export) if _CLAIM in op.attributes)
    return corrected


def _correct(op: ir.Operation, dispatches: list[ir.Operation]) -> bool:
    """Lower the alignment of an op of a kernel to what all its dispatches keep to."""
    claimed = ir.IntegerAttr(op.attributes[_CLAIM]).value
    number = _argument(op.results[0])
    kept = _UNKNOWN if number is None else min((_alignment(_operand(d, number)) for d in dispatches), default=_ANY)
    if kept >= claimed:
        return False
    if kept > _NATURAL:
        op.attributes[_CLAIM] = ir.IntegerAttr.get(ir.IndexType.get(op.context), kept)
    else:
        del op.attributes[_CLAIM]
    return True


def _argument(value: ir.Value) -> int | None:
    """Which of the numbers that a kernel is called with has the low bits of a value; None if that cannot be told."""
    while (op := definer(value)) is not None:
        if op.name not in (*_CONVERSIONS, "arith.ori"):
            return None
        value = op.operands[0]  # of `ori`, which puts two halves together, the low one
    argument = ir.BlockArgument(value)
    if argument.owner.owner.operation.name.endswith(".func"):
        before = list(argument.owner.arguments)[: argument.arg_number]
        return sum(str(other.type) != "!stream.binding" for other in before)
    return None


def _operand(dispatch: ir.Operation, number: int) -> ir.Value:
    """One of the numbers that a dispatch passes."""
    workload = ir.DenseI32ArrayAttr(dispatch.attributes["operandSegmentSizes"])[0]
    return dispatch.operands[workload + number]


def _alignment(value: ir.Value, depth: int = _DEPTH) -> int:
    """The largest power of two that is known to divide a value."""
    op = definer(value)
    if op is None or not depth:
        return _UNKNOWN
    if op.name == "arith.constant":
        number = ir.IntegerAttr(op.attributes["value"]).value
        return number & -number or _ANY
    if op.name in _CONVERSIONS:
        return _alignment(op.operands[0], depth - 1)
    if op.name == "util.align":  # to a power of two
        return _alignment(op.operands[1], depth - 1)
    if op.name in ("arith.addi", "arith.select"):
        return min(_alignment(operand, depth - 1) for operand in list(op.operands)[-2:])
    if op.name == "arith.muli":
        first, second = (_alignment(operand, depth - 1) for operand in op.operands)
        return min(first * second, _ANY)
    return _UNKNOWN
