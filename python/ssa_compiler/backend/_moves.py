"""Rewrite a program for IREE's virtual machine so that its register allocation has nothing to get wrong (`_bytecode`).

At branches, numbers of 32 bits are handed on in 64 bits, so that all moves are of the same width; a reference that a branch
or a call hands on twice is read again from a global for the second time, so that it is another value to the register allocator;
an empty reference is made where it is handed on, as one that lives longer may get the register of what it is handed on as.
"""

from __future__ import annotations

from iree.compiler import ir

from ._ir import build, walk

__all__ = ["mend_moves"]

# Branches, and how many operands come before those of the targets.
_LEADING = {"vm.br": 0, "vm.cond_br": 1, "vm.br_table": 1}


def mend_moves(text: str) -> str:
    """Rewrite a program.

    Args:
        text: what `iree-compile --compile-to=vm` prints.
    Returns:
        The same for `iree-compile --compile-from=vm`.
    """
    with ir.Context() as context, ir.Location.unknown(context):
        module = ir.Module.parse(text, context)
        for program in [op for op in walk(module.operation) if op.name == "vm.module"]:
            kept: dict[str, str] = {}
            for function in [op for op in walk(program) if op.name == "vm.func" and len(op.regions[0].blocks)]:
                blocks = list(function.regions[0].blocks)
                _widen(blocks)
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
                ir.Operation.create("vm.global.ref", attributes=attributes, ip=body)
        return module.operation.get_asm(enable_debug_info=True)


def _handed_on(branch: ir.Operation) -> list[tuple[ir.Block, list[int]]]:
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
        for target, operands in _handed_on(branch):
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
    """Hand on another value where a branch or a call hands on a reference for the second time."""
    groups = [operands for _, operands in _handed_on(op)]
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
            name = kept.setdefault(str(value.type), f"_handed_on_{len(kept)}")
            symbol = {"global": ir.FlatSymbolRefAttr.get(name)}
            build("vm.global.store.ref", [], [value], where, symbol)
            op.operands[number] = build("vm.global.load.ref", [value.type], [], where, symbol).results[0]
            empty = build("vm.const.ref.zero", [value.type], [], where).results[0]
            build("vm.global.store.ref", [], [empty], where, symbol)
