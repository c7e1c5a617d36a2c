"""`collections.namedtuple` classes, whose fields have no declared types: to TorchScript, they are tensors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Optional

import torch

from ..ir.typed_tuples import typed_name
from .typed_classes import stands_for
from .values import DictValue, Known, ListValue, ObjectValue, OptionalValue, Scalar, TensorValue, TupleValue, Value

__all__ = ["typed_class"]

_MADE: dict[tuple[type, tuple[Any, ...]], type] = {}


def typed_class(kind: type, given: Mapping[str, Value]) -> type:
    """Return a subclass of a named tuple's class that declares the types of what an object is made with.

    Its name tells that class (`ir.typed_tuples`), of which the results of a program are.

    Args:
        kind: the class.
        given: the values of its fields; of others it has defaults.
    Returns:
        The subclass; the class itself if it declares types, has other tuples than named ones above it, or has tensors
        only.
    """
    fields = getattr(kind, "_fields", ())
    if kind.__bases__ != (tuple,) or getattr(kind, "__annotations__", None) or not fields:
        return kind
    defaults = getattr(kind, "_field_defaults", {})
    if set(given) | set(defaults) != set(fields):
        return kind
    types = tuple(_type(given[name]) if name in given else type(defaults[name]) for name in fields)
    if None in types or set(types) == {torch.Tensor}:
        return kind
    if (kind, types) not in _MADE:
        space = {"__annotations__": dict(zip(fields, types)), "__module__": kind.__module__, "__slots__": ()}
        _MADE[kind, types] = type(typed_name(kind.__name__), (kind,), space)
        stands_for(_MADE[kind, types], kind)
    return _MADE[kind, types]


def _type(value: Value) -> Any:
    """The type of a value as it is annotated, None if it is not known."""
    if isinstance(value, Known):
        return type(value.object) if type(value.object) in (bool, int, float, complex, str) else None
    if isinstance(value, TensorValue):
        return torch.Tensor
    if isinstance(value, Scalar):
        return value.kind if value.kind in (bool, int, float, complex, str) else None
    if isinstance(value, ObjectValue):
        return value.kind if value.name is None else None
    if isinstance(value, OptionalValue):
        inner = _type(value.element)
        return None if inner is None else Optional[inner]  # noqa: UP045 - TorchScript's, for any type
    if isinstance(value, TupleValue):
        parts = tuple(map(_type, value.elements))
        return tuple[parts] if parts and None not in parts and not any(value.names) else None  # type: ignore[valid-type]
    if isinstance(value, ListValue) and value.element is not None and not value.is_tuple:
        element = _type(value.element)
        return None if element is None else list[element]  # type: ignore[valid-type]
    if isinstance(value, DictValue) and value.key is not None and value.element is not None:
        key, element = _type(value.key), _type(value.element)
        return None if key is None or element is None else dict[key, element]  # type: ignore[valid-type]
    return None
