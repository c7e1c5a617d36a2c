"""Lists of dynamic length whose elements are tensors of different lengths, or lists of numbers: the rows of all
elements in one list, and two lists that say where those of each begin, and how many there are.

Such a list is a plain one until its length turns out to be dynamic; then the program is imported again with that list
in parts (`Form`). An element that is read is a view of the rows, which are those of the elements in their order, the
last one's at the end.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import sympy
import torch

from ..values.diagnostics import ProgramRaises
from ..values.dynamic_list_value import DynamicListValue, Element, common_element, is_growing, promote, put_rows
from ..values.plan import Form
from ..values.state import State
from ..values.symbols import expr_of
from ..values.values import ConstValue, ListRef, ScalarValue, Site, TensorValue, Value
from .dynamic_lists import DynamicLists
from .list_forms import DIFFERENT_LENGTHS, ListContainers, as_formed
from .nested_lists import NestedLists
from .number_lists import NumberLists
from .ragged_tensors import RaggedTensors

__all__ = ["RaggedLists"]

_ZERO, _ONE, _LAST, _NONE = ConstValue(0), ConstValue(1), ConstValue(-1), ConstValue(None)
_LEAST = 4  # rows of a buffer whose final size is not known


class RaggedLists:
    """Implements such lists; the methods are named like the ops."""

    def __init__(self, state: State, containers: ListContainers, growing: DynamicLists) -> None:
        self.state, self.containers, self.growing = state, containers, growing
        self.numbers = NumberLists(state, containers, growing)
        self.nested = NestedLists(state, containers, growing, self)
        self.tensors = RaggedTensors(state, growing, self)
        self._emit, self._symbolic = growing.scalars.emit, growing.tensors.symbolic

    def new(self, cell: Site, form: Form, elements: Sequence[Value]) -> tuple[ListRef, ...]:
        """Make the lists of rows, of their places and of their numbers."""
        lists = tuple(self.containers.new_list([]) for _ in range(3))
        for element in elements:
            self._put(lists, self.numbers.taken(form, element, cell))
        return lists

    def stored(self, target: Any, elements: Sequence[Value], op: str) -> None:
        """Give a list other elements."""
        self._clear(target)
        for element in elements:
            self._append(target, element)

    def is_growing(self, target: Any) -> bool:
        """Whether a list has elements, or may have some."""
        return any(map(self.containers.is_growing, self.lists(target)))

    def elements(self, target: Any) -> tuple[Value, ...]:
        """Return the elements of a list that has none."""
        return ()

    def method(self, name: str) -> Callable[..., Value | None] | None:
        """Return what implements an op; None if nothing does."""
        if name in ("cat", "concat", "concatenate", "stack"):
            return self.tensors.stack if name == "stack" else self.tensors.cat
        return getattr(self, _METHODS[name]) if name in _METHODS else None

    def is_in_parts(self, value: Value) -> bool:
        """Whether a value is such a list."""
        form = self.state.heap.forms.get(value.cell) if isinstance(value, ListRef) else None
        return form is not None and form.parts

    def with_formed(self, name: str, target: ListRef, other: ListRef) -> ListRef:
        """Emit `+`, `+=` or `extend` of another list and one in parts.

        Raises:
            OtherForm: the list that is extended has to be in parts as well.
        """
        if name != "add":
            as_formed(self.state, target.cell, other.cell, DIFFERENT_LENGTHS)
        form = self.state.heap.forms[other.cell]
        made = self._made(form, *self.new((), form, []))
        self._extend(made, target)
        self._extend(made, other)
        return made

    # Parts.

    def lists(self, target: Any) -> tuple[ListRef, ...]:
        """The list of rows, and those of their places and numbers."""
        return self.state.heap.contents[target.cell]  # type: ignore[return-value]

    def _form(self, target: Any) -> Form:
        return self.state.heap.forms[target.cell]

    def _made(self, form: Form, *lists: Value) -> ListRef:
        """A new list of these parts."""
        cell = self.state.site()
        self.state.heap.contents[cell], self.state.heap.forms[cell] = lists, form
        self.state.heap.copied.discard(cell)
        self.state.heap.shared.pop(cell, None)
        return ListRef(cell)

    def rows(self, target: Any) -> DynamicListValue | None:
        """All rows; None if there has been no element."""
        contents = self.state.heap.contents[self.lists(target)[0].cell]
        return contents[0] if is_growing(contents) else None  # type: ignore[return-value]

    def present(self, target: Any) -> DynamicListValue:
        """All rows of a list that has elements."""
        value = self.rows(target)
        assert value is not None  # without any, there is none at an index
        return value

    def ints(self, target: ListRef) -> DynamicListValue:
        """A list of places or numbers as one of dynamic length."""
        return self.growing.lifted(self.state.heap.contents[target.cell], _ZERO)

    def at(self, target: ListRef, index: Value) -> Value:
        return self.containers.call("aten::__getitem__", [target, index])[0]

    def known_at(self, target: ListRef, position: Value) -> Value:
        """An element of a list of ints, at a place that is known to exist, counted from the start."""
        contents = self.state.heap.contents[target.cell]
        return self.growing.row(contents[0], position) if is_growing(contents) else self.at(target, position)  # type: ignore[arg-type]

    def _put(self, lists: Sequence[ListRef], element: Value) -> None:
        """Put a tensor behind the others."""
        rows, places, numbers = lists
        contents = self.state.heap.contents[rows.cell]
        like = self._like(element)
        if is_growing(contents):
            value: DynamicListValue = contents[0]  # type: ignore[assignment]
            common_element(self.state, [value, like])
        else:
            value = promote(self.state, (), common_element(self.state, [like]), kept=_LEAST)
        place, number = value.length, self._symbolic(expr_of(element.fake.shape[0]))  # type: ignore[attr-defined]
        end = self._emit("add", [place, number])
        value = self.growing.reserve(value, end)
        self._store_rows(rows, self._with_rows(value, element, place, end), end)
        self.containers.call("aten::append", [places, place])
        self.containers.call("aten::append", [numbers, number])

    def _like(self, element: Value) -> Element:
        """What the rows of an element are like."""
        if not isinstance(element, TensorValue) or element.fake.dim() == 0:
            raise self.state.unsupported(
                "a list of dynamic length with tensors of different lengths and others; keep these in a list of their own"
            )
        sizes = [expr_of(size) for size in element.fake.shape[1:]]
        known = tuple(int(e) if e.is_Integer else e if self.state.emitter.visible(e) else None for e in sizes)
        return Element(torch.Tensor, element.fake.dtype, element.fake.device, known)

    def _with_rows(self, value: DynamicListValue, element: Any, begin: Value, end: Value) -> TensorValue:
        """Emit the buffer with an element's rows from `begin` up to `end`."""
        self.state.storages.use(element, "append")
        element.merged = True
        return put_rows(self.state, value, element, _expr(begin), _expr(end))

    def _store_rows(self, rows: ListRef, buffer: TensorValue, length: Value) -> None:
        self.growing.capacity.add(rows.cell, math.inf)
        self.containers.store(rows, (DynamicListValue(buffer, length, torch.Tensor),), "append")

    def natural(self, name: str, value: Value) -> Value:
        """An int that is not negative, however it was computed."""
        if isinstance(value, ConstValue):
            return value
        assert isinstance(value, ScalarValue)
        symbols, emitter = self.state.symbols, self.state.emitter
        symbol = symbols.integer((name, value.sym.node.expr), low=0)
        if emitter.scope.definition(symbol.node.expr) is None:
            emitter.define(symbol.node.expr, lambda: value.ssa)
        return self._symbolic(symbol.node.expr)

    def part(self, value: DynamicListValue, begin: Value, count: Value) -> TensorValue:
        """Emit a view of `count` rows from `begin` on."""
        first, number = self.natural("place of rows", begin), self.natural("number of rows", count)
        fake, symbols = value.buffer.fake, self.state.symbols
        with symbols.mode, symbols.transaction():
            sizes = (symbols.to_symint(_expr(number)), *fake.shape[1:])
            out = fake.as_strided(sizes, fake.stride(), symbols.to_symint(_expr(first)) * fake.stride()[0])
        return self.growing.tensors.views.slice(value.buffer, 0, first, self._emit("add", [first, number]), out)

    def _moved(self, places: ListRef, by: Value) -> ListRef:
        """A new list of the places, each so much further."""
        contents = self.state.heap.contents[places.cell]
        if not is_growing(contents):
            return self.containers.new_list([self._emit("add", [place, by]) for place in contents])
        value: DynamicListValue = contents[0]  # type: ignore[assignment]
        (moved,) = self.growing.tensors.call_arguments(torch.ops.aten.add.Scalar, [self.growing.rows(value), by, _ONE])
        return self.containers.new_list([DynamicListValue(moved, value.length, int)])

    def _either(self, condition: Value, then: Callable[[], list[Value]], otherwise: list[Value]) -> list[Value]:
        if isinstance(condition, ConstValue):
            return then() if condition.value else otherwise
        return self.growing.choose(condition, then, lambda: otherwise)

    def _span(self, places: ListRef, numbers: ListRef) -> tuple[Value, Value]:
        """Where the rows of the first of these elements begin and those of the last one end; 0 and 0 without any."""

        def found() -> list[Value]:
            end = self._emit("add", [self.at(places, _LAST), self.at(numbers, _LAST)])
            return [self.at(places, _ZERO), end]

        some = self._emit("gt", [self.length(numbers), _ZERO])
        begin, end = self._either(some, found, [_ZERO, _ZERO])
        return self.natural("place of rows", begin), self.natural("end of rows", end)

    def length(self, numbers: ListRef) -> Value:
        return self.containers.call("aten::len", [numbers])[0]

    # Ops.

    def length_of(self, target: Any) -> Value:
        return self.length(self.lists(target)[1])

    def _getitem(self, target: Any, index: Value) -> Value:
        _, places, numbers = self.lists(target)
        form = self._form(target)
        if form.written:
            index = self._position(target, index, "IndexError: list index out of range")
        at = self.known_at if form.written else self.at
        begin, count = at(places, index), at(numbers, index)
        part = self.part(self.present(target), begin, count)
        made = self.numbers.read(target.cell, part, self.natural("number of rows", count))
        self.nested.note(target, made, index if form.written else None)
        return made

    def _append(self, target: Any, element: Value) -> Value:
        position = self.length_of(target) if self._form(target).written else None
        self._put(self.lists(target), self.numbers.taken(self._form(target), element, target.cell))
        self.nested.note(target, element, position)
        return target

    def _extend(self, target: Any, other: Any) -> None:
        if not self.is_in_parts(other) and not self.containers.is_growing(other):
            for element in self.containers.elements(other):
                self._append(target, element)
            return
        other_rows, other_places, other_numbers = self._parts_of(other)
        if other_rows is None:
            return
        self.numbers.share(target, other)
        rows, places, numbers = self.lists(target)
        value = self.rows(target)
        if value is None:
            value = promote(self.state, (), common_element(self.state, [other_rows]), kept=_LEAST)
        moved = self._moved(other_places, value.length)
        joined = self.growing.joined(value, other_rows)
        self._store_rows(rows, joined.buffer, joined.length)
        self.containers.call("aten::extend", [places, moved])
        self.containers.call("aten::extend", [numbers, other_numbers])

    def _parts_of(self, other: ListRef) -> tuple[DynamicListValue | None, ListRef, ListRef]:
        """The rows, places and numbers of a list, which may be one of tensors of equal lengths."""
        if self.is_in_parts(other):
            _, places, numbers = self.lists(other)
            return self.rows(other), places, numbers
        value: DynamicListValue = self.state.heap.contents[other.cell][0]  # type: ignore[assignment]
        if value.kind is not torch.Tensor or value.buffer.fake.dim() < 2:
            raise self.state.unsupported(
                "a list of dynamic length with tensors of different lengths and others; keep these in a list of their own"
            )
        op, count = self.growing.tensors.call_arguments, value.length
        number, *others = (self._symbolic(expr_of(size)) for size in value.buffer.fake.shape[1:])
        total = self._emit("mul", [count, number])
        (rows,) = op(torch.ops.aten.view.default, [self.growing.rows(value), [total, *others]])
        (order,) = op(torch.ops.aten.arange.default, [count, ConstValue(4), _NONE, _NONE, _NONE])
        (places,) = op(torch.ops.aten.mul.Scalar, [order, number])
        (numbers,) = op(torch.ops.aten.full.default, [[count], number, ConstValue(4), _NONE, _NONE, _NONE])
        ints = (self.containers.new_list([DynamicListValue(each, count, int)]) for each in (places, numbers))
        return DynamicListValue(rows, total, torch.Tensor), *ints  # type: ignore[return-value]

    def _iadd(self, target: Any, other: Value) -> Value:
        self._extend(target, other)
        return target

    def _add(self, target: Any, other: Value) -> Value:
        made = self._copy(target)
        self._extend(made, other)
        return made

    def _clear(self, target: Any) -> None:
        self.nested.forget(target)
        for each in self.lists(target):
            self.containers.call("aten::clear", [each])

    def _copy(self, target: Any) -> Value:
        lists = (self.containers.call("aten::copy", [each])[0] for each in self.lists(target))
        made = self._made(self._form(target), *lists)
        self.numbers.share(target, made)
        return made

    def _slice(self, target: Any, start: Value, end: Value, step: Value = _ONE) -> Value:
        if not isinstance(step, ConstValue) or step.value != 1:
            raise self.state.unsupported(
                "a step in a slice of a list of tensors of different lengths; take its elements in a loop"
            )
        _, *ints = self.lists(target)
        places, numbers = (self.containers.call("aten::slice", [each, start, end, step])[0] for each in ints)
        value = self.rows(target)
        if value is None:
            return self._made(self._form(target), *(self.containers.new_list([]) for _ in range(3)))
        first, last = self._span(places, numbers)  # type: ignore[arg-type]
        count = self.natural("number of rows", self._emit("sub", [last, first]))
        rows = DynamicListValue(self.part(value, first, count), count, torch.Tensor)
        moved = self._moved(places, self._emit("neg", [first]))  # type: ignore[arg-type]
        made = self._made(self._form(target), self.containers.new_list([rows]), moved, numbers)
        self.numbers.share(target, made)
        return made

    def _reverse(self, target: Any) -> None:
        raise self.state.unsupported("reverse of a list of tensors of different lengths; go through it backwards")

    # One element in the place of another, or of none.

    def _set_item(self, target: Any, index: Value, element: Value) -> Value:
        element = self.numbers.taken(self._form(target), element, target.cell)
        self._like(element)
        position = self._position(target, index, "IndexError: list assignment index out of range")
        self._changed(target, position, _ONE, element)
        return target

    def _insert(self, target: Any, index: Value, element: Value) -> None:
        element = self.numbers.taken(self._form(target), element, target.cell)
        self._like(element)
        if self.rows(target) is None:
            self._append(target, element)
            return
        numbers = self.ints(self.lists(target)[2])
        self._changed(target, self.growing.clamped(numbers, index, _ZERO), _ZERO, element)

    def _pop(self, target: Any, index: Value = _LAST) -> Value:
        rows, places, numbers = self.lists(target)
        if not isinstance(index, ConstValue) or index.value != -1:
            position = self._position(target, index, "IndexError: pop index out of range")
            element = self._getitem(target, position)
            self._changed(target, position, _ONE, None)
            return element
        if self.rows(target) is None:
            raise ProgramRaises("IndexError: pop from empty list")
        element = self._getitem(target, index)
        self.nested.forget(target)
        (start,) = self.containers.call("aten::pop", [places, index])
        self.containers.call("aten::pop", [numbers, index])
        self.containers.store(rows, (DynamicListValue(self.present(target).buffer, start, torch.Tensor),), "pop")
        return element

    def _delete(self, target: Any, index: Value) -> None:
        position = self._position(target, index, "IndexError: list assignment index out of range")
        self._changed(target, position, _ONE, None)

    def _position(self, target: Any, index: Value, message: str) -> Value:
        """An index counted from the start, checked."""
        if self.rows(target) is None:
            raise ProgramRaises(message)
        return self.growing.position(self.ints(self.lists(target)[2]), index)

    def _changed(self, target: Any, position: Value, old: Value, element: Value | None) -> None:
        self.nested.forget(target)
        self.replace_one(target, position, old, element)

    def replace_one(self, target: Any, position: Value, old: Value, element: Value | None) -> None:
        """Put an element, or none, in the place of as many as `old` says, 0 or 1."""
        emit, value = self._emit, self.present(target)
        rows, places, numbers = self.lists(target)
        after = emit("add", [position, old])
        before, behind = ([_NONE, position], [after, _NONE])
        if old is _ONE:
            found = self.at(places, position)
        else:
            inside = emit("lt", [position, self.length(numbers)])
            (found,) = self._either(inside, lambda: [self.at(places, position)], [value.length])
        begin = self.natural("place of rows", found)
        removed = self.at(numbers, position) if old is _ONE else _ZERO
        number = _ZERO if element is None else self._symbolic(expr_of(element.fake.shape[0]))  # type: ignore[attr-defined]
        end, stop = emit("add", [begin, removed]), emit("add", [begin, number])
        rest = self.natural("number of rows", emit("sub", [value.length, end]))
        total = emit("add", [stop, rest])
        like: list[Value | Element] = [value] if element is None else [value, self._like(element)]
        made = promote(self.state, (), common_element(self.state, like), capacity=_expr(total))
        pieces = [(self.part(value, _ZERO, begin), _ZERO, begin), (self.part(value, end, rest), stop, total)]
        for piece in pieces if element is None else [*pieces, (element, begin, stop)]:
            made = DynamicListValue(self._with_rows(made, *piece), total, torch.Tensor)
        moved = {id(places): emit("sub", [number, removed]), id(numbers): _ZERO}
        for each, own in ((places, begin), (numbers, number)):
            (left,) = self.containers.call("aten::slice", [each, *before, _ONE])
            (right,) = self.containers.call("aten::slice", [each, *behind, _ONE])
            if element is not None:
                self.containers.call("aten::append", [left, own])
            self.containers.call("aten::extend", [left, self._moved(right, moved[id(each)])])  # type: ignore[arg-type]
            self.growing.capacity.add(each.cell, math.inf)
            self.containers.store(each, self.state.heap.contents[left.cell], "setitem")  # type: ignore[attr-defined]
        self._store_rows(rows, made.buffer, total)


_METHODS = {
    "len": "length_of",
    "getitem": "_getitem",
    "append": "_append",
    "extend": "_extend",
    "iadd": "_iadd",
    "add": "_add",
    "clear": "_clear",
    "copy": "_copy",
    "list": "_copy",
    "slice": "_slice",
    "set_item": "_set_item",
    "insert": "_insert",
    "pop": "_pop",
    "reverse": "_reverse",
    "Delete": "_delete",
}


def _expr(value: Value) -> Any:
    """The expression of an int."""
    assert isinstance(value, (ConstValue, ScalarValue))
    return expr_of(value.sym) if isinstance(value, ScalarValue) else sympy.Integer(value.value)
