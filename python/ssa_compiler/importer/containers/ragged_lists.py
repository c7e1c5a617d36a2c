"""Lists of dynamic length whose elements are tensors of different lengths: the rows of all elements in one list, and
two lists that say where those of each begin, and how many there are.

Such a list is a plain one until its length turns out to be dynamic; then the program is imported again with that list
in parts (`Form`). An element that is read is a view of the rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import torch

from ..values.diagnostics import ProgramRaises
from ..values.dynamic_list_value import DynamicListValue, Element, common_element, is_growing, promote, put_rows
from ..values.plan import Form
from ..values.state import State
from ..values.symbols import expr_of
from ..values.values import ConstValue, ListRef, ScalarValue, TensorValue, Value
from .dynamic_lists import DynamicLists

__all__ = ["RaggedLists"]

_ZERO, _ONE, _LAST = ConstValue(0), ConstValue(1), ConstValue(-1)
_LEAST = 4  # rows of a buffer whose final size is not known


class _Containers(Protocol):
    """What such lists need of `containers.Containers`."""

    def is_growing(self, value: Value) -> bool: ...
    def elements(self, value: Value) -> tuple[Value, ...]: ...
    def new_list(self, elements: Sequence[Value]) -> ListRef: ...
    def store(self, value: Any, elements: Sequence[Value], op: str) -> None: ...
    def call(self, name: str, args: Sequence[Value]) -> list[Value]: ...


class RaggedLists:
    """Implements such lists; the methods are named like the ops."""

    def __init__(self, state: State, containers: _Containers, growing: DynamicLists) -> None:
        self.state, self.containers, self.growing = state, containers, growing

    def new(self, elements: Sequence[Value]) -> tuple[ListRef, ...]:
        """Make the lists of rows, of their places and of their numbers."""
        lists = tuple(self.containers.new_list([]) for _ in range(3))
        for element in elements:
            self._add(lists, element)
        return lists

    def stored(self, target: Any, elements: Sequence[Value]) -> None:
        """Give a list other elements."""
        self._clear(target)
        for element in elements:
            self._append(target, element)

    def is_growing(self, target: Any) -> bool:
        """Whether a list has elements, or may have some."""
        return any(map(self.containers.is_growing, self._lists(target)))

    def elements(self, target: Any) -> tuple[Value, ...]:
        """Return the elements of a list that has none."""
        return ()

    def method(self, name: str) -> Callable[..., Value | None] | None:
        """Return what implements an op; None if nothing does."""
        return getattr(self, f"_{name}", None)

    def _lists(self, target: Any) -> tuple[ListRef, ...]:
        """The list of rows, and those of their places and numbers."""
        return self.state.heap.contents[target.cell]  # type: ignore[return-value]

    def _rows(self, target: Any) -> DynamicListValue | None:
        """All rows; None if there has been no element."""
        contents = self.state.heap.contents[self._lists(target)[0].cell]
        return contents[0] if is_growing(contents) else None  # type: ignore[return-value]

    def _add(self, lists: Sequence[ListRef], element: Value) -> None:
        """Put a tensor behind the others."""
        state, emit = self.state, self.growing.scalars.emit
        if not isinstance(element, TensorValue) or element.fake.dim() == 0:
            raise state.unsupported("a list of dynamic length with tensors of different lengths and other values")
        rows, places, numbers = lists
        fake, contents = element.fake, state.heap.contents[rows.cell]
        sizes = [expr_of(size) for size in fake.shape[1:]]
        known = tuple(int(e) if e.is_Integer else e if state.emitter.visible(e) else None for e in sizes)
        like = Element(torch.Tensor, fake.dtype, fake.device, known)
        if is_growing(contents):
            value: DynamicListValue = contents[0]  # type: ignore[assignment]
            common_element(state, [value, like])
        else:
            value = promote(state, (), common_element(state, [like]), kept=_LEAST)
        place, number = value.length, self.growing.tensors.symbolic(expr_of(fake.shape[0]))
        end = emit("add", [place, number])
        value = self.growing.reserve(value, end)
        state.storages.use(element, "append")
        element.merged = True
        buffer = put_rows(state, value, element, _expr(place), _expr(end))
        self.growing.capacity.add(rows.cell, math.inf)
        self.containers.store(rows, (DynamicListValue(buffer, end, torch.Tensor),), "append")
        self.containers.call("aten::append", [places, place])
        self.containers.call("aten::append", [numbers, number])

    def _symbol(self, name: str, value: Value) -> Any:
        """An int of one of the lists, which is not negative."""
        if isinstance(value, ConstValue):
            return value.value
        assert isinstance(value, ScalarValue)
        symbols, emitter = self.state.symbols, self.state.emitter
        symbol = symbols.integer((name, value.sym.node.expr), low=0)
        if emitter.scope.definition(symbol.node.expr) is None:
            emitter.define(symbol.node.expr, lambda: value.ssa)
        return symbol

    # Ops.

    def _len(self, target: Any) -> Value:
        return self.containers.call("aten::len", [self._lists(target)[1]])[0]

    def _getitem(self, target: Any, index: Value) -> Value:
        _, places, numbers = self._lists(target)
        (start,), (number,) = (self.containers.call("aten::__getitem__", [each, index]) for each in (places, numbers))
        value = self._rows(target)
        assert value is not None  # without elements there is none at that index
        first, count = self._symbol("place of rows", start), self._symbol("number of rows", number)
        fake = value.buffer.fake
        with self.state.symbols.mode, self.state.symbols.transaction():
            out = fake.as_strided((count, *fake.shape[1:]), fake.stride(), first * fake.stride()[0])
        symbolic = self.growing.tensors.symbolic
        begin = symbolic(expr_of(first))
        end = self.growing.scalars.emit("add", [begin, symbolic(expr_of(count))])
        return self.growing.tensors.views.slice(value.buffer, 0, begin, end, out)

    def _append(self, target: Any, element: Value) -> Value:
        self._add(self._lists(target), element)
        return target

    def _extend(self, target: Any, other: Value) -> None:
        for element in self.containers.elements(other):
            self._append(target, element)

    def _iadd(self, target: Any, other: Value) -> Value:
        self._extend(target, other)
        return target

    def _clear(self, target: Any) -> None:
        for each in self._lists(target):
            self.containers.call("aten::clear", [each])

    def _pop(self, target: Any, index: Value = _LAST) -> Value:
        if not isinstance(index, ConstValue) or index.value != -1:
            raise self.state.unsupported("pop anywhere but at the end of a list of tensors of different lengths")
        rows, places, numbers = self._lists(target)
        element = self._getitem(target, index)
        (start,) = self.containers.call("aten::pop", [places, index])
        self.containers.call("aten::pop", [numbers, index])
        value = self._rows(target)
        assert value is not None
        self.containers.store(rows, (DynamicListValue(value.buffer, start, value.kind),), "pop")
        return element

    def _copy(self, target: Any) -> Value:
        cell = self.state.site()
        form: Form = self.state.heap.forms[target.cell]
        copies = [self.containers.call("aten::copy", [each])[0] for each in self._lists(target)]
        self.state.heap.contents[cell], self.state.heap.forms[cell] = tuple(copies), form
        return ListRef(cell)

    _list = _copy

    def _cat(self, target: Any, dim: Value = _ZERO) -> Value:
        value, message = self._rows(target), "ValueError: torch.cat(): expected a non-empty list of Tensors"
        if value is None:
            raise ProgramRaises(message)
        if self.state.dim(dim, value.buffer.fake.dim()) != 0:
            raise self.state.unsupported("cat of tensors of different lengths along another dimension")
        count = self._len(target)
        self.growing.scalars.require(self.growing.scalars.emit("gt", [count, _ZERO]), message)
        return self.growing.stacked(value)

    _concat = _concatenate = _cat


def _expr(value: Value) -> Any:
    """The expression of an int."""
    assert isinstance(value, (ConstValue, ScalarValue))
    return expr_of(value.sym) if isinstance(value, ScalarValue) else expr_of(value.value)
