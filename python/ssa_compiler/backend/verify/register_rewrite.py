"""Rewrite a program for IREE's virtual machine so that its register allocation has nothing to get wrong
(`register_moves`).

At branches, numbers of 32 bits are forwarded in 64 bits, so that all moves are of the same width; a reference that a
branch or a call forwards twice is read again from a global for the second time, so that it is another value to the
register allocator; an empty reference is made where it is forwarded, as one that lives longer may get the register of
what it is forwarded as.

A value that a branch forwards, and that lives to the target's first instruction and no further, gets the register of
the argument that it is forwarded as, whatever other branches put there (`find_shared_registers`): for `^t(%m)`,
`%m - %n` becomes `%n - %n` or `%m - %m`. IREE counts from the same number when an argument begins and what the first
instruction reads ends. If that instruction is the block's last one, too, what the next trip of a loop reads ends there
as well: a constant that a branch forwards is lost to all later trips. Such a value is forwarded by way of a global too.
"""

from __future__ import annotations

from iree.compiler import ir

from ...process.forks import new_context
from ..ir.bindings import build, defining_block, walk

__all__ = ["find_shared_registers", "rewrite_moves"]

# Branches, and how many operands come before those of the targets.
_LEADING = {"vm.br": 0, "vm.cond_br": 1, "vm.br_table": 1}


def find_shared_registers(text: str, context: ir.Context) -> list[str]:
    """Return the values that would share a register with an argument of the block that reads them first.

    Args:
        text: the `vm.module` as the register allocation gets it.
        context: what to parse it in.
    """
    module = ir.Module.parse(text, context)
    found = []
    for function in [op for op in walk(module.operation) if op.name == "vm.func" and len(op.regions[0].blocks)]:
        for branch, number in _ending_on_entry(list(function.regions[0].blocks)):
            found.append(f"{branch.name} forwards {branch.operands[number].get_name()}")
    return found


def rewrite_moves(text: str) -> str:
    """Rewrite a program.

    Args:
        text: the module as the register allocation gets it.
    Returns:
        The same for `iree-compile --compile-from=vm`.
    """
    with new_context(ir, "vm") as context, ir.Location.unknown(context):
        module = ir.Module.parse(text, context)
        for program in [op for op in walk(module.operation) if op.name == "vm.module"]:
            kept: dict[str, str] = {}
            for function in [op for op in walk(program) if op.name == "vm.func" and len(op.regions[0].blocks)]:
                blocks = list(function.regions[0].blocks)
                _widen(blocks)
                for branch, number in _ending_on_entry(blocks):
                    branch.operands[number] = _through_global(branch.operands[number], ir.InsertionPoint(branch), kept)
                for op in list(walk(function)):
                    _separate(op, kept)
            body = ir.InsertionPoint.at_block_begin(program.regions[0].blocks[0])
            for type_, name in kept.items():
                attributes = {
                    "sym_name": ir.StringAttr.get(name),
                    "sym_visibility": ir.StringAttr.get("private"),
                    "is_mutable": ir.UnitAttr.get(),
                    "type": ir.TypeAttr.get(ir.Type.parse(type_, context)),
                }
                ir.Operation.create(f"vm.global.{_suffix(type_)}", attributes=attributes, ip=body)
        return module.operation.get_asm(enable_debug_info=True)


def _forwarded(branch: ir.Operation) -> list[tuple[ir.Block, list[int]]]:
    """The targets of a branch and the numbers of the operands that each gets; empty for any other op."""
    if branch.name not in _LEADING:
        return []
    start = _LEADING[branch.name]
    found = []
    for target in branch.successors:
        count = len(target.arguments)
        found.append((target, list(range(start, start + count))))
        start += count
    return found


def _ending_on_entry(blocks: list[ir.Block]) -> list[tuple[ir.Operation, int]]:
    """The operands of branches that may end, as IREE counts, at the first instruction of the target.

    That instruction reads them, and nothing does after it; or it ends the block, and they are live behind it. In the
    latter case they end later where there are blocks behind it in IREE's order, which is not asked for.
    """
    branches = [list(block.operations)[-1].operation for block in blocks]
    numbers = {block: number for number, block in enumerate(blocks)}
    after = [{numbers[target] for target in branch.successors} for branch in branches]
    found = []
    for branch in branches:
        for target, operands in _forwarded(branch):
            first = target.operations[0].operation
            is_single = first == branches[numbers[target]]
            for number in operands:
                value = branch.operands[number]
                if value in target.arguments or not (is_single or value in first.operands):
                    continue
                reached = _reached(numbers[target], after, numbers[defining_block(value)])
                users = [use.owner.operation for use in value.uses]
                if is_single:
                    ends = first in users or any(numbers[user.block] in reached for user in users)
                else:
                    places = [numbers[user.block] for user in users if user not in (first, branch)]
                    ends = not any(place in reached or blocks[place] == target for place in places)
                if ends:
                    found.append((branch, number))
    return found


def _reached(start: int, after: list[set[int]], defining: int) -> set[int]:
    """The blocks to which a path leads from a block, but not through the one that makes the value anew."""
    found: set[int] = set()
    waiting = list(after[start])
    while waiting:
        block = waiting.pop()
        if block not in found and block != defining:
            found.add(block)
            waiting += after[block]
    return found


def _suffix(type_: str) -> str:
    """How instructions for a type of value are called."""
    return type_ if type_[0] in "if" else "ref"


def _through_global(value: ir.Value, where: ir.InsertionPoint, kept: dict[str, str]) -> ir.Value:
    """Store a value in a global and read it again: another value to the register allocator."""
    name = kept.setdefault(str(value.type), f"_forwarded_{len(kept)}")
    symbol = {"global": ir.FlatSymbolRefAttr.get(name)}
    suffix = _suffix(str(value.type))
    build(f"vm.global.store.{suffix}", [], [value], where, symbol)
    again = build(f"vm.global.load.{suffix}", [value.type], [], where, symbol).results[0]
    if suffix == "ref":
        empty = build("vm.const.ref.zero", [value.type], [], where).results[0]
        build("vm.global.store.ref", [], [empty], where, symbol)
    return again


def _widen(blocks: list[ir.Block]) -> None:
    """Make every i32 argument of a block an i64, if only branches lead to the block."""
    branches = [list(block.operations)[-1].operation for block in blocks]
    fixed = [blocks[0]] + [target for op in branches if op.name not in _LEADING for target in op.successors]
    narrow = ir.IntegerType.get_signless(32)
    wide = ir.IntegerType.get_signless(64)
    places = {
        number: [place for place, argument in enumerate(block.arguments) if argument.type == narrow]
        for number, block in enumerate(blocks)
        if block not in fixed
    }
    for branch in branches:
        for target, operands in _forwarded(branch):
            for place in places.get(blocks.index(target), []):
                value = branch.operands[operands[place]]
                widened = build("vm.ext.i32.i64.u", [wide], [value], ir.InsertionPoint(branch)).results[0]
                branch.operands[operands[place]] = widened
    for number, chosen in places.items():
        start = ir.InsertionPoint.at_block_begin(blocks[number])
        for place in chosen:
            argument = blocks[number].arguments[place]
            argument.set_type(wide)
            narrowed = build("vm.trunc.i64.i32", [narrow], [argument], start)
            argument.replace_all_uses_except(narrowed.results[0], narrowed)


def _separate(op: ir.Operation, kept: dict[str, str]) -> None:
    """Forward another value where a branch or a call forwards a reference for the second time."""
    groups = [operands for _, operands in _forwarded(op)]
    if op.name.startswith("vm.call"):
        groups = [list(range(len(op.operands)))]
    where = ir.InsertionPoint(op)
    for operands in groups:
        seen: list[ir.Value] = []
        for number in operands:
            value = op.operands[number]
            if not str(value.type).startswith(("!vm.ref", "!vm.buffer", "!vm.list")):
                continue
            if not isinstance(value.owner, ir.Block) and value.owner.operation.name == "vm.const.ref.zero":
                if op.name in _LEADING:
                    op.operands[number] = build("vm.const.ref.zero", [value.type], [], where).results[0]
                continue
            if value not in seen:
                seen.append(value)
                continue
            op.operands[number] = _through_global(value, where, kept)
