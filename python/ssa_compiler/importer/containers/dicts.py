"""TorchScript's ops on dicts, whose keys are known while importing; an object of a scripted class is a dict of its
attributes.

What `keys()`, `values()` and `items()` return is a list to TorchScript, and shows the dict as it is now to Python. So
such a list is noted as a view of the dict, and its elements are looked up when they are read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from ...errors import UnsupportedProgramError, program_error_name
from ..ir.tuple_keys import decoded
from ..values.diagnostics import ProgramRaises
from ..values.dict_items import Items, is_absent
from ..values.heap import View
from ..values.plan import Form
from ..values.state import State
from ..values.values import (
    NONE,
    ConstValue,
    DictRef,
    ListRef,
    ObjectRef,
    RuntimeStr,
    ScalarValue,
    Site,
    TupleValue,
    Value,
)
from .chosen_elements import ChosenElements
from .later_keys import LaterKeys
from .list_forms import other_form
from .list_values import ListValues
from .tuple_keys import key_ints

__all__ = ["Dicts"]


class _Containers(Protocol):
    """What dicts need of `containers.Containers`."""

    values: ListValues
    chosen: ChosenElements

    def elements(self, value: Value) -> tuple[Value, ...]: ...
    def has_dynamic_keys(self, value: Any) -> bool: ...
    def constant(self, value: Value, op: str) -> Any: ...
    def new_list(self, elements: Sequence[Value]) -> ListRef: ...
    def new_dict(self, keys: Sequence[Any], elements: Sequence[Value]) -> DictRef: ...
    def store(self, value: Any, elements: Sequence[Value], op: str) -> None: ...
    def call(self, name: str, args: Sequence[Value]) -> list[Value]: ...


class Dicts:
    """Implements dicts on the heap; the methods are named like the ops."""

    def __init__(self, state: State, containers: _Containers) -> None:
        self.state, self.containers = state, containers
        self.later_keys = LaterKeys(state, containers)

    def _elements(self, target: Value) -> tuple[Value, ...]:
        return self.containers.elements(target)

    def constant_key(self, key: Value) -> Any:
        """Return a key, which has to be known at import.

        Raises:
            UnsupportedProgramError: it is not, or it is NaN.
        """
        value = decoded(self.containers.constant(key, "dict access"))
        if value != value:
            raise self.state.unsupported("NaN as a dict key, which is found if it is the same object; use another key")
        return value

    def _position(self, target: Any, key: Value) -> int | None:
        if isinstance(key, (RuntimeStr, TupleValue)) or (isinstance(key, ScalarValue) and key.kind is int):
            self._need_dynamic_keys(target, key)
        keys = self.state.heap.keys[target.cell]
        wanted = self.constant_key(key)
        return keys.index(wanted) if wanted in keys else None

    def _need_dynamic_keys(self, target: Any, key: Value) -> None:
        """Reject a key that is dynamic so that the dict is made with dynamic keys, if it can be.

        Raises:
            OtherForm: it can.
        """
        heap, cell = self.state.heap, target.cell
        foreign = cell in heap.caller_owned or cell in heap.module_owned or cell in heap.frozen
        ints, keys = key_ints(key), heap.keys[cell]
        if ints is not None:
            fits = all(len(key_ints(ConstValue(each)) or ()) == len(ints) for each in keys)
        else:
            is_int = isinstance(key, ScalarValue) or type(getattr(key, "value", None)) is int
            fits = is_int and all(type(each) is int for each in keys)
        if fits and not (foreign or isinstance(target, ObjectRef)):
            text = "unsupported: dict access with a dynamic index or key; use a constant, or stack the elements"
            raise other_form(self.state, text, cell, Form(cell, 0 if ints is None else len(ints)))

    def _missing(self, key: Value) -> ProgramRaises:
        return ProgramRaises(f"KeyError: {self.constant_key(key)!r}")

    def _is_outside(self, target: Any) -> bool:
        """Whether a branch or loop is imported that a dict is from outside of."""
        return bool(self.state.outside) and target.cell in self.state.outside[-1]

    # Keys that may be missing.

    def _slots(self, target: Any) -> Items:
        """What a dict holds, with keys that may be missing."""
        return self.later_keys.slots(target.cell)

    def _found(self, target: Any, key: Value) -> tuple[Value, Value]:
        """Return whether a dict has a key, and its element there; None if it surely has not."""
        position = self._position(target, key)
        return (ConstValue(False), NONE) if position is None else self.later_keys.at(self._slots(target), position)

    # Reading.

    def len(self, target: Value) -> Value:
        return self.later_keys.count(self._slots(target))

    def _known_place(self, target: Any, key: Value) -> tuple[Value, Value] | None:
        """Return whether a dict of the caller's or a module's has a key that is dynamic, and its place; None for
        others.
        """
        heap = self.state.heap
        keys, foreign = heap.keys[target.cell], target.cell in heap.caller_owned or target.cell in heap.module_owned
        dynamic = isinstance(key, ScalarValue) and key.kind is int and all(type(each) is int for each in keys)
        if not dynamic or not foreign or isinstance(target, ObjectRef):
            return None
        return self.containers.values.located(self.containers.new_list([ConstValue(each) for each in keys]), key)

    def getitem(self, target: Any, key: Value) -> Value:
        if (known := self._known_place(target, key)) is not None:
            self.containers.values.require(known[0], "KeyError: the key")
            elements = self._elements(target)
            return (
                self.containers.chosen.read(target, known[1], elements)
                if isinstance(known[1], ScalarValue)
                else elements[0]
            )
        there, element = self._found(target, key)
        self.containers.values.require(there, self._missing(key).text)
        return element

    def get(self, target: Any, key: Value, default: Value = NONE) -> Value:
        if self._known_place(target, key) is not None:
            for known, element in zip(self.state.heap.keys[target.cell], self._elements(target)):
                default = self.containers.values.replaced(key, [ConstValue(known)], element, default)
            return default
        there, element = self._found(target, key)
        return self.containers.values.either(there, element, default)

    def contains(self, target: Any, key: Value) -> Value:
        keys = self.state.heap.keys[target.cell]
        if isinstance(key, ScalarValue):
            self.later_keys.check(target.cell)
            made = self.containers.new_list([ConstValue(each) for each in keys])
            return self.containers.values.contains(made, key)
        return self._found(target, key)[0]

    def copy(self, target: Any) -> Value:
        heap, made = self.state.heap, self.dict(target)
        owned = heap.caller_owned.get(target.cell)
        kind = owned.route if owned is not None else heap.dict_classes.get(target.cell)
        if kind is not None:
            heap.dict_classes[made.cell] = kind
        return made

    def dict(self, target: Any) -> DictRef:
        items = self._slots(target)
        made = self.containers.new_dict(items.keys, items)
        if items.later or not self.containers.has_dynamic_keys(made):
            self.state.heap.contents[made.cell] = Items(items, items.keys, items.later)
        return made

    # Views.

    def _view(self, target: Any, kind: str) -> ListRef:
        made = self.containers.new_list(self._shown(target.cell, kind))
        self.state.heap.views[made.cell] = View(target.cell, kind)
        return made

    def _shown(self, cell: Site, kind: str) -> Sequence[Value]:
        keys = [ConstValue(key) for key in self.state.heap.keys[cell]]
        elements = self.state.heap.contents[cell]
        if kind == "keys":
            return keys
        return elements if kind == "values" else [TupleValue(pair) for pair in zip(keys, elements)]

    def viewed(self, view: View) -> tuple[Value, ...]:
        """Return the elements of what `keys()`, `values()` or `items()` returned earlier."""
        return tuple(self._shown(view.cell, view.kind))

    def keys(self, target: Any) -> Value:
        return self._view(target, "keys")

    def values(self, target: Value) -> Value:
        return self._view(target, "values")

    def items(self, target: Any) -> Value:
        return self._view(target, "items")

    # Changing.

    def set_item(self, target: Any, key: Value, element: Value) -> None:
        if (known := self._known_place(target, key)) is not None:
            text = (
                "unsupported: a new key, which is dynamic, of a dict among the arguments or of a module; add it before"
            )
            self.containers.values.require(known[0], f"{program_error_name(UnsupportedProgramError)}: {text}")
            if isinstance(known[1], ScalarValue) and self.containers.chosen.is_put_back(target, known[1], element):
                return
            values = self.containers.values
            here: Any = lambda place: values.is_one_of(known[1], (place,))  # noqa: E731
            self.containers.store(
                target, self.containers.chosen.replaced(target, element, here, values.choose), "dict setitem"
            )
            return
        position, items = self._position(target, key), self._slots(target)
        if position is not None and items.keys[position] in items.later and is_absent(items[position]):
            self._keep(target, [number for number in range(len(items)) if number != position], "dict setitem")
            position, items = None, self._slots(target)
        elements = list(items)
        is_object = isinstance(target, ObjectRef) and isinstance(key, ConstValue)
        op = f"assignment to the attribute '{key.value}'" if is_object else "dict setitem"  # type: ignore[attr-defined]
        if position is None:
            keys = (*items.keys, self.constant_key(key))
            self.containers.store(target, Items([*elements, element], keys, items.later), op)
            return
        known = items.keys[position]
        if known in items.later:
            self.later_keys.check_order(target.cell, position)
        elements[position] = element
        self.containers.store(target, Items(elements, items.keys, items.later - {known}), op)

    def pop(self, target: Any, key: Value, *default: Value) -> Value:
        there, element = self._found(target, key)
        if default:
            element = self.containers.values.either(there, element, default[0])
        else:
            self.containers.values.require(there, self._missing(key).text)
        position, count = self._position(target, key), len(self._slots(target))
        self._keep(target, [number for number in range(count) if number != position], "pop")
        return element

    def popitem(self, target: Any) -> Value:
        keys, elements = self.state.heap.keys[target.cell], self._elements(target)
        if not keys:
            raise ProgramRaises("KeyError: 'popitem(): dictionary is empty'")
        self._keep(target, range(len(keys) - 1), "popitem")
        return TupleValue((ConstValue(keys[-1]), elements[-1]))

    def Delete(self, target: Any, key: Value) -> None:
        self.pop(target, key)

    def clear(self, target: Any) -> None:
        self._keep(target, [], "clear")

    def setdefault(self, target: Any, key: Value, default: Value) -> Value:
        there, element = self._found(target, key)
        if not isinstance(there, ConstValue) or not there.value:
            element = self.containers.values.either(there, element, default)
            self.set_item(target, key, element)
        return element

    def update(self, target: Any, other: Any) -> None:
        self.later_keys.check(other.cell)
        for key, element in zip(self.state.heap.keys[other.cell], self._elements(other)):
            self.set_item(target, ConstValue(key), element)

    def _keep(self, target: Any, positions: Sequence[int], op: str) -> None:
        """Drop all keys of a dict but some."""
        if len(positions) == len(self.state.heap.keys[target.cell]):
            return
        items = self._slots(target)
        keys = tuple(items.keys[position] for position in positions)
        kept = Items([items[position] for position in positions], keys, items.later & set(keys))
        self.containers.store(target, kept, op)

    # Made of pairs.

    def of_pairs(self, pairs: Value) -> DictRef:
        """`dict([(key, value), ...])`."""
        parts = [self._elements(pair) for pair in self._elements(pairs)]
        return self.containers.new_dict([self.constant_key(key) for key, _ in parts], [value for _, value in parts])
