"""What may run after what, on the tree of regions."""

from __future__ import annotations

from iree.compiler import ir

from .bindings import LOOPS, ancestor_in_block

__all__ = ["may_run_after", "repeats_inside"]


def repeats_inside(at: ir.Operation, block: ir.Block) -> bool:
    """Whether a loop lies around `at` but not around `block`, so that `at` runs again with the same value."""
    current = at
    while current.block != block:
        current = current.parent.operation
        if current.name in LOOPS:
            return True
    return False


def may_run_after(user: ir.Operation, at: ir.Operation, block: ir.Block) -> bool:
    """Whether `user` may run after `at`; both use a value defined in `block`, and no loop repeats `at`."""
    while True:
        user_top = ancestor_in_block(user, block)
        at_top = ancestor_in_block(at, block)
        if user_top is None or at_top is None:
            return True
        if user_top != at_top:
            return at_top.is_before_in_block(user_top)
        if at_top == at:
            return True  # the use lies inside the loop that `at` starts
        if user_top == user:
            return False  # `user` is the op around `at`: it takes its operands before
        inner = _block_inside(at, at_top)
        if inner != _block_inside(user, at_top):
            return at_top.name in LOOPS  # the two branches of an `scf.if` exclude each other
        block = inner


def _block_inside(op: ir.Operation, container: ir.Operation) -> ir.Block:
    """Return the block directly inside `container` that holds `op`."""
    while op.parent.operation != container:
        op = op.parent.operation
    return op.block
