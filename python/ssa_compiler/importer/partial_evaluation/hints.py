"""Numbers that dynamic values may be, for samples."""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from typing import Any

import torch

from .values import Known, ListValue, Scalar, TensorValue, TupleValue, Value

__all__ = ["are_plain", "combined", "count_of", "hint", "hints", "is_plain", "is_tracked", "number_kind", "sizes"]

_PLAIN = (bool, int, float, complex, str, type(None), type(...), torch.dtype, torch.device)


def hint(value: Value) -> Any:
    """Return a number that a value may be."""
    if isinstance(value, Known):
        return value.object
    return value.hint if isinstance(value, Scalar) and value.hint is not None else 1


def hints(value: Value) -> tuple[Any, ...] | None:
    """Return numbers that the elements of a list or tuple may be, None if there are none."""
    if isinstance(value, ListValue):
        return None if value.sample is None else tuple(value.sample)
    if isinstance(value, TupleValue):
        return tuple(map(hint, value.elements)) if all(map(is_tracked, value.elements)) else None
    if isinstance(value, Known) and isinstance(value.object, (list, tuple)):
        return tuple(value.object)
    return None


def is_tracked(value: Value) -> bool:
    """Whether a value is a number."""
    return number_kind(value) is not None


def number_kind(value: Value) -> type | None:
    """Return the type of a number, None if a value is anything else."""
    kind = type(value.object) if isinstance(value, Known) else value.kind if isinstance(value, Scalar) else None
    return kind if kind in (bool, int, float) else None


def sizes(value: TensorValue) -> ListValue:
    """Return what the shape of a tensor is."""
    sample = None if value.sample is None else value.sample.shape  # `torch.Size`, as what is made of it may be
    return ListValue(Scalar(int), is_tuple=True, length=value.rank, sample=sample)


def combined(operation: Callable[[Any, Any], Any], left: Any, right: Any) -> Sequence[Any] | None:
    """Return the sample of what an operator makes of two."""
    if left is None or right is None:
        return None
    try:
        made: Sequence[Any] = operation(left, right)
    except (TypeError, ValueError):
        return None
    return made if len(made) < 64 else None


def is_plain(thing: Any) -> bool:
    """Whether an object is made of numbers, strings and the like."""
    if isinstance(thing, (list, tuple, set, frozenset, range)):
        return all(map(is_plain, thing))
    if isinstance(thing, dict):
        return all(map(is_plain, (*thing, *thing.values())))
    return isinstance(thing, _PLAIN)


def are_plain(things: Sequence[Any], *, contained: bool) -> bool:
    """Whether an operator on objects depends on nothing but what they are made of.

    Args:
        things: the objects.
        contained: whether the operator is `in`, to which the elements of a dict do not matter.
    """
    *others, last = things
    last = [*last] if contained and isinstance(last, dict) else last
    return all(is_plain(each) or isinstance(each, enum.Enum) for each in (*others, last))


def count_of(sizes: Sequence[Value]) -> int | None:
    """Return how many sizes operands are, ints or one list of ints; None if that is not known."""
    if len(sizes) > 1:
        return len(sizes)
    for whole in sizes:
        if isinstance(whole, ListValue):
            return whole.length
        if isinstance(whole, TupleValue):
            return len(whole.elements)
        if isinstance(whole, Known) and isinstance(whole.object, (list, tuple)):
            return len(whole.object)
        if number_kind(whole) is int:
            return 1
    return None
