"""Shifts of integers by as many bits as they have, or by less than none.

LLVM does not define them; in PyTorch they leave nothing but the sign, which a shift to the right keeps.
"""

from __future__ import annotations

from iree.compiler import ir

from ..callbacks.callbacks import erase_unused
from ..ir.bindings import build, constant_integer, converted, torch_integer
from ..ir.types import element_of, is_torch, sizes, with_element

__all__ = ["SHIFTS", "shift_integers"]

_LEFT = frozenset({"torch.aten.__lshift__.Scalar", "torch.aten.bitwise_left_shift.Tensor"})
SHIFTS = _LEFT | {"torch.aten.__rshift__.Scalar", "torch.aten.bitwise_right_shift.Tensor"}
_UNSIGNED_LESS = 6
"""A predicate of `arith.cmpi`."""


def shift_integers(op: ir.Operation) -> int:
    """Rewrite a shift that may be by no number of bits; returns how many ops were rewritten.

    Args:
        op: one of `SHIFTS`; erased if it is rewritten.
    """
    amount, element = op.operands[1], element_of(op.results[0].type)
    width = int(element[2:]) if element[:2] in ("si", "ui") else 0
    if not width:
        return 0
    where = ir.InsertionPoint(op)
    if element_of(amount.type):
        number = _only_number(amount) if element == "si64" else None  # others are converted first
        if number is None:
            return _shift_elements(op, width, where)
        amount = number
    vanishes = op.name in _LEFT or element[0] == "u"
    known, factor = constant_integer(amount), None
    if known is not None:
        if 0 <= known < width:
            return 0
        shifts, factor = torch_integer(0 if vanishes else width - 1, where), torch_integer(0, where)
    else:
        shifts, factor = _within(amount, 0 if vanishes else width - 1, width, where)
    name = f"torch.aten.__{'l' if op.name in _LEFT else 'r'}shift__.Scalar"
    shifted = build(name, [op.results[0].type], [op.operands[0], shifts], where).results[0]
    if vanishes:
        # torch-mlir does not multiply narrower ones by a number.
        shifted = converted(shifted, element if width > 8 else "si32", where)
        shifted = build("torch.aten.mul.Scalar", [shifted.type], [shifted, factor], where).results[0]
        shifted = converted(shifted, element, where)
    op.results[0].replace_all_uses_with(shifted)
    erase_unused(op)
    return 1


def _only_number(amount: ir.Value) -> ir.Value | None:
    """The number that a tensor without dimensions is made of."""
    owner = amount.owner
    made = None if isinstance(owner, ir.Block) else owner.operation
    if made is None or made.name != "torch.aten.full" or sizes(amount):
        return None
    number: ir.Value = made.operands[1]
    return number if element_of(amount.type) == "si64" and is_torch(number, "int") else None


def _within(number: ir.Value, instead: int, width: int, where: ir.InsertionPoint) -> tuple[ir.Value, ir.Value]:
    """A dynamic number of bits, or another where it is none; and 1 or 0, for whether it is one."""
    i64 = ir.IntegerType.get_signless(64, where.block.owner.context)
    flag = ir.IntegerType.get_signless(1, i64.context)

    def constant(value: int) -> ir.Value:
        return build("arith.constant", [i64], [], where, {"value": ir.IntegerAttr.get(i64, value)}).results[0]

    bits = build("torch_c.to_i64", [i64], [number], where).results[0]
    predicate = {"predicate": ir.IntegerAttr.get(i64, _UNSIGNED_LESS)}
    inside = build("arith.cmpi", [flag], [bits, constant(width)], where, predicate).results[0]
    chosen = (
        build("arith.select", [i64], [inside, value, constant(other)], where).results[0]
        for value, other in ((bits, instead), (constant(1), 0))
    )
    within, factor = (build("torch_c.from_i64", [number.type], [value], where).results[0] for value in chosen)
    return within, factor


def _shift_elements(op: ir.Operation, width: int, where: ir.InsertionPoint) -> int:
    """The same for a tensor of numbers of bits: eager converts them to the dtype of the result first."""
    type_ = op.results[0].type
    vanishes = op.name in _LEFT or element_of(type_)[0] == "u"
    amounts = converted(op.operands[1], element_of(type_), where)
    flags = with_element(amounts.type, "i1")
    low, high = (
        build(f"torch.aten.{name}.Scalar", [flags], [amounts, torch_integer(bound, where)], where).results[0]
        for name, bound in (("lt", 0), ("ge", width))
    )
    outside = build("torch.aten.logical_or", [flags], [low, high], where).results[0]

    def fill(value: ir.Value, number: int) -> ir.Value:
        operands = [value, outside, torch_integer(number, where)]
        return build("torch.aten.masked_fill.Scalar", [value.type], operands, where).results[0]

    within = fill(amounts, 0 if vanishes else width - 1)
    shifted = build(op.name, [type_], [op.operands[0], within], where).results[0]
    op.results[0].replace_all_uses_with(fill(shifted, 0) if vanishes else shifted)
    erase_unused(op)
    return 1
