"""Powers of floating point: IREE computes `exp(y * log(x))`, which is NaN below zero, of `x ** 0.0` for 0 and infinity,
and of 1.

So the power of the size is taken, and the sign and what has no logarithm are put in as IEEE 754 has them for `pow`.
"""

from __future__ import annotations

import math

from iree.compiler import ir

from ..ir.bindings import build, converted, torch_integer
from ..ir.types import element_of, with_element

__all__ = ["raise_negatives"]

_FLOATS = ("f16", "bf16", "f32", "f64")


class _Builder:
    """Builds torch ops in front of one, of which each result has the sizes of an operand, or those of the result."""

    def __init__(self, op: ir.Operation) -> None:
        self._where = ir.InsertionPoint(op)
        self._context = op.context

    def number(self, number: float) -> ir.Value:
        float_ = ir.FloatAttr.get(ir.F64Type.get(self._context), number, ir.Location.unknown(self._context))
        type_ = ir.Type.parse("!torch.float", self._context)
        return build("torch.constant.float", [type_], [], self._where, {"value": float_}).results[0]

    def one(self) -> ir.Value:
        return torch_integer(1, self._where)

    def __call__(self, name: str, type_: ir.Type, *operands: ir.Value) -> ir.Value:
        return build(f"torch.aten.{name}", [type_], list(operands), self._where).results[0]


def raise_negatives(op: ir.Operation) -> int:
    """Rewrite a power of two tensors.

    Args:
        op: a `torch.aten.pow.Tensor_Tensor`.
    Returns:
        The number of ops rewritten.
    """
    result = op.results[0].type
    element = element_of(result)
    if element not in _FLOATS or not all(element_of(value.type) for value in op.operands):
        return 0
    emit = _Builder(op)
    x, y = (converted(value, element, ir.InsertionPoint(op)) for value in op.operands)
    flags_x, flags_y, flags = (with_element(type_, "i1") for type_ in (x.type, y.type, result))
    zero, one, two = emit.number(0.0), emit.number(1.0), emit.number(2.0)
    size = emit("abs", x.type, x)
    power = emit("pow.Tensor_Tensor", result, size, y)

    # The sign: that of x, zeros included, for odd y.
    whole = emit("eq.Tensor", flags_y, emit("floor", y.type, y), y)
    even = emit("mul.Scalar", y.type, emit("floor", y.type, emit("div.Scalar", y.type, y, two)), two)
    odd = emit("eq.Scalar", flags_y, emit("sub.Tensor", y.type, y, even, emit.one()), one)
    below = emit("lt.Scalar", flags_x, x, zero)
    inverse = emit("lt.Scalar", flags_x, emit("reciprocal", x.type, x), zero)
    negative = emit("logical_and", flags, emit("logical_or", flags_x, below, inverse), odd)
    power = emit("where.self", result, negative, emit("mul.Scalar", result, power, emit.number(-1.0)), power)
    finite = emit("gt.Scalar", flags_x, x, emit.number(-math.inf))
    rootless = emit(
        "logical_and", flags, emit("logical_and", flags_x, below, finite), emit("logical_not", flags_y, whole)
    )
    power = emit("masked_fill.Scalar", result, power, rootless, emit.number(math.nan))

    # What is 1 whatever the other is.
    infinite = emit("eq.Scalar", flags_y, emit("abs", y.type, y), emit.number(math.inf))
    unit = emit("logical_and", flags, emit("eq.Scalar", flags_x, size, one), infinite)
    plain = emit("logical_or", flags, emit("eq.Scalar", flags_x, x, one), emit("eq.Scalar", flags_y, y, zero))
    power = emit("masked_fill.Scalar", result, power, emit("logical_or", flags, unit, plain), one)
    op.results[0].replace_all_uses_with(power)
    op.erase()
    return 1
