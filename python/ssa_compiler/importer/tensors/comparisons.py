"""Comparisons, which torch-mlir computes in another dtype than eager: it takes a number for one of the tensor's dtype.

Tensors of two dtypes are compared in the one that eager promotes both to, in which tensors without dimensions count
less; tensors of integers or bools in a floating-point dtype if the number is a float, tensors of bools in int64 if it
is an int.
"""

from __future__ import annotations

from typing import Any

import torch

from ..values.values import ConstValue, ScalarValue, TensorValue
from .tensor_emitter import TensorEmitter

__all__ = ["compared_alike", "is_comparison"]

_COMPARISONS = frozenset(f"aten::{name}" for name in ("eq", "ne", "lt", "le", "gt", "ge"))


def is_comparison(op: Any) -> bool:
    """Whether an op returns, elementwise, how two operands compare."""
    return op._schema.name in _COMPARISONS and not op._schema.is_mutable


def compared_alike(tensors: TensorEmitter, op: Any, arguments: list[Any]) -> list[Any]:
    """Convert the tensors that an op compares to the dtype that it compares in; a number is rounded to it by the
    backend.

    Args:
        tensors: emits conversions.
        op: any OpOverload.
        arguments: its operands.
    """
    if not is_comparison(op) or len(arguments) != 2:
        return arguments
    one, other = arguments
    if not isinstance(one, TensorValue):
        return arguments
    if isinstance(other, TensorValue):
        dtype = torch.result_type(one.fake, other.fake)
        return [_converted(tensors, value, dtype) for value in (one, other)]
    if _kind(other) is float or (one.fake.dtype is torch.bool and _kind(other) is int and not _is_bit(other)):
        return [_converted(tensors, one, torch.result_type(one.fake, _kind(other)(1))), other]
    return arguments


def _kind(number: Any) -> type:
    if isinstance(number, ScalarValue):
        return number.kind
    return type(number.value) if isinstance(number, ConstValue) else type(None)


def _is_bit(number: Any) -> bool:
    """Whether a number is known to be 0 or 1, which bools hold."""
    return isinstance(number, ConstValue) and number.value in (0, 1)


def _converted(tensors: TensorEmitter, value: TensorValue, dtype: torch.dtype) -> Any:
    if value.fake.dtype == dtype:
        return value
    operands = [value, ConstValue(dtype), *[ConstValue(False)] * 2, ConstValue(None)]
    return tensors.call_arguments(torch.ops.aten.to.dtype, operands)[0]
