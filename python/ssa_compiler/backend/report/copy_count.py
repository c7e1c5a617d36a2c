"""Count the commands of a program's stream IR: copies and dispatches, inside and outside loops.

The counts are of the scheduled IR (`--compile-to=stream`), so they need neither a device nor a clock: a carried tensor
that is copied in every iteration shows as a copy inside a loop.
"""

from __future__ import annotations

from dataclasses import dataclass

from iree.compiler import ir

from ...process.forks import new_context
from ..ir.bindings import DIALECTS, walk

__all__ = ["CopyCount", "count_copies", "runs_again"]


@dataclass(frozen=True)
class CopyCount:
    """Static counts of stream commands.

    They are of whole tensors or of parts. What a dispatch or a native kernel copies by itself is none of them.

    Attributes:
        copies: `stream.cmd.copy` outside every loop.
        loop_copies: `stream.cmd.copy` in blocks that run again.
        loop_allocations: allocations in blocks that run again.
        dispatches: kernel launches outside every loop.
        loop_dispatches: kernel launches in blocks that run again.
    """

    copies: int = 0
    loop_copies: int = 0
    loop_allocations: int = 0
    dispatches: int = 0
    loop_dispatches: int = 0


def count_copies(stream: str) -> CopyCount:
    """Count the commands of a program.

    Args:
        stream: scheduled stream IR, from `stream_ir`.
    Returns:
        The counts, over all functions.
    """
    counts = dict.fromkeys(CopyCount.__dataclass_fields__, 0)
    with new_context(ir, *DIALECTS) as context:
        context.allow_unregistered_dialects = True
        module = ir.Module.parse(stream, context)
        for view in module.body.operations:
            op = view.operation
            if op.name not in ("util.func", "util.initializer"):
                continue
            blocks = list(op.regions[0].blocks)
            for number, block in enumerate(blocks):
                again = _reaches(blocks, number, number)
                for top in block.operations:
                    for inner in [top.operation, *walk(top.operation)]:
                        _count(inner, again or _in_loop(inner, op), counts)
    return CopyCount(**counts)


def runs_again(op: ir.Operation, function: ir.Operation) -> bool:
    """Whether an op lies in a loop of a function, structured or not."""
    blocks = list(function.regions[0].blocks)
    top = op
    while top.parent.operation != function:
        top = top.parent.operation
    number = blocks.index(top.block)
    return _reaches(blocks, number, number) or _in_loop(op, function)


def _in_loop(op: ir.Operation, function: ir.Operation) -> bool:
    current = op
    while current != function:
        current = current.parent.operation
        if current.name in ("scf.for", "scf.while"):
            return True
    return False


def _reaches(blocks: list[ir.Block], start: int, goal: int) -> bool:
    """Whether control can come from the end of one block to the start of another."""
    seen: set[int] = set()
    pending = [start]
    while pending:
        for successor in blocks[pending.pop()].successors:
            index = blocks.index(successor)
            if index == goal:
                return True
            if index not in seen:
                seen.add(index)
                pending.append(index)
    return False


def _count(op: ir.Operation, again: bool, counts: dict[str, int]) -> None:
    if op.name == "stream.cmd.copy":
        counts["loop_copies" if again else "copies"] += 1
    elif op.name == "stream.cmd.dispatch":
        counts["loop_dispatches" if again else "dispatches"] += 1
    elif op.name == "stream.resource.alloca" and again:
        counts["loop_allocations"] += 1
