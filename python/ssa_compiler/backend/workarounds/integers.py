"""Ops on integers that torch-mlir or LLVM gets wrong.

Floor division of int64 goes through floating point: wrong beyond 2**53. Division towards zero is exact, and what is
left over says whether the quotient has to be one less. A division by 0, which the program's check rejects, may run
before the host has read what the check found; it ends the process. A division of the smallest number by -1 is not
defined in LLVM, nor is what is left of it: on x86 it ends the process. In PyTorch the quotient is the number itself.
"""

from __future__ import annotations

from collections.abc import Callable

from iree.compiler import ir

from ..callbacks.callbacks import erase_unused
from ..ir.bindings import build, constant_integer, converted, torch_integer
from ..ir.types import element_of, is_torch, with_element
from .scalar_rounding import number_tensor

__all__ = ["DIVISIONS", "avoid_overflow", "divide_integers", "divides_exactly"]

_REMAINDERS = frozenset(f"torch.aten.{name}.{kind}" for name in ("fmod", "remainder") for kind in ("Scalar", "Tensor"))
_QUOTIENTS = frozenset(
    f"torch.aten.{name}" for name in ("div.Scalar_mode", "div.Tensor_mode", "floor_divide", "floor_divide.Scalar")
)
DIVISIONS = _REMAINDERS | _QUOTIENTS
_SIGNED = ("si8", "si16", "si32", "si64")
_EXACT = (*_SIGNED, "ui8", "i1")
"""What int64 has all numbers of."""
_EQUAL, _UNSIGNED_LESS_EQUAL = 0, 7
"""Predicates of `arith.cmpi`."""


def divides_exactly(op: ir.Operation) -> bool:
    """Whether `divide_integers` makes an op exact: a quotient of int64, rounded down or towards 0.

    Args:
        op: any op of an `iree`-stage module.
    """
    if op.name not in _QUOTIENTS or element_of(op.results[0].type) != "si64" or _mode(op) is None:
        return False
    divisor = op.operands[1].type
    return element_of(op.operands[0].type) in _EXACT and (element_of(divisor) in _EXACT or str(divisor) == "!torch.int")


def _mode(op: ir.Operation) -> str | None:
    """How a quotient is rounded, "floor" or "trunc"; None if it is not, or not known."""
    if len(op.operands) < 3:
        return "floor"
    owner = op.operands[2].owner
    text = "" if isinstance(owner, ir.Block) else str(owner.operation.attributes.get("value", ""))
    return text.strip('"') if text in ('"floor"', '"trunc"') else None


def _is_known_later(divisor: ir.Value) -> bool:
    return is_torch(divisor, "int") and constant_integer(divisor) is None


def _fits(divisor: ir.Value, element: str) -> bool:
    """Whether a scalar is an integer that a dtype has: it may be a dynamic one only if that is int64."""
    if element not in _SIGNED or not is_torch(divisor, "int"):
        return False
    number, half = constant_integer(divisor), 1 << (int(element[2:]) - 1)
    return element == "si64" or (number is not None and -half <= number < half)


def divide_integers(op: ir.Operation) -> int:
    """Rewrite a floor division if `divides_exactly`; returns how many ops were rewritten.

    What is left of a division by a scalar is computed with a tensor of it, which torch-mlir takes.

    Args:
        op: one of `DIVISIONS`; erased if it is rewritten.
    """
    where, type_ = ir.InsertionPoint(op), op.results[0].type
    element = element_of(type_)
    if (
        op.name == "torch.aten.fmod.Scalar"
        and _fits(op.operands[1], element)
        and element_of(op.operands[0].type) == element
    ):
        operands = [op.operands[0], number_tensor(op.operands[1], element, where)]
        made = build("torch.aten.fmod.Tensor", [type_], operands, where)
        op.results[0].replace_all_uses_with(made.results[0])
        erase_unused(op)
        return avoid_overflow(made)
    if divides_exactly(op):
        for number, operand in enumerate(list(op.operands)[:2]):
            if not is_torch(operand, "int"):
                op.operands[number] = converted(operand, "si64", where)
    if not divides_exactly(op) or _mode(op) != "floor":
        return 0
    x, y = list(op.operands)[:2]
    if _is_known_later(y):
        y = number_tensor(y, "si64", where)
    kind = "Scalar" if is_torch(y, "int") else "Tensor"
    constant = constant_integer(y) if kind == "Scalar" else None

    def emit(name: str, *operands: ir.Value) -> ir.Value:
        return build(f"torch.aten.{name}", [type_], list(operands), where).results[0]

    if constant is not None and abs(constant) == 1:
        quotient = emit("mul.Scalar", x, torch_integer(constant, where))
    else:
        text = {"value": ir.StringAttr.get("trunc", op.context)}
        mode = build("torch.constant.str", [ir.Type.parse("!torch.str", op.context)], [], where, text).results[0]
        towards_zero, one = emit(f"div.{kind}_mode", x, y, mode), torch_integer(1, where)
        if constant is not None:
            product = emit("mul.Scalar", towards_zero, y)
            # The remainder has the sign of x; where it is not that of the divisor, the quotient was rounded up.
            remainder = emit("sub.Tensor", x, product, one)
            if constant < 0:
                remainder = emit("mul.Scalar", remainder, torch_integer(-1, where))
            minus = emit("__rshift__.Scalar", remainder, torch_integer(63, where))
            quotient = emit("add.Tensor", towards_zero, minus, one)
        else:
            # The two remainders differ where the quotient was rounded up.
            remainders = [emit(f"{name}.{kind}", x, y) for name in ("remainder", "fmod")]
            differ = build("torch.aten.ne.Tensor", [with_element(type_, "i1")], remainders, where).results[0]
            quotient = emit("sub.Tensor", towards_zero, converted(differ, "si64", where), one)
            for value in (towards_zero, *remainders):
                avoid_overflow(value.owner.operation)
    op.results[0].replace_all_uses_with(quotient)
    erase_unused(op)
    return 1


def avoid_overflow(op: ir.Operation) -> int:
    """Divide integers by 1 where they are divided by 0 or -1: by -1 nothing is left either, and the quotient is
    negated.

    Args:
        op: one of `DIVISIONS`; erased if another op stands for it.
    Returns:
        1 if it was changed, otherwise 0.
    """
    element, divisor = element_of(op.results[0].type), op.operands[1]
    if element not in _SIGNED or not element_of(op.operands[0].type):
        return 0
    if element_of(divisor.type) in _SIGNED:
        return _avoid_elements(op, element)
    # Bools and smaller dtypes do not have the smallest number; int8 and a number are computed by PyTorch.
    if element_of(op.operands[0].type) != element or not is_torch(divisor, "int") or element == "si8":
        return 0
    number = constant_integer(divisor)
    if number not in (None, -1):
        return 0
    where = ir.InsertionPoint(op)
    if number is not None:
        harmless, sign = torch_integer(1, where), torch_integer(-1, where)
    else:
        harmless, sign = _known_later(divisor, where)
    op.operands[1] = harmless
    if op.name in _REMAINDERS:
        return 1
    _replace(op, lambda quotient, there: build("torch.aten.mul.Scalar", [quotient.type], [quotient, sign], there))
    return 1


def _avoid_elements(op: ir.Operation, element: str) -> int:
    """The same for a tensor of divisors."""
    where = ir.InsertionPoint(op)
    dividend, divisor = op.operands[0], op.operands[1]
    flags = with_element(divisor.type, "i1")
    minus, zero = (
        build("torch.aten.eq.Scalar", [flags], [divisor, torch_integer(number, where)], where).results[0]
        for number in (-1, 0)
    )
    either = build("torch.aten.logical_or", [flags], [minus, zero], where).results[0]
    filled = [divisor, either, torch_integer(1, where)]
    op.operands[1] = build("torch.aten.masked_fill.Scalar", [divisor.type], filled, where).results[0]
    if op.name in _REMAINDERS:
        return 1
    wide = converted(dividend, element, where)
    subtracted = [number_tensor(torch_integer(0, where), element, where), wide, torch_integer(1, where)]
    negated = build("torch.aten.sub.Tensor", [wide.type], subtracted, where).results[0]
    _replace(
        op, lambda quotient, there: build("torch.aten.where.self", [quotient.type], [minus, negated, quotient], there)
    )
    return 1


def _known_later(divisor: ir.Value, where: ir.InsertionPoint) -> tuple[ir.Value, ir.Value]:
    """A dynamic scalar with 1 for -1 and 0, and what the quotient is multiplied by for -1."""
    i64 = ir.IntegerType.get_signless(64, where.block.owner.context)

    def constant(number: int) -> ir.Value:
        return build("arith.constant", [i64], [], where, {"value": ir.IntegerAttr.get(i64, number)}).results[0]

    number = build("torch_c.to_i64", [i64], [divisor], where).results[0]
    one, minus = constant(1), constant(-1)

    def compare(predicate: int, value: ir.Value, other: ir.Value) -> ir.Value:
        flag, attribute = ir.IntegerType.get_signless(1, i64.context), ir.IntegerAttr.get(i64, predicate)
        return build("arith.cmpi", [flag], [value, other], where, {"predicate": attribute}).results[0]

    # -1 and 0 are the numbers that are at most 1, without sign, when 1 is added.
    more = build("arith.addi", [i64], [number, one], where).results[0]
    pairs = ((compare(_UNSIGNED_LESS_EQUAL, more, one), one, number), (compare(_EQUAL, number, minus), minus, one))
    chosen = [build("arith.select", [i64], list(pair), where).results[0] for pair in pairs]
    harmless, sign = (build("torch_c.from_i64", [divisor.type], [value], where).results[0] for value in chosen)
    return harmless, sign


def _replace(op: ir.Operation, finish: Callable[[ir.Value, ir.InsertionPoint], ir.Operation]) -> None:
    """Let an op made of the result of another stand for that."""
    where = ir.InsertionPoint(op)
    plain = build(op.name, [op.results[0].type], list(op.operands), where).results[0]
    op.results[0].replace_all_uses_with(finish(plain, where).results[0])
    erase_unused(op)
