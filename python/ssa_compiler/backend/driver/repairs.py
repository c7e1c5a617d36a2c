"""Repair an in-place update that could not be verified: a barrier or a copy at the ops that it was made from.

A dispatch that IREE placed into a larger tensor is kept apart from it by a barrier on its result. Any other update gets
a copy of the tensor that it overwrites. Each op is repaired at most once in each way, so that repairing ends.
"""

from __future__ import annotations

from collections.abc import Iterable

from iree.compiler import ir

from ..buffers.buffer_reuse import updated_operand
from ..buffers.copy_insertion import users
from ..buffers.read_hoisting import read_before_update
from ..callbacks.callbacks import torch_operator
from ..ir.bindings import CASTS, LOOPS, cast_root, definer, defining_block, walk
from ..ir.copies import after, barrier, opaque_copy
from ..ir.types import is_any_tensor

__all__ = ["Repairs"]

_LIST = "torch.prim.ListConstruct"


class Repairs:
    """The repairs made to one module.

    Attributes:
        copies: copies put in so far.
        barriers: barriers put in so far.
    """

    def __init__(self, module: ir.Module) -> None:
        self._module = module
        # The hash of an op is that of its contents, which repairs change, and the hash of a value that of its identity.
        self._done: set[tuple[str, ir.Value]] = set()
        self._done_without_results: list[tuple[str, ir.Operation]] = []
        self.copies = 0
        self.barriers = 0

    def repair(self, kind: str, emplaced: bool, ops: list[ir.Operation]) -> int:
        """Repair one violation.

        Args:
            kind: "live", "hazard", "reduction" or "wait", see `in_place.Violation`.
            emplaced: whether a dispatch's result was placed into a larger tensor.
            ops: the ops of the module that the update was made from.
        Returns:
            How many barriers and copies were put in; 0 if there is nothing left to try.
        """
        ops = [op for op in ops if not op.name.startswith("arith.")]
        if kind == "wait":
            return self._copy_operands(ops)
        if kind == "reduction":
            return self._hide_operands([op for op in ops if not op.regions])
        if emplaced:
            made = 0
            if kind == "live":
                made = self._copy_bases(user for op in ops for user in _users(op) if self._base_is_outside(user, op))
            return made or self._separate(ops) or self._copy_bases([*ops, *(user for op in ops for user in _users(op))])
        if kind == "live" and (made := self.read_before_updates(ops)):
            return made
        if kind == "hazard" and (made := self._hide_sources(ops)):
            return made
        return self._copy_bases(ops) or self._copy_bases(ops, every=True) or self._separate(ops)

    def _is_done(self, way: str, op: ir.Operation) -> bool:
        """Whether an op was repaired in a way."""
        if op.results:
            return (way, op.results[0]) in self._done
        return (way, op) in self._done_without_results

    def _begin(self, way: str, op: ir.Operation) -> bool:
        """Note that an op is repaired in a way; returns whether it was not before."""
        if self._is_done(way, op):
            return False
        if op.results:
            self._done.add((way, op.results[0]))
        else:
            self._done_without_results.append((way, op))
        return True

    def read_before_updates(self, ops: list[ir.Operation]) -> int:
        """Put barriers on what is computed from tensors before these ops, or those that use their results, update them.

        Returns:
            The number of barriers.
        """
        made = 0
        updates = [
            *ops,
            *(user for op in ops for result in op.results if is_any_tensor(result) for user in users(result)),
        ]
        for op in updates:
            if self._begin("read before", op):
                made += read_before_update(op)
        self.barriers += made
        return made

    def separate_all(self) -> int:
        """Put a barrier on the results of every torch op, so that each is compiled alone; returns how many."""
        torch_ops = [op for op in walk(self._module.operation) if torch_operator(op) is not None]
        return sum(self._separate([op]) for op in torch_ops)

    def split(self, ops: list[ir.Operation]) -> int:
        """Put barriers between the first and the second half of ops that were fused; returns how many."""
        made_tensors = [op for op in ops if any(map(is_any_tensor, op.results)) and op.name not in CASTS]
        return self._separate(made_tensors[: len(made_tensors) // 2], "split")

    def isolate(self, ops: list[ir.Operation]) -> int:
        """Put barriers between the last of ops that were fused and what computes its operands; returns how many."""
        last = next((op for op in reversed(ops) if torch_operator(op) not in (None, "prim::ListConstruct")), None)
        if last is None:
            return 0
        lists = [maker for value in last.operands if (maker := definer(value)) is not None and maker.name == _LIST]
        return self._hide_operands([last, *lists])

    def hide_starts(self) -> int:
        """Put a barrier in front of each tensor that enters a loop; returns how many.

        Where IREE sees what computes it, it may move the waiting for it to and fro until it gives up.
        """
        return self._hide_operands([op for op in walk(self._module.operation) if op.name in LOOPS])

    def _separate(self, ops: list[ir.Operation], way: str = "barrier") -> int:
        """Put a barrier on each tensor that leaves a group of ops."""
        made = 0
        for op in ops:
            if op.name in CASTS or op.regions or not op.results or self._is_done(way, op):
                continue
            if way == "barrier":
                self._begin(way, op)
            for result in op.results:
                leaving = [
                    use for use in result.uses if use.owner.operation not in ops or use.owner.operation.name in CASTS
                ]
                if not leaving or not is_any_tensor(result):
                    continue
                uses = [(use.owner.operation, use.operand_number) for use in result.uses]
                hidden = barrier(result, after(op))
                for user, number in uses:
                    user.operands[number] = hidden
                self._begin(way, op)
                made += 1
        self.barriers += made
        return made

    def _hide_operands(self, ops: list[ir.Operation]) -> int:
        """Put a barrier on each tensor that an op reads."""
        made = 0
        for op in ops:
            if op.name in CASTS or (op.regions and op.name not in LOOPS) or not self._begin("hidden", op):
                continue
            for index, operand in enumerate(op.operands):
                if is_any_tensor(operand):
                    op.operands[index] = barrier(operand, ir.InsertionPoint(op))
                    made += 1
        self.barriers += made
        return made

    def _hide_sources(self, ops: list[ir.Operation]) -> int:
        """Put a barrier on what an op puts into a tensor, so that it is read before: it may be a part of that
        tensor.
        """
        made = 0
        for op in ops:
            base = updated_operand(op)
            if base is None or not self._begin("source", op):
                continue
            for index, operand in enumerate(op.operands):
                if index != base and is_any_tensor(operand):
                    op.operands[index] = barrier(operand, ir.InsertionPoint(op))
                    made += 1
        self.barriers += made
        return made

    def _copy_bases(self, ops: Iterable[ir.Operation], *, every: bool = False) -> int:
        """Copy the operands that an op may overwrite: those of the type of a result, or every tensor."""
        made = 0
        way = "copy every" if every else "copy"
        for op in ops:
            if op.name in CASTS or op.regions or not op.results or not self._begin(way, op):
                continue
            types = {result.type for result in op.results}
            for index, operand in enumerate(op.operands):
                if (every or operand.type in types) and is_any_tensor(operand):
                    op.operands[index] = opaque_copy(operand, ir.InsertionPoint(op))
                    made += 1
        self.copies += made
        return made

    def _copy_operands(self, ops: list[ir.Operation]) -> int:
        """Copy each tensor that an op reads: the kernel that copies waits for it, and the op waits for the copy."""
        made = 0
        for op in ops:
            if op.regions or not self._begin("waits", op):
                continue
            for index, operand in enumerate(op.operands):
                if is_any_tensor(operand):
                    op.operands[index] = opaque_copy(operand, ir.InsertionPoint(op))
                    made += 1
        self.copies += made
        return made

    @staticmethod
    def _base_is_outside(user: ir.Operation, op: ir.Operation) -> bool:
        """Whether `user` inserts the result of `op` into a tensor from outside the loop around it."""
        types = {result.type for result in user.results}
        for operand in user.operands:
            if operand.type in types and not isinstance(operand.owner, ir.Block):
                block = defining_block(cast_root(operand))
                current = user
                while current.block != block and current.parent is not None:
                    current = current.parent.operation
                    if current.name in LOOPS:
                        return True
                    if current.name == "func.func":
                        break
        return False


def _users(op: ir.Operation) -> list[ir.Operation]:
    """The ops that use a result of `op`, through casts."""
    found: list[ir.Operation] = []
    pending = list(op.results)
    while pending:
        for use in pending.pop().uses:
            user = use.owner.operation
            if user.name in CASTS:
                pending.append(user.results[0])
            elif user not in found:
                found.append(user)
    return found
