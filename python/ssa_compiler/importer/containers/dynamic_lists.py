"""TorchScript's ops on lists whose length is dynamic (`dynamic_list_value`), and how much capacity such lists have.

A loop with a known trip count reserves capacity for all that it may append before it starts; the buffer then keeps its
size, and is written row by row. Everywhere else an append looks whether there is capacity, and doubles the buffer if
there is none.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import sympy
import torch

from ...errors import UnsupportedOpError
from ..tensors.scalar_ops import ScalarOps
from ..tensors.tensor_ops import TensorOps
from ..values.diagnostics import ProgramRaises
from ..values.dynamic_list_value import (
    DynamicListValue,
    capacity_of,
    common_element,
    enlarged,
    flipped,
    is_growing,
    promote,
    put,
    put_rows,
    rolled,
)
from ..values.state import State
from ..values.symbols import expr_of
from ..values.values import ConstValue, ListRef, ScalarValue, Site, TensorValue, Value
from .dynamic_search import DynamicSearch
from .reserved_capacity import ReservedCapacity

__all__ = ["DynamicLists"]

_ZERO, _ONE, _LAST, _FALSE = ConstValue(0), ConstValue(1), ConstValue(-1), ConstValue(False)
_OUT_OF_RANGE = "IndexError: list index out of range"
_MOST_READ = 16  # numbers of a buffer that are read one by one
_LEAST = 4  # rows of a buffer whose final size is not known

Choose = Callable[[Value, Callable[[], list[Value]], Callable[[], list[Value]]], list[Value]]


class DynamicLists(DynamicSearch):
    """Implements ops on such lists; the methods are named like those of `Containers`.

    Each takes the list's cell and contents, and returns its new contents (None if it does not change) and its result.
    """

    def __init__(self, state: State, tensors: TensorOps, scalars: ScalarOps, choose: Choose) -> None:
        """Create it.

        Args:
            state: the interpretation.
            tensors: emits tensor ops.
            scalars: emits scalar ops.
            choose: emits two alternatives under a dynamic condition.
        """
        self.state, self.tensors, self.scalars, self.choose = state, tensors, scalars, choose
        self.capacity = ReservedCapacity()
        tensors.known_numbers = self.known_numbers

    def method(self, name: str) -> Callable[..., tuple[DynamicListValue | None, Value | None]] | None:
        """Return what implements `append`, ...; None if nothing does."""
        return self.set_item if name == "set_item" else getattr(self, f"_{name}", None)

    def reserve(self, value: DynamicListValue, rows: Value) -> DynamicListValue:
        """Emit that the buffer has at least so many rows; it grows to at least twice its size."""
        have = self._number(capacity_of(value))
        enough = self.scalars.emit("le", [rows, have])
        if isinstance(enough, ConstValue) and enough.value:
            return value

        def more() -> list[Value]:
            twice = self.scalars.emit("mul", [have, ConstValue(2)])
            wanted = self.scalars.emit("max", [self.scalars.emit("max", [rows, twice]), ConstValue(_LEAST)])
            return [enlarged(self.state, value, _expr(wanted))]

        if isinstance(enough, ConstValue):
            (buffer,) = more()
        else:
            (buffer,) = self.choose(enough, lambda: [value.buffer], more)
        assert isinstance(buffer, TensorValue)
        return DynamicListValue(buffer, value.length, value.kind)

    def entered(self, contents: Sequence[Value], values: Sequence[Value], more: Value | None) -> DynamicListValue:
        """Emit the list as a loop that changes its length gets it.

        Args:
            contents: what it holds before the loop.
            values: what it may hold at the end of an iteration.
            more: how many elements the loop may add; None if that is not known.
        """
        if is_growing(contents):
            value = contents[0]
            assert isinstance(value, DynamicListValue)
            return value if more is None else self.reserve(value, self.scalars.emit("add", [value.length, more]))
        element = common_element(self.state, [*contents, *values])
        rows = None if more is None else _expr(self.scalars.emit("add", [ConstValue(len(contents)), more]))
        return promote(self.state, contents, element, rows, kept=_LEAST)

    def lifted(self, contents: Sequence[Value], like: Value) -> DynamicListValue:
        """Return the contents of any list as those of such a list."""
        if is_growing(contents):
            return contents[0]  # type: ignore[return-value]
        return promote(self.state, contents, common_element(self.state, [like, *contents]))

    def _number(self, expr: Any) -> Value:
        return self.tensors.symbolic(expr)

    # Elements.

    def position(self, value: DynamicListValue, index: Value, message: str = _OUT_OF_RANGE) -> Value:
        """Emit an index counted from the start, checked."""
        state, length = self.state, _expr(value.length)
        expr = _expr(index)
        state.check(sympy.Lt(expr, length), message)
        state.check(sympy.Ge(expr, -length), message)
        low = state.symbols.known(sympy.Ge(expr, 0))
        if low:
            return index
        from_end = self.scalars.emit("add", [value.length, index])
        if low is False:
            return from_end
        negative = self.scalars.emit("lt", [index, _ZERO])
        (chosen,) = self.choose(negative, lambda: [from_end], lambda: [index])
        return chosen

    def row(self, value: DynamicListValue, position: Value) -> Value:
        """Emit a row of the buffer: a view, or a number."""
        fake = value.buffer.fake
        if isinstance(position, ScalarValue):
            # Known to be in range, however the bounds of the symbol.
            key = ("row", position.sym.node.expr)
            symbol = self.state.symbols.integer(key, low=0)
            if self.state.emitter.scope.definition(symbol.node.expr) is None:
                self.state.emitter.define(symbol.node.expr, lambda: position.ssa)
            offset: Any = symbol * fake.stride()[0]
        else:
            offset = position.value * fake.stride()[0]  # type: ignore[attr-defined]
        with self.state.symbols.mode, self.state.symbols.transaction():
            out = fake.as_strided(fake.shape[1:], fake.stride()[1:], offset)
        row = self.tensors.views.select(value.buffer, 0, position, out)
        return row if value.kind is torch.Tensor else self.scalars.item(row, value.kind)

    def known_numbers(self, contents: Sequence[Value]) -> tuple[Value, ...] | None:
        """Return the numbers in a list of known length that has a buffer, as it is changed at dynamic places.

        Returns:
            None if it is another list.
        """
        value = contents[0] if is_growing(contents) else None
        if not isinstance(value, DynamicListValue) or value.kind is torch.Tensor:
            return None
        if not isinstance(value.length, ConstValue) or value.length.value > _MOST_READ:
            return None
        return tuple(self.row(value, ConstValue(place)) for place in range(value.length.value))

    def rows(self, value: DynamicListValue, start: Value = _ZERO, end: Value | None = None) -> TensorValue:
        """Emit the elements from `start` up to `end` as one tensor, a view of the buffer."""
        end = value.length if end is None else end
        if _expr(end) == capacity_of(value) and _expr(start) == 0:
            return value.buffer
        fake, symbols = value.buffer.fake, self.state.symbols
        count = symbols.to_symint(_expr(self.scalars.emit("sub", [end, start])))
        with symbols.mode, symbols.transaction():
            offset = symbols.to_symint(_expr(start) * expr_of(fake.stride()[0]))
            out = fake.as_strided((count, *fake.shape[1:]), fake.stride(), offset)
        return self.tensors.views.slice(value.buffer, 0, start, end, out)

    # Ops.

    def _len(self, cell: Site, value: DynamicListValue) -> tuple[None, Value]:
        return None, value.length

    def _getitem(self, cell: Site, value: DynamicListValue, index: Value) -> tuple[None, Value]:
        return None, self.row(value, self.position(value, index))

    def set_item(
        self, cell: Site, value: DynamicListValue, index: Value, element: Value
    ) -> tuple[DynamicListValue, None]:
        """Emit the list with another element in one place."""
        position = self.position(value, index)
        return DynamicListValue(put(self.state, value, element, position), value.length, value.kind), None

    def appended(self, value: DynamicListValue, element: Value, has_capacity: bool) -> DynamicListValue:
        """Emit the list with one more element."""
        more = self.scalars.emit("add", [value.length, _ONE])
        if not has_capacity:
            value = self.reserve(value, more)
        return DynamicListValue(put(self.state, value, element, value.length), more, value.kind)

    def _append(
        self, cell: Site, value: DynamicListValue, element: Value
    ) -> tuple[DynamicListValue | None, Value | None]:
        self.capacity.add(cell, 1)
        return self.appended(value, element, cell in self.capacity.reserved), None

    def _extend(
        self, cell: Site, value: DynamicListValue, other: Value
    ) -> tuple[DynamicListValue | None, Value | None]:
        contents = self._contents(other)
        if is_growing(contents):
            self.capacity.add(cell, math.inf)
            return self.joined(value, contents[0]), None  # type: ignore[arg-type]
        self.capacity.add(cell, len(contents))
        for element in contents:
            value = self.appended(value, element, cell in self.capacity.reserved)
        return value, None

    _iadd = _extend

    def joined(self, value: DynamicListValue, other: DynamicListValue) -> DynamicListValue:
        """Emit the list with the elements of another one behind its own."""
        common_element(self.state, [value, other])
        rows, count = self.rows(other), self.scalars.emit("add", [value.length, other.length])
        value = self.reserve(value, count)
        buffer = put_rows(self.state, value, rows, _expr(value.length), _expr(count))
        return DynamicListValue(buffer, count, value.kind)

    def repeated(self, value: DynamicListValue, count: Value) -> DynamicListValue:
        """Emit a new list: the numbers in this one, so many times."""
        if value.kind is torch.Tensor:
            raise self.state.unsupported("list * int with tensors and a dynamic int; append them in a loop")
        emit, rows = self.scalars.emit, self.rows(value)
        times: Any = emit("max", [count, _ZERO])
        length = emit("mul", [value.length, times])
        (made,) = self.tensors.call_arguments(torch.ops.aten.repeat.default, [rows, [times]])
        return DynamicListValue(made, length, value.kind)

    def _imul(self, cell: Site, value: DynamicListValue, count: Value) -> tuple[DynamicListValue | None, Value | None]:
        self.capacity.add(cell, math.inf)
        return self.repeated(value, count), None

    def _reverse(self, cell: Site, value: DynamicListValue) -> tuple[DynamicListValue | None, Value | None]:
        if cell in self.capacity.reserved:
            # The buffer loses the capacity that the loop has made.
            raise self.state.unsupported("reverse of a list in the loop that appends to it; reverse it after the loop")
        return self._reversed(value), None

    def _reversed(self, value: DynamicListValue) -> DynamicListValue:
        return DynamicListValue(flipped(self.state, self.rows(value)), value.length, value.kind)

    def _sort(self, cell: Site, value: DynamicListValue, reverse: Value = _FALSE) -> tuple[DynamicListValue, None]:
        if cell in self.capacity.reserved:
            raise self.state.unsupported("sort of a list in the loop that appends to it; sort it after the loop")
        return self.ordered(value, reverse), None

    def ordered(self, value: DynamicListValue, reverse: Value = _FALSE) -> DynamicListValue:
        """Emit the elements, which are numbers, in the order of `sort(reverse=reverse)`."""
        if value.kind not in (int, float, bool) or not isinstance(reverse, ConstValue):
            raise self.rejected()
        rows = self.rows(value)
        self._without_nan(value, rows, "sort")
        made = self.tensors.call_or_inline(torch.ops.aten.sort.stable, [rows, ConstValue(True), _LAST, reverse])[0]
        return DynamicListValue(made, value.length, value.kind)

    def _contents(self, value: Value) -> tuple[Value, ...]:
        assert isinstance(value, ListRef)
        return self.state.heap.contents[value.cell]

    def added(self, value: DynamicListValue, other: Value) -> DynamicListValue:
        """Emit a new list: this one, then the elements of `other`."""
        return self._extend((), value, other)[0]  # type: ignore[return-value]

    def _pop(
        self, cell: Site, value: DynamicListValue, index: Value = _LAST
    ) -> tuple[DynamicListValue | None, Value | None]:
        place = index.value if isinstance(index, ConstValue) else None
        if place not in (0, -1):
            position = self.position(value, index, "IndexError: pop index out of range")
            return self._without(value, position), self.row(value, position)
        self.state.check(sympy.Gt(_expr(value.length), 0), "IndexError: pop from empty list")
        last = self.scalars.emit("sub", [value.length, _ONE])
        if place == 0:
            element = self.row(value, _ZERO)
            return DynamicListValue(rolled(self.state, value, -1), last, value.kind), element
        return DynamicListValue(value.buffer, last, value.kind), self.row(value, last)

    def _without(self, value: DynamicListValue, position: Value) -> DynamicListValue:
        """Emit the list without the element at a position that exists."""
        emit = self.scalars.emit
        following, last = emit("add", [position, _ONE]), emit("sub", [value.length, _ONE])
        tail = self._tail(value, following)
        return DynamicListValue(put_rows(self.state, value, tail, _expr(position), _expr(last)), last, value.kind)

    def _tail(self, value: DynamicListValue, start: Value) -> TensorValue:
        """A copy of the rows from one on; the list has as many."""
        rows = self.rows(value, self._natural(start), self._natural(value.length))
        return self.tensors.call_arguments(torch.ops.aten.clone.default, [rows, ConstValue(None)])[0]

    def _natural(self, number: Value) -> Value:
        """An int that is not negative, however the bounds of its symbol."""
        if not isinstance(number, ScalarValue):
            return number
        symbol = self.state.symbols.integer(("row", number.sym.node.expr), low=0)
        if self.state.emitter.scope.definition(symbol.node.expr) is None:
            self.state.emitter.define(symbol.node.expr, lambda: number.ssa)
        return self._number(symbol.node.expr)

    def _insert(
        self, cell: Site, value: DynamicListValue, index: Value, element: Value
    ) -> tuple[DynamicListValue | None, Value | None]:
        self.capacity.add(cell, 1)
        more = self.scalars.emit("add", [value.length, _ONE])
        if cell not in self.capacity.reserved:
            value = self.reserve(value, more)
        if not (isinstance(index, ConstValue) and index.value == 0):
            position = self.clamped(value, index, _ZERO)
            begin, tail = self.scalars.emit("add", [position, _ONE]), self._tail(value, position)
            moved = DynamicListValue(
                put_rows(self.state, value, tail, _expr(begin), _expr(more)), value.length, value.kind
            )
            return DynamicListValue(put(self.state, moved, element, position), more, value.kind), None
        moved = DynamicListValue(rolled(self.state, value, 1), value.length, value.kind)
        return DynamicListValue(put(self.state, moved, element, _ZERO), more, value.kind), None

    def _Delete(
        self, cell: Site, value: DynamicListValue, index: Value
    ) -> tuple[DynamicListValue | None, Value | None]:
        if isinstance(index, ConstValue) and index.value in (0, -1):
            return self._pop(cell, value, index)[0], None
        message = "IndexError: list assignment index out of range"
        return self._without(value, self.position(value, index, message)), None

    def _clear(self, cell: Site, value: DynamicListValue) -> tuple[DynamicListValue | None, Value | None]:
        return DynamicListValue(value.buffer, _ZERO, value.kind), None

    def sliced(self, value: DynamicListValue, start: Value, end: Value, step: Value) -> DynamicListValue:
        """Emit a new list with the elements that `list[start:end]` has."""
        step_number = step.value if isinstance(step, ConstValue) else None
        if step_number == -1 and all(isinstance(bound, ConstValue) and bound.value is None for bound in (start, end)):
            return self._reversed(value)
        if step_number != 1:
            raise self.state.unsupported(
                "a step in a slice of a list whose length depends on run-time values; stack it first"
            )
        first, last = (self.clamped(value, bound, default) for bound, default in ((start, _ZERO), (end, value.length)))
        last = self.scalars.emit("max", [first, last])
        part = self.rows(value, first, last)
        return DynamicListValue(part, self._number(expr_of(part.fake.shape[0])), value.kind)

    def clamped(self, value: DynamicListValue, bound: Value, default: Value) -> Value:
        """Emit a bound of a slice, from 0 to the length."""
        if isinstance(bound, ConstValue) and bound.value is None:
            return default
        emit, expr = self.scalars.emit, _expr(bound)
        low = self.state.symbols.known(sympy.Ge(expr, 0))
        if low is None:
            negative = emit("lt", [bound, _ZERO])
            (bound,) = self.choose(negative, lambda: [emit("add", [value.length, bound])], lambda: [bound])
        elif not low:
            bound = emit("add", [value.length, bound])
        return emit("min", [emit("max", [bound, _ZERO]), value.length])

    # Reductions.

    def _max(self, cell: Site, value: DynamicListValue, other: Value | None = None) -> tuple[None, Value]:
        return None, self._extreme(value, "max", other)

    def _min(self, cell: Site, value: DynamicListValue, other: Value | None = None) -> tuple[None, Value]:
        return None, self._extreme(value, "min", other)

    def _extreme(self, value: DynamicListValue, name: str, other: Value | None) -> Value:
        """`max(list)` or `min(list)`: of floats the first that is equal to it, as -0.0 is to 0.0."""
        if other is not None or value.kind not in (int, float, bool):
            raise self.rejected()
        self._not_empty(value, f"ValueError: {name}() arg is an empty sequence")
        rows, op = self.rows(value), self.tensors.call_arguments
        self._without_nan(value, rows, name)
        (best,) = op(getattr(torch.ops.aten, f"a{name}").default, [rows, [], ConstValue(False)])
        if value.kind is not float:
            return self.scalars.item(best, value.kind)
        (others,) = op(torch.ops.aten.ne.Tensor, [rows, best])
        none: Any = ConstValue(None)
        count = self.tensors.symbolic(expr_of(rows.fake.shape[0]))
        (places,) = op(torch.ops.aten.arange.default, [count, none, none, none, none])
        (places,) = op(torch.ops.aten.masked_fill.Scalar, [places, others, ConstValue(2**63 - 1)])
        (first,) = op(torch.ops.aten.amin.default, [places, [], ConstValue(False)])
        return self.row(value, self.scalars.item(first, int))

    def _without_nan(self, value: DynamicListValue, rows: TensorValue, name: str) -> None:
        """Reject NaN, where the outcome depends on the order in which Python compares."""
        if value.kind is not float:
            return
        (missing,) = self.tensors.call_arguments(torch.ops.aten.isnan.default, [rows])
        (found,) = self.tensors.call_arguments(torch.ops.aten.any.default, [missing])
        message = f"unsupported: {name} of a list with NaN whose length depends on run-time values"
        self.scalars.require(self.scalars.negated(self.scalars.item(found, bool)), message)

    def rejected(self) -> UnsupportedOpError:
        """The error for an op that is not implemented for such a list."""
        kind = self.state.locations.kind
        return self.state.unsupported_op(f"{kind} on a list whose length depends on run-time values; stack it first")

    def _sum(self, cell: Site, value: DynamicListValue) -> tuple[None, Value]:
        if value.kind not in (int, bool):
            raise self.rejected()
        (total,) = self.tensors.call_arguments(torch.ops.aten.sum.default, [self.rows(value), ConstValue(None)])
        return None, self.scalars.item(total, int)

    # Tensors made of lists.

    def _not_empty(self, value: DynamicListValue, message: str) -> None:
        self.state.check(sympy.Gt(_expr(value.length), 0), message)

    def stacked(self, value: DynamicListValue, dim: int = 0) -> TensorValue:
        """A new tensor in which the elements are side by side along dimension `dim`."""
        rows: Value = self.rows(value)
        if dim:
            order = [*range(1, dim + 1), 0, *range(dim + 1, value.buffer.fake.dim())]
            numbers: list[Any] = [ConstValue(number) for number in order]
            (rows,) = self.tensors.call_arguments(torch.ops.aten.permute.default, [rows, numbers])
        contiguous: Any = ConstValue(0)
        (made,) = self.tensors.call_arguments(torch.ops.aten.clone.default, [rows, contiguous])
        return made

    def _stack(self, cell: Site, value: DynamicListValue, dim: Value = _ZERO) -> tuple[None, Value]:
        self._not_empty(value, "RuntimeError: stack expects a non-empty TensorList")
        return None, self.stacked(value, self.state.dim(dim, value.buffer.fake.dim()))

    def _cat(self, cell: Site, value: DynamicListValue, dim: Value = _ZERO) -> tuple[None, Value]:
        self._not_empty(value, "ValueError: torch.cat(): expected a non-empty list of Tensors")
        return None, self.concatenated(value, dim)

    def concatenated(self, value: DynamicListValue, dim: Value) -> Value:
        """A new tensor in which the elements, of which there are some, are behind one another."""
        rank = value.buffer.fake.dim() - 1
        if rank == 0:
            raise ProgramRaises("RuntimeError: zero-dimensional tensor (at position 0) cannot be concatenated")
        along = self.state.dim(dim, rank)
        stacked = self.stacked(value, along)
        sizes = [self._number(expr_of(size)) for size in stacked.fake.shape]
        merged = self.scalars.emit("mul", [sizes[along], sizes[along + 1]])
        shape: list[Any] = [*sizes[:along], merged, *sizes[along + 2 :]]
        return self.tensors.call_arguments(torch.ops.aten.view.default, [stacked, shape])[0]

    _concat = _concatenate = _cat


def _expr(value: Value) -> Any:
    """The expression of an int."""
    assert isinstance(value, (ConstValue, ScalarValue))
    return expr_of(value.sym) if isinstance(value, ScalarValue) else sympy.Integer(value.value)
