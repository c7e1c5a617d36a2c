"""What is taken for what it is at compilation."""

from __future__ import annotations

import enum
import functools
import sys
import types
from typing import Any

import torch

__all__ = ["is_constant", "is_library", "is_mutable_object"]

_PLAIN = (bool, int, float, complex, str, bytes, type(None), range, slice)
_NAMED = (torch.dtype, torch.device, torch.memory_format, torch.layout)
_LIBRARIES = frozenset({*sys.stdlib_module_names, "torch", "torchvision", "torchaudio", "numpy"})


def is_library(thing: Any) -> bool:
    """Whether a class or function is Python's or PyTorch's own."""
    return str(getattr(thing, "__module__", "")).partition(".")[0] in _LIBRARIES - {"__main__"}


def is_constant(thing: Any) -> bool:
    """Whether what a global name means is taken for what it is at compilation, as TorchScript does."""
    if isinstance(thing, tuple):
        return all(map(is_constant, thing))
    if isinstance(thing, (functools.partial, types.MethodType, torch.nn.Module)):
        return False
    is_code = callable(thing) and (isinstance(thing, (type, types.FunctionType)) or is_library(type(thing)))
    return is_code or isinstance(thing, (*_PLAIN, *_NAMED, types.ModuleType))


def is_mutable_object(thing: Any) -> bool:
    """Whether an object may have other attributes later, and no place says where it is."""
    fixed = (types.ModuleType, types.FunctionType, type, torch.nn.Module, enum.Enum)
    return hasattr(thing, "__dict__") and not isinstance(thing, fixed) and not _is_of_torch(type(thing))


def _is_of_torch(kind: type) -> bool:
    return kind.__module__.partition(".")[0] == "torch"
