"""Powers of ints and floats: which are ints, which raise, and which are not real."""

from __future__ import annotations

import math
from typing import Any, Protocol

from ..values.values import ConstValue, Value

__all__ = ["power"]

_COMPLEX = "ValueError: a negative number to a fractional power is complex"
_DOMAIN = "ValueError: math domain error"


class _ScalarOps(Protocol):
    """What powers need of `scalar_ops.ScalarOps`."""

    def kind(self, value: Value) -> type: ...
    def converted(self, value: Value, kind: type) -> Any: ...
    def emit(self, name: str, arguments: list[Any]) -> Value: ...
    def function(self, name: str, arguments: list[Any], result: type) -> Value: ...
    def classified(self, name: str, value: Any) -> Value: ...
    def both(self, *conditions: Any) -> Any: ...
    def either(self, *conditions: Any) -> Any: ...
    def negated(self, condition: Any) -> Any: ...
    def require(self, condition: Any, message: str) -> None: ...


def power(scalars: _ScalarOps, base: Any, exponent: Any, *, of_math: bool = False) -> Value:
    """Emit `base ** exponent`, or `math.pow(base, exponent)`, which is one of floats.

    Args:
        scalars: emits scalar ops.
        base: a number, of which at least one is dynamic.
        exponent: the other number.
        of_math: whether it is the function in `math`.
    """
    whole = scalars.kind(exponent) is not float
    if of_math or scalars.kind(base) is float or not whole:
        numbers = [scalars.converted(number, float) for number in (base, exponent)]
        return _of_floats(scalars, *numbers, whole=whole, of_math=of_math)
    base, exponent = (scalars.converted(number, int) for number in (base, exponent))
    if not isinstance(exponent, ConstValue):
        return _run_time(scalars, base, exponent)
    if exponent.value < 0:
        return power(scalars, scalars.converted(base, float), exponent)
    result: Value = ConstValue(1)
    for _ in range(exponent.value):
        result = scalars.emit("mul", [result, base])
    return result


def _run_time(scalars: _ScalarOps, base: Any, exponent: Any) -> Value:
    """An int to a dynamic power: an int, so that the exponent must not be negative.

    Squared and multiplied, bit by bit. Six bits are enough: only of -1, 0 and 1 are higher powers 64-bit numbers.
    """
    emit = scalars.emit
    zero, one, two, most = (ConstValue(number) for number in (0, 1, 2, 63))
    rising = emit("ge", [exponent, zero])
    message = "ValueError: int ** int with a dynamic negative exponent is a float in Python: use a float"
    nonzero = scalars.either(rising, emit("ne", [base, zero]))
    scalars.require(nonzero, "ZeroDivisionError: 0.0 cannot be raised to a negative power")
    scalars.require(rising, message)
    small = scalars.both(emit("ge", [base, ConstValue(-1)]), emit("le", [base, one]))
    fits = scalars.either(small, emit("le", [exponent, most]))
    scalars.require(fits, "OverflowError: int ** int does not fit into 64 bits")
    # 62 and 63 are as even and as odd as what they stand for.
    parity = emit("remainder", [exponent, two])
    exponent = emit("min", [exponent, emit("add", [ConstValue(62), parity])])
    result: Value = one
    for _ in range(6):
        bit = emit("remainder", [exponent, two])
        factor = emit("add", [one, emit("mul", [bit, emit("sub", [base, one])])])
        result = emit("mul", [result, factor])
        base, exponent = emit("mul", [base, base]), emit("floordiv", [exponent, two])
    return result


def _of_floats(scalars: _ScalarOps, base: Any, exponent: Any, *, whole: bool, of_math: bool) -> Value:
    """A float power. It raises where Python's does, and where its result is complex.

    Args:
        scalars: emits scalar ops.
        base: a float.
        exponent: a float.
        whole: whether the exponent was an int.
        of_math: whether it is `math.pow`.
    """
    emit, negated = scalars.emit, scalars.negated
    zero = ConstValue(0.0)
    # Written so that NaN, which is neither above nor below, raises nothing.
    falling = scalars.both(emit("lt", [exponent, zero]), emit("gt", [exponent, ConstValue(-math.inf)]))
    message = _DOMAIN if of_math else "ZeroDivisionError: 0.0 cannot be raised to a negative power"
    scalars.require(scalars.either(emit("ne", [base, zero]), negated(falling)), message)
    if not whole:
        rest = emit("remainder", [exponent, ConstValue(1.0)])
        real = negated(scalars.both(emit("gt", [rest, zero]), scalars.classified("isfinite", exponent)))
        negative = scalars.both(emit("lt", [base, zero]), emit("gt", [base, ConstValue(-math.inf)]))
        scalars.require(scalars.either(real, negated(negative)), _DOMAIN if of_math else _COMPLEX)
    result = scalars.function("pow", [base, exponent], float)
    overflows = scalars.both(
        scalars.classified("isinf", result),
        scalars.both(scalars.classified("isfinite", base), scalars.classified("isfinite", exponent)),
    )
    if message == _DOMAIN or not isinstance(base, ConstValue) or base.value != 0:
        scalars.require(negated(overflows), "OverflowError: math range error")
    return result
