"""Let what is computed from a tensor before its update be there when the update is made.

IREE computes ops in the kernels that use their results, and reads slices where it needs them. Where a part of a tensor
is read, the tensor updated, and the part used (`a = x[0].clone(); x[0] = x[1]; x[1] = a`), the kernel after the update
reads the version before it, and IREE copies the whole tensor for it. Behind a barrier the part is a tensor of its own,
made before the update. A barrier is worth its price only where there is such a copy, so this runs on the copies that
IREE has made, and on the updates that are not verified, which would get one; that what it does afterwards is right is
checked by `in_place` in any case.
"""

from __future__ import annotations

from iree.compiler import ir

from ..ir.bindings import defining_block, source_lines, walk
from ..ir.copies import after, barrier
from ..ir.reachability import may_run_after, repeats_inside
from ..ir.region_edges import forwarded_to
from ..ir.types import is_any_tensor, is_tensor
from .buffer_reuse import is_reused, memory_root, updated_operand
from .copy_insertion import is_own, reads, users

__all__ = ["cloned_lines", "read_before_update"]


def cloned_lines(program: ir.Module) -> list[int]:
    """Return the lines of the compiled text from which IREE's copies of whole tensors come.

    Args:
        program: the asynchronous stream IR.
    """
    return source_lines(op for op in walk(program.operation) if op.name == "stream.async.clone")


def read_before_update(op: ir.Operation) -> int:
    """Put a barrier on what is computed from a tensor that an op updates, where it is used after the update.

    Args:
        op: an op that updates a tensor, or passes it to what does, of an `iree`-stage module that is rewritten in
            place.
    Returns:
        The number of barriers.
    """
    made = 0
    for number in _reused(op):
        root = memory_root(op.operands[number])
        block = defining_block(root)
        if not is_own(root) or repeats_inside(op, block):
            continue
        readers = [user for user in users(root) if user != op and reads(user)]
        if not any(may_run_after(user, op, block) for user in readers):  # else there has to be a copy
            made += _keep_apart(readers, op, block)
    return made


def _reused(op: ir.Operation) -> list[int]:
    """The operands whose memory an op, or what it passes them to, updates."""
    number = updated_operand(op)
    if number is not None:
        return [number]
    return [
        index
        for index, operand in enumerate(op.operands)
        if is_tensor(operand) and any(map(is_reused, forwarded_to(op, index)))
    ]


def _keep_apart(readers: list[ir.Operation], update: ir.Operation, block: ir.Block) -> int:
    """Put a barrier on each tensor that these ops compute, also by way of others, and that is used after the update."""
    made = 0
    for op in readers:  # which grows
        if op.regions or not op.results or op.name == "util.optimization_barrier":
            continue
        for result in op.results:
            if not is_any_tensor(result):
                continue
            uses = [(use.owner.operation, use.operand_number) for use in result.uses if use.owner.operation != update]
            late = [(user, n) for user, n in uses if may_run_after(user, update, block)]
            if late:
                hidden = barrier(result, after(op))
                for user, n in late:
                    user.operands[n] = hidden
                made += 1
            early = [user for user, n in uses if (user, n) not in late]
            readers += [user for user in early if user not in readers]
    return made
