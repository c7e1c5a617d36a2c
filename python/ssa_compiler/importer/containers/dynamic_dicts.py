"""Dicts whose keys are dynamic ints, or tuples of ints: two lists, of the keys and of the elements, side by side.

A dict is one of known keys (`dicts.py`) until the program asks for a key that is dynamic; then it is imported again
with dynamic keys for that dict. Its lists may have a length that is dynamic, as any (`dynamic_lists.py`). A key is
found by looking at all of them.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, Protocol

from ..ir.tuple_keys import decoded
from ..values.dict_items import Items
from ..values.heap import DYNAMIC, View
from ..values.plan import Form
from ..values.state import State
from ..values.values import NONE, ConstValue, DictRef, ListRef, ScalarValue, TupleValue, Value
from .dynamic_lists import DynamicLists
from .list_values import ListValues
from .tuple_keys import key_ints

__all__ = ["DynamicDicts"]

_READING = frozenset("len getitem list copy contains sum max min sorted any all".split())
_ZERO = ConstValue(0)
_MOST_READ = 4


class _Containers(Protocol):
    """What dicts with dynamic keys need of `containers.Containers`."""

    values: ListValues

    def new_list(self, elements: Sequence[Value]) -> ListRef: ...
    def is_growing(self, value: Value) -> bool: ...
    def store(self, value: Any, elements: Sequence[Value], op: str) -> None: ...
    def call(self, name: str, args: Sequence[Value]) -> list[Value]: ...


def _is_same(one: Value, other: Value) -> bool:
    """Whether two keys are one value."""
    if isinstance(one, TupleValue) and isinstance(other, TupleValue):
        return len(one.elements) == len(other.elements) and all(map(_is_same, one.elements, other.elements))
    return one is other


def _holds(contents: Sequence[Sequence[Value]], value: Value) -> bool:
    return any(value is each for held in contents for each in held)


class DynamicDicts:
    """Implements such dicts; the methods are named like the ops."""

    def __init__(self, state: State, containers: _Containers, growing: DynamicLists) -> None:
        self.state, self.containers, self.growing = state, containers, growing
        self._read: list[tuple[list[Any], Value, Value]] = []

    def new(self, form: Form, keys: Sequence[Any], elements: Sequence[Value]) -> tuple[Value, ...]:
        """Make the contents of a dict with dynamic keys, which are tuples if the form has columns."""
        if not form.columns:
            return self.containers.new_list([ConstValue(key) for key in keys]), self.containers.new_list(elements)
        cell, heap = self.state.site(), self.state.heap
        heap.contents[cell] = tuple(
            self.containers.new_list([ConstValue(key[place]) for key in keys]) for place in range(form.columns)
        )
        heap.forms[cell] = Form(cell, form.columns)
        return ListRef(cell), self.containers.new_list(elements)

    def _key(self, target: Any, key: Value) -> Value:
        """A key as its list has it."""
        form, ints = self.state.heap.forms.get(self._lists(target)[0].cell), key_ints(key)
        if form is None:
            return key
        if ints is None or len(ints) != form.columns:
            raise self.state.unsupported(
                "a dict of which some keys are tuples of ints and others are not; keep one of each"
            )
        return TupleValue(ints)

    def _lists(self, target: Any) -> tuple[ListRef, ListRef]:
        keys, elements = self.state.heap.contents[target.cell]
        assert isinstance(keys, ListRef)
        assert isinstance(elements, ListRef)
        return keys, elements

    def _on(self, target: Value, op: str, *args: Value) -> list[Value]:
        return self.containers.call(f"aten::{op}", [target, *args])

    def _find(self, target: Any, key: Value) -> tuple[Value, Value]:
        """Return whether a dict has a key, and its place."""
        form, ints = self.state.heap.forms.get(self._lists(target)[0].cell), key_ints(key)
        if form is not None and ints is not None and len(ints) != form.columns:
            return ConstValue(False), _ZERO
        key = self._key(target, key)
        if (place := self._place_read(target, key)) is not None:
            return ConstValue(True), place
        kind = key.kind if isinstance(key, ScalarValue) else type(getattr(key, "value", None))
        if kind is not int and not isinstance(key, TupleValue):
            raise self.state.defect("a dict that has dynamic keys and one that is no int")
        heap, keys = self.state.heap, self._lists(target)[0]
        columns: Any = heap.contents[keys.cell] if keys.cell in heap.forms else (keys,)
        if not any(map(self.containers.is_growing, columns)):
            return self.containers.values.located(keys, key)
        lists = [self.growing.lifted(heap.contents[column.cell], ConstValue(0)) for column in columns]
        return self.growing.located(lists, key.elements if isinstance(key, TupleValue) else [key])

    def _contents(self, target: Any) -> list[Any]:
        """What the keys of a dict are in: other objects once there are other keys."""
        heap, keys = self.state.heap, self._lists(target)[0]
        held = heap.contents[keys.cell]
        return [heap.contents[each.cell] for each in held] if keys.cell in heap.forms else [held]  # type: ignore[attr-defined]

    def _note(self, target: Any, key: Value, place: Value) -> None:
        """Note that a loop over a dict is at a key, whose place needs no search then."""
        contents = self._contents(target)
        parts = key.elements if isinstance(key, TupleValue) else (key,)
        is_new = any(isinstance(each, ScalarValue) and not _holds(contents, each) for each in parts)
        if isinstance(place, ScalarValue) and not is_new:  # the key may be known where the place is not
            return
        self._read = [*self._read[1 - _MOST_READ :], (contents, key, place)]

    def _place_read(self, target: Any, key: Value) -> Value | None:
        """Return the place of a key that a loop over a dict is at, if the keys are the same still; None of others."""
        now = self._contents(target)
        for contents, known, place in reversed(self._read):
            if len(contents) == len(now) and all(map(operator.is_, contents, now)) and _is_same(known, key):
                return place
        return None

    def _at(self, target: Any, place: Value) -> Value:
        return self._on(self._lists(target)[1], "__getitem__", place)[0]

    # Reading.

    def len(self, target: Any) -> Value:
        return self._on(self._lists(target)[0], "len")[0]

    def contains(self, target: Any, key: Value) -> Value:
        return self._find(target, key)[0]

    def getitem(self, target: Any, key: Value) -> Value:
        found, place = self._find(target, key)
        self._require(found, key)
        return self._at(target, place)

    def _require(self, found: Value, key: Value) -> None:
        shown = decoded(key.value) if isinstance(key, ConstValue) else "the key"
        self.containers.values.require(found, f"KeyError: {shown}")

    def get(self, target: Any, key: Value, default: Value = NONE) -> Value:
        found, place = self._find(target, key)
        return self.growing.choose(found, lambda: [self._at(target, place)], lambda: [default])[0]

    def dict(self, target: Any) -> DictRef:
        cell = self.state.site()
        self.state.heap.contents[cell] = Items([self._on(each, "copy")[0] for each in self._lists(target)], DYNAMIC)
        return DictRef(cell)

    def copy(self, target: Any) -> Value:
        made, classes = self.dict(target), self.state.heap.dict_classes
        if target.cell in classes:
            classes[made.cell] = classes[target.cell]
        return made

    # Views.

    def _view(self, target: Any, kind: str) -> ListRef:
        made = self.containers.new_list(())
        self.state.heap.views[made.cell] = View(target.cell, kind)
        return made

    def keys(self, target: Any) -> Value:
        return self._view(target, "keys")

    def values(self, target: Any) -> Value:
        return self._view(target, "values")

    def items(self, target: Any) -> Value:
        return self._view(target, "items")

    def shown(self, view: View, op: str, args: Sequence[Value]) -> list[Value]:
        """Run an op on what `keys()`, `values()` or `items()` returned.

        Raises:
            UnsupportedProgramError: it is not implemented.
        """
        keys, elements = self._lists(DictRef(view.cell))
        if op not in _READING or (view.kind == "items" and op not in ("len", "getitem")):
            raise self.state.unsupported(f"{op} on {view.kind}() of a dict with dynamic keys; go through it in a loop")
        name = f"aten::{'__contains__' if op == 'contains' else '__getitem__' if op == 'getitem' else op}"
        if view.kind != "values" and op == "getitem":
            key = self.containers.call(name, [keys, *args])[0]
            self._note(DictRef(view.cell), key, args[0])
            return [
                TupleValue((key, self.containers.call(name, [elements, *args])[0])) if view.kind == "items" else key
            ]
        return self.containers.call(name, [elements if view.kind == "values" else keys, *args])

    # Changing.

    def set_item(self, target: Any, key: Value, element: Value) -> None:
        keys, elements = self._lists(target)
        found, place = self._find(target, key)

        def replace() -> list[Value]:
            apart = not self.containers.is_growing(elements) and elements.cell not in self.state.heap.forms
            if not apart or isinstance(place, ConstValue):
                self._on(elements, "_set_item", place, element)
                return []
            # Kept apart, so that the other branch may have one more.
            before, replaced = self.state.heap.contents[elements.cell], self.containers.values.replaced
            parts = [replaced(place, [ConstValue(number)], element, part) for number, part in enumerate(before)]
            self.containers.store(elements, parts, "setitem")
            return []

        def add() -> list[Value]:
            self._on(keys, "append", self._key(target, key))
            self._on(elements, "append", element)
            return []

        self.growing.choose(found, replace, add)

    def setdefault(self, target: Any, key: Value, default: Value) -> Value:
        def add() -> list[Value]:
            self.set_item(target, key, default)
            return []

        self.growing.choose(self.contains(target, key), list, add)
        return self.getitem(target, key)

    def clear(self, target: Any) -> None:
        for each in self._lists(target):
            self._on(each, "clear")

    def _take(self, target: Any, place: Value) -> list[Value]:
        """Remove a key, and return it with its element."""
        return [self._on(each, "pop", place)[0] for each in self._lists(target)]

    def pop(self, target: Any, key: Value, *default: Value) -> Value:
        found, place = self._find(target, key)
        if not default:
            self._require(found, key)
            return self._take(target, place)[1]
        return self.growing.choose(found, lambda: self._take(target, place)[1:], lambda: list(default))[0]

    def Delete(self, target: Any, key: Value) -> None:
        self.pop(target, key)

    def popitem(self, target: Any) -> Value:
        some = self.growing.scalars.emit("gt", [self.len(target), _ZERO])
        self.containers.values.require(some, "KeyError: 'popitem(): dictionary is empty'")
        return TupleValue(tuple(self._on(each, "pop", ConstValue(-1))[0] for each in self._lists(target)))
