"""Lists of numbers that are elements of lists in parts (`ragged_lists`), which hold copies of them.

Nobody can tell as long as they do not change, and only one of them is in the result: such a list cannot be changed from
there on, `Heap.copied` says which there are, and `Heap.shared` which of them are one list in eager.
"""

from __future__ import annotations

from typing import Any

from ..values.dynamic_list_value import DynamicListValue
from ..values.plan import Form
from ..values.state import State
from ..values.values import ConstValue, ListRef, Site, TensorValue, Value
from .dynamic_lists import DynamicLists
from .list_forms import ListContainers

__all__ = ["NumberLists", "exclude"]


class NumberLists:
    """Makes tensors of such lists, and lists of the tensors."""

    def __init__(self, state: State, containers: ListContainers, growing: DynamicLists) -> None:
        self._state, self._containers, self._growing = state, containers, growing
        self._places: dict[Site, list[Site]] = {}  # where a list was put into others

    def taken(self, form: Form, element: Value, cell: Site) -> Value:
        """Return the rows of an element that is put into a list: a tensor itself, or one of the numbers in a list.

        Args:
            form: how the list is made.
            element: what is put there.
            cell: the list.
        """
        heap = self._state.heap
        if form.numbers is None or not isinstance(element, ListRef):
            return element
        if any(element.cell in others for others in (heap.forms, heap.tuples, heap.views)):
            raise self._state.unsupported(
                "a list of dynamic length, of lists of numbers and others; keep these in a list of their own"
            )
        places = self._places.setdefault(element.cell, []) if element.cell in heap.copied else []
        here = self._state.site()
        if element.cell in heap.copied and not all(exclude(place, here) for place in places or [()]):
            heap.share(cell, cell)
        heap.share(element.cell, cell)
        self._places[element.cell] = [*places, here]
        self._keep(element)
        return self._growing.rows(self._growing.lifted(heap.contents[element.cell], ConstValue(form.numbers())))

    def read(self, owner: Site, rows: TensorValue, count: Value) -> Value:
        """Return the element of a list that so many rows are."""
        form = self._state.heap.forms[owner]
        if form.numbers is None:
            return rows
        made = self._containers.new_list([DynamicListValue(rows, count, form.numbers)])
        self._places.pop(made.cell, None)
        self._keep(made)
        self._state.heap.share(made.cell, owner)
        return made

    def _keep(self, element: ListRef) -> None:
        """Note a list that is a copy."""
        self._state.heap.frozen.add(element.cell)
        self._state.heap.copied.add(element.cell)

    def share(self, one: Any, other: Any) -> None:
        """Note that a list in parts has elements of another list."""
        heap = self._state.heap
        heap.copied |= {one.cell, other.cell}
        if heap.forms[one.cell].numbers is not None:
            heap.share(one.cell, other.cell)


def exclude(one: Site, other: Site) -> bool:
    """Whether two places are in different branches of one condition."""
    steps = next(((a, b) for a, b in zip(one, other) if a != b), ())
    return set(steps) == {"then", "else"}
