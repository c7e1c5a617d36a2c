"""Give both regions of an `scf.while` the same arguments, and keep them.

IREE 3.13 converts the arguments of the second region as if they were those of the first: a loop that carries a flag for its
condition and does not pass it on is refused ("failed to legalize unresolved target materialization", "region branch point
has 4 operands", or a crash). A loop whose first region passes on some of its own arguments can as well pass on all of them,
in order. Barriers keep IREE from dropping them again: each argument is used, and neither what the loop starts from nor what
it hands on is found to be always the same.
"""

from __future__ import annotations

from iree.compiler import ir

from ._copies import barrier
from ._ir import build, cast_root, is_tensor, walk

__all__ = ["align_whiles"]


def align_whiles(module: ir.Module) -> int:
    """Rewrite every `scf.while` whose regions take different arguments.

    Args:
        module: an `iree`-stage module, rewritten in place. A loop that passes on a value computed in its first region is
            left as it is.
    Returns:
        The number of loops rewritten.
    """
    loops = [op for op in walk(module.operation) if op.name == "scf.while"]
    # Inner loops first: a rewritten loop takes its regions with it.
    return sum(_align(op) for op in reversed(loops))


def _align(loop: ir.Operation) -> int:
    before, after = loop.regions[0].blocks[0], loop.regions[1].blocks[0]
    condition = list(before.operations)[-1].operation
    passed = list(condition.operands)[1:]
    arguments = list(before.arguments)
    if any(value not in arguments for value in passed):
        return 0
    places = [arguments.index(value) for value in passed]
    types = [argument.type for argument in arguments]
    outside = ir.InsertionPoint(loop)
    aligned = build("scf.while", types, [_hidden(value, outside) for value in loop.operands], outside, regions=2)
    for number, place in enumerate(places):
        loop.results[number].replace_all_uses_with(aligned.results[place])
    location = ir.Location.unknown(loop.context)
    added = [after.add_argument(type_, location) for type_ in types]
    for number, place in enumerate(places):
        after.arguments[number].replace_all_uses_with(added[place])
    for _ in places:
        after.erase_argument(0)
    build("scf.condition", [], [condition.operands[0], *arguments], ir.InsertionPoint(condition))
    condition.erase()
    start = ir.InsertionPoint.at_block_begin(after)
    for argument in after.arguments:
        _hidden(argument, start)
    yielded = list(after.operations)[-1].operation
    for number, value in enumerate(list(yielded.operands)):
        if not is_tensor(value) or isinstance(cast_root(value).owner, ir.Block):
            yielded.operands[number] = _hidden(value, ir.InsertionPoint(yielded))
    before.append_to(aligned.regions[0])
    after.append_to(aligned.regions[1])
    loop.erase()
    return 1


def _hidden(value: ir.Value, where: ir.InsertionPoint) -> ir.Value:
    """Put a tensor or scalar behind an optimization barrier."""
    if is_tensor(value):
        return barrier(value, where)
    return build("util.optimization_barrier", [value.type], [value], where).results[0]
