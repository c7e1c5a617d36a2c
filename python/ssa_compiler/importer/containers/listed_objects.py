"""Objects in lists whose length is dynamic.

Such a list has a column for each attribute (`tuple_lists.py`): it holds what the objects hold, and not the objects. So
an object that is put into one, or read from one, cannot be changed any more, and of those that are returned it has to be
known that no two are one object.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..values.dict_items import Items
from ..values.plan import Form
from ..values.state import State
from ..values.values import ObjectRef, Site, Value
from .list_forms import ListContainers

__all__ = ["ListedObjects"]


class ListedObjects:
    """Puts objects into columns, and makes objects of these."""

    def __init__(self, state: State, containers: ListContainers) -> None:
        self._state, self._containers = state, containers

    def split(self, target: Site, form: Form, elements: Sequence[Value]) -> list[list[Value]]:
        """Put objects into a list; returns what each column gets.

        Raises:
            UnsupportedProgramError: it is not known at import which objects they are, or others have to see them.
        """
        heap, rows = self._state.heap, []
        for element in elements:
            if not isinstance(element, ObjectRef) or element.type_name != form.type_name:
                raise self._state.unsupported(
                    "a list of dynamic length with objects of several classes, or that may be None; keep a flag in the object"
                )
            contents = heap.contents[element.cell]
            assert isinstance(contents, Items)
            if element.cell in heap.caller_owned or element.cell in heap.module_owned:
                raise self._state.unsupported(
                    "an object of the caller's or of the module's in a list of dynamic length; put its attributes there"
                )
            if tuple(contents.keys) != form.fields:
                raise self._state.unsupported(
                    "a list of dynamic length with objects that have other attributes than the first one"
                )
            rows.append(tuple(contents))
            heap.frozen.add(element.cell)
            for other in (element.cell, *heap.shared.get(element.cell, ())):
                self.share(other, target)
        return [[row[place] for row in rows] for place in range(form.columns)]

    def element(self, target: Any, form: Form, parts: Sequence[Value]) -> Value:
        """Return an object that is read from a list."""
        cell = self._containers.new_dict(form.fields, parts).cell
        self._state.heap.frozen.add(cell)
        self.share(cell, target.cell)
        return ObjectRef(cell, form.type_name)

    def share(self, one: Site, other: Site) -> None:
        """Note that two lists, or an object and a list, may have an object in common."""
        shared = self._state.heap.shared
        shared.setdefault(one, set()).add(other)
        shared.setdefault(other, set()).add(one)
