"""What decides what a function returns for samples, as a key: loops are evaluated several times, with alike values."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor

from .values import Value

__all__ = ["key_of"]

_PLAIN = (bool, int, float, complex, str, bytes, torch.dtype, torch.device, torch.layout, torch.memory_format)


class _NoKeyError(Exception):
    """A value has parts that may change, or of which it is not known what decides."""


def key_of(
    owner: object, function: Callable[..., Any], args: Sequence[Value], kwargs: Mapping[str, Value], name: str
) -> Hashable | None:
    """Return what decides on the result of a call; None if it cannot be told.

    Objects are in it by address: who keeps it has to keep them.

    Args:
        owner: the samples, which functions may refer to.
        function: called with samples.
        args: positional arguments.
        kwargs: keyword arguments.
        name: the name of the operator.
    """
    try:
        named = tuple((key, _key(owner, value)) for key, value in kwargs.items())
        return _function(owner, function), tuple(_key(owner, value) for value in args), named, name
    except (_NoKeyError, TypeError):  # TypeError: not hashable
        return None


def _function(owner: object, function: Callable[..., Any]) -> Hashable:
    if isinstance(function, types.FunctionType):
        captured = tuple(_key(owner, cell.cell_contents) for cell in function.__closure__ or ())
        return function.__code__, captured, _key(owner, function.__defaults__)
    if not isinstance(getattr(function, "__self__", None), (types.ModuleType, types.NoneType)):
        raise _NoKeyError  # a method of an object
    hash(function)
    return function


def _key(owner: object, value: Any) -> Hashable:
    if value is None or value is owner or isinstance(value, type):
        return value
    if isinstance(value, _PLAIN):
        return type(value), value
    if isinstance(value, FakeTensor):
        if value.constant is not None or value.layout is not torch.strided:
            raise _NoKeyError
        numbers = (*value.shape, *value.stride())
        if not all(type(number) is int for number in numbers):
            raise _NoKeyError
        return value.dtype, value.dim(), numbers, value.device
    if isinstance(value, (torch.Tensor, torch.nn.Module)):
        return type(value), id(value)
    if isinstance(value, (tuple, frozenset)) and type(value) in (tuple, frozenset):
        parts = [_key(owner, part) for part in value]
        return type(value), tuple(parts) if isinstance(value, tuple) else frozenset(parts)
    if isinstance(value, Value) and dataclasses.is_dataclass(value):
        fields = dataclasses.fields(value)
        return type(value), *(_key(owner, getattr(value, each.name)) for each in fields)
    if isinstance(value, types.FunctionType):
        return _function(owner, value)
    raise _NoKeyError
