"""Attributes of objects that are known, read without running code of the user's: properties are functions."""

from __future__ import annotations

import functools
import types
from typing import Any

from .constants import is_library
from .rejections import NotCompiledError

__all__ = ["MISSING", "read"]

MISSING = object()


def read(thing: Any, name: str) -> Any:
    """Return an attribute of an object; a property of the user's itself, `MISSING` if there is none.

    Raises:
        NotCompiledError: only code of the user's tells what it is.
    """
    member = next((vars(kind)[name] for kind in type(thing).__mro__ if name in vars(kind)), MISSING)
    is_own = member is not MISSING and not is_library(type(member)) and hasattr(type(member), "__get__")
    if is_own and not isinstance(thing, types.ModuleType):
        raise NotCompiledError(f"{name}, a descriptor")
    if isinstance(member, property) and not is_library(member.fget):
        return member
    if isinstance(member, functools.cached_property):
        if name not in vars(thing):
            raise NotCompiledError(f"{name}, a cached property that was not computed")
        return vars(thing)[name]
    return getattr(thing, name, MISSING)
