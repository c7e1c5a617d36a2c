"""What functions and modules of PyTorch return by their annotations."""

from __future__ import annotations

import types
import typing
from dataclasses import replace
from functools import lru_cache
from typing import Any

import torch
from torch import _jit_internal

from .values import UNKNOWN, OptionalValue, TensorValue, TupleValue, Unknown, Value

__all__ = ["annotated", "as_declared", "declared"]


def annotated(function: Any) -> Value:
    """What a function of PyTorch's is annotated to return, if that is a tensor."""
    is_plain = isinstance(function, types.FunctionType)
    return TensorValue() if is_plain and function.__annotations__.get("return") is torch.Tensor else UNKNOWN


@lru_cache(maxsize=256)
def _returned(kind: Any) -> Any:
    """The type that the forward of a class is annotated to return for tensors; None if it is not."""
    forward = kind.forward
    overloads = getattr(_jit_internal, "_get_overloaded_methods")(forward, kind)  # noqa: B009 - it has no types
    for each in overloads or [forward]:
        hints = typing.get_type_hints(each)
        if overloads and next(iter(hints.values()), None) is not torch.Tensor:
            continue
        return hints.get("return")
    return None


def declared(module: torch.nn.Module) -> Value:
    """What a module of PyTorch's returns by its annotations: an LSTM returns tensors, whatever their sizes are."""
    cls: Any = type(module)
    try:
        kind = _returned(cls)
    except (NameError, TypeError):
        return UNKNOWN
    return _of_type(kind)


def as_declared(found: Value, module: torch.nn.Module) -> Value:
    """Return what a module of PyTorch's returns, with what its annotations say may be None: to TorchScript it may."""
    known = declared(module)
    if (
        not isinstance(found, TupleValue)
        or not isinstance(known, TupleValue)
        or len(found.elements) != len(known.elements)
    ):
        return found
    elements = tuple(
        OptionalValue(part) if isinstance(other, OptionalValue) and isinstance(part, TensorValue) else part
        for part, other in zip(found.elements, known.elements)
    )
    return replace(found, elements=elements)


def _of_type(kind: Any) -> Value:
    """What is known of a value whose type is annotated."""
    if kind is torch.Tensor:
        return TensorValue()
    parts = typing.get_args(kind)
    if typing.get_origin(kind) is tuple and parts and ... not in parts:
        elements = tuple(map(_of_type, parts))
        return UNKNOWN if UNKNOWN in elements else TupleValue(elements)
    if typing.get_origin(kind) in (typing.Union, types.UnionType) and len(parts) == 2 and parts[1] is type(None):
        inner = _of_type(parts[0])
        return inner if isinstance(inner, Unknown) else OptionalValue(inner)
    return UNKNOWN
