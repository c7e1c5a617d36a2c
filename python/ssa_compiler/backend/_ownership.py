"""Give every tensor that enters a loop, or leaves a region, memory of its own.

IREE updates a carried tensor in place when it believes that the value it starts from is not used again. It takes function
arguments for shared (and copies them in every iteration), and it misses that one value may be passed on twice, that a
value from outside a loop is used again by the next iteration, and that the result of an `scf.if` may be a value that is
still needed. So this rewriting puts an opaque copy wherever a tensor is handed over that is not certainly dead afterwards
and certainly different from the others handed over with it. A tensor that is only passed on (the carried tensor of an
outer loop that starts an inner one) is moved and costs nothing.

These are choices for speed; that the result is right is checked on IREE's own output by `_aliasing`.
"""

from __future__ import annotations

from collections.abc import Iterator

from iree.compiler import ir

from ._copies import opaque_copy
from ._ir import (
    CASTS,
    LOOPS,
    ancestor_in_block,
    attribute,
    cast_root,
    defining_block,
    equivalents,
    is_tensor,
    main_function,
    walk,
)
from ._takeovers import (
    handed_to,
    is_taken_over,
    memory_root,
    only_asks_for_sizes,
    updated_operand,
    updates_part_of_another,
)

__all__ = ["consume_written_arguments", "copy_all_handovers", "is_last_holder", "own_handovers", "own_updates"]

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


def own_handovers(module: ir.Module) -> int:
    """Copy each handed-over tensor that is not certainly moved.

    Args:
        module: an `iree`-stage module, rewritten in place.
    Returns:
        The number of opaque copies made.
    """
    numbering = _ValueNumbers()
    pending = [
        (op, index)
        for op, index in _handovers(main_function(module))
        if not _is_moved(op.operands[index], op, index, numbering)
        and (_is_handed_twice(op, index, numbering) or any(map(is_taken_over, handed_to(op, index))))
    ]
    for op, index in pending:
        op.operands[index] = opaque_copy(op.operands[index], ir.InsertionPoint(op))
    return len(pending)


def own_updates(module: ir.Module) -> int:
    """Copy each tensor that IREE would update although it is not the program's, or is needed by the next iteration.

    IREE puts a copy in front of each update, and takes those away that it believes not to be needed: so it updates arguments
    of the caller where nothing reads them afterwards, and what a loop captures.

    Args:
        module: an `iree`-stage module, rewritten in place.
    Returns:
        The number of opaque copies made.
    """
    pending = [op for op in walk(main_function(module)) if _updates_what_it_may_not(op)]
    for op in pending:
        op.operands[0] = opaque_copy(op.operands[0], ir.InsertionPoint(op))
    return len(pending)


def _updates_what_it_may_not(op: ir.Operation) -> bool:
    base = updated_operand(op)
    if base is None:
        return False
    root = memory_root(base)
    block = defining_block(root)
    if _repeats_inside(op, block) or updates_part_of_another(op):
        return True
    if not isinstance(root.owner, ir.Block) or _is_own(root):
        return False
    return not any(user != op and _reads(user) and _may_run_after(user, op, block) for user in _users(root))


def _users(root: ir.Value) -> Iterator[ir.Operation]:
    """The ops that use a tensor under any name."""
    for alias in equivalents(root):
        for use in alias.uses:
            yield use.owner.operation


def copy_all_handovers(module: ir.Module) -> int:
    """Copy every handed-over tensor: the slow way out where nothing else satisfies the check.

    Args:
        module: an `iree`-stage module, rewritten in place.
    Returns:
        The number of opaque copies made.
    """
    pending = list(_handovers(main_function(module)))
    for op, index in pending:
        op.operands[index] = opaque_copy(op.operands[index], ir.InsertionPoint(op))
    return len(pending)


def _handovers(function: ir.Operation) -> Iterator[tuple[ir.Operation, int]]:
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
        value = cast_root(value)
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
    """Whether a tensor handed over by operand `index` of `at` is owned, dead afterwards, and handed over only once."""
    root = cast_root(value)
    if not _is_own(root) or _is_handed_twice(at, index, numbering):
        return False
    block = defining_block(root)
    if _repeats_inside(at, block):
        return False
    return not any(user != at and _reads(user) and _may_run_after(user, at, block) for user in _users(root))


def _is_handed_twice(at: ir.Operation, index: int, numbering: _ValueNumbers) -> bool:
    """Whether a later operand of `at` is the tensor of operand `index`."""
    mine = numbering[at.operands[index]]
    return any(
        is_tensor(at.operands[other]) and numbering[at.operands[other]] == mine
        for other in range(index + 1, len(at.operands))
    )


def _reads(user: ir.Operation) -> bool:
    return user.name not in CASTS and not only_asks_for_sizes(user)


def _is_own(root: ir.Value) -> bool:
    """Whether a tensor has memory that no other part of the program, and not the caller, can be using."""
    owner = root.owner
    if isinstance(owner, ir.Block):
        return owner.owner.operation.name != "func.func" or _is_consumed_argument(root)
    # Created from nothing (`zeros`): IREE makes one of all that are equal, and hoists it out of loops.
    return bool(owner.operation.regions) or any(_holds_tensor(operand) for operand in owner.operation.operands)


def is_last_holder(value: ir.Value, branch: ir.Operation) -> bool:
    """Whether a tensor from outside an `scf.if` is owned, and used by nothing outside of it that may run afterwards."""
    root = cast_root(value)
    block = defining_block(root)
    if not _is_own(root) or _repeats_inside(branch, block):
        return False
    for user in _users(root):
        inside = any(ancestor_in_block(user, inner) for region in branch.regions for inner in region.blocks)
        if not inside and _reads(user) and _may_run_after(user, branch, block):
            return False
    return True


def _is_consumed_argument(argument: ir.Value) -> bool:
    function = argument.owner.owner.operation
    if "arg_attrs" not in function.attributes:
        return False
    number = ir.BlockArgument(argument).arg_number
    return _CONSUME in ir.DictAttr(ir.ArrayAttr(function.attributes["arg_attrs"])[number])


def _holds_tensor(value: ir.Value) -> bool:
    text = str(value.type)
    return text.startswith(("tensor<", "!torch.vtensor<", "!torch.list<vtensor"))


def _repeats_inside(at: ir.Operation, block: ir.Block) -> bool:
    """Whether a loop lies around `at` but not around `block`, so that `at` runs again with the same value."""
    current = at
    while current.block != block:
        current = current.parent.operation
        if current.name in LOOPS:
            return True
    return False


def _may_run_after(user: ir.Operation, at: ir.Operation, block: ir.Block) -> bool:
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


def describe(op: ir.Operation) -> str:
    """Return an op's name, with the torch name of a `torch.operator`."""
    return attribute(op, "name").strip('"') if op.name == "torch.operator" else op.name
