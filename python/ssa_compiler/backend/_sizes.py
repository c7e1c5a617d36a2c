"""Keep the run-time sizes of tensors that `scf.for` carries and `scf.if` yields.

IREE 3.13 takes a tensor that an `scf.for` carries for one of the size that it has before the loop, whatever the body makes
of it: a buffer that grows has its first size after the loop. It does so as well for the bytes of its memory, which nothing
can tell it. Such a loop becomes an `scf.while`, of which this is not true.

Where sizes stay the same IREE does not find them in nested loops ("'tensor.dim' op unexpected during shape cleanup"). So
each size becomes a carried `index`, and the tensor is tied to it on the other side.

Tensors that are made together lie in one block of memory. If its size is known only at run time, IREE forgets where in it
a tensor lies that enters a loop: another one is read. Barriers in front keep such tensors apart. (Behind barriers at the
end of an `scf.if`'s region it would take one of the two tensors' sizes for both.)
"""

from __future__ import annotations

from collections.abc import Sequence

from iree.compiler import ir

from ._copies import barrier, dynamic_sizes
from ._ir import CASTS, build, is_dynamic, is_tensor, walk

__all__ = ["carry_sizes", "keep_places", "loosen_loops"]

_SIGNED_LESS = 2


def loosen_loops(module: ir.Module) -> int:
    """Turn each `scf.for` that may carry a tensor on in another size into an `scf.while`.

    Args:
        module: an `iree`-stage module, rewritten in place.
    Returns:
        The number of loops rewritten.
    """
    loops = [op for op in walk(module.operation) if op.name == "scf.for"]
    changing = [loop for loop in loops if not all(_keeps_size(loop, number) for number in range(len(loop.results)))]
    for loop in reversed(changing):
        _to_while(loop)
    return len(changing)


def _keeps_size(loop: ir.Operation, number: int) -> bool:
    """Whether a loop surely hands on a carried value in the size in which it got it."""
    if not is_tensor(loop.results[number]) or not is_dynamic(loop.results[number]):
        return True
    block = loop.regions[0].blocks[0]
    return _has_size_of(list(block.operations)[-1].operation.operands[number], block.arguments[number + 1])


def _has_size_of(value: ir.Value, other: ir.Value) -> bool:
    """Whether a tensor is made from another one by ops that keep its size."""
    while value != other:
        if isinstance(value.owner, ir.Block):
            return False
        op = value.owner.operation
        number = list(op.results).index(value)
        if op.name in CASTS or op.name.endswith("_scatter"):
            value = op.operands[0]
        elif op.name == "scf.for":
            if not _keeps_size(op, number):
                return False
            value = op.operands[number + 3]
        elif op.name == "scf.if":
            yielded = [list(region.blocks[0].operations)[-1].operation.operands[number] for region in op.regions]
            return all(_has_size_of(branch, other) for branch in yielded)
        else:
            return False
    return True


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


def keep_places(module: ir.Module) -> int:
    """Put barriers in front of the tensors that enter an `scf.for`.

    Args:
        module: an `iree`-stage module, changed in place if it has a tensor whose size is known only at run time.
    Returns:
        The number of barriers.
    """
    ops = list(walk(module.operation))
    if not any(_has_unknown_size(result.type) for op in ops for result in op.results):
        return 0
    count = 0
    for op in ops:
        if op.name != "scf.for":
            continue
        for number, value in enumerate(op.operands):
            if is_tensor(value):
                op.operands[number] = barrier(value, ir.InsertionPoint(op))
                count += 1
    return count


def _has_unknown_size(type_: ir.Type) -> bool:
    text = str(type_)
    return text.startswith(("tensor<", "!torch.vtensor<")) and "?" in text


def carry_sizes(module: ir.Module) -> int:
    """Rewrite every `scf.for` and `scf.if` with a tensor whose size is known only at run time among its results.

    Args:
        module: an `iree`-stage module, rewritten in place.
    Returns:
        The number of ops rewritten.
    """
    found = [op for op in walk(module.operation) if op.name in ("scf.for", "scf.if")]
    found = [op for op in found if any(is_tensor(result) and is_dynamic(result) for result in op.results)]
    # Inner ones first: a rewritten op takes its regions with it.
    for op in reversed(found):
        _rewrite(op)
    return len(found)


def _rewrite(op: ir.Operation) -> None:
    where = ir.InsertionPoint(op)
    starts = list(op.operands)
    carried = starts[3:] if op.name == "scf.for" else []
    starts += _all_sizes(carried, where)
    index = ir.IndexType.get(op.context)
    count = len(list(op.results))
    types = [result.type for result in op.results]
    types += [index] * sum(_dynamic_rank(result) for result in op.results)
    for region in op.regions:
        for block in region.blocks:
            _rewrite_block(block, index)
    made = build(op.name, types, starts, where, {name.name: name.attr for name in op.attributes}, len(op.regions))
    for old, new in zip(op.regions, made.regions):
        for block in list(old.blocks):
            block.append_to(new)
    _tie(list(op.results), list(made.results)[:count], list(made.results)[count:], where)
    op.erase()


def _rewrite_block(block: ir.Block, index: ir.Type) -> None:
    """Give a region the sizes as arguments, if it takes the tensors, and have it hand them on."""
    arguments = list(block.arguments)
    location = ir.Location.unknown(block.owner.context)
    sizes = [block.add_argument(index, location) for argument in arguments for _ in range(_dynamic_rank(argument))]
    _tie(arguments, arguments, sizes, ir.InsertionPoint.at_block_begin(block))
    yielded = list(block.operations)[-1].operation
    where = ir.InsertionPoint(yielded)
    values = list(yielded.operands)
    build("scf.yield", [], [*values, *_all_sizes(values, where)], where)
    yielded.erase()


def _dynamic_rank(value: ir.Value) -> int:
    """How many sizes of a value are known only at run time."""
    return str(value.type).count("?") if is_tensor(value) else 0


def _all_sizes(values: Sequence[ir.Value], where: ir.InsertionPoint) -> list[ir.Value]:
    return [size for value in values if is_tensor(value) for size in dynamic_sizes(value, where)]


def _tie(
    used: Sequence[ir.Value], values: Sequence[ir.Value], sizes: Sequence[ir.Value], where: ir.InsertionPoint
) -> None:
    """Replace the uses of `used` by `values`, tied to their sizes."""
    rest = iter(sizes)
    for old, value in zip(used, values):
        own = [next(rest) for _ in range(_dynamic_rank(value))]
        if own:
            tied = build("flow.tensor.tie_shape", [value.type], [value, *own], where)
            old.replace_all_uses_except(tied.results[0], tied)
        elif old is not value:
            old.replace_all_uses_with(value)
