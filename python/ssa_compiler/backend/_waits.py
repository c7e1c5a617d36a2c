"""Barriers that keep IREE from following a tensor that the host waits for into branches and loops.

Where the host waits for a tensor, `%b = await %t => %a`, IREE lets later work that uses `%b` wait for `%t` and use `%a` instead.
It follows `%b` also through what branches and loops hand on, and takes `%a` for the result of a branch whatever the other
branch hands on (seen with 3.13.0, after the IR that `_aliasing` checks). The host waits for what a barrier hides and for what
a callback gets. Where such a tensor enters a loop, or leaves a region from outside of which it comes, it gets a barrier, and
IREE does not follow it.
"""

from __future__ import annotations

from collections.abc import Iterator

from iree.compiler import ir

from ._copies import barrier
from ._ir import CASTS, LOOPS, cast_root, defining_block, equivalents, is_tensor, walk

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
            if not _is_barrier(value) and _is_awaited(value):
                user.operands[number] = barrier(value, ir.InsertionPoint(user))
                count += 1
                changed = True  # the host waits for it from now on
    return count


def _flows(module: ir.Module) -> Iterator[tuple[ir.Operation, int]]:
    """The operands by which tensors enter loops, or pass through a region unchanged."""
    for op in walk(module.operation):
        if op.name in LOOPS or op.name in ("scf.yield", "scf.condition"):
            for number, value in enumerate(op.operands):
                if is_tensor(value) and (op.name in LOOPS or defining_block(cast_root(value)) != op.block):
                    yield op, number


def _is_barrier(value: ir.Value) -> bool:
    """Whether a value is what a barrier hides, possibly in another type."""
    while not isinstance(value.owner, ir.Block) and value.owner.operation.name in CASTS:
        if value.owner.operation.name == _BARRIER:
            return True
        value = value.owner.operation.operands[0]
    return False


def _is_awaited(value: ir.Value) -> bool:
    return any(use.owner.operation.name in _WAITING for alias in equivalents(cast_root(value)) for use in alias.uses)
