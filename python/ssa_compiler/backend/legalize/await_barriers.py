"""Barriers that keep IREE from following a tensor that the host waits for into branches and loops.

Where the host waits for a tensor, `%b = await %t => %a`, IREE lets later work that uses `%b` wait for `%t` and use `%a`
instead. It follows `%b` also through what branches and loops forward, and takes `%a` for the result of a branch
whatever the other branch forwards (seen with 3.13.0, after the IR that `in_place` checks). The host waits for what a
barrier hides and for what a callback gets. Where such a tensor enters a loop, or leaves a region from outside of which
it comes, it gets a barrier, and IREE does not follow it.

And it forgets to wait for an argument of a loop that a barrier hides or a callback gets (`missing_awaits`). Whatever a
loop is given, or forwards, at the place of such an argument gets a barrier too: the host waits for it there.
"""

from __future__ import annotations

from collections.abc import Iterator

from iree.compiler import ir

from ..ir.bindings import LOOPS, cast_root, defining_block, equivalents, is_behind_barrier, walk
from ..ir.copies import barrier
from ..ir.region_edges import forwarded_to
from ..ir.types import is_tensor

__all__ = ["hide_awaited"]

_BARRIER = "util.optimization_barrier"
_WAITING = frozenset({_BARRIER, "hal.tensor.export"})


def hide_awaited(module: ir.Module) -> int:
    """Put the barriers in that are missing.

    Args:
        module: an `iree`-stage module, changed in place; nothing is changed by a second call.
    Returns:
        The number of barriers.
    """
    count = 0
    flows = list(_flows(module))
    changed = True
    while changed:
        changed = False
        for user, number in flows:
            value = user.operands[number]
            if not is_behind_barrier(value) and (_is_awaited(value) or any(map(_is_hidden, _arguments(user, number)))):
                user.operands[number] = barrier(value, ir.InsertionPoint(user))
                count += 1
                changed = True  # the host waits for it from now on
    return count


def _flows(module: ir.Module) -> Iterator[tuple[ir.Operation, int]]:
    """The operands by which tensors enter loops or go round in them, or pass through a region unchanged."""
    for op in walk(module.operation):
        if op.name in LOOPS or op.name in ("scf.yield", "scf.condition"):
            for number, value in enumerate(op.operands):
                if is_tensor(value) and (_arguments(op, number) or defining_block(cast_root(value)) != op.block):
                    yield op, number


def _arguments(user: ir.Operation, number: int) -> list[ir.Value]:
    """The arguments of a loop's regions that an operand of the loop or of a terminator in it becomes."""
    return [target for target in forwarded_to(user, number) if isinstance(target.owner, ir.Block)]


def _is_hidden(argument: ir.Value) -> bool:
    """Whether the program uses an argument behind a barrier, or a callback gets it."""
    return any(
        use.owner.operation.name in _WAITING and any(list(result.uses) for result in use.owner.operation.results)
        for alias in equivalents(argument)
        for use in alias.uses
    )


def _is_awaited(value: ir.Value) -> bool:
    return any(use.owner.operation.name in _WAITING for alias in equivalents(cast_root(value)) for use in alias.uses)
