"""Which values are tensors that the program updates: their memory is reused by what the update makes.

`select_scatter(x, ...)` keeps most of `x`, and IREE makes its result in the memory of `x`. A tensor that nothing reuses
may lie in memory that others use too, also where control flow forwards it. The conversion marks versions by the same
rule (docs/Report.md); here it saves copies and attempts, and what IREE does is checked by `in_place` in any case.
"""

from __future__ import annotations

import re

from iree.compiler import ir

from ..ir.bindings import CASTS, attribute
from ..ir.region_edges import forwarded_to

__all__ = [
    "forwarded_to",
    "is_reused",
    "memory_names",
    "memory_root",
    "only_asks_for_sizes",
    "only_renames",
    "updated_operand",
    "updates_part_of_another",
]

# Ops that IREE compiles to kernels that work in place, on their first operand.
_UPDATES = re.compile(r"scatter|index_(?:put|copy|add|fill)|sort|topk|kthvalue|median|mode|unique|cum\w+")
# Ops whose result is their operand in another shape, in the same memory.
_RESHAPES = re.compile(
    r"torch\.(?:tensor_static_info_cast|aten\.(?:\w*view\w*|\w*squeeze|\w*flatten|reshape|detach)(?:\.|$))"
)
_SCATTERS = re.compile(r"index_put|aten\.scatter")
_PARTS = re.compile(r"torch\.aten\.(?:slice|select|narrow)(?:\.|$)")
_SIZES = re.compile(r"tensor\.dim|torch\.aten\.(?:size|sym_size|numel|dim|len)(?:\.|$)")


def _name(op: ir.Operation) -> str:
    return attribute(op, "name").strip('"') if op.name == "torch.operator" else op.name


def updated_operand(op: ir.Operation) -> int | None:
    """The number of the operand whose memory an op updates, None if it makes its results anew."""
    name = _name(op)
    if name == "tensor.insert_slice":
        return 1
    if name.startswith("torch.") and _UPDATES.search(name) and len(op.operands) and len(op.results):
        return 0
    return None


def updates_part_of_another(op: ir.Operation) -> bool:
    """Whether an op updates, at indices that are data, what a slice shows: IREE 3.13.0 does not compile the two as one
    kernel.
    """
    number = updated_operand(op)
    if number is None or _SCATTERS.search(_name(op)) is None:
        return False
    owner = memory_root(op.operands[number]).owner
    return not isinstance(owner, ir.Block) and _PARTS.match(_name(owner.operation)) is not None


def only_asks_for_sizes(op: ir.Operation) -> bool:
    """Whether an op reads no element of its operands."""
    return _SIZES.match(_name(op)) is not None


def memory_root(value: ir.Value) -> ir.Value:
    """Look through the casts and changes of shape that define a tensor."""
    while not isinstance(value.owner, ir.Block):
        op = value.owner.operation
        if not _is_same(op, 0):
            break
        value = op.operands[0]
    return value


def memory_names(root: ir.Value) -> list[ir.Value]:
    """A tensor and everything that is a cast of it, or a change of its shape."""
    found = [root]
    for current in found:
        for use in current.uses:
            user = use.owner.operation
            if _is_same(user, use.operand_number) and user.results[0] not in found:
                found.append(user.results[0])
    return found


def only_renames(op: ir.Operation) -> bool:
    """Whether an op makes nothing but another name for the memory of its first operand."""
    return len(op.operands) > 0 and _is_same(op, 0)


def is_reused(value: ir.Value) -> bool:
    """Whether a tensor, or what control flow and casts make of it, is ever updated or the caller's to keep.

    Args:
        value: a tensor of an `iree`-stage module.
    """
    seen = {value}
    pending = [value]
    while pending:
        current = pending.pop()
        for use in current.uses:
            user = use.owner.operation
            number = updated_operand(user)
            if user.name == "func.return" or (number is not None and user.operands[number] == current):
                return True
            for other in _same_memory(user, use.operand_number):
                if other not in seen:
                    seen.add(other)
                    pending.append(other)
    return False


def _same_memory(user: ir.Operation, index: int) -> list[ir.Value]:
    """The values that may lie in the memory of an operand."""
    return [user.results[0]] if _is_same(user, index) else forwarded_to(user, index)


def _is_same(user: ir.Operation, index: int) -> bool:
    """Whether the result of an op is the memory of an operand."""
    return user.name in CASTS or (index == 0 and _RESHAPES.match(_name(user)) is not None)
