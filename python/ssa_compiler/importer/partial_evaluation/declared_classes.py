"""Named tuples and dataclasses, whose fields have declared types: TorchScript compiles these classes as they are."""

from __future__ import annotations

import dataclasses
import itertools
from functools import lru_cache
from typing import Any, get_type_hints

from ..torchscript.field_types import types_of_defaults

__all__ = ["declared_class", "declared_name", "declared_types"]

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
    """Return a name for a class, None if it declares no fields."""
    if not (issubclass(kind, tuple) and hasattr(kind, "_fields")) and not dataclasses.is_dataclass(kind):
        return None
    if kind not in _NAMES:
        _NAMES[kind] = f"_ssa_compiler_class_{next(_NUMBERS)}_{kind.__name__}"
    return _NAMES[kind]


def declared_class(name: str) -> type | None:
    """Return the class that `declared_name` has given a name."""
    return next((kind for kind, each in _NAMES.items() if each == name), None)
