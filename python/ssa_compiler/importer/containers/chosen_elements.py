"""Elements of lists and dicts that a dynamic index or key chooses, and whether they are put back where they were."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from ..values.state import State
from ..values.values import ConstValue, DictRef, ListRef, ScalarValue, Site, TensorValue, Value
from .equal_views import EqualViews

__all__ = ["ChosenElements"]


Choose = Callable[[Value, Callable[[], list[Value]], Callable[[], list[Value]]], list[Value]]


class ChosenElements:
    """Notes what was read at dynamic places.

    `items[k] += x` is three steps: it reads the element, writes into it, and puts it back. Which of several tensors an
    element is only control flow knows; where it is put back it stays what it is. Of another tensor that is put into a
    container of the caller's, ints say which object each element is then (`Heap.follow`).
    """

    def __init__(
        self, state: State, choose: Callable[[Value, Sequence[Value]], Value], equal_views: EqualViews
    ) -> None:
        self._state, self._choose, self._equal_views = state, choose, equal_views
        self._read: dict[tuple[Site, object], tuple[tuple[Value, ...], Value]] = {}

    def read(self, target: ListRef | DictRef, index: ScalarValue, elements: Sequence[Value]) -> Value:
        """Return the element at a dynamic place, and note it.

        Args:
            target: the container.
            index: the place, counted in `elements`.
            elements: what the container holds.
        """
        view = self._equal_views.element(target, index) if isinstance(target, ListRef) else None
        value = self._choose(index, elements) if view is None else view
        numbers = self._state.heap.contents.get(("source", target.cell))
        if view is None and numbers is not None:
            self._state.heap.note_chosen(value, self._choose(index, numbers))
        self._read[(target.cell, index.ssa)] = (self._state.heap.contents[target.cell], value)
        return value

    def is_put_back(self, target: ListRef | DictRef, index: ScalarValue, element: Value) -> bool:
        """Whether an element is put where it was read, and nothing has changed in between.

        Args:
            target, index: as of `read`.
            element: what is put there.
        """
        contents, value = self._read.get((target.cell, index.ssa), (None, element))
        return contents is self._state.heap.contents[target.cell] and _is_same(element, value)

    def replaced(
        self, target: ListRef | DictRef, element: Value, here: Callable[[int], Value], choose: Choose
    ) -> list[Value]:
        """Return the elements of a container with another one at a dynamic place.

        Args:
            target: the container; if it is the caller's, it gets the objects that are there by then.
            element: what is put there.
            here: emits whether a place is that one.
            choose: emits two alternatives under a dynamic condition.
        """
        heap = self._state.heap
        elements, numbers = heap.contents[target.cell], heap.contents.get(("source", target.cell))
        own = heap.number_of(element)
        made = []
        for place, before in enumerate(elements):
            condition, other = here(place), own if numbers is None else numbers[place]
            if isinstance(condition, ConstValue):
                made.append(element if condition.value else before)
                continue
            value, number = (
                (before, other)
                if before is element
                else choose(condition, lambda: [element, own], partial(_pair, before, other))
            )
            if numbers is not None and isinstance(value, TensorValue):
                heap.note_chosen(value, number)
            made.append(value)
        return made


def _pair(one: Value, other: Value) -> list[Value]:
    return [one, other]


def _is_same(one: Value, other: Value) -> bool:
    """Whether two values are one object in Python."""
    if isinstance(one, TensorValue) and isinstance(other, TensorValue):
        return bool(one.ssa == other.ssa)
    return one is other
