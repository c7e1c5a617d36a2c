"""Tensors that hold a number of the program: a trace computes sizes with tensors, which say no more about them."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from ..values.state import State
from ..values.values import ConstValue, ScalarValue, TensorValue, Value, made_at
from .scalar_ops import ScalarOps

__all__ = ["NumberTensors"]

_ARITHMETIC = {"aten::add": "add", "aten::sub": "sub", "aten::mul": "mul", "aten::floor_divide": "floordiv"}


class NumberTensors:
    """Remembers the ints in tensors that `prim::NumToTensor` made, or that were computed from such.

    Args:
        state: the interpretation.
        scalars: emits scalar ops.
    """

    def __init__(self, state: State, scalars: ScalarOps) -> None:
        self._state, self._scalars = state, scalars
        self._numbers: dict[int, tuple[TensorValue, Value, int]] = {}

    def note(self, tensor: TensorValue, number: Value) -> None:
        """Note the int that a new tensor holds."""
        if self._scalars.kind(number) is int:
            self._state.storages.questioned |= set(map(made_at, tensor.storages))
            self._numbers[id(tensor)] = (tensor, number, self._state.storages.clock)

    def of(self, tensor: Value) -> Value | None:
        """Return the int in a tensor, None if it is not known."""
        known, number, clock = self._numbers.get(id(tensor), (None, None, 0))
        if known is None or any(
            self._state.storages.stamps.get(made_at(storage), 0) > clock for storage in known.storages
        ):
            return None
        return number

    def follow(self, kind: str, arguments: Sequence[Value], results: Sequence[Value]) -> None:
        """Note the result of an op on such tensors.

        Args:
            kind: the op, `aten::mul`.
            arguments: its operands.
            results: its results.
        """
        result = results[0] if len(results) == 1 else None
        if not self._numbers or kind not in _ARITHMETIC or not isinstance(result, TensorValue):
            return
        if result.fake.dim() or result.fake.dtype != torch.int64 or self.of(arguments[0]) is None:
            return
        numbers = [self.of(value) if isinstance(value, TensorValue) else value for value in arguments[:2]]
        scale = arguments[2] if len(arguments) > 2 else ConstValue(1)
        known = [number for number in numbers if isinstance(number, (ConstValue, ScalarValue))]
        if len(known) == 2 and isinstance(scale, ConstValue) and scale.value == 1:
            self.note(result, self._scalars.emit(_ARITHMETIC[kind], known))
