"""What IREE 3.13 leaves wrong in dispatches for CUDA.

- A dispatch over a tensor without elements has no workgroups. The CPU then does nothing; CUDA rejects the launch, and
  every call fails from then on. Such launches are left out.
- Where the threads of a warp reduce signed integers to the least or largest, each starts from the neutral element of
  *unsigned* integers, -1 or 0: `amin` of positive numbers is -1, `amax` of negative ones 0. With the sign bit flipped
  they are in the order of unsigned integers, so such numbers are reduced, and what comes out is flipped back.
- Sums of narrow integers as wide ones are not distributed to the threads. The numbers are converted in a dispatch of
  their own.
"""

from __future__ import annotations

from iree.compiler import ir

from ..callbacks.callbacks import torch_operator
from ..ir.bindings import build, constant_number, converted, definer, walk
from ..ir.copies import barrier
from ..ir.types import element_of

__all__ = ["correct_dispatches", "skip_empty_launches", "widen_summands"]

# The number of the `arith.cmpi` predicate.
_UNEQUAL = 1
_SUMS = ("aten::sum", "aten::sum.dim_IntList", "aten::prod", "aten::prod.dim_int")
_WIDE = "si64"

_LAUNCH = "hal.command_buffer.dispatch"
# Operands of a launch: the numbers of workgroups in each direction.
_COUNTS = slice(3, 6)
_UNSIGNED = {"arith.minsi": "arith.minui", "arith.maxsi": "arith.maxui"}


def widen_summands(module: ir.Module) -> int:
    """Convert the narrow integers that are summed up as wide ones in front of the sum.

    Args:
        module: an `iree`-stage module, rewritten in place.
    Returns:
        The number of sums.
    """
    sums = [
        op
        for op in walk(module.operation)
        if torch_operator(op) in _SUMS
        and element_of(op.results[0].type) == _WIDE
        and element_of(op.operands[0].type) in ("ui8", "si8", "si16", "si32", "i1")
    ]
    for op in sums:
        where = ir.InsertionPoint(op)
        op.operands[0] = barrier(converted(op.operands[0], _WIDE, where), where)
    return len(sums)


def correct_dispatches(scheduled: ir.Module) -> int:
    """Reduce signed integers to the least or largest as unsigned ones.

    Args:
        scheduled: what `iree-compile --compile-to=stream` wrote, changed in place.
    Returns:
        The number of reductions.
    """
    reductions = [
        (op, number, found)
        for op in walk(scheduled.operation)
        if op.name == "linalg.generic" and "reduction" in str(op.attributes["iterator_types"])
        for number in range(len(op.results))
        if (found := _combination(op, number)) is not None
    ]
    for op, number, combination in reductions:
        _reduce_unsigned(op, number, combination)
    return len(reductions)


def skip_empty_launches(commands: ir.Module) -> int:
    """Launch kernels of dynamic sizes only if there are workgroups.

    Args:
        commands: what `iree-compile --compile-to=hal` wrote, changed in place.
    Returns:
        The number of launches.
    """
    launches = [
        op
        for op in walk(commands.operation)
        if op.name == _LAUNCH and any(constant_number(count) is None for count in list(op.operands)[_COUNTS])
    ]
    for launch in launches:
        _launch_if_there_are_any(launch)
    return len(launches)


def _launch_if_there_are_any(launch: ir.Operation) -> None:
    context, where = launch.context, ir.InsertionPoint(launch)
    index, i64, i1 = ir.IndexType.get(context), *(ir.IntegerType.get_signless(width, context) for width in (64, 1))
    (zero,) = build("arith.constant", [index], [], where, {"value": ir.IntegerAttr.get(index, 0)}).results
    (count, *others) = list(launch.operands)[_COUNTS]
    for other in others:
        count = build("arith.muli", [index], [count, other], where).results[0]
    (some,) = build("arith.cmpi", [i1], [count, zero], where, {"predicate": ir.IntegerAttr.get(i64, _UNEQUAL)}).results
    branch = build("scf.if", [], [some], where, regions=2)
    block = branch.regions[0].blocks.append()
    end = build("scf.yield", [], [], ir.InsertionPoint(block))
    launch.move_before(end)


def _combination(generic: ir.Operation, number: int) -> ir.Operation | None:
    """The op that combines two signed integers in the reduction that a result comes from, to the least or largest."""
    block = generic.regions[0].blocks[0]
    combined = definer(block.operations[len(block.operations) - 1].operation.operands[number])
    return combined if combined is not None and combined.name in _UNSIGNED else None


def _reduce_unsigned(generic: ir.Operation, number: int, combination: ir.Operation) -> None:
    start = len(generic.operands) - len(generic.results) + number
    initial, where = generic.operands[start], ir.InsertionPoint(generic)
    fill = definer(initial)
    if fill is not None and fill.name == "linalg.fill":
        filled = fill.operation.clone(where)
        filled.operands[0] = _flip(fill.operands[0], ir.InsertionPoint(filled))
        into, generic.operands[start] = fill.operands[1], filled.results[0]
    else:
        into = initial
        generic.operands[start] = _flip_all(initial, into, where).results[0]
    where = ir.InsertionPoint(combination)
    block = generic.regions[0].blocks[0]
    so_far = block.arguments[start]
    flipped = [value if value == so_far else _flip(value, where) for value in combination.operands]
    unsigned = build(_UNSIGNED[combination.name], [so_far.type], flipped, where).results[0]
    # What else reads the two, to find the place, gets them as they were.
    combination.results[0].replace_all_uses_with(_flip(unsigned, where))
    combination.erase()
    first = ir.InsertionPoint(block.operations[0])
    signed = _flip(so_far, first)
    so_far.replace_all_uses_except(signed, [definer(signed), definer(unsigned)])
    block.operations[len(block.operations) - 1].operation.operands[number] = unsigned
    result = generic.results[number]
    back = _flip_all(result, into, ir.InsertionPoint(_next(generic)))
    result.replace_all_uses_except(back.results[0], back)


def _next(op: ir.Operation) -> ir.Operation:
    siblings = [view.operation for view in op.parent.regions[0].blocks[0].operations]
    return siblings[siblings.index(op) + 1]


def _flip_all(tensor: ir.Value, into: ir.Value, where: ir.InsertionPoint) -> ir.Operation:
    """Flip the sign bit of each number in a tensor; the result has the shape of `into`."""
    context, type_ = where.block.owner.context, ir.RankedTensorType(tensor.type)
    indexing = ir.AffineMapAttr.get(ir.AffineMap.get_identity(type_.rank, context))
    parallel = ir.Attribute.parse("#linalg.iterator_type<parallel>", context)
    attributes = {
        "indexing_maps": ir.ArrayAttr.get([indexing, indexing], context),
        "iterator_types": ir.ArrayAttr.get([parallel] * type_.rank, context),
        "operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 1], context),
    }
    flipped = build("linalg.generic", [type_], [tensor, into], where, attributes, regions=1)
    with flipped.location:
        block = flipped.regions[0].blocks.append(type_.element_type, type_.element_type)
    with ir.InsertionPoint(block), flipped.location:
        ir.Operation.create("linalg.yield", operands=[_flip(block.arguments[0], ir.InsertionPoint(block))])
    return flipped


def _flip(number: ir.Value, where: ir.InsertionPoint) -> ir.Value:
    """Flip the sign bit of a number."""
    sign = ir.IntegerAttr.get(number.type, -(1 << (ir.IntegerType(number.type).width - 1)))
    (bit,) = build("arith.constant", [number.type], [], where, {"value": sign}).results
    return build("arith.xori", [number.type], [number, bit], where).results[0]
