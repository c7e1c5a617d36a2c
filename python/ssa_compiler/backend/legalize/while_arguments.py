"""Give both regions of an `scf.while` the same arguments, and keep them.

IREE 3.13 converts the arguments of the second region as if they were those of the first: a loop that carries a flag for
its condition and does not pass it on is rejected ("failed to legalize unresolved target materialization", "region
branch point has 4 operands", or a crash). So each value that the first region passes on is given a place among its own
arguments: its own if it is one of them, else the place of an argument of its type that is not passed on, else that of
an argument made for it. At the other places the first region passes on its arguments as they are. Barriers keep IREE
from dropping them again: each argument is used, and neither what the loop starts from nor what it forwards is found to
be always the same.
"""

from __future__ import annotations

from iree.compiler import ir

from ..ir.bindings import build, cast_root, walk
from ..ir.copies import barrier, opaque_copy
from ..ir.types import is_tensor

__all__ = ["align_whiles"]


def align_whiles(module: ir.Module) -> int:
    """Rewrite every `scf.while` whose regions take different arguments.

    Args:
        module: an `iree`-stage module, rewritten in place. A loop that passes on a tensor of unknown size which has no
            place among its arguments is left as it is.
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
    places = _places(passed, list(before.arguments))
    starts = list(loop.operands)
    outside = ir.InsertionPoint(loop)
    location = ir.Location.unknown(loop.context)
    yielded = list(after.operations)[-1].operation
    forwarded = list(yielded.operands)
    for number, place in enumerate(places):
        if place >= len(starts):
            start = _anything(passed[number].type, outside)
            if start is None:
                return 0
            starts.append(start)
            # Forwarded as it came: what the first region passes on at this place is always new.
            forwarded.append(after.arguments[number])
    for start in starts[len(before.arguments) :]:
        before.add_argument(start.type, location)
    arguments = list(before.arguments)
    types = [argument.type for argument in arguments]
    aligned = build("scf.while", types, [_hidden(value, outside) for value in starts], outside, regions=2)
    passed_on = list(arguments)
    for number, place in enumerate(places):
        loop.results[number].replace_all_uses_with(aligned.results[place])
        passed_on[place] = passed[number]
    condition_point = ir.InsertionPoint(condition)
    passed_on = _told_apart(passed_on, condition_point)
    build("scf.condition", [], [condition.operands[0], *passed_on], condition_point)
    condition.erase()
    old = list(after.arguments)
    added = [after.add_argument(type_, location) for type_ in types]
    forwarded = [added[places[old.index(value)]] if value in old else value for value in forwarded]
    for number, place in enumerate(places):
        after.arguments[number].replace_all_uses_with(added[place])
    for _ in places:
        after.erase_argument(0)
    start_of_condition = ir.InsertionPoint.at_block_begin(before)
    for argument in arguments:
        if not list(argument.uses):
            _hidden(argument, start_of_condition)
    start_of_body = ir.InsertionPoint.at_block_begin(after)
    for argument in after.arguments:
        _hidden(argument, start_of_body)
    where = ir.InsertionPoint(yielded)
    hidden = [_hidden(value, where) if _may_stay(value) else value for value in forwarded]
    build("scf.yield", [], hidden, where)
    yielded.erase()
    before.append_to(aligned.regions[0])
    after.append_to(aligned.regions[1])
    loop.erase()
    return 1


def _places(passed: list[ir.Value], arguments: list[ir.Value]) -> list[int]:
    """Give each value that is passed on a place of its own: below `len(arguments)`, or after them a new one."""
    places: dict[int, int] = {}
    taken: set[int] = set()
    for number, value in enumerate(passed):
        place = arguments.index(value) if value in arguments else None
        if place is not None and place not in taken:
            places[number] = place
            taken.add(place)
    new = len(arguments)
    for number, value in enumerate(passed):
        if number not in places:
            fitting = [
                place
                for place, argument in enumerate(arguments)
                if place not in taken and argument not in passed and argument.type == value.type
            ]
            places[number] = fitting[0] if fitting else new
            new += not fitting
            taken.add(places[number])
    return [places[number] for number in range(len(passed))]


def _anything(type_: ir.Type, where: ir.InsertionPoint) -> ir.Value | None:
    """Create a value that is never read; None for a tensor whose sizes are not known."""
    if str(type_).startswith("tensor<"):
        if not ir.RankedTensorType(type_).has_static_shape:
            return None
        return build("tensor.empty", [type_], [], where).results[0]
    zero = ir.FloatAttr.get(type_, 0.0) if str(type_).startswith("f") else ir.IntegerAttr.get(type_, 0)
    return build("arith.constant", [type_], [], where, {"value": zero}).results[0]


def _told_apart(values: list[ir.Value], where: ir.InsertionPoint) -> list[ir.Value]:
    """What the first region passes on, no two of them one value: IREE would drop the second from one region only."""
    told: list[ir.Value] = []
    for number, value in enumerate(values):
        if not is_tensor(value) and not isinstance(value.owner, ir.Block):
            value = _hidden(value, where)  # two scalars may turn out to be one later
        elif value in values[:number]:
            value = opaque_copy(value, where) if is_tensor(value) else _hidden(value, where)
        told.append(value)
    return told


def _may_stay(value: ir.Value) -> bool:
    """Whether what a loop forwards may be found to be always the same: a scalar, or a tensor that is not computed
    there.
    """
    return not is_tensor(value) or isinstance(cast_root(value).owner, ir.Block)


def _hidden(value: ir.Value, where: ir.InsertionPoint) -> ir.Value:
    """Put a tensor or scalar behind an optimization barrier."""
    if is_tensor(value):
        return barrier(value, where)
    return build("util.optimization_barrier", [value.type], [value], where).results[0]
