"""What functions of torch.nn.utils.rnn return: their samples would have to fit together, lengths and all."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch.nn.utils import rnn

from .values import UNKNOWN, Known, ListValue, OptionalValue, TensorValue, TupleValue, Value, is_none

__all__ = ["is_packed", "packed_like", "result_of"]

_Sampled = Callable[[Callable[[torch.Tensor], Any], TensorValue], Value]
_LENGTHS = TensorValue(torch.int64, 1)


def result_of(function: Any, args: Sequence[Value], kwargs: Mapping[str, Value], sampled: _Sampled) -> Value | None:
    """Return what a call returns; None if it is none of such a function, or too little is known.

    Args:
        function: what is called.
        args: positional arguments.
        kwargs: keyword arguments.
        sampled: what a function makes of a tensor.
    """
    if getattr(function, "__module__", "") != rnn.__name__ or not args:
        return None
    first = args[0]
    if function is rnn.pack_padded_sequence and isinstance(first, TensorValue):
        is_sorted = args[3] if len(args) > 3 else kwargs.get("enforce_sorted", Known(True))
        return _packed(sampled(lambda tensor: tensor.flatten(0, 1), first), is_sorted)
    if function is rnn.pad_packed_sequence and isinstance(first, TupleValue) and is_packed(first):
        (data, *_) = first.elements
        if not isinstance(data, TensorValue):
            return None
        return TupleValue((sampled(lambda tensor: tensor.unsqueeze(0), data), sampled(_lengths, data)))
    element = first.element if isinstance(first, ListValue) else None
    if function is rnn.pad_sequence and isinstance(element, TensorValue):
        return sampled(lambda tensor: tensor.unsqueeze(0), element)
    if function is rnn.pack_sequence and isinstance(element, TensorValue):
        return _packed(element, args[1] if len(args) > 1 else kwargs.get("enforce_sorted", Known(True)))
    return None


def _lengths(data: torch.Tensor) -> torch.Tensor:
    return torch.ones(1, dtype=torch.int64)


def is_packed(value: Value) -> bool:
    """Whether a value is a PackedSequence of which something is known."""
    return isinstance(value, TupleValue) and value.kind is rnn.PackedSequence


def packed_like(value: Value, data: Value) -> Value:
    """Return a PackedSequence of the lengths of another one.

    Args:
        value: the other one.
        data: the elements of all sequences.
    """
    assert isinstance(value, TupleValue)
    if not isinstance(data, TensorValue):
        return UNKNOWN
    return TupleValue((data, *value.elements[1:]), value.names, value.kind)


def _packed(data: Value, is_sorted: Value) -> Value:
    if not isinstance(data, TensorValue):
        return UNKNOWN
    indices: Value = OptionalValue(_LENGTHS)
    if isinstance(is_sorted, Known) and not is_none(is_sorted):
        indices = Known(None) if is_sorted.object else _LENGTHS
    return TupleValue((data, _LENGTHS, indices, indices), rnn.PackedSequence._fields, rnn.PackedSequence)
