"""Let the branches of an `scf.if` reuse the tensors that they capture, where nobody needs them afterwards.

IREE judges whether the memory of a tensor may be updated by the last use that it finds in the same region. A tensor
from outside is never found to be used for the last time, so that an update under a branch copies the whole tensor, in a
loop once in each iteration. Behind a barrier at the start of the branch the tensor is a value of that region. Where the
tensor is needed later nothing is done, so that IREE copies it; that the result is right is checked by `in_place` in any
case.
"""

from __future__ import annotations

from iree.compiler import ir

from ..ir.bindings import ancestor_in_block, defining_block, walk
from ..ir.copies import barrier
from ..ir.types import is_any_tensor
from .copy_insertion import is_last_holder

__all__ = ["reuse_captures"]


def reuse_captures(module: ir.Module) -> int:
    """Put a barrier at the start of each branch on what it captures and nothing outside needs after it.

    Args:
        module: an `iree`-stage module, rewritten in place.
    Returns:
        The number of barriers.
    """
    made = 0
    # Outer branches first: what they reuse, inner ones can.
    for op in list(walk(module.operation)):
        if op.name != "scf.if":
            continue
        for region in op.regions:
            for value, users in _captures(region).items():
                if is_last_holder(value, op):
                    _reuse(value, users, op)
                    made += 1
    return made


def _captures(region: ir.Region) -> dict[ir.Value, list[tuple[ir.Operation, int]]]:
    """The tensors from outside that a region uses for more than to forward them, each with its uses."""
    if not len(region.blocks):
        return {}
    ops = [
        inner
        for block in region.blocks
        for view in block.operations
        for inner in [view.operation, *walk(view.operation)]
    ]
    inside = {*region.blocks, *(block for inner in ops for nested in inner.regions for block in nested.blocks)}
    found: dict[ir.Value, list[tuple[ir.Operation, int]]] = {}
    for inner in ops:
        for index, operand in enumerate(inner.operands):
            if is_any_tensor(operand) and defining_block(operand) not in inside:
                found.setdefault(operand, []).append((inner, index))
    return {value: uses for value, uses in found.items() if any(user.name != "scf.yield" for user, _ in uses)}


def _reuse(value: ir.Value, users: list[tuple[ir.Operation, int]], op: ir.Operation) -> None:
    """Replace the uses of a captured tensor in one branch by a barrier at its start."""
    block = next(block for region in op.regions for block in region.blocks if ancestor_in_block(users[0][0], block))
    hidden = barrier(value, ir.InsertionPoint.at_block_begin(block))
    for user, index in users:
        user.operands[index] = hidden
