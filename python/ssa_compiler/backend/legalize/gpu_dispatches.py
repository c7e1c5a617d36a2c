"""What IREE 3.13 leaves wrong in dispatches for CUDA.

- A dispatch over a tensor without elements has no workgroups. The CPU then does nothing; CUDA rejects the launch, and
  every call fails from then on. Such launches are left out.
- Where the threads of a warp reduce signed integers to the least or largest, each starts from the neutral element of
  *unsigned* integers, -1 or 0: `amin` of positive numbers is -1, `amax` of negative ones 0. With the sign bit flipped
  they are in the order of unsigned integers, so such numbers are reduced, and what comes out is flipped back.
- Sums of narrow integers as wide ones are not distributed to the threads. The numbers are converted in a dispatch of
  their own.
- Where IREE recognises that integers are searched for the place of the least or largest, one thread gets a whole row,
  and code for each number in it: a row of 4,097 takes half a minute to compile. The op is decomposed into what places
  of floats are found with, which has a loop.
- One thread gets a whole row of a softmax, likewise, if the number of elements is no multiple of the threads of a warp.
  It is decomposed, with the sum in a dispatch of its own, so that IREE does not recognise it again.
"""

from __future__ import annotations

from iree.compiler import ir

from ..callbacks.callbacks import torch_operator
from ..ir.bindings import build, constant_integer, constant_number, converted, definer, torch_integer, walk
from ..ir.copies import barrier
from ..ir.types import element_of, sizes, with_sizes

__all__ = ["correct_dispatches", "decompose_softmax", "skip_empty_launches", "widen_summands"]

# The number of the `arith.cmpi` predicate.
_UNEQUAL = 1
_SUMS = ("aten::sum", "aten::sum.dim_IntList", "aten::prod", "aten::prod.dim_int")
_WIDE = "si64"
# Rows of a softmax that are shorter compile quickly.
_LONG_ROW = 512
_WARP = 32

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


def decompose_softmax(module: ir.Module) -> int:
    """Decompose softmax over long rows that warps do not divide evenly.

    Args:
        module: an `iree`-stage module, rewritten in place.
    Returns:
        The number of them.
    """
    found = [op for op in walk(module.operation) if op.name == "torch.aten.softmax.int" and _has_uneven_rows(op)]
    for op in found:
        _decompose(op)
    return len(found)


def _has_uneven_rows(softmax: ir.Operation) -> bool:
    shape, dimension = sizes(softmax.operands[0]), constant_integer(softmax.operands[1])
    if dimension not in (-1, len(shape) - 1) or element_of(softmax.operands[0].type) not in ("f32", "f64"):
        return False
    if softmax.results[0].type != softmax.operands[0].type:  # it converts them first
        return False
    return shape[-1] != "?" and int(shape[-1]) > _LONG_ROW and int(shape[-1]) % _WARP != 0


def _decompose(softmax: ir.Operation) -> None:
    where, context, x = ir.InsertionPoint(softmax), softmax.context, softmax.operands[0]
    of_a_row = with_sizes(x.type, [*sizes(x)[:-1], "1"])

    def torch(name: str, type_: ir.Type | str, *operands: ir.Value, **attributes: ir.Attribute) -> ir.Value:
        made = type_ if isinstance(type_, ir.Type) else ir.Type.parse(type_, context)
        return build(f"torch.{name}", [made], operands, where, attributes).results[0]

    one = torch_integer(1, where)
    dimensions = torch("prim.ListConstruct", "!torch.list<int>", torch_integer(-1, where))
    keep = torch("constant.bool", "!torch.bool", value=ir.IntegerAttr.get(ir.IntegerType.get_signless(1, context), 1))
    most = torch("aten.amax", of_a_row, x, dimensions, keep)
    powers = barrier(torch("aten.exp", x.type, torch("aten.sub.Tensor", x.type, x, most, one)), where)
    total = torch("aten.sum.dim_IntList", of_a_row, powers, dimensions, keep, torch("constant.none", "!torch.none"))
    softmax.results[0].replace_all_uses_with(torch("aten.div.Tensor", x.type, powers, total))
    softmax.erase()


def correct_dispatches(scheduled: ir.Module) -> int:
    """Reduce signed integers to the least or largest as unsigned ones, and find their places in loops.

    Args:
        scheduled: what `iree-compile --compile-to=stream` wrote, changed in place.
    Returns:
        The number of reductions.
    """
    searches = [op for op in walk(scheduled.operation) if op.name == "iree_linalg_ext.arg_compare"]
    found_places = sum(map(_search_in_a_loop, searches))
    reductions = [
        (op, number, found)
        for op in walk(scheduled.operation)
        if op.name == "linalg.generic" and "reduction" in str(op.attributes["iterator_types"])
        for number in range(len(op.results))
        if (found := _combination(op, number)) is not None
    ]
    for op, number, combination in reductions:
        _reduce_unsigned(op, number, combination)
    return len(reductions) + found_places


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


def _search_in_a_loop(search: ir.Operation) -> bool:
    """Replace an `arg_compare` by a reduction of pairs of a number and its place, if it is given the numbers alone."""
    if len(search.operands) != 3:  # with places that it is given, or that do not start at 0
        return False
    context, where = search.context, ir.InsertionPoint(search)
    numbers, best, place = search.operands
    rank = ir.RankedTensorType(numbers.type).rank
    dimension = ir.IntegerAttr(search.attributes["dimension"]).value
    others = [ir.AffineExpr.get_dim(axis, context) for axis in range(rank) if axis != dimension]
    maps = [ir.AffineMap.get_identity(rank, context), *[ir.AffineMap.get(rank, 0, others, context)] * 2]
    kinds = ["reduction" if axis == dimension else "parallel" for axis in range(rank)]
    attributes = {
        "indexing_maps": ir.ArrayAttr.get([ir.AffineMapAttr.get(each) for each in maps], context),
        "iterator_types": ir.ArrayAttr.get(
            [ir.Attribute.parse(f"#linalg.iterator_type<{kind}>", context) for kind in kinds], context
        ),
        "operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 2], context),
    }
    results = [result.type for result in search.results]
    reduction = build("linalg.generic", results, [numbers, best, place], where, attributes, regions=1)
    with reduction.location:
        elements = [ir.RankedTensorType(value.type).element_type for value in (numbers, best, place)]
        block = reduction.regions[0].blocks.append(*elements)
        with ir.InsertionPoint(block):
            end = ir.Operation.create("linalg.yield", operands=list(block.arguments)[1:])
    where = ir.InsertionPoint(end)
    number, *so_far = block.arguments
    better = _inlined(search.regions[0].blocks[0], [number, so_far[0]], where)
    index = ir.IndexType.get(context)
    axis = {"dim": ir.IntegerAttr.get(ir.IntegerType.get_signless(64, context), dimension)}
    here = build("linalg.index", [index], [], where, axis).results[0]
    if elements[2] != index:
        here = build("arith.index_cast", [elements[2]], [here], where).results[0]
    for result, (new, old) in enumerate(zip((number, here), so_far, strict=True)):
        end.operands[result] = build("arith.select", [old.type], [better, new, old], where).results[0]
        search.results[result].replace_all_uses_with(reduction.results[result])
    search.erase()
    return True


def _inlined(block: ir.Block, arguments: list[ir.Value], where: ir.InsertionPoint) -> ir.Value:
    """Copy the ops of a block to `where`; returns what it yields."""
    copies = dict(zip(block.arguments, arguments, strict=True))
    *body, end = [view.operation for view in block.operations]
    for op in body:
        copied = op.clone(where)
        for number, operand in enumerate(op.operands):
            copied.operands[number] = copies.get(operand, operand)
        copies.update(zip(op.results, copied.results, strict=True))
    return copies.get(end.operands[0], end.operands[0])


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
