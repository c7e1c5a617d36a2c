"""The rank of what a function returns for tensors of known ranks and unknown sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch

from .values import ListValue, TensorValue, TupleValue, Value

__all__ = ["made_of", "rank_of", "tensors_in"]

_SIZES = (1, 2, 8, 64)
"""Sizes that all dimensions have in a trial: to some functions 1 is another one, and constants may be places in them.
"""


def tensors_in(values: Iterable[Value]) -> list[TensorValue]:
    """Return what is known of the tensors among values, and in lists and tuples of them."""
    found: list[TensorValue] = []
    for value in values:
        parts = [value.element] if isinstance(value, ListValue) and value.element is not None else []
        parts += value.elements if isinstance(value, TupleValue) else ()
        found += [value] if isinstance(value, TensorValue) else tensors_in(parts)
    return found


def made_of(value: Value, tensor: Callable[[TensorValue], Any], sample: Callable[[Value], Any]) -> Any:
    """Return an object that a value may be.

    Args:
        value: what is known of it.
        tensor: makes one of the tensors in it.
        sample: makes anything else.
    """
    if isinstance(value, TensorValue):
        return tensor(value)
    if isinstance(value, ListValue) and isinstance(value.element, TensorValue):
        return [tensor(value.element) for _ in range(value.length or 1)]
    if isinstance(value, TupleValue):
        return tuple(made_of(each, tensor, sample) for each in value.elements)
    return sample(value)


def rank_of(
    function: Callable[..., Any], args: Iterable[Value], kwargs: dict[str, Value], sample: Callable[[Value], Any]
) -> int | None:
    """Return the rank that the result has whatever the sizes are; None if that is not known.

    Args:
        function: called with FakeTensors, in a mode that the caller has entered.
        args: positional arguments.
        kwargs: keyword arguments.
        sample: makes a sample of an argument that is no tensor.
    """
    given = [*args, *kwargs.values()]
    if any(None in (value.rank, value.dtype) for value in tensors_in(given)):
        return None
    ranks = set[int | None]()
    for size in _SIZES:

        def tensor(value: TensorValue, size: int = size) -> Any:
            return torch.empty((size,) * (value.rank or 0), dtype=value.dtype)

        try:
            named = {key: made_of(value, tensor, sample) for key, value in kwargs.items()}
            found = function(*(made_of(value, tensor, sample) for value in args), **named)
        except Exception:  # noqa: BLE001 - whatever a function raises for sizes that do not fit
            continue
        ranks.add(found.dim() if isinstance(found, torch.Tensor) else None)
    return ranks.pop() if len(ranks) == 1 else None
