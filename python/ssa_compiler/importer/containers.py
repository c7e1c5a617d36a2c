"""Lists, tuples and dicts: resolved while importing, where their structure is known; other lists are `growing_lists`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .growing import GrowingValue, is_growing
from .growing_lists import GrowingLists
from .state import ProgramRaises, State
from .values import (
    NONE,
    ConstValue,
    DictRef,
    ListRef,
    ObjectRef,
    ScalarValue,
    TensorValue,
    TupleValue,
    Value,
)

__all__ = ["Containers"]

_ONE, _LAST = ConstValue(1), ConstValue(-1)


def _noun(value: Value) -> str:
    if isinstance(value, ObjectRef):
        return value.short_name
    return "list" if isinstance(value, ListRef) else "dict"


class Containers:
    """Implements TorchScript's list and dict ops on the heap."""

    def __init__(self, state: State, choose: Callable[[Value, Sequence[Value]], Value], growing: GrowingLists) -> None:
        """Create it.

        Args:
            state: the interpretation.
            choose: emits the choice of one of several values by an index known only at run time.
            growing: the ops on lists whose length is known only at run time.
        """
        self.state = state
        self.choose = choose
        self.growing = growing

    def new_list(self, elements: Sequence[Value]) -> ListRef:
        """Make a list."""
        cell = self.state.site()
        self.state.heap[cell] = tuple(elements)
        return ListRef(cell)

    def new_dict(self, keys: Sequence[Any], elements: Sequence[Value]) -> DictRef:
        """Make a dict; a later equal key wins."""
        cell = self.state.site()
        items = dict(zip(keys, elements))
        self.state.heap[cell] = tuple(items.values())
        self.state.keys[cell] = tuple(items)
        return DictRef(cell)

    def elements(self, value: Value) -> tuple[Value, ...]:
        """Return the elements of a list, dict or tuple.

        Raises:
            UnsupportedOpError: how many there are depends on run-time values.
        """
        if isinstance(value, TupleValue):
            return value.elements
        assert isinstance(value, (ListRef, DictRef))
        if self.is_growing(value):
            raise self.state.refuse_op(
                f"{self.state.locations.kind} on a list whose length depends on run-time values; stack it first"
            )
        return self.state.heap[value.cell]

    def is_growing(self, value: Value) -> bool:
        """Whether a value is a list whose length is known only at run time."""
        return isinstance(value, ListRef) and is_growing(self.state.heap[value.cell])

    def _store(self, value: Any, elements: Sequence[Value], op: str) -> None:
        if value.cell in self.state.foreign:
            raise self.state.refuse(
                f"{op} on a {_noun(value)} that belongs to a module, which would not see it; copy it first"
            )
        if value.cell in self.state.frozen:
            raise self.state.refuse(
                f"{op} on a {_noun(value)} that an if or loop with run-time values chose or replaced; build a new one"
            )
        before = self.state.heap[value.cell]
        self.state.heap[value.cell] = tuple(elements)
        if len(elements) > len(before) and not is_growing(before):
            self.growing.room.add(value.cell, len(elements) - len(before))

    def _constant(self, value: Value, op: str) -> Any:
        if not isinstance(value, ConstValue):
            raise self.state.refuse(
                f"{op} with an index or key known only at run time; use a constant, or stack the elements"
            )
        return value.value

    def _index(self, index: int, length: int) -> int:
        if not -length <= index < length:
            raise ProgramRaises("IndexError: list index out of range")
        return index % length

    def knows(self, name: str, target: Value) -> bool:
        """Whether the op `name` on this list or dict is implemented here."""
        if self.is_growing(target):
            return self._growing_method(name) is not None
        return self._method(name, target) is not None

    def _method(self, name: str, target: Value) -> Callable[..., Value | None] | None:
        prefix = "_dict_" if isinstance(target, DictRef) else "_list_"
        return getattr(self, prefix + self._short(name), None)

    def _short(self, name: str) -> str:
        short = name.partition("::")[2]
        return "iadd" if short == "add_" else short.strip("_")

    def _growing_method(self, name: str) -> Callable[..., Any] | None:
        """Return what runs the op `name` on lists of which one has a length that is known only at run time."""
        short = self._short(name)
        return getattr(self, f"_growing_{short}", None) or self.growing.method(short)

    def tensor(self, value: ListRef) -> TensorValue:
        """Emit the numbers in a list whose length is known only at run time as a new tensor."""
        (contents,) = self.state.heap[value.cell]
        assert isinstance(contents, GrowingValue)
        return self.growing.stacked(contents)

    def call(self, name: str, args: Sequence[Value]) -> list[Value]:
        """Run the op `name` (`aten::append`, ...), whose first argument is a list or dict.

        Returns:
            Its results.
        Raises:
            UnsupportedProgramError: its effect depends on run-time values.
        """
        if any(self.is_growing(argument) for argument in args[:2]):
            return self._call_growing(name, args)
        method = self._method(name, args[0])
        if method is None:
            raise self.state.refuse_op(f"{name} on a {'dict' if isinstance(args[0], DictRef) else 'list'}")
        result = method(*args)
        if result is None:
            return []
        return [result]

    # Lists whose length is known only at run time.

    def _call_growing(self, name: str, args: Sequence[Value]) -> list[Value]:
        method = self._growing_method(name)
        target = args[0]
        if method is None or not isinstance(target, ListRef):
            raise self.state.refuse_op(f"{name} on a list whose length depends on run-time values; stack it first")
        contents = self.state.heap[target.cell]
        if not is_growing(contents):
            other = self.state.heap[args[1].cell]  # type: ignore[attr-defined]
            contents = (self.growing.lifted(contents, other[0]),)
        if getattr(self, f"_growing_{self._short(name)}", None) is not None:
            result = method(contents[0], *args[1:])
            return [] if result is None else [result]
        changed, found = method(target.cell, contents[0], *args[1:])
        if changed is not None:
            self._store(target, (changed,), self._short(name))
        if found is None and self._short(name) in ("append", "set_item", "iadd"):
            found = target
        return [] if found is None else [found]

    def _growing_copy(self, value: Value) -> Value:
        return self.new_list([value])

    _growing_list = _growing_copy

    def _growing_add(self, value: Any, other: Value) -> Value:
        return self.new_list([self.growing.added(value, other)])

    def _growing_slice(self, value: Any, start: Value, end: Value, step: Value = _ONE) -> Value:
        return self.new_list([self.growing.sliced(value, start, end, step)])

    # Lists.

    def _list_len(self, target: Value) -> Value:
        return ConstValue(len(self.elements(target)), structural=True)

    def _list_append(self, target: Value, element: Value) -> Value:
        self._store(target, (*self.elements(target), element), "append")
        return target

    def _list_getitem(self, target: Value, index: Value) -> Value:
        elements = self.elements(target)
        if isinstance(index, ScalarValue):
            return self.choose(index, elements)
        return elements[self._index(self._constant(index, "getitem"), len(elements))]

    def _list_set_item(self, target: Value, index: Value, element: Value) -> Value:
        if isinstance(index, ScalarValue):
            lifted = self.growing.lifted(self.elements(target), element)
            changed, _ = self.growing.set_item((), lifted, index, element)
            self._store(target, (changed,), "setitem")
            return target
        elements = list(self.elements(target))
        elements[self._index(self._constant(index, "setitem"), len(elements))] = element
        self._store(target, elements, "setitem")
        return target

    def _list_extend(self, target: Value, other: Value) -> None:
        self._store(target, (*self.elements(target), *self.elements(other)), "extend")

    def _list_pop(self, target: Value, index: Value = _LAST) -> Value:
        elements = list(self.elements(target))
        if not elements:
            raise ProgramRaises("IndexError: pop from empty list")
        element = elements.pop(self._index(self._constant(index, "pop"), len(elements)))
        self._store(target, elements, "pop")
        return element

    def _list_insert(self, target: Value, index: Value, element: Value) -> None:
        elements = list(self.elements(target))
        elements.insert(self._constant(index, "insert"), element)
        self._store(target, elements, "insert")

    def _list_clear(self, target: Value) -> None:
        self._store(target, (), "clear")

    def _list_reverse(self, target: Value) -> None:
        self._store(target, self.elements(target)[::-1], "reverse")

    def _list_Delete(self, target: Value, index: Value) -> None:
        self._list_pop(target, index)

    def _list_copy(self, target: Value) -> Value:
        return self.new_list(self.elements(target))

    _list_list = _list_copy

    def _list_add(self, target: Value, other: Value) -> Value:
        return self._shaped_as(self.new_list((*self.elements(target), *self.elements(other))), target, other)

    def _list_iadd(self, target: Value, other: Value) -> Value:
        self._list_extend(target, other)
        return target

    def _list_mul(self, target: Value, count: Value) -> Value:
        return self.new_list(self.elements(target) * self._constant(count, "list * int"))

    def _list_slice(self, target: Value, start: Value, end: Value, step: Value = _ONE) -> Value:
        bounds = slice(*(self._constant(bound, "list slice") for bound in (start, end, step)))
        return self._shaped_as(self.new_list(self.elements(target)[bounds]), target)

    def _shaped_as(self, made: ListRef, *sources: Value) -> ListRef:
        """Note that a list is a shape if what it is made of are shapes."""
        if all(isinstance(source, ListRef) and source.cell in self.state.shapes for source in sources):
            self.state.shapes.add(made.cell)
        return made

    # Dicts.

    def set_attribute(self, target: DictRef, name: str, value: Value) -> None:
        """Set an attribute of an object, a dict of its attributes."""
        self._dict_set_item(target, ConstValue(name), value)

    def _position(self, target: Any, key: Value) -> int | None:
        keys = self.state.keys[target.cell]
        wanted = self._constant(key, "dict access")
        return keys.index(wanted) if wanted in keys else None

    def _dict_len(self, target: Value) -> Value:
        return ConstValue(len(self.elements(target)))

    def _dict_getitem(self, target: Value, key: Value) -> Value:
        position = self._position(target, key)
        if position is None:
            raise ProgramRaises(f"RuntimeError: KeyError: {key.value!r}")  # type: ignore[attr-defined]
        return self.elements(target)[position]

    def _dict_get(self, target: Value, key: Value, default: Value = NONE) -> Value:
        position = self._position(target, key)
        return default if position is None else self.elements(target)[position]

    def _dict_contains(self, target: Value, key: Value) -> Value:
        return ConstValue(self._position(target, key) is not None)

    def _dict_set_item(self, target: Any, key: Value, element: Value) -> None:
        position = self._position(target, key)
        elements = list(self.elements(target))
        if position is None:
            if self.state.outside and target.cell in self.state.outside[-1]:
                raise self.state.refuse(
                    f"a new {'attribute' if isinstance(target, ObjectRef) else 'dict key'} in an if or loop that depends on "
                    "run-time values; set it to something before"
                )
            self.state.keys[target.cell] += (self._constant(key, "dict setitem"),)
            elements.append(element)
        else:
            elements[position] = element
        self._store(target, elements, "dict setitem")

    def _dict_pop(self, target: Any, key: Value, *default: Value) -> Value:
        position = self._position(target, key)
        if position is None:
            if default:
                return default[0]
            raise ProgramRaises(f"RuntimeError: KeyError: {key.value!r}")  # type: ignore[attr-defined]
        elements = list(self.elements(target))
        element = elements.pop(position)
        self._keep(target, [number for number in range(len(elements) + 1) if number != position], "pop")
        return element

    def _dict_Delete(self, target: Any, key: Value) -> None:
        self._dict_pop(target, key)

    def _dict_clear(self, target: Any) -> None:
        self._keep(target, [], "clear")

    def _dict_setdefault(self, target: Any, key: Value, default: Value) -> Value:
        if self._position(target, key) is None:
            self._dict_set_item(target, key, default)
        return self._dict_getitem(target, key)

    def _dict_update(self, target: Any, other: Any) -> None:
        for key, element in zip(self.state.keys[other.cell], self.elements(other)):
            self._dict_set_item(target, ConstValue(key), element)

    def _keep(self, target: Any, positions: Sequence[int], op: str) -> None:
        """Drop all keys of a dict but some."""
        if self.state.outside and target.cell in self.state.outside[-1]:
            raise self.state.refuse(
                f"{op} on a dict in an if or loop that depends on run-time values; set the key to something instead"
            )
        keys, elements = self.state.keys[target.cell], self.elements(target)
        self._store(target, [elements[position] for position in positions], op)
        self.state.keys[target.cell] = tuple(keys[position] for position in positions)

    def _dict_keys(self, target: Any) -> Value:
        return self.new_list([ConstValue(key) for key in self.state.keys[target.cell]])

    def _dict_values(self, target: Value) -> Value:
        return self.new_list(self.elements(target))

    def _dict_items(self, target: Any) -> Value:
        keys = self.state.keys[target.cell]
        pairs = zip(keys, self.elements(target))
        return self.new_list([TupleValue((ConstValue(key), element)) for key, element in pairs])

    def _dict_copy(self, target: Any) -> Value:
        return self.new_dict(self.state.keys[target.cell], self.elements(target))
