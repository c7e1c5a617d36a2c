"""Ranks and dtypes of what a function returns for tensors of known ranks and unknown sizes."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch

from .values import UNKNOWN, ListValue, TensorValue, TupleValue, Unknown, Value

__all__ = ["lacks_ranks", "made_of", "ranked", "shapes_of", "tensors_in"]

_SIZES = (1, 2, 8, 64)
"""Sizes that all dimensions have in a trial: to some functions 1 is another one, and constants may be places in them.
"""
_MOST = 4
"""How many sizes of parameters are tried."""
_SPATIAL = 32
"""The size of dimensions that a module slides a window over."""


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


def shapes_of(module: torch.nn.Module | None = None) -> Iterator[Callable[[int], tuple[int, ...]]]:
    """Yield shapes that tensors may have, by their rank, for which functions are tried.

    Args:
        module: what they are passed to; most modules take one size of the last or the second dimension.
    """
    sizes = (
        []
        if module is None
        else [getattr(module, name) for name in ("in_channels", "num_features") if hasattr(module, name)]
    )
    sizes += [tensor.shape[-1] for tensor in module.parameters() if tensor.dim()] if module is not None else []
    for known in list(dict.fromkeys(sizes))[:_MOST]:
        yield lambda rank, known=known: (*(2,) * (rank - 1), known)[:rank]  # type: ignore[misc]
        yield lambda rank, known=known: (2, known, *(_SPATIAL,) * (rank - 2))[:rank]  # type: ignore[misc]
    for size in _SIZES:
        yield lambda rank, size=size: (size,) * rank  # type: ignore[misc]


def lacks_ranks(value: Value) -> bool:
    """Whether more may be known of a tensor, or of one in a tuple."""
    if isinstance(value, TupleValue):
        return any(map(lacks_ranks, value.elements))
    if isinstance(value, ListValue):
        return value.element is not None and lacks_ranks(value.element)
    return isinstance(value, Unknown) or (isinstance(value, TensorValue) and None in (value.dtype, value.rank))


def ranked(known: Value, trials: Iterable[tuple[Value, Value]]) -> Value:
    """Return what is known of a result, with the ranks and dtypes that it has in all trials.

    Args:
        known: what is known of it otherwise.
        trials: results for tensors of other sizes, each for float32 and for float64 where a dtype is not known.
    """
    found: Value | None = None
    for one, other in trials:
        made = _common(one, other)
        found = made if found is None else _common(found, made)
    return known if found is None else _merged(known, found)


def _common(one: Value, other: Value) -> Value:
    if isinstance(one, TensorValue) and isinstance(other, TensorValue):
        return TensorValue(
            one.dtype if one.dtype == other.dtype else None, one.rank if one.rank == other.rank else None
        )
    alike = isinstance(one, TupleValue) and isinstance(other, TupleValue)
    if alike and len(one.elements) == len(other.elements):  # type: ignore[attr-defined]
        parts = zip(one.elements, other.elements)  # type: ignore[attr-defined]
        return TupleValue(tuple(_common(*pair) for pair in parts), one.names)  # type: ignore[attr-defined]
    if isinstance(one, (TupleValue, ListValue)) and isinstance(other, (TupleValue, ListValue)):
        return ListValue(functools.reduce(_common, (*_parts(one), *_parts(other))))  # sizes decide how many there are
    return UNKNOWN


def _parts(value: TupleValue | ListValue) -> tuple[Value, ...]:
    elements = value.elements if isinstance(value, TupleValue) else (value.element or UNKNOWN,)
    return elements or (UNKNOWN,)


def _merged(known: Value, found: Value) -> Value:
    if isinstance(found, TensorValue) and isinstance(known, (TensorValue, Unknown)):
        own = known if isinstance(known, TensorValue) else TensorValue()
        return TensorValue(
            found.dtype if own.dtype is None else own.dtype, found.rank if own.rank is None else own.rank, own.sample
        )
    if isinstance(known, TupleValue) and isinstance(found, TupleValue) and len(known.elements) == len(found.elements):
        parts = tuple(_merged(*pair) for pair in zip(known.elements, found.elements))
        return TupleValue(parts, known.names)
    if not isinstance(found, (ListValue, TupleValue)):
        return known
    element = functools.reduce(_common, _parts(found))
    if isinstance(known, TupleValue):
        return TupleValue(tuple(_merged(each, element) for each in known.elements), known.names)
    if isinstance(known, ListValue) and known.element is not None:
        return dataclasses.replace(known, element=_merged(known.element, element))
    return known
