"""Scalar floating point on IREE's virtual machine, which takes floats for real numbers.

It folds `(x - y) + y` to x, `x * 0.0` to 0, `x + 0.0` to x, `0.0 / x` to 0, `x % 1.0` to 0 and `x == x` to true, makes
`not x > y` into `x <= y` and `x >= y` into `not x < y`, contracts `x * y + z` to a fused multiply-add, and stores the
constant -0.0 as 0.0. All of these look at what defines an operand. So every operand stands behind an optimization
barrier of its own, which is gone when the program runs, and comparisons are written with those predicates that the
machine has. What it takes for the remainder of a division that truncates is that of one that rounds.
"""

from __future__ import annotations

import math

from iree.compiler import ir

from ..ir.bindings import build, walk

__all__ = ["keep_floats"]

_ARITHMETIC = frozenset(
    {*(f"arith.{name}f" for name in ("add", "sub", "mul", "div", "rem", "maximum", "minimum", "maxnum", "minnum"))}
    | {"math.fma"}
)
_FROM_INTEGERS = frozenset({"arith.sitofp", "arith.uitofp"})
_OEQ, _OLT, _OLE, _UNE = 1, 4, 5, 13
# What holds for two numbers, as: whether the operands are exchanged, a predicate that the machine has, whether it is
# negated. MLIR numbers the predicates oeq, ogt, oge, olt, ole, one, ord, ueq, ugt, uge, ult, ule, une, uno from 1.
_COMPARED = {
    1: (False, _OEQ, False),
    2: (True, _OLT, False),
    3: (True, _OLE, False),
    4: (False, _OLT, False),
    5: (False, _OLE, False),
    9: (False, _OLE, True),
    10: (False, _OLT, True),
    11: (True, _OLE, True),
    12: (True, _OLT, True),
    13: (False, _UNE, False),
}


def keep_floats(module: ir.Module) -> int:
    """Hide from IREE's virtual machine what it would fold of the floats that it computes with.

    Args:
        module: an `iree`-stage module, rewritten in place.
    Returns:
        The number of ops rewritten.
    """
    rewritten = 0
    for op in list(walk(module.operation)):
        if op.name == "arith.remf":
            rewritten += _truncate(op)
    for op in list(walk(module.operation)):
        if op.name in _ARITHMETIC or op.name in _FROM_INTEGERS:
            rewritten += _hide_operands(op)
        elif op.name == "arith.cmpf":
            rewritten += _compare(op)
        elif op.name == "arith.constant":
            rewritten += _keep_sign(op)
    return rewritten


def _is_number(value: ir.Value) -> bool:
    return isinstance(value.type, (ir.FloatType, ir.IntegerType))


def _hidden(value: ir.Value, where: ir.InsertionPoint) -> ir.Value:
    return build("util.optimization_barrier", [value.type], [value], where).results[0]


def _hide_operands(op: ir.Operation) -> int:
    if not all(map(_is_number, op.operands)) or _is_in_kernel(op):
        return 0
    where = ir.InsertionPoint(op)
    for number, operand in enumerate(list(op.operands)):
        op.operands[number] = _hidden(operand, where)
    return 1


def _is_in_kernel(op: ir.Operation) -> bool:
    """Whether an op computes the elements of tensors."""
    parent = op.parent
    return parent is not None and parent.operation.name.startswith("linalg.")


def _truncate(op: ir.Operation) -> int:
    """The remainder with the sign of the dividend, of the one that is nearest to zero; adding the divisor to that is
    exact.
    """
    if not all(map(_is_number, op.operands)) or _is_in_kernel(op):
        return 0
    (x, y), type_, where = op.operands, op.results[0].type, ir.InsertionPoint(op)
    i1, i64 = (ir.IntegerType.get_signless(width, op.context) for width in (1, 64))

    def made(name: str, *operands: ir.Value, result: ir.Type = type_, **attributes: ir.Attribute) -> ir.Value:
        return build(name, [result], list(operands), where, attributes).results[0]

    def below(one: ir.Value, other: ir.Value) -> ir.Value:
        return made("arith.cmpf", one, other, result=i1, predicate=ir.IntegerAttr.get(i64, _OLT))

    nearest = _hidden(
        made("arith.remf", x, y), where
    )  # or IREE moves it into a kernel, which cannot be linked with `fmod`
    zero = made("arith.constant", value=ir.FloatAttr.get(type_, 0.0, op.location))
    size = made("math.absf", y)
    falls = made("arith.andi", below(nearest, zero), below(zero, x), result=i1)
    rises = made("arith.andi", below(zero, nearest), below(x, zero), result=i1)
    found = made("arith.select", falls, made("arith.addf", nearest, size), nearest)
    found = made("arith.select", rises, made("arith.subf", nearest, size), found)
    op.results[0].replace_all_uses_with(found)
    op.erase()
    return 1


def _compare(op: ir.Operation) -> int:
    predicate = ir.IntegerAttr(op.attributes["predicate"]).value
    if not all(map(_is_number, op.operands)) or _is_in_kernel(op) or predicate not in _COMPARED:
        return 0
    exchanged, known, negated = _COMPARED[predicate]
    where = ir.InsertionPoint(op)
    operands = [_hidden(operand, where) for operand in op.operands]
    attribute = {"predicate": ir.IntegerAttr.get(ir.IntegerType.get_signless(64, op.context), known)}
    type_ = op.results[0].type
    found = build("arith.cmpf", [type_], operands[::-1] if exchanged else operands, where, attribute).results[0]
    found = _hidden(found, where)
    if negated:
        true = build("arith.constant", [type_], [], where, {"value": ir.IntegerAttr.get(type_, 1)}).results[0]
        found = build("arith.xori", [type_], [found, true], where).results[0]
    op.results[0].replace_all_uses_with(found)
    op.erase()
    return 1


def _keep_sign(op: ir.Operation) -> int:
    """-0.0 as the negative of 0.0, but for what torch's ops take."""
    value, type_ = op.attributes["value"], op.results[0].type
    if not isinstance(type_, ir.FloatType) or _is_in_kernel(op):
        return 0
    number = ir.FloatAttr(value).value
    if number != 0 or math.copysign(1.0, number) > 0:
        return 0
    where = ir.InsertionPoint(op)
    zero = build("arith.constant", [type_], [], where, {"value": ir.FloatAttr.get(type_, 0.0, op.location)}).results[0]
    made = build("arith.negf", [type_], [_hidden(zero, where)], where).results[0]
    for use in list(op.results[0].uses):
        user = use.owner.operation if hasattr(use.owner, "operation") else use.owner
        if not user.name.startswith(("torch.", "torch_c.")):
            user.operands[use.operand_number] = made
    return 1
