"""Let tensors of a program for CUDA have few different sizes, so that memory that is kept fits the next one.

To allocate memory on a GPU takes longer than most kernels, so the runtime keeps what is freed (`runtime/device.py`). It
is used again for the same number of bytes only, and IREE 3.13 frees what exceeds a limit twice, so there is none: a
cache that grows by one row in each step would leave a piece of memory of every size behind. Four sizes between one
power of two and the next are enough; at most a fifth of each piece is unused.
"""

from __future__ import annotations

from iree.compiler import ir

from ..ir.bindings import build, walk

__all__ = ["round_allocations", "rounded"]

_LEAST = 1024
_INDEX_BITS = 64


def rounded(size: int) -> int:
    """Return the size of the piece of memory for so many bytes."""
    step = 1 << (max(size, _LEAST).bit_length() - 3)
    return -(-size // step) * step if size > _LEAST else _LEAST


def round_allocations(scheduled: ir.Module) -> int:
    """Round up the sizes of what a program allocates.

    Args:
        scheduled: what `iree-compile --compile-to=stream` wrote, changed in place.
    Returns:
        The number of allocations.
    """
    found = [op for op in walk(scheduled.operation) if op.name == "stream.resource.alloca"]
    for op in found:
        op.operands[0] = _rounded(op.operands[0], ir.InsertionPoint(op))
    return len(found)


def _rounded(size: ir.Value, where: ir.InsertionPoint) -> ir.Value:
    """Emit `rounded`."""
    context = size.context
    index, i64 = ir.IndexType.get(context), ir.IntegerType.get_signless(64, context)

    def number(value: int) -> ir.Value:
        return build("arith.constant", [i64], [], where, {"value": ir.IntegerAttr.get(i64, value)}).results[0]

    def arith(name: str, *operands: ir.Value) -> ir.Value:
        return build(f"arith.{name}", [i64], list(operands), where).results[0]

    least = arith("maxui", build("arith.index_cast", [i64], [size], where).results[0], number(_LEAST))
    zeros = build("math.ctlz", [i64], [least], where).results[0]
    shift = arith("subi", number(_INDEX_BITS - 3), zeros)
    below = arith("subi", arith("shli", number(1), shift), number(1))
    whole = arith("shli", arith("shrui", arith("addi", least, below), shift), shift)
    return build("arith.index_cast", [index], [whole], where).results[0]
