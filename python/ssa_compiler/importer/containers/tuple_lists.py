"""Lists of tuples or objects whose length is dynamic: one list for each place in the tuples, side by side.

A list of tuples or objects is a plain one until its length turns out to be dynamic; then the program is imported again
with that list in columns (`Form`). A column is a list as any, of a length that is dynamic or not (`dynamic_lists.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from ..values.chosen_members import kind_of, member, number_of
from ..values.diagnostics import OtherForm
from ..values.plan import Form
from ..values.state import State
from ..values.values import NONE, ConstValue, ListRef, OptionalValue, ScalarValue, Site, TupleValue, Value
from .list_forms import MEMBERS, OF_OPTIONALS, OPTIONAL, ListContainers, as_formed, is_nothing, number_kind
from .listed_objects import ListedObjects

__all__ = ["TupleLists"]


class TupleLists:
    """Implements such lists; the methods are named like the ops."""

    def __init__(self, state: State, containers: ListContainers) -> None:
        self.state, self.containers = state, containers
        self.objects = ListedObjects(state, containers)

    def new(self, cell: Site, form: Form, elements: Sequence[Value]) -> tuple[Value, ...]:
        """Make the columns."""
        return tuple(map(self.containers.new_list, self._split(cell, form, elements)))

    def _split(self, cell: Site, form: Form, elements: Sequence[Value]) -> list[list[Value]]:
        """Return the elements of each column, which a list gets.

        Raises:
            UnsupportedProgramError: some elements are no tuples, or no objects of the class, known at import.
        """
        if form.objects:
            return self.objects.split(cell, form, elements)
        if form.fields == OPTIONAL:
            return [*map(list, zip(*(self._parts(form, element) for element in elements)))] or [[], []]
        if form.fields == MEMBERS:
            if any(kind_of(element) is not form.numbers for element in elements):
                raise self.state.unsupported(
                    "a list of dynamic length of members of an enum and others; keep these in a list of their own"
                )
            return [[number_of(element) for element in elements]]
        if not all(isinstance(element, TupleValue) for element in elements):
            raise self.state.unsupported(
                "a list of dynamic length with tuples that may be None; keep a flag in the tuple"
            )
        return [[element.elements[place] for element in elements] for place in range(form.columns)]  # type: ignore[attr-defined]

    def _parts(self, form: Form, element: Value) -> tuple[Value, Value]:
        """Whether there is a number, and which it is; any if there is none.

        Raises:
            UnsupportedProgramError: it is none of the list's.
        """
        assert form.numbers is not None
        is_known = form.numbers is not type(None)
        if is_nothing(element):
            return ConstValue(False), ConstValue(form.numbers(0) if is_known else 0)
        number = element.value if isinstance(element, OptionalValue) else element
        kind = number_kind(number)
        if not is_known and kind is not None:
            raise OtherForm(f"unsupported: {OF_OPTIONALS}", self.state.locations.user(), replace(form, numbers=kind))
        if kind is not form.numbers:
            raise self.state.unsupported(
                "a list of dynamic length of which some elements are None, and others no numbers; keep a flag for each"
            )
        return element.present if isinstance(element, OptionalValue) else ConstValue(True), number

    def stored(self, target: Any, elements: Sequence[Value], op: str) -> None:
        """Give a list other elements."""
        for column, parts in zip(self.columns(target), self._split(target.cell, self.form(target), elements)):
            self.containers.store(column, parts, op)

    def with_formed(self, name: str, target: ListRef, other: ListRef) -> ListRef:
        """Emit `+`, `+=` or `extend` of another list and one in columns.

        Raises:
            OtherForm: the list that is extended has to be in columns as well.
        """
        if name != "add":
            as_formed(self.state, target.cell, other.cell, "a list of tuples whose length depends on run-time values")
        form, made = self.form(other), ListRef(self.state.site())
        self.state.heap.contents[made.cell], self.state.heap.forms[made.cell] = self.new(made.cell, form, []), form
        self._extend(made, target)
        self._extend(made, other)
        return made

    def form(self, target: Any) -> Form:
        """How a list is made."""
        return self.state.heap.forms[target.cell]

    def columns(self, target: Any) -> tuple[ListRef, ...]:
        """The columns of a list."""
        return self.state.heap.contents[target.cell]  # type: ignore[return-value]

    def is_growing(self, target: Any) -> bool:
        """Whether the length of a list is dynamic."""
        columns = self.columns(target)
        if columns[0].cell in self.state.heap.forms:
            return self.is_growing(columns[0])
        return any(map(self.containers.is_growing, columns))

    def elements(self, target: Any) -> tuple[Value, ...]:
        """Return the tuples in a list whose length is known."""
        form = self.form(target)
        rows = zip(*map(self.containers.elements, self.columns(target)), strict=True)
        return tuple(self._element(target, form, row, ConstValue(place)) for place, row in enumerate(rows))

    def method(self, name: str) -> Callable[..., Value | None] | None:
        """Return what implements an op; None if nothing does."""
        return getattr(self, f"_{name}", None)

    def _each(self, target: Any, op: str, *args: Value) -> list[Value]:
        """Run an op on each column."""
        return [
            found for column in self.columns(target) for found in self.containers.call(f"aten::{op}", [column, *args])
        ]

    def _row(self, target: Any, found: Sequence[Value], index: Value) -> Value:
        return self._element(target, self.form(target), found, index)

    def _element(self, target: Any, form: Form, parts: Sequence[Value], index: Value) -> Value:
        if form.objects:
            return self.objects.element(target, form, parts, index)
        if form.fields == OPTIONAL:
            present, number = parts
            if isinstance(present, ConstValue):
                return number if present.value else NONE
            assert isinstance(present, ScalarValue)
            return OptionalValue(present, number)
        if form.fields == MEMBERS:
            assert form.numbers is not None
            return member(form.numbers, parts[0])
        return TupleValue(tuple(parts), form.fields, form.type_name)

    def _made(self, target: Any, columns: Sequence[Value]) -> ListRef:
        cell = self.state.site()
        if self.form(target).objects:
            self.state.heap.share(target.cell, cell)
        self.state.heap.contents[cell], self.state.heap.forms[cell] = tuple(columns), self.form(target)
        return ListRef(cell)

    def _len(self, target: Any) -> Value:
        return self.containers.call("aten::len", [self.columns(target)[0]])[0]

    def _getitem(self, target: Any, index: Value) -> Value:
        return self._row(target, self._each(target, "__getitem__", index), index)

    def _append(self, target: Any, element: Value) -> Value:
        for column, (part,) in zip(self.columns(target), self._split(target.cell, self.form(target), [element])):
            self.containers.call("aten::append", [column, part])
        return target

    def _extend(self, target: Any, other: Any) -> None:
        for column, more in zip(self.columns(target), self._columns_of(target, other)):
            self.containers.call("aten::extend", [column, more])

    def _iadd(self, target: Any, other: Any) -> Value:
        self._extend(target, other)
        return target

    def _add(self, target: Any, other: Any) -> Value:
        made = self._copy(target)
        self._extend(made, other)
        return made

    def _columns_of(self, target: Any, other: Any) -> Sequence[ListRef]:
        """The columns of a list that this one gets the elements of."""
        form, own = self.state.heap.forms.get(getattr(other, "cell", ())), self.form(target)
        if form is not None and (form.fields, form.type_name, form.columns) == (own.fields, own.type_name, own.columns):
            if own.objects:
                self.objects.put_all(target.cell, other.cell)
            return self.columns(other)
        parts = self._split(target.cell, own, self.containers.elements(other))
        return [self.containers.new_list(each) for each in parts]

    def _set_item(self, target: Any, index: Value, element: Value) -> Value:
        for column, (part,) in zip(self.columns(target), self._split(target.cell, self.form(target), [element])):
            self.containers.call("aten::_set_item", [column, index, part])
        return target

    def _insert(self, target: Any, index: Value, element: Value) -> None:
        for column, (part,) in zip(self.columns(target), self._split(target.cell, self.form(target), [element])):
            self.containers.call("aten::insert", [column, index, part])

    def _pop(self, target: Any, *index: Value) -> Value:
        return self._row(target, self._each(target, "pop", *index), ConstValue(-1))

    def _Delete(self, target: Any, index: Value) -> None:
        self._each(target, "Delete", index)

    def _clear(self, target: Any) -> None:
        self._each(target, "clear")

    def _reverse(self, target: Any) -> None:
        self._each(target, "reverse")

    def _copy(self, target: Any) -> Value:
        return self._made(target, self._each(target, "copy"))

    _list = _copy

    def _slice(self, target: Any, *bounds: Value) -> Value:
        return self._made(target, self._each(target, "slice", *bounds))
