"""Writes at a boolean mask: `x[mask] = v` chooses between `v` and `x` for each element, where `v` is the same for all.

torch-mlir makes a list of the indices at which the mask is true, and repeats the values for as many as there are, but
at least once: where there is none, memory is overwritten at an index that was never computed. A choice needs no
indices.
"""

from __future__ import annotations

from dataclasses import dataclass

from iree.compiler import ir

from ..callbacks.callbacks import erase_unused, torch_operator
from ..ir.bindings import build, walk
from ..ir.types import element_of, is_mask, is_torch_tensor, sizes

__all__ = ["INDEX_PUTS", "choose_at_masks", "listed", "mask_write", "replaces"]

INDEX_PUTS = frozenset({"aten::index_put", "aten::index_put.hacked_twin"})


@dataclass(frozen=True)
class MaskWrite:
    """An `index_put` that is a choice.

    Attributes:
        mask: the mask.
        trailing: the number of dimensions after those that the mask indexes.
    """

    mask: ir.Value
    trailing: int


def listed(value: ir.Value) -> list[ir.Value]:
    """The values of a list that is constructed in the program, as they were before they became optional."""
    op = None if isinstance(value.owner, ir.Block) else value.owner.operation
    if op is None or op.name not in ("torch.prim.ListConstruct", "torch.derefine"):
        return [value]
    return [item for operand in op.operands for item in listed(operand)]


def replaces(op: ir.Operation) -> bool:
    """Whether an `index_put` certainly replaces the elements, and does not add to them."""
    flag = op.operands[3].owner
    return (
        not isinstance(flag, ir.Block)
        and flag.operation.name == "torch.constant.bool"
        and str(flag.operation.attributes["value"]) == "false"
    )


def mask_write(op: ir.Operation) -> MaskWrite | None:
    """Return how an op is a choice, None if it is not: the values must not depend on which element it is that is true.

    Args:
        op: any op of an `iree`-stage module.
    """
    if torch_operator(op) not in INDEX_PUTS or not replaces(op):
        return None
    indices = listed(op.operands[1])
    given = [number for number, index in enumerate(indices) if is_torch_tensor(index)]
    if len(given) != 1 or not is_mask(indices[given[0]]):
        return None
    mask = indices[given[0]]
    trailing = len(sizes(op.operands[0])) - given[0] - len(sizes(mask))
    values = sizes(op.operands[2])
    same = len(values) <= trailing or values[len(values) - trailing - 1] == "1"
    return MaskWrite(mask, trailing) if same and sizes(mask) else None


def choose_at_masks(module: ir.Module) -> int:
    """Rewrite each write at a mask that is a choice as `aten.where`.

    Args:
        module: an `iree`-stage module, rewritten in place.
    Returns:
        The number of ops rewritten.
    """
    found = [(op, write) for op in walk(module.operation) if (write := mask_write(op)) is not None]
    for op, write in found:
        where = ir.InsertionPoint(op)
        target, values = op.operands[0], op.operands[2]
        rank = len(sizes(write.mask))
        mask = write.mask
        for _ in range(write.trailing):
            mask = _unsqueezed(mask, len(sizes(mask)), where)
        if len(sizes(values)) > write.trailing:
            # The one dimension of indices stands for all that the mask has.
            for _ in range(rank - 1):
                values = _unsqueezed(values, len(sizes(values)) - write.trailing, where)
        chosen = build("torch.aten.where.self", [op.results[0].type], [mask, values, target], where)
        op.results[0].replace_all_uses_with(chosen.results[0])
        erase_unused(op)
    return len(found)


def _unsqueezed(value: ir.Value, dimension: int, where: ir.InsertionPoint) -> ir.Value:
    """Put a dimension of size 1 into a tensor."""
    context = value.context
    shape = sizes(value)
    shape.insert(dimension, "1")
    element = element_of(value.type)
    made = ir.Type.parse(f"!torch.vtensor<[{','.join(shape)}],{element}>", context)
    integer = ir.Type.parse("!torch.int", context)
    number = {"value": ir.IntegerAttr.get(ir.IntegerType.get_signless(64, context), dimension)}
    position = build("torch.constant.int", [integer], [], where, number).results[0]
    return build("torch.aten.unsqueeze", [made], [value, position], where).results[0]
