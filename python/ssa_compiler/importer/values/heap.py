"""The lists, dicts and objects of the program: what they hold now, and whose they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...abi.results import Step
from ...errors import SourceLocation
from .dict_items import Items
from .plan import Form
from .values import ConstValue, ListRef, Site, Value

__all__ = ["ANOTHER", "DYNAMIC", "EITHER", "TUPLE", "UNKNOWN", "CallerContainer", "Heap", "Origin", "View"]

ANOTHER = -1
"""An object that is no argument of `@main`."""

DYNAMIC: tuple[Any, ...] = ("dynamic keys",)
"""What `Heap.keys` has for a dict whose keys are dynamic: it holds a list of keys and a list of elements."""

TUPLE = "tuple"
UNKNOWN = "unknown"
"""A list that is made for an operator, in a function whose lists are not told apart from its tuples."""
EITHER = "list or tuple"
"""A list of which run-time values decide whether it is a tuple, or a shape, in eager."""


@dataclass(frozen=True)
class CallerContainer:
    """A list, dict or object of the caller's.

    Attributes:
        route: the position of the argument that it is, or is in, and the steps that lead to it.
        path: its name as the user sees it.
        elements: what it held at the start.
        keys: the keys of a dict, the names of an object's attributes.
        repeated: whether the example is passed in another place as well.
    """

    route: tuple[Step, ...]
    path: str
    elements: tuple[Value, ...]
    keys: tuple[Any, ...] = ()
    repeated: bool = False


@dataclass(frozen=True)
class View:
    """What `keys()`, `values()` or `items()` of a dict returned.

    Attributes:
        cell: the dict.
        kind: "keys", "values" or "items".
    """

    cell: Site
    kind: str


@dataclass(frozen=True)
class Origin:
    """Of which list in parts a list is an element.

    Attributes:
        owner: that list.
        position: the place, counted from the start; None if it is not known.
        rows: what the rows were when it was read, as an object.
    """

    owner: ListRef
    position: Value | None
    rows: Any


class Heap:
    """Containers by cell; a cell is named by the place in the program that made it.

    Attributes:
        contents: what each list, dict and object holds.
        keys: keys of each dict cell, as its contents have them; `DYNAMIC`, that very object, if they are dynamic.
        tuples: cells of lists that are no lists in eager, or not always: `TUPLE`, `EITHER`, `UNKNOWN` or
            `abi.results.TORCH_SIZE`.
        dict_classes: dicts that are no plain ones in eager, or not always: their class, where the argument is of whose
            class they are, or `EITHER`.
        views: lists that show the keys or elements of a dict.
        module_owned: cells of lists and dicts of the module that were read as constants, with the attribute's name if
            it can be an argument (`ImportPlan.held`), "" otherwise.
        caller_owned: those of the caller, with where they come from.
        forms: lists that are made in another form: they hold a list for each place in tuples, or the lists of which
            `ragged_lists` makes one.
        places: where lists, dicts and attributes were changed last, by cell.
        nested: what the numbers are that lists in a list hold, where TorchScript says so.
        copied: lists of numbers that are in lists in parts, which hold copies of them, and lists in parts of which
            elements are in others as well.
        origins: lists of numbers that are elements of lists in parts.
        lost: lists in parts whose elements may have names of which it is not known which element they are.
        numbers: what numbers say which of several containers one is, by cell.
        shared: for objects in lists of dynamic length, and such lists, those that may have an object in common with
            them, and likewise for lists of numbers in lists in parts; `("joined", class)` for all of a class that a
            join has made, or made something of.
        frozen: cells whose identity was lost at a join, or in a list of dynamic length; changing them is rejected.
        unshared: cells of which the value that a join makes is the one name left.
        joined: for a cell that a join has made and that is no copy, those that it is.
        copies: for one that is a copy, what it may be a copy of.
        object_number: which object a value is: the number of an argument of `@main`, `ANOTHER` for any other.
    """

    def __init__(self) -> None:
        self.contents: dict[Site, tuple[Value, ...]] = {}
        self.keys: Mapping[Site, tuple[Any, ...]] = _Keys(self)
        self.tuples: dict[Site, str] = {}
        self.dict_classes: dict[Site, type | tuple[Step, ...] | str] = {}
        self.views: dict[Site, View] = {}
        self.module_owned: dict[Site, str] = {}
        self.caller_owned: dict[Site, CallerContainer] = {}
        self.forms: dict[Site, Form] = {}
        self.places: dict[Site, SourceLocation | None] = {}
        self.nested: dict[Site, type] = {}
        self.copied: set[Site] = set()
        self.origins: dict[Site, Origin] = {}
        self.lost: set[Site] = set()
        self.numbers: dict[Site, int] = {}
        self.shared: dict[Site, set[Site]] = {}
        self.frozen: set[Site] = set()
        self.unshared: set[Site] = set()
        self.joined: dict[Site, tuple[Site, ...]] = {}
        self.copies: dict[Site, tuple[Site, ...]] = {}
        self.object_number: Callable[[Value], int] = lambda value: ANOTHER
        self._chosen: dict[int, tuple[Value, Value]] = {}  # by identity: values, and which objects they are

    def follow(self, cell: Site) -> None:
        """Keep ints, from here on, that say which objects the elements of a container are."""
        self.contents[("source", cell)] = self._numbers(self.contents[cell])

    def forget(self, cell: Site) -> None:
        """Forget what is known of a container, but for what it holds: another one is made there."""
        self.frozen.discard(cell)
        self.copied.discard(cell)
        known: tuple[dict[Site, Any], ...] = (self.shared, self.copies, self.origins, self.tuples, self.dict_classes)
        for each in known:
            each.pop(cell, None)

    def store(self, cell: Site, elements: Sequence[Value]) -> None:
        """Give a container other elements."""
        before = self.contents[cell]
        if isinstance(before, Items) and not isinstance(elements, Items):
            elements = Items(elements, before.keys, before.later)
        if ("source", cell) in self.contents:
            self.contents[("source", cell)] = self._numbers(elements)
        self.contents[cell] = elements if isinstance(elements, Items) else tuple(elements)

    def is_stale(self, cell: Site, contents: Mapping[Site, tuple[Any, ...]]) -> bool:
        """Whether a list that is an element of one in parts may have changed since it was read.

        Args:
            cell: the list.
            contents: the contents of lists to look at.
        """
        origin = self.origins[cell]
        if origin.position is None or origin.owner.cell not in contents:
            return False
        return contents[contents[origin.owner.cell][0].cell][0] is not origin.rows

    def share(self, one: Site, other: Site) -> None:
        """Note that two lists of objects, or an object and a list, may have an object in common.

        Of a list with itself: that it may have one twice.
        """
        self.shared.setdefault(one, set()).add(other)
        self.shared.setdefault(other, set()).add(one)

    def sharing(self, cell: Site, without: Site | None = None) -> set[Site]:
        """Return what may have an object in common with an object or a list, through any number of lists.

        Args:
            cell: the object or the list.
            without: a list through which it does not count.
        """
        found: set[Site] = set()
        waiting = [cell]
        while waiting:
            others = self.shared.get(waiting.pop(), set()) - found - {without}
            found |= others
            waiting += [each for each in others if each not in self.keys]  # not through an object
        return found

    def note_join(self, cell: Site, type_name: str) -> None:
        """Note that a join makes something of an object, a list of objects or a list of numbers, or has made it.

        Args:
            cell: the object or the list.
            type_name: the class of the objects; "" for lists of numbers.
        """
        joined = ("joined", type_name)  # one is not told apart from another
        for each in [cell, *self.shared.get(cell, ())]:
            if each not in self.keys:
                self.share(each, joined)
        self.share(cell, joined)

    def note_change(self, cell: Site, place: SourceLocation | None) -> None:
        """Note that a container is changed here."""
        waiting, seen = [cell], {cell}
        while waiting:
            each = waiting.pop()
            self.places[each] = place
            waiting += (others := {*self.joined.get(each, ())} - seen)  # loops join lists with each other
            seen |= others

    def made_as(self, cell: Site) -> tuple[Site, ...]:
        """Return where a container is made: elsewhere, if it is what a join has made of others."""
        return tuple(each for each in self._reached(cell) if not self.joined.get(each))

    def may_be(self, cell: Site) -> set[Site]:
        """Return the containers that a container may be in eager: those that joins have made it of, or a copy of it."""
        return set(self._reached(cell, copies=True))

    def _reached(self, cell: Site, *, copies: bool = False) -> list[Site]:
        """A container, and what joins have made it of, through any number of them; loops join lists with each other."""
        found = [cell]
        for each in found:
            before = (*self.joined.get(each, ()), *(self.copies.get(each, ()) if copies else ()))
            found += [other for other in dict.fromkeys(before) if other not in found]
        return found

    def later_keys(self, cell: Site) -> frozenset[Any]:
        """Return the keys that run-time values decide whether a dict has."""
        return getattr(self.contents.get(cell), "later", frozenset())

    def note_chosen(self, value: Value, number: Value) -> None:
        """Note which object a value is, of those that a container that is followed holds."""
        self._chosen[id(value)] = value, number

    def number_of(self, value: Value) -> Value:
        """Return which object a value is."""
        found = self._chosen.get(id(value))
        return ConstValue(self.object_number(value)) if found is None else found[1]

    def _numbers(self, elements: Sequence[Value]) -> tuple[Value, ...]:
        """Ints that say which objects values are; of what control flow chose those of the container that held it."""
        for source, numbers in self.contents.items():
            if source[0] == "source" and source[1] in self.caller_owned and source[1] in self.contents:
                for value, number in zip(self.contents[source[1]], numbers):
                    self._chosen[id(value)] = value, number
        made = [self.number_of(value) for value in elements]
        return Items(made, elements.keys, elements.later) if isinstance(elements, Items) else tuple(made)

    def number(self, cell: Site) -> int:
        """Return the number of a container, where run-time values say which of several one is."""
        return self.numbers.setdefault(cell, len(self.numbers))

    def has_dynamic_keys(self, cell: Site) -> bool:
        """Whether a cell is a dict whose keys are dynamic."""
        return self.keys.get(cell) is DYNAMIC


class _Keys(Mapping[Site, tuple[Any, ...]]):
    """The keys of dicts, by cell."""

    def __init__(self, heap: Heap) -> None:
        self._heap = heap

    def __getitem__(self, cell: Site) -> tuple[Any, ...]:
        contents = self._heap.contents[cell]
        if not isinstance(contents, Items):
            raise KeyError(cell)
        return contents.keys

    def __iter__(self) -> Iterator[Site]:
        return (cell for cell, contents in self._heap.contents.items() if isinstance(contents, Items))

    def __len__(self) -> int:
        return sum(1 for _ in self)
