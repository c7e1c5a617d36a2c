"""Objects that are changed after they were put into a list of dynamic length: trackers, hypotheses, particles.

All objects of such a class are kept side by side in one place, their arena: it has a list for each attribute, which a
new object makes longer. An object is the index of its row: however many lists, variables and attributes have it,
all of them see a change. To the rest of the importer that is a named tuple with one int (`row_of`).

Whether a class needs that turns out where such an object is assigned to; then the program is imported again (`Form`).
"""

from __future__ import annotations

from typing import Any, TypeGuard

from ..values.plan import ARENA
from ..values.state import State
from ..values.values import ListRef, ObjectRef, TupleValue, Value
from .containers import Containers

__all__ = ["ROW", "Arenas", "is_row", "row_of"]

ROW = ("row of the arena",)
"""The fields of the tuples that stand for objects."""


def row_of(value: Any) -> Value | None:
    """Return the index of an object in its arena; None if a value is no such object."""
    return value.elements[0] if isinstance(value, TupleValue) and value.fields == ROW else None


def is_row(value: Any) -> TypeGuard[TupleValue]:
    """Whether a value stands for an object in an arena."""
    return row_of(value) is not None


class Arenas:
    """Keeps objects of the classes of which that was decided."""

    def __init__(self, state: State, containers: Containers) -> None:
        self._state, self._containers = state, containers
        self._columns: dict[str, dict[str, ListRef]] = {}

    def begin(self) -> None:
        """Make the arenas, where the program begins, so that all loops change the same lists."""
        found = [form for form in self._state.plan.forms if form.cell[0] == ARENA]
        forms = [form for form in found if isinstance(form.cell[1], str)]  # others are of what an arena is made of
        with self._state.at(ARENA):
            for form in sorted(forms, key=lambda each: each.type_name):
                self._columns[form.type_name] = {name: self._containers.new_list(()) for name in form.fields}

    def columns(self, type_name: str) -> dict[str, ListRef]:
        """Return the list for each attribute of the objects of a class."""
        return self._columns[type_name]

    def kept(self, value: Value) -> Value:
        """Return what stands for a value that a function returns: a new object becomes a row of its arena."""
        columns = self._columns.get(value.type_name) if isinstance(value, ObjectRef) else None
        if columns is None or not isinstance(value, ObjectRef):
            return value
        heap = self._state.heap
        if value.cell in heap.caller_owned or value.cell in heap.module_owned:
            return value
        if tuple(heap.keys[value.cell]) != tuple(columns):
            raise self._state.defect(f"objects of class {value.short_name} with other attributes than others")
        (index,) = self._containers.call("aten::len", [next(iter(columns.values()))])
        for column, part in zip(columns.values(), heap.contents[value.cell]):
            self._containers.call("aten::append", [column, part])
        heap.frozen.add(value.cell)  # nothing else has it
        return TupleValue((index,), ROW, value.type_name)

    def attribute(self, owner: TupleValue, name: str) -> Value:
        """Return the value of an attribute."""
        column = self._columns[owner.type_name][name]
        return self._containers.call("aten::__getitem__", [column, self._index(owner)])[0]

    def assign(self, owner: TupleValue, name: str, value: Value) -> None:
        """Set an attribute."""
        column = self._columns[owner.type_name][name]
        self._containers.call("aten::_set_item", [column, self._index(owner), value])

    def _index(self, owner: TupleValue) -> Value:
        """The index of an object, which is not negative."""
        return self._containers.ragged_lists.natural("row of an arena", owner.elements[0])
