"""Keep what a program does to the world in program order: callbacks and assertions.

IREE sorts the ops of a block by what they use when it decides what the device runs together (`sortTopologically`,
3.13.0). Of two calls it leaves the first in front only if the operands of both are ready:
`print("a", x[0].item(), x.sum())` waits for the device, and `print("b")` behind it is called first. Program order is
therefore made a matter of operands: each callback takes a number, the token, and returns the next one; an assertion
takes it together with its condition, and branches and loops hand it on.

Without callbacks, an assertion about what the device computes must not come after one that needs no device: that one
waits for the condition of the other, too.
"""

from __future__ import annotations

from iree.compiler import ir

from ..callbacks.callbacks import EFFECT, is_callback
from ..ir.bindings import build, definer, main_function, walk

__all__ = ["keep_order", "order_assertions"]

_ASSERTION = "cf.assert"
_BARRIER = "util.optimization_barrier"


def keep_order(module: ir.Module) -> int:
    """Tie the callbacks and assertions of a module to each other, if a callback of it has an effect.

    Args:
        module: an `iree`-stage module with its callbacks, rewritten in place.
    Returns:
        The number of callbacks and assertions in that order.
    """
    ordered = [op for op in walk(module.operation) if _is_ordered(op)]
    if len(ordered) < 2 or not any(EFFECT in op.attributes for op in ordered):
        return 0
    block = main_function(module).regions[0].blocks[0]
    i64 = ir.IntegerType.get_signless(64, module.context)
    start = build(
        "arith.constant",
        [i64],
        [],
        ir.InsertionPoint.at_block_begin(block),
        {"value": ir.IntegerAttr.get(i64, 0)},
    )
    _thread(block, start.results[0])
    return len(ordered)


def order_assertions(module: ir.Module) -> int:
    """Let assertions wait for those in front of them whose conditions the device computes.

    Args:
        module: an `iree`-stage module, rewritten in place.
    Returns:
        The number of assertions that wait for others.
    """
    return _order_in(main_function(module).regions[0].blocks[0], None)


def _order_in(block: ir.Block, awaited: ir.Value | None) -> int:
    """Order the assertions of a block behind one with an awaited condition."""
    made = 0
    for view in list(block.operations):
        op = view.operation
        if op.name == _ASSERTION:
            condition = op.operands[0]
            if not _is_of_host(condition):
                awaited = condition
            elif awaited is not None:
                types = [awaited.type, condition.type]
                both = build(_BARRIER, types, [awaited, condition], ir.InsertionPoint(op)).results
                op.operands[0] = both[1]
                made += 1
        else:
            made += sum(_order_in(inner, awaited) for region in op.regions for inner in region.blocks)
    return made


def _is_of_host(value: ir.Value) -> bool:
    """Whether a number is computed from constants and arguments, so that the host has it without waiting."""
    seen: set[ir.Value] = set()
    left = [value]
    while left:
        current = left.pop()
        if current in seen:
            continue
        seen.add(current)
        op = definer(current)
        if op is None:
            owner = current.owner.owner.operation
            counts = owner.name == "scf.for" and ir.BlockArgument(current).arg_number == 0
            if owner.name != "func.func" and not counts:
                return False
        elif op.name != _BARRIER and not op.name.startswith(("arith.", "math.")):
            return False
        else:
            left += op.operands
    return True


def _is_ordered(op: ir.Operation) -> bool:
    return op.name == _ASSERTION or is_callback(op)


def _thread(block: ir.Block, token: ir.Value) -> ir.Value:
    """Hand the token through the ops of a block; returns the last one."""
    for view in list(block.operations):
        op = view.operation
        if is_callback(op):
            op.operands[len(op.operands) - 1] = token
            token = op.results[len(op.results) - 1]
        elif op.name == _ASSERTION:
            token = _assert_after(op, token)
        elif any(_is_ordered(inner) for inner in walk(op)):
            token = _THREADED[op.name](op, token)
    return token


def _assert_after(op: ir.Operation, token: ir.Value) -> ir.Value:
    where = ir.InsertionPoint(op)
    condition = op.operands[0]
    # What comes next takes its token from the same op: it cannot be ready before the assertion is.
    both = build(_BARRIER, [condition.type, token.type], [condition, token], where).results
    op.operands[0] = both[0]
    return both[1]


def _thread_if(op: ir.Operation, token: ir.Value) -> ir.Value:
    for region in op.regions:
        if not region.blocks:
            block = ir.Block.create_at_start(region, [], [])
            build("scf.yield", [], [], ir.InsertionPoint(block))
        block = region.blocks[0]
        _forward(block, _thread(block, token))
    return _rebuilt(op, list(op.operands), token)


def _thread_loop(op: ir.Operation, token: ir.Value) -> ir.Value:
    for region in op.regions:
        block = region.blocks[0]
        _forward(block, _thread(block, block.add_argument(token.type, ir.Location.unknown(op.context))))
    return _rebuilt(op, [*op.operands, token], token)


_THREADED = {"scf.if": _thread_if, "scf.for": _thread_loop, "scf.while": _thread_loop}


def _forward(block: ir.Block, token: ir.Value) -> None:
    """Add an operand to the last op of a block."""
    last = list(block.operations)[-1].operation
    build(last.name, [], [*last.operands, token], ir.InsertionPoint(last))
    last.erase()


def _rebuilt(op: ir.Operation, operands: list[ir.Value], token: ir.Value) -> ir.Value:
    """Replace an op by one with another result, the token; returns that."""
    types = [*(result.type for result in op.results), token.type]
    attributes = {item.name: item.attr for item in op.attributes}
    made = build(op.name, types, operands, ir.InsertionPoint(op), attributes, regions=len(op.regions))
    for old, new in zip(op.regions, made.regions, strict=True):
        old.blocks[0].append_to(new)
    for old, new in zip(op.results, made.results):
        old.replace_all_uses_with(new)
    op.erase()
    return made.results[len(types) - 1]
