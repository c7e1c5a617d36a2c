"""Parts of a tensor that are put together again, one of them negated.

IREE 3.13.0 knows the rotation of a half turn, `cat([-x[.., h:], x[.., :h]], -1)`, and takes what looks like it for it:
any part of a tensor, negated, before any other part of it, whichever these are; where sizes are dynamic, also of an
odd number of columns. So does it for parts that are written into another tensor. It asks whether both are parts of one
value, so the second gets one of its own. What is a negation is decided late (`x * -1` is none, `-0.0 - x` is), so any
function of the first part counts.
"""

from __future__ import annotations

from collections.abc import Sequence

from iree.compiler import ir

from ..ir.bindings import build, constant_integer
from ..ir.copies import barrier
from ..ir.types import is_torch, is_torch_tensor, sizes
from .masks import listed

__all__ = ["part_rotations"]

_SLICE, _SCATTER = "torch.aten.slice.Tensor", "torch.aten.slice_scatter"
_CAST = "torch.tensor_static_info_cast"
_STEPS = 8


def part_rotations(op: ir.Operation) -> int:
    """Read the second of two parts that are put together from another value, unless they are those of a rotation.

    Args:
        op: `torch.aten.cat` or `torch.aten.slice_scatter`.
    Returns:
        1 if it was rewritten, else 0.
    """
    if op.name == _SCATTER:
        before = _definer(op.operands[0])
        if before is None or before.name != _SCATTER:
            return 0
        first, second = before.operands[1], op.operands[1]
    else:
        parts = listed(op.operands[0])
        if len(parts) != 2 or _is_half_turn(op, parts):
            return 0
        first, second = parts
    part = _definer(second)
    origin = _origin(first)
    if part is None or part.name != _SLICE or origin is None or origin != part.operands[0]:
        return 0
    where = ir.InsertionPoint(op)
    value = barrier(part.operands[0], where)
    again = build(_SLICE, [part.results[0].type], [value, *list(part.operands)[1:]], where).results[0]
    if op.name == _SCATTER:
        op.operands[1] = again
    else:
        list_ = build("torch.prim.ListConstruct", [op.operands[0].type], [first, again], where).results[0]
        op.operands[0] = list_
    return 1


def _definer(value: ir.Value) -> ir.Operation | None:
    op = None if isinstance(value.owner, ir.Block) else value.owner.operation
    return _definer(op.operands[0]) if op is not None and op.name == _CAST else op


def _origin(value: ir.Value) -> ir.Value | None:
    """The tensor that a value is a function of a part of; None if it is none, or a part as it is."""
    op = _definer(value)
    for step in range(_STEPS):
        if op is None:
            return None
        if op.name == _SLICE:
            return op.operands[0] if step else None
        tensors = [operand for operand in op.operands if is_torch_tensor(operand)]
        op = _definer(tensors[0]) if len({*tensors}) == 1 else None
    return None


def _is_half_turn(op: ir.Operation, parts: Sequence[ir.Value]) -> bool:
    """Whether `cat` puts the second half of a tensor, negated, before its first half, along a last dimension of known
    size.
    """
    shape, negation = sizes(op.results[0]), _definer(parts[0])
    if negation is None or negation.name != "torch.aten.neg" or not shape[-1].isdigit():
        return False
    second, first, size = _definer(negation.operands[0]), _definer(parts[1]), int(shape[-1])
    return (
        constant_integer(op.operands[1]) in (-1, len(shape) - 1)
        and _bounds(second, size) == (size // 2, size)
        and _bounds(first, size) == (0, size - size // 2)
        and size % 2 == 0
    )


def _bounds(part: ir.Operation | None, size: int) -> tuple[int, int] | None:
    """Where a slice of the last dimension begins and ends; None if this is no such slice, or that is not known."""
    if part is None or part.name != _SLICE or sizes(part.operands[0])[-1] != str(size):
        return None
    dimension, start, end, step = list(part.operands)[1:]
    if constant_integer(dimension) not in (-1, len(sizes(part.results[0])) - 1) or constant_integer(step) != 1:
        return None
    first = 0 if is_torch(start, "none") else constant_integer(start)
    last = size if is_torch(end, "none") else constant_integer(end)
    if first is None or last is None or first < 0 or last < 0:
        return None
    return first, min(last, size)
