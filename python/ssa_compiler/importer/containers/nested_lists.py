"""Changes of lists of numbers in a list in parts (`ragged_lists`): `table[i][j] = x`, `groups[k].append(x)`.

An element that is read of such a list is a copy of its rows. It is known of which list and which place, its *origin*,
so that a change of it is one of the rows, and what has been read before is read again when it is used. That a list is
changed so is a decision (`Form.written`): only then are places noted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Protocol

from ..values.diagnostics import OtherForm
from ..values.dynamic_list_value import DynamicListValue, put, put_rows
from ..values.heap import Origin
from ..values.plan import Form
from ..values.state import State
from ..values.symbols import expr_of
from ..values.values import (
    ConstValue,
    DictRef,
    ListRef,
    OptionalValue,
    ScalarValue,
    Site,
    TensorValue,
    TupleValue,
    Value,
)
from .dynamic_lists import DynamicLists
from .list_forms import ListContainers

__all__ = ["NestedLists"]

_ONE = ConstValue(1)
_SAME_LENGTH = ("set_item", "setitem", "sort", "reverse")


class _Parts(Protocol):
    """What changes need of `RaggedLists`."""

    def lists(self, target: Any) -> tuple[ListRef, ...]: ...
    def present(self, target: Any) -> DynamicListValue: ...
    def known_at(self, target: ListRef, position: Value) -> Value: ...
    def part(self, value: DynamicListValue, begin: Value, count: Value) -> TensorValue: ...
    def natural(self, name: str, value: Value) -> Value: ...
    def replace_one(self, target: Any, position: Value, old: Value, element: Value | None) -> None: ...


class NestedLists:
    """Implements changes of lists that are elements of lists in parts.

    Attributes:
        is_named: whether anything may refer to a list from the op on that is being imported.
    """

    def __init__(self, state: State, containers: ListContainers, growing: DynamicLists, parts: _Parts) -> None:
        self._state, self._containers, self._growing, self._parts = state, containers, growing, parts
        self.is_named: Callable[[Site], bool] = lambda cell: True

    def note(self, owner: ListRef, element: Value, position: Value | None) -> None:
        """Note that a list is an element of one in parts.

        Args:
            owner: the list in parts.
            element: the other one.
            position: its place, counted from the start; None if the form does not ask for it.
        """
        if not isinstance(element, ListRef):
            return
        heap = self._state.heap
        before = heap.origins.get(element.cell)
        if before is not None:  # one list in two places
            heap.lost |= {before.owner.cell, owner.cell}
        heap.origins[element.cell] = Origin(owner, position, self.rows_of(owner))

    def forget(self, owner: ListRef) -> None:
        """Note that the elements of a list are at other places from here on."""
        heap = self._state.heap
        found = [cell for cell, origin in heap.origins.items() if origin.owner == owner]
        if any(self._has_place(cell) and self.is_named(cell) for cell in found):
            heap.lost.add(owner.cell)
        for cell in found:
            heap.origins[cell] = Origin(owner, None, None)

    def _has_place(self, cell: Any) -> bool:
        """Whether a list has been read, or put into another one, on the way to here, at a place that is known."""
        position = self._state.heap.origins[cell].position
        if cell not in self._state.heap.contents or position is None:
            return False
        return not isinstance(position, ScalarValue) or self._state.emitter.reaches(position.ssa)

    def _origin(self, value: ListRef, op: str) -> tuple[ListRef, Value, Form]:
        """The list in parts that a list is in, its place there, and the form of that list.

        Raises:
            OtherForm: that is not noted yet.
            UnsupportedProgramError: there may be other names.
        """
        heap = self._state.heap
        owner, position = heap.origins[value.cell].owner, heap.origins[value.cell].position
        form = heap.forms[owner.cell]
        text = (
            f"{op} on a list in a list of dynamic length that may have another name, or another place by now; change it where "
            "it is, as found[i].append(x)"
        )
        if not form.written and form.cell is not None:
            raise OtherForm(f"unsupported: {text}", self._state.locations.user(), replace(form, written=True))
        if position is None or owner.cell in heap.lost or owner.cell in heap.copied:
            raise self._state.unsupported(text)
        return owner, position, form

    def put(self, value: ListRef, index: Value, element: Value) -> None:
        """Emit `owner[position][index] = element`."""
        owner, place, form = self._origin(value, "set_item")
        own: Any = self._state.heap.contents[value.cell][0]
        position = self._growing.position(own, index)
        rows, places, _ = self._parts.lists(owner)
        held = self._parts.present(owner)
        at = self._growing.scalars.emit("add", [self._parts.known_at(places, place), position])
        # The rows are a list of tensors without dimensions.
        as_numbers = DynamicListValue(held.buffer, held.length, form.numbers or int)
        buffer = put(self._state, as_numbers, element, self._parts.natural("place of a number", at))
        self._containers.store(rows, (DynamicListValue(buffer, held.length, held.kind),), "setitem")

    def store(self, value: ListRef, elements: Sequence[Value], op: str) -> None:
        """Give a list that is an element other elements."""
        owner, place, form = self._origin(value, op)
        assert form.numbers is not None
        made = self._growing.rows(self._growing.lifted(elements, ConstValue(form.numbers())))
        if op in _SAME_LENGTH:
            rows, places, numbers = self._parts.lists(owner)
            held, begin = (
                self._parts.present(owner),
                self._parts.natural("place of rows", self._parts.known_at(places, place)),
            )
            end = self._growing.scalars.emit("add", [begin, self._parts.known_at(numbers, place)])
            buffer = put_rows(self._state, held, made, _expr(begin), _expr(end))
            self._containers.store(rows, (DynamicListValue(buffer, held.length, held.kind),), "setitem")
        else:
            self._parts.replace_one(owner, place, _ONE, made)

    # What has been read before.

    def rows_of(self, owner: ListRef) -> Any:
        """What a list in parts holds, as an object: another one after each change."""
        heap = self._state.heap
        return heap.contents[heap.contents[owner.cell][0].cell][0]  # type: ignore[attr-defined]

    def extent(self, value: ListRef) -> Any:
        """Return what is the same as long as an element keeps its length; None for a list that is no element."""
        origin = self._state.heap.origins.get(value.cell)
        if origin is None or origin.position is None:
            return None
        return self._state.heap.contents[self._parts.lists(origin.owner)[2].cell]

    @contextmanager
    def up_to_date(self, values: Sequence[Value]) -> Iterator[None]:
        """Make the context in which lists that are elements, and lists in these values, hold what they hold by now."""
        heap, found = self._state.heap, set[Any]()
        for value in values:
            self._collect(value, found)
        before = {cell: heap.contents[cell] for cell in found}
        fresh = {cell: self._fresh(heap.origins[cell]) for cell in found}
        heap.contents.update(fresh)
        try:
            yield
        finally:
            heap.contents.update({cell: before[cell] for cell in found if heap.contents.get(cell) is fresh[cell]})

    def _collect(self, value: Value, found: set[Any]) -> None:
        """Find the elements that have changed since they were read."""
        heap = self._state.heap
        if isinstance(value, OptionalValue):
            self._collect(value.value, found)
        elif isinstance(value, TupleValue):
            for element in value.elements:
                self._collect(element, found)
        elif isinstance(value, (ListRef, DictRef)) and value.cell in heap.contents:
            if value.cell in heap.origins:
                if self._has_place(value.cell) and heap.is_stale(value.cell, heap.contents):
                    found.add(value.cell)
                return
            for element in heap.contents[value.cell]:
                self._collect(element, found)

    def _fresh(self, origin: Origin) -> tuple[Value, ...]:
        parts, kind = self._parts, self._state.heap.forms[origin.owner.cell].numbers or int
        position: Any = origin.position
        _, places, numbers = parts.lists(origin.owner)
        count = parts.natural("number of rows", parts.known_at(numbers, position))
        part = parts.part(parts.present(origin.owner), parts.known_at(places, position), count)
        return (DynamicListValue(part, count, kind),)


def _expr(value: Value) -> Any:
    assert isinstance(value, (ConstValue, ScalarValue))
    return expr_of(value.sym) if isinstance(value, ScalarValue) else value.value
