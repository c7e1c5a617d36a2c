"""Other samples of a function's arguments, for where those at hand raise an error that says nothing of its result."""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .values import Known, Scalar, TensorValue, TupleValue, Value

__all__ = ["other_samples"]

_LARGE = 64
"""A size that few kernels and windows exceed."""


def other_samples(
    function: Callable[..., Any], args: Sequence[Value], kwargs: Mapping[str, Value]
) -> list[Sequence[Value]]:
    """Return other samples of arguments, with which a function's result has the same dtype and rank.

    Args:
        function: the function.
        args: its positional arguments.
        kwargs: its keyword arguments.
    """
    if args and isinstance(args[0], TensorValue):
        of_places = function is operator.getitem
        return _of_first_places(args[0], args[1:]) if of_places else _of_larger_sizes(args[0], args[1:])
    return [] if kwargs else _of_other_numbers(args)


def _of_other_numbers(args: Sequence[Value]) -> list[Sequence[Value]]:
    """Operands of other values, where all are numbers: that `1 // n` raises for an example says nothing of its type."""
    kinds = [
        type(value.object) if isinstance(value, Known) else value.kind if isinstance(value, Scalar) else None
        for value in args
    ]
    if not all(kind in (bool, int, float, complex) for kind in kinds):
        return []
    return [[Scalar(kind) for kind in kinds if kind is not None]]


def _of_larger_sizes(source: TensorValue, others: Sequence[Value]) -> list[Sequence[Value]]:
    """A tensor that is larger along its last dimensions: the example may be smaller than a convolution's kernel."""
    if source.sample is None:
        return []
    shape = list(source.sample.shape)
    shapes = [[*shape[:-count], *(max(size, _LARGE) for size in shape[-count:])] for count in range(1, len(shape))]
    return [[dataclasses.replace(source, sample=source.sample.new_empty(each)), *others] for each in shapes]


def _of_first_places(source: TensorValue, index: Sequence[Value]) -> list[Sequence[Value]]:
    """A tensor that has elements, and its first place: the example may have fewer than the sample of an index."""
    if source.sample is None:
        return []
    filled = source.sample.new_empty([size or 1 for size in source.sample.shape])
    return [[dataclasses.replace(source, sample=filled), *map(_first, index)]]


def _first(index: Value) -> Value:
    if isinstance(index, TupleValue):
        return dataclasses.replace(index, elements=tuple(map(_first, index.elements)))
    return Known(0) if isinstance(index, Scalar) and index.kind is int else index
