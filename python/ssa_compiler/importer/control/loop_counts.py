"""Ints that each iteration of a loop changes by the same amount, as lengths of lists are: what they are behind it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ..values.dynamic_list_value import DynamicListValue
from ..values.state import State
from ..values.symbols import expr_of
from ..values.values import ConstValue, ScalarValue, TupleValue, Value

__all__ = ["counted"]

_MOST = 2**62


def counted(
    state: State,
    symbolic: Callable[[Any], Value],
    trips: Value,
    initial: Value,
    entry: Value,
    output: Value,
    result: Value,
) -> Value:
    """Return a result of a loop, as the number that it is if that can be told.

    Args:
        state: the interpretation.
        symbolic: makes an int of an expression.
        trips: how often the loop runs, which nothing ends before.
        initial: what the loop carries into the first iteration.
        entry: the same at the head of an iteration.
        output: the same at its end.
        result: the same behind the loop.
    """
    parts = (initial, entry, output)
    if isinstance(result, TupleValue):
        if not all(isinstance(part, TupleValue) and len(part.elements) == len(result.elements) for part in parts):
            return result
        elements = zip(*(part.elements for part in (*parts, result)))  # type: ignore[attr-defined]
        return replace(result, elements=tuple(counted(state, symbolic, trips, *each) for each in elements))
    if isinstance(result, DynamicListValue):
        if not all(isinstance(part, DynamicListValue) for part in parts):
            return result
        lengths = [part.length for part in (*parts, result)]  # type: ignore[attr-defined]
        return DynamicListValue(result.buffer, counted(state, symbolic, trips, *lengths), result.kind)
    if not all(isinstance(part, ScalarValue) and part.kind is int for part in (entry, output, result)):
        return result
    count, first = _expr(trips), _expr(initial)
    step = _expr(output) - _expr(entry)
    if count is None or first is None or not step.is_Integer or state.symbols.bounds(count)[0] < 0:
        return result
    last = first + count * step
    is_in_range = all(-_MOST <= bound <= _MOST for bound in state.symbols.bounds(last))
    return symbolic(last) if is_in_range and state.emitter.visible(last) else result


def _expr(value: Value) -> Any:
    """The expression of an int, None if it is none."""
    if isinstance(value, ScalarValue):
        return expr_of(value.sym)
    return expr_of(value.value) if isinstance(value, ConstValue) and type(value.value) is int else None
