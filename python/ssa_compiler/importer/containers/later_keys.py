"""Dicts of which run-time values decide what keys they have (`values/dict_items.py`): how programs read and go through
them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

from ...errors import UnsupportedProgramError, program_error_name
from ..values.diagnostics import Unjoinable
from ..values.dict_items import Items, is_absent
from ..values.heap import View
from ..values.state import State
from ..values.values import ConstValue, DictRef, ListRef, OptionalValue, Site, TupleValue, Value
from .list_values import ListValues

__all__ = ["LaterKeys", "Visit"]


@dataclass(frozen=True)
class Visit:
    """An iteration of a loop over a dict of which run-time values decide what keys it has.

    Attributes:
        present: whether there is such an iteration.
        index: its number, by which the loop asks for what it gets.
        entered: makes the context of the iteration.
    """

    present: Value
    index: Value
    entered: Callable[[], AbstractContextManager[None]]


class _Containers(Protocol):
    """What such dicts need of `containers.Containers`."""

    values: ListValues

    def new_list(self, elements: Sequence[Value]) -> ListRef: ...
    def call(self, name: str, args: Sequence[Value]) -> list[Value]: ...


class LaterKeys:
    """Implements keys that may be missing."""

    def __init__(self, state: State, containers: _Containers) -> None:
        self.state, self.containers = state, containers
        self._visited: list[tuple[Site, Any, Value]] = []

    def check(self, cell: Site) -> None:
        """Reject what is not implemented for such a dict.

        Raises:
            Unjoinable: it is one; if what follows is imported in each branch, it is none.
        """
        if self.state.heap.later_keys(cell):
            text = (
                f"{self.state.locations.kind} on a dict of which run-time values decide what keys it has; set all keys before, or "
                "ask for one key at a time"
            )
            raise Unjoinable(self.state.unsupported(text))

    def slots(self, cell: Site) -> Items:
        """Return what a dict holds, with keys that may be missing."""
        return self.state.heap.contents[cell]  # type: ignore[return-value]

    def at(self, items: Items, position: int) -> tuple[Value, Value]:
        """Return whether a dict has the key at a position, and its element there."""
        element = items[position]
        if items.keys[position] not in items.later:
            return ConstValue(True), element
        if isinstance(element, OptionalValue):
            return element.present, element.value
        return ConstValue(not is_absent(element)), element

    def _all(self, cell: Site) -> list[tuple[Value, Value]]:
        items = self.slots(cell)
        return [self.at(items, position) for position in range(len(items))]

    def count(self, items: Items) -> Value:
        """Return how many keys a dict has."""
        return self.containers.values.counted([self.at(items, position)[0] for position in range(len(items))])

    def check_order(self, cell: Site, position: int) -> None:
        """Reject, when the program runs, that a key which may be missing is set behind others that were behind it.

        Args:
            cell: the dict.
            position: the key's.
        Raises:
            UnsupportedProgramError: a loop goes through the dict, and is at another key.
        """
        values, items = self.containers.values, self.slots(cell)
        visited = [key for own, key, _ in self._visited if own == cell]
        if items.keys[position] in visited:
            return
        if visited:
            raise self.state.unsupported(
                "a list or dict that changes its length while a for loop goes through it; go through a copy, list(...)"
            )
        behind = values.some_of([self.at(items, number)[0] for number in range(position + 1, len(items))])
        text = "unsupported: keys that are set in another order than that of the program's text; set them in one order"
        fits = values.some_of([self.at(items, position)[0], values.negated(behind)])
        values.require(fits, f"{program_error_name(UnsupportedProgramError)}: {text}")

    # What `keys()`, `values()` and `items()` return.

    def visits(self, view: Value) -> list[Visit] | None:
        """Return the iterations of a loop over such a view, one for each key that there may be.

        Returns:
            None if the keys are known, or it is something else.
        """
        shown = self.state.heap.views.get(getattr(view, "cell", ()))
        if shown is None or not self.state.heap.later_keys(shown.cell):
            return None
        found: list[Visit] = []
        for key, (present, _) in zip(self.slots(shown.cell).keys, self._all(shown.cell)):
            # Each has a number of its own, by which it is known what the loop asks for.
            number: Any = self.containers.values.counted([visit.present for visit in found])
            index = replace(number)
            found.append(Visit(present, index, partial(self._visiting, shown.cell, key, index)))
        return found

    @contextmanager
    def _visiting(self, cell: Site, key: Any, index: Value) -> Iterator[None]:
        self._visited.append((cell, key, index))
        try:
            yield
        finally:
            self._visited.pop()

    def visited(self, view: View, index: Value) -> Value | None:
        """Return what a loop gets in the iteration of this number; None if it is none of `visits`."""
        for cell, key, own in self._visited:
            if own is index and cell == view.cell:
                items = self.slots(cell)
                element = self.at(items, items.keys.index(key))[1]
                pair = {"keys": ConstValue(key), "values": element}
                return pair.get(view.kind) or TupleValue((ConstValue(key), element))
        return None

    def shown(self, view: View, op: str, args: Sequence[Value]) -> list[Value] | None:
        """Run an op on such a view; None if that is not one of those that are implemented here.

        Args:
            view: what it shows.
            op: the op, without its namespace.
            args: its other arguments.
        """
        if op == "len":
            return [self.count(self.slots(view.cell))]
        if op == "getitem":
            found = self.visited(view, args[0])
            return None if found is None else [found]
        if op == "contains" and view.kind == "keys":
            return self.containers.call("aten::__contains__", [DictRef(view.cell), *args])
        if view.kind != "values" or op not in ("list", "sum"):
            return None
        return [self._listed(view.cell) if op == "list" else self._total(view.cell)]

    def _listed(self, cell: Site) -> Value:
        """The elements as a list of its own; its length is dynamic."""
        made = self.containers.new_list(())
        for present, element in self._all(cell):
            append = partial(self.containers.call, "aten::append", [made, element])
            if not isinstance(present, ConstValue):
                self.containers.values.choose(present, append, lambda: [made])
            elif present.value:
                append()
        return made

    def _total(self, cell: Site) -> Value:
        """The sum of the elements."""
        values = self.containers.values
        zero: Callable[[Value], Value] = lambda value: ConstValue(values.scalars.kind(value)())  # noqa: E731
        found = [(present, value) for present, value in self._all(cell) if not is_absent(value)]
        return values.total(self.containers.new_list([values.either(there, x, zero(x)) for there, x in found]))
