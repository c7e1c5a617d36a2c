"""Give every tensor that enters a loop, or leaves a region, memory of its own.

IREE updates a carried tensor in place when it believes that the value it starts from is not used again. It takes
function arguments for shared (and copies them in every iteration), and it misses that one value may be passed on twice,
that a value from outside a loop is used again by the next iteration, and that the result of an `scf.if` may be a value
that is still needed. So this rewriting puts an opaque copy wherever a tensor is forwarded that is not certainly dead
afterwards and certainly different from the others forwarded with it. A tensor that is only passed on (the carried
tensor of an outer loop that starts an inner one) is moved and costs nothing.

These are choices for speed; that the result is right is checked on IREE's own output by `in_place`.
"""

from __future__ import annotations

from collections.abc import Iterator

from iree.compiler import ir

from ..ir.bindings import LOOPS, ancestor_in_block, cast_root, defining_block, main_function, walk
from ..ir.copies import opaque_copy
from ..ir.reachability import may_run_after, repeats_inside
from ..ir.types import holds_tensor, is_tensor
from .buffer_reuse import (
    forwarded_to,
    is_reused,
    memory_names,
    memory_root,
    only_asks_for_sizes,
    only_renames,
    updated_operand,
    updates_part_of_another,
)

__all__ = [
    "consume_written_arguments",
    "copy_all_forwarded",
    "copy_forwarded",
    "cut_chains",
    "is_last_holder",
    "is_own",
    "own_updates",
    "reads",
    "users",
]

_CONSUME = "iree.abi.consume"


def consume_written_arguments(module: ir.Module) -> None:
    """Let the program update the buffers of the arguments that it writes (`tssa.writeback` results) in place.

    Args:
        module: an `iree`-stage module; the attribute `iree.abi.consume` is set on those arguments of `@main`.
    """
    function = main_function(module)
    if "res_attrs" not in function.attributes:
        return
    written = set()
    for attributes in ir.ArrayAttr(function.attributes["res_attrs"]):
        entries = ir.DictAttr(attributes)
        if "tssa.writeback" in entries:
            written.add(ir.IntegerAttr(entries["tssa.writeback"]).value)
    context = function.context
    arguments = function.regions[0].blocks[0].arguments
    present = (
        list(ir.ArrayAttr(function.attributes["arg_attrs"]))
        if "arg_attrs" in function.attributes
        else [ir.DictAttr.get({}, context)] * len(arguments)
    )
    for index in written:
        entries = {named.name: named.attr for named in ir.DictAttr(present[index])}
        entries[_CONSUME] = ir.UnitAttr.get(context)
        present[index] = ir.DictAttr.get(entries, context)
    function.attributes["arg_attrs"] = ir.ArrayAttr.get(present, context)


def copy_forwarded(module: ir.Module) -> int:
    """Copy each forwarded tensor that is not certainly moved.

    Args:
        module: an `iree`-stage module, rewritten in place.
    Returns:
        The number of opaque copies made.
    """
    numbering = _ValueNumbers()
    pending = [
        (op, index)
        for op, index in _forwarded_operands(main_function(module))
        if not _is_moved(op.operands[index], op, index, numbering)
        and (_is_forwarded_twice(op, index, numbering) or any(map(is_reused, forwarded_to(op, index))))
    ]
    for op, index in pending:
        op.operands[index] = opaque_copy(op.operands[index], ir.InsertionPoint(op))
    return len(pending)


def own_updates(module: ir.Module) -> int:
    """Copy each tensor that IREE would update although it is not the program's, or is needed by the next iteration.

    IREE puts a copy in front of each update, and takes those away that it believes not to be needed: so it updates
    arguments of the caller where nothing reads them afterwards, and what a loop captures.

    Args:
        module: an `iree`-stage module, rewritten in place.
    Returns:
        The number of opaque copies made.
    """
    pending = []
    for op in walk(main_function(module)):
        number = updated_operand(op)
        if number is not None and _updates_what_it_may_not(op, number):
            pending.append((op, number))
    for op, number in pending:
        op.operands[number] = opaque_copy(op.operands[number], ir.InsertionPoint(op))
    return len(pending)


def _updates_what_it_may_not(op: ir.Operation, number: int) -> bool:
    root = memory_root(op.operands[number])
    block = defining_block(root)
    if repeats_inside(op, block) or updates_part_of_another(op):
        return True
    if not isinstance(root.owner, ir.Block) or is_own(root):
        return False
    return not any(user != op and reads(user) and may_run_after(user, op, block) for user in users(root))


def users(root: ir.Value) -> Iterator[ir.Operation]:
    """Yield the ops that use a tensor under any name."""
    for alias in memory_names(root):
        for use in alias.uses:
            yield use.owner.operation


def copy_all_forwarded(module: ir.Module) -> int:
    """Copy every forwarded tensor: the slow remedy where nothing else satisfies the check.

    Args:
        module: an `iree`-stage module, rewritten in place.
    Returns:
        The number of opaque copies made.
    """
    pending = list(_forwarded_operands(main_function(module)))
    for op, index in pending:
        op.operands[index] = opaque_copy(op.operands[index], ir.InsertionPoint(op))
    return len(pending)


def cut_chains(module: ir.Module, reach: int) -> int:
    """Copy tensors so that none is forwarded, with or without updates, more than some number of times.

    IREE's analyses follow a tensor from one region to the next, one in each step, and give up after 32 steps. They do
    not follow it through a kernel that makes it anew.

    Args:
        module: an `iree`-stage module, rewritten in place.
        reach: how often a tensor may be forwarded.
    Returns:
        The number of opaque copies made.
    """
    times: dict[ir.Value, int] = {}

    def forwarded(value: ir.Value) -> int:
        while True:
            value = memory_root(value)
            number = None if isinstance(value.owner, ir.Block) else updated_operand(value.owner.operation)
            if number is None:
                return times.get(value, 0)
            value = value.owner.operation.operands[number]

    copies = 0
    for op, index in _forwarded_operands(main_function(module)):
        before = forwarded(op.operands[index])
        if before >= reach:
            op.operands[index] = opaque_copy(op.operands[index], ir.InsertionPoint(op))
            copies += 1
            before = 0
        for other in forwarded_to(op, index):
            times[other] = max(times.get(other, 0), before + 1)
    return copies


def _forwarded_operands(function: ir.Operation) -> Iterator[tuple[ir.Operation, int]]:
    """Yield (op, operand number) for each tensor that starts a loop or leaves a region."""
    for op in list(walk(function)):
        if op.name in LOOPS or op.name in ("scf.yield", "scf.condition"):
            for index, operand in enumerate(op.operands):
                if is_tensor(operand):
                    yield op, index


class _ValueNumbers:
    """Numbers values so that two that CSE may merge get the same number."""

    def __init__(self) -> None:
        self._of_value: dict[ir.Value, int] = {}
        self._of_key: dict[object, int] = {}

    def __getitem__(self, value: ir.Value) -> int:
        value = memory_root(value)
        if value not in self._of_value:
            self._of_value[value] = self._of_key.setdefault(self._key(value), len(self._of_key))
        return self._of_value[value]

    def _key(self, value: ir.Value) -> object:
        owner = value.owner
        if isinstance(owner, ir.Block) or owner.operation.regions:
            return value
        op = owner.operation
        number = ir.OpResult(value).result_number
        attributes = frozenset((name, str(op.attributes[name])) for name in op.attributes)
        return (op.name, attributes, str(value.type), number, *(self[operand] for operand in op.operands))


def _is_moved(value: ir.Value, at: ir.Operation, index: int, numbering: _ValueNumbers) -> bool:
    """Whether a tensor forwarded by operand `index` of `at` is owned, dead afterwards, and forwarded only once."""
    root = memory_root(value)
    # What is created from nothing IREE shares as it is, but not in another shape.
    mine = is_own(root) or (not isinstance(root.owner, ir.Block) and is_own(cast_root(value)))
    if not mine or _is_forwarded_twice(at, index, numbering):
        return False
    block = defining_block(root)
    if repeats_inside(at, block):
        return False
    return not any(user != at and reads(user) and may_run_after(user, at, block) for user in users(root))


def _is_forwarded_twice(at: ir.Operation, index: int, numbering: _ValueNumbers) -> bool:
    """Whether a later operand of `at` is the tensor of operand `index`."""
    mine = numbering[at.operands[index]]
    return any(
        is_tensor(at.operands[other]) and numbering[at.operands[other]] == mine
        for other in range(index + 1, len(at.operands))
    )


def reads(user: ir.Operation) -> bool:
    """Whether an op that uses a tensor reads elements of it, or forwards it."""
    return not only_renames(user) and not only_asks_for_sizes(user)


def is_own(root: ir.Value) -> bool:
    """Whether a tensor has memory that no other part of the program, and not the caller, can be using."""
    owner = root.owner
    if isinstance(owner, ir.Block):
        return owner.owner.operation.name != "func.func" or _is_consumed_argument(root)
    # Created from nothing (`zeros`): IREE makes one of all that are equal, and hoists it out of loops.
    return bool(owner.operation.regions) or any(holds_tensor(operand) for operand in owner.operation.operands)


def is_last_holder(value: ir.Value, branch: ir.Operation) -> bool:
    """Whether a tensor from outside an `scf.if` is owned, and used by nothing outside of it that may run afterwards."""
    root = memory_root(value)
    block = defining_block(root)
    if not is_own(root) or repeats_inside(branch, block):
        return False
    for user in users(root):
        inside = any(ancestor_in_block(user, inner) for region in branch.regions for inner in region.blocks)
        if not inside and reads(user) and may_run_after(user, branch, block):
            return False
    return True


def _is_consumed_argument(argument: ir.Value) -> bool:
    function = argument.owner.owner.operation
    if "arg_attrs" not in function.attributes:
        return False
    number = ir.BlockArgument(argument).arg_number
    return _CONSUME in ir.DictAttr(ir.ArrayAttr(function.attributes["arg_attrs"])[number])
