"""Keep sizes and places of tensors that loops carry and branches yield, where a size is known only at run time.

IREE 3.13 takes a tensor that an `scf.for` carries for one of the size that it has before the loop, whatever the body makes
of it: a buffer that grows has its first size after the loop. It does so as well for the bytes of its memory, which nothing
can tell it. Tensors that are made together lie in one block of memory; if the size of the block is known only at run time,
IREE forgets where in it a tensor lies that an `scf.for` carries, and another one is read. Neither is true of `scf.while`,
which each `scf.for` of such a program becomes.

What an `scf.if` yields has sizes that IREE does not always find ("'tensor.dim' op unexpected during shape cleanup"). So each
is yielded as an `index` of its own, and the tensor is tied to it.
"""

from __future__ import annotations

from iree.compiler import ir

from ._copies import dynamic_sizes
from ._ir import build, is_dynamic, is_tensor, walk

__all__ = ["carry_sizes", "loosen_loops"]

_SIGNED_LESS = 2


def loosen_loops(module: ir.Module) -> int:
    """Turn each `scf.for` into an `scf.while`.

    Args:
        module: an `iree`-stage module, rewritten in place if it has a tensor whose size is known only at run time.
    Returns:
        The number of loops rewritten.
    """
    loops = [op for op in walk(module.operation) if op.name == "scf.for"]
    if not any(_has_unknown_size(result.type) for op in walk(module.operation) for result in op.results):
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


def _has_unknown_size(type_: ir.Type) -> bool:
    text = str(type_)
    return text.startswith(("tensor<", "!torch.vtensor<")) and "?" in text


def carry_sizes(module: ir.Module) -> int:
    """Rewrite every `scf.if` that yields a tensor whose size is known only at run time.

    Args:
        module: an `iree`-stage module, rewritten in place.
    Returns:
        The number of ops rewritten.
    """
    found = [op for op in walk(module.operation) if op.name == "scf.if"]
    found = [op for op in found if any(is_tensor(result) and is_dynamic(result) for result in op.results)]
    # Inner ones first: a rewritten op takes its regions with it.
    for op in reversed(found):
        _rewrite(op)
    return len(found)


def _rewrite(op: ir.Operation) -> None:
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


def _yield_sizes(block: ir.Block) -> None:
    yielded = list(block.operations)[-1].operation
    where = ir.InsertionPoint(yielded)
    values = list(yielded.operands)
    sizes = [size for value in values if is_tensor(value) for size in dynamic_sizes(value, where)]
    build("scf.yield", [], [*values, *sizes], where)
    yielded.erase()


def _dynamic_rank(value: ir.Value) -> int:
    """How many sizes of a value are known only at run time."""
    return str(value.type).count("?") if is_tensor(value) else 0
