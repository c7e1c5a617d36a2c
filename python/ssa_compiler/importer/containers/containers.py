"""Lists, tuples and dicts: resolved while importing, where their structure is known; other lists are
`dynamic_lists`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...abi.results import TORCH_SIZE
from ..values.diagnostics import ProgramRaises
from ..values.dict_items import Items
from ..values.dynamic_list_value import LengthChanges, is_growing, is_scalar
from ..values.heap import DYNAMIC
from ..values.state import State
from ..values.values import ConstValue, DictRef, ListRef, ScalarValue, Site, TensorValue, TupleValue, Value
from .chosen_elements import ChosenElements
from .dicts import Dicts
from .dynamic_dicts import DynamicDicts
from .dynamic_lists import DynamicLists
from .equal_lists import compared
from .equal_views import EqualViews
from .list_classes import ListClasses
from .list_forms import in_columns, in_parts, only_has_form
from .list_values import ListValues
from .positions import PositionedOps, position_in
from .ragged_lists import RaggedLists
from .tuple_lists import TupleLists

__all__ = ["Containers"]

_ONE, _LAST, _FALSE = ConstValue(1), ConstValue(-1), ConstValue(False)
_EQUALITY = ("eq", "ne")
_JOINS = ("add", "extend", "iadd")
_OF_TWO_LISTS = (*_JOINS, *_EQUALITY)
_RETURNS_ITSELF = ("append", "set_item", "iadd", "imul")
_MOST_APART = 64  # elements of a list without a buffer that are compared with a dynamic index


class Containers(PositionedOps):
    """Implements TorchScript's list and dict ops on the heap."""

    def __init__(self, state: State, choose: Callable[[Value, Sequence[Value]], Value], growing: DynamicLists) -> None:
        """Create it.

        Args:
            state: the interpretation.
            choose: emits the choice of one of several values by a dynamic index.
            growing: the ops on lists whose length is dynamic.
        """
        self.state = state
        self.choose = choose
        self.growing = growing
        self.dicts, self.dynamic_dicts = Dicts(state, self), DynamicDicts(state, self, growing)
        self.tuple_lists, self.ragged_lists = TupleLists(state, self), RaggedLists(state, self, growing)
        self.classes = ListClasses(state)
        self.values = ListValues(state, growing.scalars, growing.choose, self.elements, self.classes)
        self.equal_views = EqualViews(state, growing.tensors, growing.scalars)
        self.chosen = ChosenElements(state, choose, self.equal_views)

    def new_list(self, elements: Sequence[Value]) -> ListRef:
        """Make a list."""
        cell = self._new_cell()
        form = self.state.form(cell)
        if form is not None and (form.columns or form.parts):
            with self.state.inside(cell):  # the lists in it are the same ones, whatever forms these have
                elements = (self.ragged_lists if form.parts else self.tuple_lists).new(cell, form, elements)
            self.state.heap.forms[cell] = form
        self.state.heap.contents[cell] = tuple(elements)
        return ListRef(cell)

    def _new_cell(self) -> Site:
        """Return the cell of a list or dict that is made here; in an earlier pass over a loop it was another one."""
        cell = self.state.site()
        self.state.heap.forget(cell)
        return cell

    def new_dict(self, keys: Sequence[Any], elements: Sequence[Value]) -> DictRef:
        """Make a dict; a later equal key wins."""
        cell = self._new_cell()
        items = dict(zip(keys, elements))
        if (form := self.state.form(cell)) is not None:
            made = self.dynamic_dicts.new(form, tuple(items), tuple(items.values()))
            self.state.heap.contents[cell] = Items(made, DYNAMIC)
            return DictRef(cell)
        self.state.heap.contents[cell] = Items(items.values(), tuple(items))
        return DictRef(cell)

    def elements(self, value: Value) -> tuple[Value, ...]:
        """Return the elements of a list, dict or tuple.

        Raises:
            UnsupportedOpError: how many there are depends on run-time values.
        """
        if isinstance(value, TupleValue):
            return value.elements
        assert isinstance(value, (ListRef, DictRef))
        if self.has_dynamic_keys(value):
            raise self.state.unsupported_op(
                f"{self.state.locations.kind} on a dict with dynamic keys; go through it in a loop"
            )
        if value.cell in self.state.heap.forms and not self._formed(value).is_growing(value):
            return self._formed(value).elements(value)
        if (known := self.growing.known_numbers(self.state.heap.contents[value.cell])) is not None:
            return known
        if self.is_growing(value) or value.cell in self.state.heap.forms:
            raise self.state.unsupported_op(
                f"{self.state.locations.kind} on a list whose length depends on run-time values; stack it first"
            )
        view = self.state.heap.views.get(value.cell)
        self.dicts.later_keys.check(value.cell if view is None else view.cell)
        return self.dicts.viewed(view) if view is not None else self.state.heap.contents[value.cell]

    def _formed(self, value: Any) -> TupleLists | RaggedLists:
        """What implements a list that is made in another form."""
        return self.ragged_lists if self.state.heap.forms[value.cell].parts else self.tuple_lists

    def extent(self, value: ListRef) -> Any:
        """Return what says how long a list is: comparable, and the same as long as it keeps its elements' number."""
        if value.cell in self.state.heap.views:
            cell = self.state.heap.views[value.cell].cell
            if self.state.heap.has_dynamic_keys(cell):
                return self.extent(self.state.heap.contents[cell][0])  # type: ignore[arg-type]
            return self.state.heap.keys[cell]
        contents = self.state.heap.contents[value.cell]
        if (found := self.ragged_lists.nested.extent(value)) is not None:
            return found
        if value.cell in self.state.heap.forms:
            return self.extent(contents[-1])  # type: ignore[arg-type]
        if is_growing(contents):
            length = contents[0].length  # type: ignore[attr-defined]
            return length.ssa if isinstance(length, ScalarValue) else length.value
        return len(contents)

    def has_dynamic_keys(self, value: Any) -> bool:
        """Whether a value is a dict with dynamic keys, or what its `keys()`, `values()` or `items()` returned."""
        view = self.state.heap.views.get(value.cell)
        return self.state.heap.has_dynamic_keys(value.cell if view is None else view.cell)

    def is_growing(self, value: Value) -> bool:
        """Whether a value is a list whose length is dynamic."""
        return isinstance(value, ListRef) and is_growing(self.state.heap.contents[value.cell])

    def store(self, value: Any, elements: Sequence[Value], op: str) -> None:
        """Give a list or dict other elements.

        Args:
            value: the list, dict or object.
            elements: what it holds from here on.
            op: what changes it, for messages.
        Raises:
            ProgramRaises: it cannot be changed in Python.
            UnsupportedProgramError: others would have to see it, and it is not known who.
        """
        self.classes.check_changed(value, op)
        if value.cell in self.state.heap.origins:
            self.ragged_lists.nested.store(value, elements, op)
            return
        self.classes.check_known(value, op)
        if value.cell in self.state.heap.forms:
            self._formed(value).stored(value, elements, op)
            return
        self.state.heap.note_change(value.cell, self.state.locations.user())
        before = self.state.heap.contents[value.cell]
        self.state.heap.store(value.cell, elements)
        if len(elements) > len(before) and not is_growing(before):
            self.growing.capacity.add(value.cell, len(elements) - len(before))

    def constant(self, value: Value, op: str) -> Any:
        """Return an index or key, which has to be known at import.

        Raises:
            UnsupportedProgramError: it is not.
        """
        if not isinstance(value, ConstValue):
            raise self.state.unsupported(f"{op} with a dynamic index or key; use a constant, or stack the elements")
        return value.value

    def knows(self, name: str, target: Value) -> bool:
        """Whether the op `name` on this list or dict is implemented here."""
        if self.is_growing(target):
            return self._growing_method(name) is not None or self._short(name) in _EQUALITY
        return self._method(name, target) is not None

    def _method(self, name: str, target: Value) -> Callable[..., Value | None] | None:
        if isinstance(target, DictRef):
            return getattr(self.dynamic_dicts if self.has_dynamic_keys(target) else self.dicts, self._short(name), None)
        if getattr(target, "cell", ()) in self.state.heap.forms:
            method = self._formed(target).method(self._short(name))
            if method is not None or self._formed(target).is_growing(target):
                return method
        return getattr(self, f"_list_{self._short(name)}", None)

    def _short(self, name: str) -> str:
        """The name of an op without what marks it: `getitem`, `imul` for the in-place form of `mul`."""
        short = name.partition("::")[2]
        return f"i{short[:-1]}" if short in ("add_", "mul_") else short.strip("_")

    def _growing_method(self, name: str) -> Callable[..., Any] | None:
        """Return what runs the op `name` on lists of which one has a length that is dynamic."""
        short = self._short(name)
        return getattr(self, f"_growing_{short}", None) or self.growing.method(short)

    def call(self, name: str, args: Sequence[Value]) -> list[Value]:
        """Run the op `name` (`aten::append`, ...), whose first argument is a list or dict.

        Returns:
            Its results.
        Raises:
            UnsupportedProgramError: its effect depends on run-time values.
        """
        view = self.state.heap.views.get(getattr(args[0], "cell", ()))
        if view is not None and self.state.heap.has_dynamic_keys(view.cell):
            return self.dynamic_dicts.shown(view, self._short(name), args[1:])
        if view is not None and self.state.heap.later_keys(view.cell):
            if (found := self.dicts.later_keys.shown(view, self._short(name), args[1:])) is not None:
                return found
        short, is_ragged = self._short(name), self.ragged_lists.is_in_parts
        other: Any = args[1] if short in _JOINS and only_has_form(self.state, args[1], args[0]) else None
        if other is not None and self._formed(other).is_growing(other):
            return [self.classes.made_of(self._formed(other).with_formed(short, args[0], other), *args)]  # type: ignore[arg-type]
        operands = args[: 2 if short in _OF_TWO_LISTS else 1]
        if any(map(self.is_growing, operands)) and not is_ragged(args[0]):
            if short in _EQUALITY:
                return [compared(self, args[0], args[1], short)]
            return self._call_growing(name, args)
        method = self._method(name, args[0])
        if method is None:
            raise self.state.unsupported_op(f"{name} on a {'dict' if isinstance(args[0], DictRef) else 'list'}")
        result = method(*args)
        return [] if result is None else [result]

    # Lists whose length is dynamic.

    def _call_growing(self, name: str, args: Sequence[Value]) -> list[Value]:
        target, short = args[0], self._short(name)
        if short in ("iadd", "imul") and self.classes.is_tuple(target):
            name, short = f"aten::{short[1:]}", short[1:]
        method = self._growing_method(name)
        if method is None or not isinstance(target, ListRef):
            raise self.state.unsupported_op(f"{name} on a list whose length depends on run-time values; stack it first")
        contents = self.state.heap.contents[target.cell]
        if not is_growing(contents):
            other = self.state.heap.contents[args[1].cell]  # type: ignore[attr-defined]
            contents = (self.growing.lifted(contents, other[0]),)
        if getattr(self, f"_growing_{short}", None) is not None:
            result = method(contents[0], *args[1:])
            if short in ("add", "mul", "slice"):
                self.classes.made_of(result, *args[: 2 if short == "add" else 1])
            return [] if result is None else [result]
        if short == "set_item" and target.cell in self.state.heap.origins:
            self.ragged_lists.nested.put(target, args[1], args[2])
            return [target]
        try:
            changed, found = method(target.cell, contents[0], *args[1:])
        except LengthChanges:
            in_columns(self.state, target.cell, [*contents, args[-1]], self.state.heap.contents)
            in_parts(self.state, target.cell, [*contents, *args[1:]])
            raise
        if changed is not None:
            self.store(target, (changed,), short)
        if short == "getitem":
            self.tuple_lists.objects.note_number(target, args[1], found)
        found = target if found is None and short in _RETURNS_ITSELF else found
        return [] if found is None else [found]

    def _growing_contains(self, value: Any, wanted: Value) -> Value:
        return self.growing.has(value, wanted)

    def _growing_copy(self, value: Value) -> Value:
        return self.new_list([value])

    _growing_list = _growing_copy

    def _growing_sorted(self, value: Any) -> Value:
        return self.new_list([self.growing.ordered(value)])

    def _growing_add(self, value: Any, other: Value) -> Value:
        return self.new_list([self.growing.added(value, other)])

    def _growing_slice(self, value: Any, start: Value, end: Value, step: Value = _ONE) -> Value:
        return self.new_list([self.growing.sliced(value, start, end, step)])

    def _growing_mul(self, value: Any, count: Value) -> Value:
        return self.new_list([self.growing.repeated(value, count)])

    # Lists.

    def _list_len(self, target: Any) -> Value:
        return ConstValue(len(self.elements(target)), structural=self.equal_views.is_structural(target))

    def _list_append(self, target: Value, element: Value) -> Value:
        self.store(target, (*self.elements(target), element), "append")
        return target

    def _list_getitem(self, target: Any, index: Value) -> Value:
        elements = self.elements(target)
        if isinstance(index, ScalarValue):
            return self.chosen.read(target, index, elements)
        return elements[position_in(index, len(elements), "list index")]

    def _list_set_item(self, target: Value, index: Value, element: Value) -> Value:
        elements = list(self.elements(target))
        if isinstance(index, ScalarValue):
            return self._set_at(target, index, element, elements)
        elements[position_in(index, len(elements), "list assignment index")] = element
        self.store(target, elements, "setitem")
        return target

    def _set_at(self, target: Any, index: ScalarValue, element: Value, elements: list[Value]) -> Value:
        """`target[index] = element` at a dynamic position."""
        if self.chosen.is_put_back(target, index, element):
            return target
        apart = target.cell in self.state.heap.caller_owned
        if not apart and len(elements) <= _MOST_APART:  # of what is no tensor or number there is no buffer
            apart = not all(isinstance(each, TensorValue) or is_scalar(each) for each in (element, *elements))
        if apart:
            values, count = self.values, len(elements)
            values.require(values.between(index, -count, count), "IndexError: list assignment index out of range")
            places: Callable[[int], Value] = lambda place: values.is_one_of(index, (place, place - count))  # noqa: E731
            made = self.chosen.replaced(target, element, places, values.choose)
            self.store(target, made, "setitem")
            return target
        changed, _ = self.growing.set_item((), self.growing.lifted(elements, element), index, element)
        self.store(target, (changed,), "setitem")
        return target

    def _list_extend(self, target: Value, other: Value) -> None:
        self.store(target, (*self.elements(target), *self.elements(other)), "extend")

    def _list_clear(self, target: Value) -> None:
        self.store(target, (), "clear")

    def _list_reverse(self, target: Value) -> None:
        self.store(target, self.elements(target)[::-1], "reverse")

    def _list_copy(self, target: Value) -> Value:
        return self.new_list(self.elements(target))

    _list_list = _list_copy

    def _list_add(self, target: Value, other: Value) -> Value:
        return self.classes.made_of(self.new_list((*self.elements(target), *self.elements(other))), target, other)

    def _list_iadd(self, target: Value, other: Value) -> Value:
        if self.classes.is_tuple(target):
            return self._list_add(target, other)
        self._list_extend(target, other)
        return target

    def _list_mul(self, target: Value, count: Value) -> Value:
        return self.classes.made_of(self.new_list(self._repeated(target, count)), target)

    def _list_imul(self, target: Value, count: Value) -> Value:
        if self.classes.is_tuple(target):
            return self._list_mul(target, count)
        self.store(target, self._repeated(target, count), "*=")
        return target

    def _repeated(self, target: Value, count: Value) -> tuple[Value, ...]:
        elements = self.elements(target)
        if isinstance(count, ScalarValue):
            lifted = self.growing.lifted(elements, elements[0]) if elements else None
            return () if lifted is None else (self.growing.repeated(lifted, count),)
        return self.values.repeated(elements, self.constant(count, "list * int"))

    def _list_slice(self, target: Value, start: Value, end: Value, step: Value = _ONE) -> Value:
        if any(isinstance(bound, ScalarValue) for bound in (start, end)):
            elements: Sequence[Value] = self.elements(target)
            if elements:
                elements = [self.growing.sliced(self.growing.lifted(elements, elements[0]), start, end, step)]
            return self.classes.made_of(self.new_list(elements), target)
        bounds = slice(*(self.constant(bound, "list slice") for bound in (start, end, step)))
        if bounds.step == 0:
            raise ProgramRaises("ValueError: slice step cannot be zero")
        return self.classes.made_of(self.new_list(self.elements(target)[bounds]), target)

    # Values of elements.

    def _list_index(self, target: Value, wanted: Value) -> Value:
        return self.values.index(target, wanted)

    def _list_count(self, target: Value, wanted: Value) -> Value:
        return self.values.count(target, wanted)

    def _list_contains(self, target: Value, wanted: Value) -> Value:
        return self.values.contains(target, wanted)

    def _list_remove(self, target: Value, wanted: Value) -> None:
        self.store(target, self.values.without(target, wanted), "remove")

    def _list_sort(self, target: Value, reverse: Value = _FALSE) -> None:
        self.store(target, self.values.ordered(target, reverse), "sort")

    def _list_sorted(self, target: Value) -> Value:
        return self.new_list(self.values.ordered(target, _FALSE))

    def _list_eq(self, target: Value, other: Value) -> Value:
        return self.values.equal(target, other)

    def _list_ne(self, target: Value, other: Value) -> Value:
        return self.values.differ(target, other)

    def _list_sum(self, target: Value) -> Value:
        return self.values.total(target)

    def _list_any(self, target: Value) -> Value:
        return self.values.some(target)

    def _list_all(self, target: Value) -> Value:
        return self.values.every(target)

    def _list_max(self, target: Value, other: Value | None = None) -> Value:
        return self.values.extreme(target, "max") if other is None else self.values.compared(target, other, "max")

    def _list_min(self, target: Value, other: Value | None = None) -> Value:
        return self.values.extreme(target, "min") if other is None else self.values.compared(target, other, "min")

    def _list_dict(self, pairs: Value) -> Value:
        return self.dicts.of_pairs(pairs)

    def _list_Size(self, target: Value) -> Value:
        return self.classes.note(self.new_list(self.elements(target)), TORCH_SIZE)

    def set_attribute(self, target: DictRef, name: str, value: Value) -> None:
        """Set an attribute of an object, a dict of its attributes."""
        self.dicts.set_item(target, ConstValue(name), value)
