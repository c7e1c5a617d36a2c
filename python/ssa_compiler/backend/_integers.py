"""Ops on integers with constants that torch-mlir or LLVM gets wrong.

Floor division of int64 goes through floating point: wrong beyond 2**53. Division towards zero is exact, and what is left over
says whether the quotient has to be one less. Shifts by as many bits as a number has, or by less than none, are not defined in
LLVM; in PyTorch they leave nothing but the sign, which a shift to the right keeps.
"""

from __future__ import annotations

from iree.compiler import ir

from ._callbacks import erase_unused, torch_operator
from ._ir import build, constant_integer, element_of, torch_integer

__all__ = ["SHIFTS", "divide_integers", "divides_by_constant", "shift_integers"]

_INT64 = ",si64>"


def divides_by_constant(op: ir.Operation) -> bool:
    """Whether `divide_integers` rewrites an op: a floor division of an int64 tensor by a constant that is not 0.

    Args:
        op: any op of an `iree`-stage module.
    """
    return _divisor(op) is not None


def _divisor(op: ir.Operation) -> int | None:
    operator = torch_operator(op)
    if operator == "aten::div.Scalar_mode":
        mode = op.operands[2].owner
        if isinstance(mode, ir.Block) or str(mode.operation.attributes.get("value", "")) != '"floor"':
            return None
    elif operator != "aten::floor_divide.Scalar":
        return None
    if not str(op.results[0].type).endswith(_INT64) or op.operands[0].type != op.results[0].type:
        return None
    return constant_integer(op.operands[1]) or None


def divide_integers(op: ir.Operation) -> int:
    """Rewrite a floor division if `divides_by_constant`; returns how many ops were rewritten.

    Args:
        op: any op of an `iree`-stage module; erased if it is rewritten.
    """
    divisor = _divisor(op)
    if divisor is None:
        return 0
    where, type_, x = ir.InsertionPoint(op), op.results[0].type, op.operands[0]

    def emit(name: str, *operands: ir.Value) -> ir.Value:
        return build(f"torch.aten.{name}", [type_], list(operands), where).results[0]

    if abs(divisor) == 1:  # the smallest number divided by -1 would trap
        quotient = emit("mul.Scalar", x, torch_integer(divisor, where))
    else:
        context = op.context
        mode = build(
            "torch.constant.str",
            [ir.Type.parse("!torch.str", context)],
            [],
            where,
            {"value": ir.StringAttr.get("trunc", context)},
        ).results[0]
        one = torch_integer(1, where)
        quotient = emit("div.Scalar_mode", x, op.operands[1], mode)
        product = emit("mul.Scalar", quotient, op.operands[1])
        # The remainder has the sign of x; where it is not that of the divisor, the quotient was rounded up.
        remainder = emit("sub.Tensor", x, product, one)
        if divisor < 0:
            remainder = emit("mul.Scalar", remainder, torch_integer(-1, where))
        minus = emit("__rshift__.Scalar", remainder, torch_integer(63, where))
        quotient = emit("add.Tensor", quotient, minus, one)
    op.results[0].replace_all_uses_with(quotient)
    erase_unused(op)
    return 1


SHIFTS = ("torch.aten.__lshift__.Scalar", "torch.aten.__rshift__.Scalar")


def shift_integers(op: ir.Operation) -> int:
    """Rewrite a shift of a tensor by a constant that is no number of bits; returns how many ops were rewritten.

    Args:
        op: one of `SHIFTS`; erased if it is rewritten.
    """
    amount, element = constant_integer(op.operands[1]), element_of(op.results[0].type)
    width = int(element[2:]) if element[:2] in ("si", "ui") else 0
    if amount is None or not width or 0 <= amount < width:
        return 0
    where = ir.InsertionPoint(op)
    vanishes = op.name == SHIFTS[0] or element[0] == "u"
    name, number = ("torch.aten.mul.Scalar", 0) if vanishes else (op.name, width - 1)
    operands = [op.operands[0], torch_integer(number, where)]
    shifted = build(name, [op.results[0].type], operands, where).results[0]
    op.results[0].replace_all_uses_with(shifted)
    erase_unused(op)
    return 1
