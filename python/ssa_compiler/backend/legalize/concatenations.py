"""Keep branches and loops behind what they read, where tensors of dynamic sizes are concatenated.

IREE 3.13 computes what is put into a tensor in its place there (`iree-stream-emplace-allocations`). To that end it
moves what the size of that tensor depends on in front of the computation. Of an `scf.if` or a loop, which may decide
the size of another part, it does not look at what the regions read ("operand #0 does not dominate this use"). A part
behind a barrier is copied to its place.
"""

from __future__ import annotations

from iree.compiler import ir

from ..callbacks.callbacks import torch_operator
from ..ir.bindings import ancestor_in_block, cast_root, definer, walk
from ..ir.copies import barrier

__all__ = ["hide_concatenated"]


def hide_concatenated(module: ir.Module) -> int:
    """Put a barrier on each tensor that is concatenated with what a branch or loop behind it makes.

    Args:
        module: an `iree`-stage module, changed in place.
    Returns:
        The number of barriers.
    """
    made = 0
    for op in list(walk(module.operation)):
        parts = definer(op.operands[0]) if torch_operator(op) == "aten::cat" else None
        if parts is None or "?" not in str(op.results[0].type):
            continue
        for number, value in enumerate(parts.operands):
            if _has_regions_between(value, op):
                parts.operands[number] = barrier(value, ir.InsertionPoint(parts))
                made += 1
    return made


def _has_regions_between(value: ir.Value, user: ir.Operation) -> bool:
    """Whether a branch or loop lies between an op in a block and one that uses its result there."""
    maker = definer(cast_root(value))
    if maker is None or len(maker.regions):
        return False
    last = ancestor_in_block(user, maker.block)
    if last is None:
        return False
    ops = [view.operation for view in maker.block.operations]
    return any(len(op.regions) for op in ops[ops.index(maker) + 1 : ops.index(last)])
