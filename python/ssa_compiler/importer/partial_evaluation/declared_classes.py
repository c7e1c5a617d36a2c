"""Named tuples and dataclasses, whose fields have declared types, and enums: TorchScript compiles these classes as they
are.
"""

from __future__ import annotations

import dataclasses
import enum
import itertools
from functools import lru_cache
from typing import Any, get_type_hints

from ..torchscript.field_types import types_of_defaults
from .enum_classes import is_enum

__all__ = ["declared_class", "declared_name", "declared_types", "member_name"]

_NAMES: dict[type, str] = {}
_NUMBERS = itertools.count()


def declared_types(kind: type) -> dict[str, Any] | None:
    """Return the types of the fields of a class, None if it declares none: it is no named tuple and no dataclass.

    Raises:
        NameError: one is not known.
    """
    names = getattr(kind, "_fields", None) if issubclass(kind, tuple) else None
    if names is None:
        names = [each.name for each in dataclasses.fields(kind)] if dataclasses.is_dataclass(kind) else None
    return None if names is None else dict.fromkeys(names) | _hints(kind)


@lru_cache(maxsize=256)
def _hints(kind: type) -> dict[str, Any]:
    return {**get_type_hints(kind), **types_of_defaults(kind)}


def declared_name(kind: type) -> str | None:
    """Return a name for a class, None if it declares no fields and is no enum."""
    is_tuple = issubclass(kind, tuple) and hasattr(kind, "_fields")
    if not is_tuple and not dataclasses.is_dataclass(kind) and not is_enum(kind):
        return None
    if kind not in _NAMES:
        _NAMES[kind] = f"_ssa_compiler_class_{next(_NUMBERS)}_{kind.__name__}"
    return _NAMES[kind]


def member_name(thing: enum.Enum) -> str | None:
    """Return an expression for a member of an enum, None if TorchScript has none."""
    return f"{declared_name(type(thing))}.{thing.name}" if is_enum(type(thing)) else None


def declared_class(name: str) -> type | None:
    """Return the class that `declared_name` has given a name."""
    return next((kind for kind, each in _NAMES.items() if each == name), None)
