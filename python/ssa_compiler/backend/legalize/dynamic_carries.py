"""Keep sizes and places of tensors that loops carry and branches yield, where a size is dynamic.

IREE 3.13 takes a tensor that an `scf.for` carries for one of the size that it has before the loop, whatever the body
makes of it: a buffer that grows has its first size after the loop. It does so as well for the bytes of its memory,
which nothing can tell it. Tensors that are made together lie in one block of memory; if the size of the block is
dynamic, IREE forgets where in it a tensor lies that an `scf.for` carries, and another one is read. Neither is true of
`scf.while`, which each `scf.for` of such a program becomes.

What an `scf.if` yields has sizes that IREE does not always find ("'tensor.dim' op unexpected during shape cleanup"). So
each is yielded as an `index` of its own, and the tensor is tied to it. So are those of the tensors that an `scf.while`
carries: IREE forgets the size in one of the two regions ("region branch point has 3 operands, but region successor
    needs 4 inputs").

A choice between two tensors (`arith.select`) IREE makes element by element, in the size of the first: it becomes an
`scf.if`.

And IREE forgets where in its block a tensor lies that comes from one branch of an `scf.if`, or goes round in a loop,
where it knows the place of what comes from the other branch, or enters the loop: a number that it cannot bound
(`util.align` of a size that is dynamic) it takes for none, and the number that it knows for that of both
(`iree-util-optimize-int-arithmetic`). It does so with the size of the block, too, also for tensors of known sizes: one
that is as large as the block seems to be, it takes for the block. A tensor behind a barrier is a buffer of its own, and
begins at its first byte.

What a branch yields, or a loop begins with, has a size that is known there if it is a tensor of static sizes behind a
cast, whatever barrier is in front of that. It is made a tensor of hidden sizes.
"""

from __future__ import annotations

from iree.compiler import ir

from ..ir.bindings import CASTS, LOOPS, build, definer, is_behind_barrier, walk
from ..ir.copies import barrier, dynamic_sizes
from ..ir.types import is_dynamic, is_tensor

__all__ = ["branch_to_tensors", "carry_sizes", "hide_places", "loosen_loops"]

_SIGNED_LESS = 2
_BOUNDS = 3
"""Operands of `scf.for` in front of what it carries."""


def loosen_loops(module: ir.Module) -> int:
    """Turn each `scf.for` into an `scf.while`.

    Args:
        module: an `iree`-stage module, rewritten in place if it has a tensor whose size is dynamic.
    Returns:
        The number of loops rewritten.
    """
    loops = [op for op in walk(module.operation) if op.name == "scf.for"]
    if not _has_unknown_sizes(module):
        return 0
    for loop in reversed(loops):
        _to_while(loop)
    return len(loops)


def _to_while(loop: ir.Operation) -> None:
    low, high, step, *starts = loop.operands
    where = ir.InsertionPoint(loop)
    types = [low.type, *(start.type for start in starts)]
    made = build("scf.while", types, [low, *starts], where, regions=2)
    locations = [ir.Location.unknown(loop.context)] * len(types)
    before = ir.Block.create_at_start(made.regions[0], types, locations)
    inside = ir.InsertionPoint(before)
    boolean = ir.IntegerType.get_signless(1, loop.context)
    less = ir.IntegerAttr.get(ir.IntegerType.get_signless(64, loop.context), _SIGNED_LESS)
    again = build("arith.cmpi", [boolean], [before.arguments[0], high], inside, {"predicate": less}).results[0]
    build("scf.condition", [], [again, *before.arguments], inside)
    body = loop.regions[0].blocks[0]
    yielded = list(body.operations)[-1].operation
    end = ir.InsertionPoint(yielded)
    following = build("arith.addi", [low.type], [body.arguments[0], step], end).results[0]
    build("scf.yield", [], [following, *yielded.operands], end)
    yielded.erase()
    body.append_to(made.regions[1])
    for old, new in zip(loop.results, list(made.results)[1:]):
        old.replace_all_uses_with(new)
    loop.erase()


def _has_unknown_sizes(module: ir.Module) -> bool:
    types = (str(result.type) for op in walk(module.operation) for result in op.results)
    return any(text.startswith(("tensor<", "!torch.vtensor<")) and "?" in text for text in types)


def branch_to_tensors(module: ir.Module) -> int:
    """Turn each choice between tensors whose sizes are dynamic, which may differ, into an `scf.if`.

    Args:
        module: an `iree`-stage module, rewritten in place.
    Returns:
        The number of choices rewritten.
    """
    found = [op for op in walk(module.operation) if op.name == "arith.select"]
    found = [op for op in found if is_tensor(op.results[0]) and is_dynamic(op.results[0])]
    for op in found:
        condition, *arms = op.operands
        made = build("scf.if", [op.results[0].type], [condition], ir.InsertionPoint(op), regions=2)
        for region, arm in zip(made.regions, arms, strict=True):
            with op.location:
                inside = ir.InsertionPoint(ir.Block.create_at_start(region))
                ir.Operation.create("scf.yield", operands=[arm], ip=inside)
        op.results[0].replace_all_uses_with(made.results[0])
        op.erase()
    return len(found)


def hide_places(module: ir.Module) -> int:
    """Put a barrier on each tensor and integer that enters a loop or leaves a region, unless it has one.

    Args:
        module: an `iree`-stage module, changed in place if it has a tensor whose size is dynamic; nothing is
            changed by a second call.
    Returns:
        The number of barriers.
    """
    if not _has_unknown_sizes(module):
        return 0
    count = 0
    for op in [op for op in walk(module.operation) if op.name in LOOPS or op.name == "scf.yield"]:
        for number, value in list(enumerate(op.operands))[_BOUNDS if op.name == "scf.for" else 0 :]:
            fixed = _static_root(value)
            if fixed is not None or ((is_tensor(value) or _is_number(value.type)) and not is_behind_barrier(value)):
                op.operands[number] = _hidden(value, fixed, ir.InsertionPoint(op))
                count += 1
    return count


def _static_root(value: ir.Value) -> ir.Value | None:
    """The tensor of static sizes that one of dynamic sizes is a cast of; None if it is none."""
    if not is_tensor(value) or not is_dynamic(value):
        return None
    root = value
    while (op := definer(root)) is not None and op.name in CASTS:
        root = op.operands[0]
        if is_tensor(root) and not is_dynamic(root):
            return root
    return None


def _hidden(value: ir.Value, fixed: ir.Value | None, where: ir.InsertionPoint) -> ir.Value:
    """A value behind a barrier; of a cast of a tensor of static sizes, `fixed`, the sizes are behind barriers, too."""
    if fixed is not None:
        return barrier(_with_hidden_sizes(fixed, ir.RankedTensorType(value.type), where), where)
    if is_tensor(value):
        return barrier(value, where)
    return build("util.optimization_barrier", [value.type], [value], where).results[0]


def _with_hidden_sizes(fixed: ir.Value, type_: ir.RankedTensorType, where: ir.InsertionPoint) -> ir.Value:
    """A tensor of static sizes as one of dynamic sizes that nothing is known of."""
    index, known = ir.IndexType.get(fixed.context), ir.RankedTensorType(fixed.type).shape
    sizes, static = [], []
    for dim, size in enumerate(known):
        if type_.is_dynamic_dim(dim):
            number = build("arith.constant", [index], [], where, {"value": ir.IntegerAttr.get(index, size)}).results[0]
            sizes.append(build("util.optimization_barrier", [index], [number], where).results[0])
        static.append(ir.ShapedType.get_dynamic_size() if type_.is_dynamic_dim(dim) else size)
    if 0 in known:  # a slice that begins behind the last element is none
        return build("tensor.empty", [type_], sizes, where).results[0]
    attributes: dict[str, ir.Attribute] = {
        "static_offsets": ir.DenseI64ArrayAttr.get([0] * len(known), fixed.context),
        "static_sizes": ir.DenseI64ArrayAttr.get(static, fixed.context),
        "static_strides": ir.DenseI64ArrayAttr.get([1] * len(known), fixed.context),
        "operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 0, len(sizes), 0], fixed.context),
    }
    return build("tensor.extract_slice", [type_], [fixed, *sizes], where, attributes).results[0]


def _is_number(type_: ir.Type) -> bool:
    return isinstance(type_, ir.IndexType) or (isinstance(type_, ir.IntegerType) and type_.width > 1)


def carry_sizes(module: ir.Module) -> int:
    """Rewrite every `scf.if` and `scf.while` that forwards a tensor whose size is dynamic.

    Args:
        module: an `iree`-stage module, rewritten in place; the two regions of its loops take the same arguments.
    Returns:
        The number of ops rewritten.
    """
    found = [op for op in walk(module.operation) if op.name in ("scf.if", "scf.while")]
    found = [op for op in found if any(is_tensor(result) and is_dynamic(result) for result in op.results)]
    # Inner ones first: a rewritten op takes its regions with it.
    return sum(_rewrite(op) if op.name == "scf.if" else _rewrite_loop(op) for op in reversed(found))


def _rewrite(op: ir.Operation) -> int:
    where = ir.InsertionPoint(op)
    results = list(op.results)
    types = [result.type for result in results]
    types += [ir.IndexType.get(op.context)] * sum(_dynamic_rank(result) for result in results)
    for region in op.regions:
        _yield_sizes(region.blocks[0])
    made = build(op.name, types, list(op.operands), where, regions=len(op.regions))
    for old, new in zip(op.regions, made.regions):
        old.blocks[0].append_to(new)
    rest = iter(list(made.results)[len(results) :])
    for old, value in zip(results, made.results):
        sizes = [next(rest) for _ in range(_dynamic_rank(value))]
        if sizes:
            value = build("flow.tensor.tie_shape", [value.type], [value, *sizes], where).results[0]
        old.replace_all_uses_with(value)
    op.erase()
    return 1


def _rewrite_loop(op: ir.Operation) -> int:
    before, after = (region.blocks[0] for region in op.regions)
    types = [result.type for result in op.results]
    if any([value.type for value in values] != types for values in (op.operands, before.arguments, after.arguments)):
        return 0
    where, results = ir.InsertionPoint(op), list(op.results)
    starts = [*op.operands, *_hidden_sizes(list(op.operands), where)]
    for block, first in ((before, 1), (after, 0)):
        _forward_sizes(block, first)
        _take_sizes(block)
    made = build(op.name, [start.type for start in starts], starts, where, regions=2)
    for region, block in zip(made.regions, (before, after), strict=True):
        block.append_to(region)
    for old, value in zip(results, _tied(list(made.results), len(results), where), strict=True):
        old.replace_all_uses_with(value)
    op.erase()
    return 1


def _hidden_sizes(values: list[ir.Value], where: ir.InsertionPoint) -> list[ir.Value]:
    """The sizes of tensors, each behind a barrier: what IREE finds to be the same everywhere is dropped in one region
    only.
    """
    sizes = [size for value in values if is_tensor(value) for size in dynamic_sizes(value, where)]
    return [build("util.optimization_barrier", [size.type], [size], where).results[0] for size in sizes]


def _forward_sizes(block: ir.Block, first: int) -> None:
    """Append the sizes of what the last op of a block forwards, from its operand number `first`."""
    last = list(block.operations)[-1].operation
    where = ir.InsertionPoint(last)
    values = list(last.operands)
    build(last.name, [], [*values, *_hidden_sizes(values[first:], where)], where)
    last.erase()


def _take_sizes(block: ir.Block) -> None:
    """Add an argument for each size of the arguments, and use these tied to them."""
    count = len(block.arguments)
    index, location = ir.IndexType.get(block.owner.context), ir.Location.unknown(block.owner.context)
    for _ in range(sum(map(_dynamic_rank, block.arguments))):
        block.add_argument(index, location)
    arguments = list(block.arguments)
    uses = [[(use.owner.operation, use.operand_number) for use in value.uses] for value in arguments[:count]]
    tied = _tied(arguments, count, ir.InsertionPoint.at_block_begin(block))
    for old, value, places in zip(arguments, tied, uses, strict=False):
        for user, number in places:
            if value != old:
                user.operands[number] = value


def _tied(values: list[ir.Value], count: int, where: ir.InsertionPoint) -> list[ir.Value]:
    """The first `count` of some values, tensors tied to their sizes, which are the others."""
    rest = iter(values[count:])
    tied = []
    for value in values[:count]:
        sizes = [next(rest) for _ in range(_dynamic_rank(value))]
        if sizes:
            sizes = [build("util.optimization_barrier", [size.type], [size], where).results[0] for size in sizes]
            value = build("flow.tensor.tie_shape", [value.type], [value, *sizes], where).results[0]
        tied.append(value)
    return tied


def _yield_sizes(block: ir.Block) -> None:
    yielded = list(block.operations)[-1].operation
    where = ir.InsertionPoint(yielded)
    values = list(yielded.operands)
    sizes = [size for value in values if is_tensor(value) for size in dynamic_sizes(value, where)]
    build("scf.yield", [], [*values, *sizes], where)
    yielded.erase()


def _dynamic_rank(value: ir.Value) -> int:
    """How many sizes of a value are dynamic."""
    return str(value.type).count("?") if is_tensor(value) else 0
