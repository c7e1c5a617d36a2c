"""How many numbers are in `range(low, high, step)`, in arithmetic of 64 bits, where `high - low` may not fit."""

from __future__ import annotations

from typing import Any

import torch

from ..values.symbols import expr_of
from ..values.values import ConstValue, ScalarValue, Value, is_const
from .scalar_ops import ScalarOps

__all__ = ["derived_index", "range_length"]

_LEAST, _MOST = -(2**63), 2**63 - 1
_ZERO = ConstValue(0)


def derived_index(scalars: ScalarOps, index: Value, start: Value, step: Value) -> Value:
    """Return `range(start, ..., step)[index]`."""
    return scalars.emit("add", [start, scalars.emit("mul", [index, step])])


def range_length(scalars: ScalarOps, low: Any, high: Any, step: Any) -> Value:
    """Return `len(range(low, high, step))`; at most what 64 bits hold.

    Args:
        scalars: emits ops on numbers.
        low: the first number.
        high: where it ends.
        step: from each number to the next.
    Raises:
        ProgramRaises: the step is 0.
    """
    message = "ValueError: range() arg 3 must not be zero"
    scalars.check_nonzero(step, message)
    if is_const(low, high, step):
        length = scalars.fold_constant("aten::__range_length", [low, high, step])
        return ConstValue(length.value, any(bound.structural for bound in (low, high, step)))
    counted = _length(scalars, low, high, step)
    if not isinstance(counted, ScalarValue):
        return counted
    with scalars.state.symbols.transaction():  # the size that a list gets is known by a simple expression
        first, last, by = (bound.sym if isinstance(bound, ScalarValue) else bound.value for bound in (low, high, step))
        distance = last - first if isinstance(by, int) and by == 1 else -((first - last) // by)
        return scalars.state.scalar(int, counted.ssa, torch.sym_max(distance, 0))  # type: ignore[no-untyped-call]


def _length(scalars: ScalarOps, low: Any, high: Any, step: Any) -> Value:
    emit, (least, most) = scalars.emit, _bounds(scalars, step)
    if least == most == 1:
        return _distance(scalars, low, high)
    if least == most == -1:
        return _distance(scalars, high, low)
    spans = [bound - other for bound, other in zip(_bounds(scalars, high), reversed(_bounds(scalars, low)))]
    if spans[0] > _LEAST and spans[1] <= _MOST:
        difference = emit("sub", [low, high])
        return emit("max", [emit("neg", [emit("floordiv", [difference, step])]), _ZERO])
    if least > 0 and _bounds(scalars, low)[0] >= 0:
        difference = emit("sub", [low, emit("max", [low, high])])
        return emit("neg", [emit("floordiv", [difference, step])])
    # How often the step fits into either, and whether it fits once more into what is left of both.
    (first, below), (last, above) = ([emit(name, [n, step]) for name in ("floordiv", "remainder")] for n in (low, high))
    if least <= -1 <= most:
        # -2**63 // -1 is no number of 64 bits, and wraps around; one less than that is one.
        less = emit("Int", [emit("eq", [step, ConstValue(-1)])])
        first, last = (emit("sub", [quotient, less]) for quotient in (first, last))
    more = emit("floordiv", [emit("sub", [below, above]), step])
    return _distance(scalars, emit("add", [first, more]), last)


def _distance(scalars: ScalarOps, low: Any, high: Any) -> Value:
    """`max(high - low, 0)`, at most what 64 bits hold."""
    emit, least = scalars.emit, _bounds(scalars, low)[0]
    if _bounds(scalars, high)[1] - least > _MOST and least < 0:
        most = emit("add", [emit("min", [low, _ZERO]), ConstValue(_MOST)])
        high = emit("min", [high, most])
    return emit("sub", [emit("max", [high, low]), low])


def _bounds(scalars: ScalarOps, number: Any) -> tuple[int, int]:
    """The least and the largest number that an int may be."""
    if isinstance(number, ConstValue):
        return number.value, number.value
    low, high = scalars.state.symbols.bounds(expr_of(number.sym))
    return max(int(low), _LEAST) if low.is_Integer else _LEAST, min(int(high), _MOST) if high.is_Integer else _MOST
