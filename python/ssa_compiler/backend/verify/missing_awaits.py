"""Find ops that use a tensor before it is certain to be computed.

In the asynchronous stream IR each tensor comes with a timepoint. A kernel gets the timepoints of what it reads; any
other op (`util.optimization_barrier`, the export of a tensor to a callback, a call) works on a tensor that the host has
waited for. IREE 3.13 forgets to wait where such an op reads an argument of a loop (`iree-stream-propagate-timepoints`
leaves it to the consumers, and knows only some of them): nothing is known to need the timepoint any more, and the
kernel that computes the tensor is removed. So does `hide_awaited` (`await_barriers`) let no such argument be without a
wait in front of the loop; here it is verified.
"""

from __future__ import annotations

from collections.abc import Iterator

from iree.compiler import ir

from ..ir.bindings import walk
from ..ir.region_edges import region_edges
from ..ir.types import is_resource

__all__ = ["find_lost_waits"]

_BARRIER = "util.optimization_barrier"
_EXPORT = "stream.tensor.export"
_PRODUCERS = frozenset({"stream.async.execute", "stream.async.concurrent"})
# What forwards a tensor together with its timepoint, waits for it, or does not look into it.
_TIMED = (
    "stream.async.",
    "stream.timepoint.",
    "stream.resource.size",
    "stream.yield",
    "scf.",
    "cf.",
)


def find_lost_waits(function: ir.Operation) -> list[ir.Operation]:
    """Find the ops of a function that read a tensor which nobody has waited for.

    Args:
        function: a `util.func` after `iree-stream-propagate-timepoints`.
    Returns:
        The ops; empty if each waits, or has nothing to wait for.
    """
    sources: dict[ir.Value, list[ir.Value]] = {}
    early: set[ir.Value] = set()  # tensors that may not be computed yet where they are defined
    operations = [op for op in walk(function) if not _inside_execution(op)]
    for op in operations:
        if op.name in _PRODUCERS:
            early.update(result for result in op.results if _is_resource(result))
        for target, value in _flows(op):
            if _is_resource(target):
                sources.setdefault(target, []).append(value)
    changed = True
    while changed:
        found = {target for target, values in sources.items() if any(value in early for value in values)}
        changed = not found <= early
        early |= found
    return [
        op
        for op in operations
        if not op.name.startswith(_TIMED)
        and any(operand in early and not (op.name == _EXPORT and _is_chained(operand)) for operand in op.operands)
        and (op.name != _BARRIER or list(op.results[0].uses))
    ]


def _is_chained(tensor: ir.Value) -> bool:
    """Whether whoever gets a tensor gets its timepoint as well, as a fence."""
    owner = tensor.owner
    if isinstance(owner, ir.Block):
        around = list(owner.arguments)
        pending = around[around.index(tensor) + 1 :][:1]
    elif owner.operation.name in _PRODUCERS:
        pending = [owner.operation.results[len(owner.operation.results) - 1]]
    else:
        around = list(owner.operation.results)
        pending = around[around.index(tensor) + 1 :][:1]
    for timepoint in pending:
        for use in timepoint.uses:
            user = use.owner.operation
            if user.name == "stream.timepoint.chain_external":
                return True
            if user.name == "stream.timepoint.join":
                pending.append(user.results[0])
    return False


def _is_resource(value: ir.Value) -> bool:
    return is_resource(value)


def _inside_execution(op: ir.Operation) -> bool:
    """Whether an op is part of scheduled work, which waits as a whole."""
    parent = op.parent
    while parent is not None and parent.operation.name not in ("util.func", "util.initializer"):
        if parent.operation.name in _PRODUCERS:
            return True
        parent = parent.operation.parent
    return False


def _flows(op: ir.Operation) -> Iterator[tuple[ir.Value, ir.Value]]:
    """What an op forwards unchanged: pairs of the value it becomes, and the value forwarded."""
    yield from ((target, op.operands[number]) for number, target in region_edges(op))
    if op.name == "arith.select":
        yield from ((op.results[0], value) for value in list(op.operands)[1:])
