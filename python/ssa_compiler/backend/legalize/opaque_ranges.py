"""Keep IREE from conclusions about the integers of a program that calls back.

`arith-unsigned-when-equivalent`, which runs over the whole module in the second half of iree-compile, makes comparisons
and bounds of integers unsigned where an analysis of their ranges says that they are not negative. The analysis of IREE
3.13 never learns anything about the results of a function without a body, and takes a block that gets such a result for
one that is not reached. A callback is such a function. What reaches a later block by way of a branch with a callback is
then left out: an index that is 0 there, or -1 after the callback, is taken for 0, -1 is not counted from the end, and a
row behind the last one is read or written.

Only what blocks get as arguments is affected, as a value dominates its uses. So each integer among them goes through a
barrier.
"""

from __future__ import annotations

from iree.compiler import ir

from ..ir.bindings import build

__all__ = ["hide_joined_integers"]

_FUNCTION = "util.func"


def hide_joined_integers(scheduled: ir.Module) -> int:
    """Put a barrier behind the integers that blocks get as arguments, if the module calls functions without a body.

    Args:
        scheduled: what `iree-compile --compile-to=stream` wrote, changed in place.
    Returns:
        The number of barriers.
    """
    functions = [view.operation for view in scheduled.body.operations if view.operation.name == _FUNCTION]
    bodies = [list(function.regions[0].blocks) for function in functions]
    if all(bodies):
        return 0
    return sum(_hide(block) for blocks in bodies for block in blocks[1:])


def _hide(block: ir.Block) -> bool:
    """Put the integers that a block gets, flags apart, through a barrier."""
    numbers = [argument for argument in block.arguments if _is_number(argument.type)]
    if not numbers:
        return False
    barrier = build(
        "util.optimization_barrier",
        [number.type for number in numbers],
        numbers,
        ir.InsertionPoint.at_block_begin(block),
    )
    for number, hidden in zip(numbers, barrier.results, strict=True):
        number.replace_all_uses_except(hidden, barrier)
    return True


def _is_number(type_: ir.Type) -> bool:
    return isinstance(type_, ir.IndexType) or (isinstance(type_, ir.IntegerType) and type_.width > 1)
