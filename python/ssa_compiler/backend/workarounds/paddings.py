"""Padding with a constant that takes elements away: `pad(x, [-1, 1])`, which torch-mlir folds where the size stays the
same.

Where it does not, IREE rejects the negative amount. So a slice takes away first, and what is left to add is added.
"""

from __future__ import annotations

from iree.compiler import ir

from ..callbacks.callbacks import erase_unused
from ..ir.bindings import build, constant_integer, torch_integer
from ..ir.types import element_of, sizes
from .masks import listed

__all__ = ["PADDINGS", "cut_before_padding"]

PADDINGS = frozenset({"torch.aten.pad", "torch.aten.constant_pad_nd"})


def cut_before_padding(op: ir.Operation) -> int:
    """Replace padding by negative amounts by slices, and padding by what is left.

    Args:
        op: one of `PADDINGS`; what pads with something else than a constant is left as it is.
    Returns:
        1 if it was rewritten, else 0.
    """
    if op.name == "torch.aten.pad" and '"constant"' not in str(op.operands[2].owner):
        return 0
    amounts = [constant_integer(amount) for amount in listed(op.operands[1])]
    known = [amount for amount in amounts if amount is not None]
    if len(known) < len(amounts) or min(known, default=0) >= 0:
        return 0
    where = ir.InsertionPoint(op)
    value, rank = op.operands[0], len(sizes(op.operands[0]))
    for pair in range(len(known) // 2):
        before, after = (min(amount, 0) for amount in known[2 * pair : 2 * pair + 2])
        if before or after:
            value = _cut(value, rank - 1 - pair, -before, after, where)
    if max(known) > 0:
        counts = [torch_integer(max(amount, 0), where) for amount in known]
        list_ = build("torch.prim.ListConstruct", [op.operands[1].type], counts, where).results[0]
        value = build(op.name, [op.results[0].type], [value, list_, *list(op.operands)[2:]], where).results[0]
    elif value.type != op.results[0].type:
        value = build("torch.tensor_static_info_cast", [op.results[0].type], [value], where).results[0]
    op.results[0].replace_all_uses_with(value)
    erase_unused(op)
    return 1


def _cut(value: ir.Value, dim: int, start: int, end: int, where: ir.InsertionPoint) -> ir.Value:
    """`value[.., start : size + end]`; `end` is not positive."""
    shape = sizes(value)
    if shape[dim].isdigit():
        shape[dim] = str(int(shape[dim]) - start + end)
    element = element_of(value.type)
    type_ = ir.Type.parse(f"!torch.vtensor<[{','.join(shape)}],{element}>", value.context)
    last = torch_integer(end, where)
    if not end:
        last = build("torch.constant.none", [ir.Type.parse("!torch.none", value.context)], [], where).results[0]
    operands = [value, torch_integer(dim, where), torch_integer(start, where), last, torch_integer(1, where)]
    return build("torch.aten.slice.Tensor", [type_], operands, where).results[0]
