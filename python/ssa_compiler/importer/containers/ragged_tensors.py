"""Tensors that are made of lists in parts (`ragged_lists`): `torch.cat`, `torch.stack`."""

from __future__ import annotations

from typing import Any, Protocol

import torch

from ..values.diagnostics import ProgramRaises
from ..values.dynamic_list_value import DynamicListValue
from ..values.state import State
from ..values.symbols import expr_of
from ..values.values import ConstValue, ListRef, ScalarValue, TensorValue, Value
from .dynamic_lists import DynamicLists

__all__ = ["RaggedTensors"]

_ZERO = ConstValue(0)


class _Parts(Protocol):
    """What they need of `RaggedLists`."""

    def lists(self, target: Any) -> tuple[ListRef, ...]: ...
    def rows(self, target: Any) -> DynamicListValue | None: ...
    def ints(self, target: ListRef) -> DynamicListValue: ...
    def length_of(self, target: Any) -> Value: ...
    def length(self, numbers: ListRef) -> Value: ...
    def at(self, target: ListRef, index: Value) -> Value: ...
    def part(self, value: DynamicListValue, begin: Value, count: Value) -> TensorValue: ...
    def natural(self, name: str, value: Value) -> Value: ...


class RaggedTensors:
    """Implements them; the methods are named like the ops."""

    def __init__(self, state: State, growing: DynamicLists, lists: _Parts) -> None:
        self._state, self._growing, self._lists = state, growing, lists
        self._emit, self._symbolic = growing.scalars.emit, growing.tensors.symbolic

    def cat(self, target: Any, dim: Value = _ZERO) -> Value:
        value = self._not_empty(target, "ValueError: torch.cat(): expected a non-empty list of Tensors")
        if self._state.dim(dim, value.buffer.fake.dim()) == 0:
            return self._growing.stacked(value)
        alike = "RuntimeError: Sizes of tensors must match except in the dimension of cat"
        return self._growing.concatenated(self._equal(target, value, alike), dim)

    def stack(self, target: Any, dim: Value = _ZERO) -> Value:
        value = self._not_empty(target, "RuntimeError: stack expects a non-empty TensorList")
        along = self._state.dim(dim, value.buffer.fake.dim() + 1)
        alike = "RuntimeError: stack expects each tensor to be equal size"
        return self._growing.stacked(self._equal(target, value, alike), along)

    def _not_empty(self, target: Any, message: str) -> DynamicListValue:
        """All rows of a list that is checked to have elements."""
        value = self._lists.rows(target)
        if value is None:
            raise ProgramRaises(message)
        self._growing.scalars.require(self._emit("gt", [self._lists.length_of(target), _ZERO]), message)
        return value

    def _equal(self, target: Any, value: DynamicListValue, message: str) -> DynamicListValue:
        """Emit the list, which has elements, as one of tensors of equal lengths, which is checked."""
        tensors, scalars, numbers = self._growing.tensors, self._growing.scalars, self._lists.lists(target)[2]
        count, number = (
            self._lists.length(numbers),
            self._lists.natural("number of rows", self._lists.at(numbers, _ZERO)),
        )
        (same,) = tensors.call_arguments(
            torch.ops.aten.eq.Scalar, [self._growing.rows(self._lists.ints(numbers)), number]
        )
        (every,) = tensors.call_arguments(torch.ops.aten.all.default, [same])
        scalars.require(scalars.item(every, bool), message)
        rows = self._lists.part(value, _ZERO, self._emit("mul", [count, number]))
        fake, symbols = rows.fake, self._state.symbols
        with symbols.mode, symbols.transaction():
            sizes = [symbols.to_symint(_expr(each)) for each in (count, number)]
            strides = (sizes[1] * fake.stride()[0], *fake.stride())
            out = fake.as_strided((*sizes, *fake.shape[1:]), strides, fake.storage_offset())
        shape = [count, number, *(self._symbolic(expr_of(size)) for size in fake.shape[1:])]
        view: Any = tensors.views.view(torch.ops.aten.view.default, [rows, shape], out, rows)
        return DynamicListValue(view, count, torch.Tensor)


def _expr(value: Value) -> Any:
    """The expression of an int."""
    assert isinstance(value, (ConstValue, ScalarValue))
    return expr_of(value.sym) if isinstance(value, ScalarValue) else value.value
