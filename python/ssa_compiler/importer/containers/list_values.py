"""What lists of known length do with the values of their elements: compare, search, sort and reduce them, as Python
does.

Elements that are constants are compared at import. Where some are dynamic the outcome is computed from
comparisons: the position of an element is the number of those in front of it that differ, a list is sorted by
exchanging neighbours.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import torch

from ...errors import UnsupportedOpError
from ..tensors.scalar_ops import ScalarOps
from ..values.chosen_members import equal
from ..values.diagnostics import ProgramRaises
from ..values.dynamic_list_value import SCALAR_DTYPES
from ..values.state import State
from ..values.values import (
    ConstValue,
    DictRef,
    ListRef,
    MemberValue,
    ObjectRef,
    ScalarValue,
    TupleValue,
    Value,
    is_const,
)
from .list_classes import ListClasses

__all__ = ["ListValues"]

_MOST_REPEATED = 1 << 16  # elements of `list * int`
_MOST_SORTED = 16
"""Dynamic elements that are sorted by exchanging neighbours: the work grows with the square."""

_TRUE, _FALSE, _ZERO, _ONE = ConstValue(True), ConstValue(False), ConstValue(0), ConstValue(1)
_NANS = "two NaNs in a list, which are equal if they are one object: ask math.isnan"

Choose = Callable[[Value, Callable[[], list[Value]], Callable[[], list[Value]]], list[Value]]


class ListValues:
    """Compares, searches, sorts and reduces the elements of lists."""

    def __init__(
        self,
        state: State,
        scalars: ScalarOps,
        choose: Choose,
        elements: Callable[[Value], tuple[Value, ...]],
        classes: ListClasses,
    ) -> None:
        """Create it.

        Args:
            state: the interpretation.
            scalars: emits scalar ops.
            choose: emits two alternatives under a dynamic condition.
            elements: returns the elements of a list, dict or tuple.
            classes: tells which lists are tuples in eager.
        """
        self.state, self.scalars, self.choose = state, scalars, choose
        self.elements, self.classes = elements, classes

    # Comparisons.

    def equal(self, one: Value, other: Value) -> Value:
        """Return whether two elements are equal to a list: one object, or `==`.

        Raises:
            UnsupportedOpError: that cannot be told.
        """
        if one is other and not _has_tensors(one) and not _is_pooled(one):
            return _TRUE
        if isinstance(one, ConstValue) and isinstance(other, ConstValue):
            if _is_nan(one) and _is_nan(other):
                raise self.state.unsupported_op(f"{self.state.locations.kind} that compares {_NANS}")
            return ConstValue(bool(one.value == other.value))
        if _is_scalar(one) and _is_scalar(other):
            return self._equal_scalars(one, other)
        if MemberValue in (type(one), type(other)) and (same := equal(self.scalars, one, other)) is not None:
            return same
        containers = (ListRef, TupleValue, DictRef)
        objects = isinstance(one, ObjectRef) or isinstance(other, ObjectRef)
        if isinstance(one, containers) and isinstance(other, containers) and not objects:
            return self._equal_containers(one, other)
        none = any(isinstance(value, ConstValue) and value.value is None for value in (one, other))
        if none and isinstance(other if isinstance(one, ConstValue) else one, (ScalarValue, *containers)):
            return _FALSE
        kinds = " and ".join(
            dict.fromkeys(type(value).__name__.removesuffix("Value").lower() for value in (one, other))
        )
        raise self.state.unsupported_op(f"{self.state.locations.kind} that compares elements ({kinds}) of a list")

    def _equal_scalars(self, one: Value, other: Value) -> Value:
        if any(self.scalars.kind(value) not in SCALAR_DTYPES for value in (one, other)):
            return _FALSE  # a number and a string or None
        nans = [self._nan(value) for value in (one, other)]
        neither = self._not(self._all(nans))
        if isinstance(neither, ScalarValue):
            self.state.emitter.assertion(neither.ssa, f"unsupported: a comparison of {_NANS}")
        return self.scalars.emit("eq", [one, other])

    def _nan(self, value: Value) -> Value:
        if self.scalars.kind(value) is not float:
            return _FALSE
        return ConstValue(_is_nan(value)) if isinstance(value, ConstValue) else self.scalars.emit("ne", [value, value])

    def _equal_containers(self, one: Value, other: Value) -> Value:
        if isinstance(one, DictRef) is not isinstance(other, DictRef) or self.classes.differ(one, other):
            return _FALSE
        if isinstance(one, DictRef) and isinstance(other, DictRef):
            if len(later := [v for v in (one, other) if self.state.heap.later_keys(v.cell)]) > 0:
                self.elements(later[0])  # which rejects it
            keys = [self.state.heap.keys[value.cell] for value in (one, other)]
            if set(keys[0]) != set(keys[1]):
                return _FALSE
            second = dict(zip(keys[1], self.elements(other)))
            pairs = [(value, second[key]) for key, value in zip(keys[0], self.elements(one))]
        else:
            parts = [self.elements(value) for value in (one, other)]
            if len(parts[0]) != len(parts[1]):
                return _FALSE
            pairs = list(zip(*parts))
        found: list[Value] = []
        for pair in pairs:
            found.append(self.equal(*pair))
            if isinstance(found[-1], ConstValue) and not found[-1].value:
                return _FALSE
        return self._all(found)

    def differ(self, one: Value, other: Value) -> Value:
        """Return whether two elements are not equal to a list."""
        return self._not(self.equal(one, other))

    # Logic on bools, of which some are constants.

    def _not(self, value: Value) -> Value:
        return ConstValue(not value.value) if isinstance(value, ConstValue) else self.scalars.emit("__not__", [value])

    def _all(self, values: Sequence[Value]) -> Value:
        result: Value = _TRUE
        for value in values:
            if isinstance(result, ConstValue) and isinstance(value, ConstValue):
                result = ConstValue(bool(result.value and value.value))
            else:
                result = self.scalars.emit("__and__", [result, value])
        return result

    def _any(self, values: Sequence[Value]) -> Value:
        return self._not(self._all([self._not(value) for value in values]))

    def _select(self, condition: Value, one: Value, other: Value) -> Value:
        if isinstance(condition, ConstValue):
            return one if condition.value else other
        return other if one is other else self.choose(condition, lambda: [one], lambda: [other])[0]

    def require(self, condition: Value, message: str) -> None:
        """Make the program raise `message` unless a condition holds."""
        if isinstance(condition, ConstValue):
            if not condition.value:
                raise ProgramRaises(message)
            return
        self.state.emitter.assertion(self.scalars.ssa(condition, bool), message)

    def negated(self, condition: Value) -> Value:
        """`not condition`."""
        return self._not(condition)

    def some_of(self, conditions: Sequence[Value]) -> Value:
        """Return whether one of some conditions holds."""
        return self._any(conditions)

    def counted(self, conditions: Sequence[Value]) -> Value:
        """Return how many of some conditions hold."""
        result: Value = _ZERO
        for condition in conditions:
            result = self._plus(result, condition)
        return result

    def either(self, condition: Value, one: Value, other: Value) -> Value:
        """Return one of two values, as a condition says."""
        return self._select(condition, one, other)

    def between(self, number: Value, low: int, end: int) -> Value:
        """Return whether an int is at least `low` and less than `end`."""
        return self._all(
            [self.scalars.emit("ge", [number, ConstValue(low)]), self.scalars.emit("lt", [number, ConstValue(end)])]
        )

    def replaced(self, index: Value, places: Sequence[Value], element: Value, before: Value) -> Value:
        """Return an element if an index is one of some places, else what was there before."""
        here = self._any([self.scalars.emit("eq", [index, place]) for place in places])
        return self._select(here, element, before)

    def is_one_of(self, index: Value, places: Sequence[int]) -> Value:
        """Return whether an index is one of some places."""
        return self._any([self.scalars.emit("eq", [index, ConstValue(place)]) for place in places])

    def repeated(self, elements: tuple[Value, ...], times: int) -> tuple[Value, ...]:
        """`elements * times`."""
        if len(elements) * times > _MOST_REPEATED:
            raise self.state.unsupported(f"a list of {len(elements) * times} elements; use a tensor")
        return elements * times

    # Searching.

    def _leading(self, target: Value, wanted: Value) -> list[Value]:
        """For each element, whether it and all in front of it differ from a value."""
        found: list[Value] = []
        for element in self.elements(target):
            if found and isinstance(found[-1], ConstValue) and not found[-1].value:
                found.append(_FALSE)  # Python looks at no more elements
                continue
            differs = self._not(self.equal(element, wanted))
            found.append(self._all([*found[-1:], differs]))
        return found

    def contains(self, target: Value, wanted: Value) -> Value:
        """`wanted in target`."""
        leading = self._leading(target, wanted)
        return self._not(leading[-1]) if leading else _FALSE

    def located(self, target: Value, wanted: Value) -> tuple[Value, Value]:
        """Return whether a list has an element, and the place of the first one, 0 if it has none."""
        leading = self._leading(target, wanted)
        if not leading:
            return _FALSE, _ZERO
        place: Value = _ZERO
        for differs in leading[:-1]:
            place = self._plus(place, differs)
        return self._not(leading[-1]), place

    def count(self, target: Value, wanted: Value) -> Value:
        """`target.count(wanted)`."""
        result: Value = _ZERO
        for element in self.elements(target):
            result = self._plus(result, self.equal(element, wanted))
        return result

    def _plus(self, number: Value, flag: Value) -> Value:
        return self.scalars.emit("add", [number, self.scalars.converted(flag, int)])

    def index(self, target: Value, wanted: Value) -> Value:
        """`target.index(wanted)`."""
        shown = repr(wanted.value) if isinstance(wanted, ConstValue) else "x"
        position: Value = _ZERO
        for differs in self._found(target, wanted, f"{shown} is not in list"):
            position = self._plus(position, differs)
        return position

    def _found(self, target: Value, wanted: Value, message: str) -> list[Value]:
        leading = self._leading(target, wanted)
        self.require(self._not(leading[-1] if leading else _TRUE), f"ValueError: {message}")
        return leading

    def without(self, target: Value, wanted: Value) -> list[Value]:
        """Return the elements that `target.remove(wanted)` leaves."""
        leading = self._found(target, wanted, "list.remove(x): x not in list")
        elements = self.elements(target)
        return [
            self._select(leading[position], elements[position], elements[position + 1])
            for position in range(len(elements) - 1)
        ]

    # Order.

    def ordered(self, target: Value, reverse: Value) -> list[Value]:
        """Return the elements in the order of `sort(reverse=reverse)`.

        Raises:
            UnsupportedOpError: they are no numbers, or too many dynamic ones.
        """
        elements = list(self.elements(target))
        if not isinstance(reverse, ConstValue):
            raise self.state.unsupported("a list that is sorted in a dynamic order; use an if")
        if len(elements) < 2:
            return elements
        plain = [known[0] for known in map(self._plain, elements) if known is not None]
        if len(plain) == len(elements):
            try:
                order = sorted(range(len(elements)), key=plain.__getitem__, reverse=bool(reverse.value))
                return [elements[position] for position in order]
            except TypeError as error:
                raise ProgramRaises(f"TypeError: {error}") from error
        kinds = {self.scalars.kind(element) if _is_scalar(element) else None for element in elements}
        if not kinds <= set(SCALAR_DTYPES):
            raise self.state.unsupported_op(
                f"{self.state.locations.kind} on a list of other things than numbers and strings"
            )
        if len(elements) > _MOST_SORTED:
            raise self.state.unsupported_op(
                f"{self.state.locations.kind} on more than {_MOST_SORTED} dynamic scalars; use torch.sort"
            )
        for nan in map(self._nan, elements):
            # Nothing is less than NaN, so that the outcome depends on the order in which Python compares.
            message = f"unsupported: {self.state.locations.kind} on a list with NaN"
            if isinstance(nan, ScalarValue):
                self.state.emitter.assertion(self.scalars.ssa(self._not(nan), bool), message)
            elif nan.value:  # type: ignore[attr-defined]
                raise self.state.unsupported_op(f"{self.state.locations.kind} on a list with NaN")
        for last in range(len(elements) - 1, 0, -1):
            for position in range(last):
                pair = elements[position], elements[position + 1]
                elements[position : position + 2] = self._exchanged(*pair, bool(reverse.value))
        return elements

    def _plain(self, value: Value) -> tuple[Any] | None:
        """The Python value of a constant, or of a tuple or list of constants, in a tuple; None if it is none."""
        if isinstance(value, ConstValue):
            return (value.value,)
        if not isinstance(value, (ListRef, TupleValue)):
            return None
        parts = [self._plain(element) for element in self.elements(value)]
        known = [part[0] for part in parts if part is not None]
        if len(known) < len(parts):
            return None
        return (tuple(known) if self.classes.is_tuple(value) else known,)

    def _no_scalars(self) -> UnsupportedOpError:
        return self.state.unsupported_op(
            f"{self.state.locations.kind} on a list of other things than numbers and strings"
        )

    def _exchanged(self, first: Value, second: Value, reverse: bool) -> list[Value]:
        """Two neighbours in order; equal ones stay as they are."""
        less = [first, second] if reverse else [second, first]
        if {self.scalars.kind(value) for value in less} == {bool}:
            numbers = [self.scalars.converted(value, int) for value in less]
        else:
            numbers = less
        swap = self.scalars.emit("lt", numbers)
        if isinstance(swap, ConstValue):
            return [second, first] if swap.value else [first, second]
        return self.choose(swap, lambda: [second, first], lambda: [first, second])

    # Reductions.

    def extreme(self, target: Value, name: str) -> Value:
        """`max(target)` or `min(target)`, as `name` says."""
        elements = self.elements(target)
        if not elements:
            raise ProgramRaises(f"ValueError: {name}() arg is an empty sequence")
        best = elements[0]
        for element in elements[1:]:
            best = self._better(best, element, name)
        return best

    def _better(self, best: Value, element: Value, name: str) -> Value:
        """Python keeps the first one unless the other is greater: what is equal, and what is compared with NaN."""
        if isinstance(best, ConstValue) and isinstance(element, ConstValue):
            replaces = element.value > best.value if name == "max" else element.value < best.value
            chosen = element if replaces else best
            return ConstValue(chosen.value, best.structural or element.structural)
        if not _is_scalar(best) or not _is_scalar(element):
            raise self._no_scalars()
        kinds = {self.scalars.kind(value) for value in (best, element)}
        if kinds == {int}:
            return self.scalars.emit(name, [best, element])
        if kinds == {bool}:
            return self.scalars.emit("__or__" if name == "max" else "__and__", [best, element])
        return self._select(self.scalars.emit("gt" if name == "max" else "lt", [element, best]), element, best)

    def total(self, target: Value) -> Value:
        """`sum(target)`."""
        elements = self.elements(target)
        if is_const(*elements):
            return ConstValue(
                sum(element.value for element in elements),  # type: ignore[attr-defined]
                any(element.structural for element in elements),  # type: ignore[attr-defined]
            )
        result: Value = _ZERO
        for element in elements:
            if not _is_scalar(element):
                raise self._no_scalars()
            number = self.scalars.converted(element, int) if self.scalars.kind(element) is bool else element
            result = self.scalars.emit("add", [result, number])
        return result

    def every(self, target: Value) -> Value:
        """`all(target)`."""
        return self._all(self._truths(target))

    def some(self, target: Value) -> Value:
        """`any(target)`."""
        return self._any(self._truths(target))

    def _truths(self, target: Value) -> list[Value]:
        found: list[Value] = []
        for element in self.elements(target):
            if isinstance(element, ConstValue):
                found.append(ConstValue(bool(element.value)))
            elif isinstance(element, ScalarValue):
                found.append(self.scalars.converted(element, bool))
            else:
                raise self._no_scalars()
        return found

    def compared(self, one: Value, other: Value, name: str) -> Value:
        """`max(one, other)` or `min(one, other)` of two lists: one of them, by the first elements that differ."""
        parts = [self.elements(value) for value in (one, other)]
        if not is_const(*parts[0], *parts[1]):
            raise self.state.unsupported_op(f"{name} of lists with dynamic elements")
        first, second = ([element.value for element in part] for part in parts)  # type: ignore[attr-defined]
        return other if (second > first if name == "max" else second < first) else one


def _is_scalar(value: Value) -> bool:
    return isinstance(value, (ConstValue, ScalarValue))


def _is_nan(value: ConstValue) -> bool:
    return isinstance(value.value, float) and value.value != value.value


def _is_pooled(value: Value) -> bool:
    """Whether one value may stand for several objects that are not equal: TorchScript of 2.15 merges NaNs."""
    return isinstance(value, ConstValue) and _is_nan(value) and _pools_nans()


@cache
def _pools_nans() -> bool:
    unit = torch.jit.CompilationUnit('def both():\n    return [float("nan"), float("nan")]\n')
    return len(set(next(unit.both.graph.outputs()).node().inputs())) == 1


def _has_tensors(value: Value) -> bool:
    return not isinstance(value, (ConstValue, ScalarValue, ListRef, DictRef, TupleValue))
