"""What a program takes for granted of objects that are no parts of its module: what global names, closures, defaults
and attributes of functions and classes mean.

The importer computes with such objects (`CFG["dim"]`, `settings.OPTIONS.act`), of which nothing is left in the program.
`ObjectFacts` remembers what was read, by the way to it, and a call compares it.
"""

from __future__ import annotations

import copy
import enum
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch

from .same_values import same_value

__all__ = ["MISSING", "ObjectFacts", "Place", "is_comparable"]

MISSING = object()
_PLAIN = (bool, int, float, complex, str, bytes, type(None), range, slice, enum.Enum)
_NAMED = (torch.dtype, torch.device, torch.layout, torch.memory_format, torch.nn.Module)
_CODE = (types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.ModuleType, type)


Step = str | tuple[Any] | Callable[[Any], Any]


@dataclass(frozen=True, eq=False)
class Place:
    """Where an object is found.

    Attributes:
        holder: an object that stays the same.
        steps: the way from there: names of attributes, keys of elements, which are in tuples, and functions.
        text: the same for messages.
    """

    holder: Any
    steps: tuple[Step, ...]
    text: str

    def current(self) -> Any:
        """Return the object that is there now, `MISSING` if there is none."""
        found = self.holder
        try:
            for step in self.steps:
                if callable(step):
                    found = step(found)
                else:
                    found = found[step[0]] if isinstance(step, tuple) else getattr(found, step)
        except (AttributeError, LookupError, TypeError, ValueError):  # a cell may be empty
            return MISSING
        return found

    def part(self, step: Step) -> Place:
        """Return where a part of the object, or what a function says of it, is found."""
        if callable(step):
            return Place(self.holder, (*self.steps, step), f"{step.__name__}({self.text})")
        shown = f"[{step[0]!r}]" if isinstance(step, tuple) else f".{step}"
        return Place(self.holder, (*self.steps, step), f"{self.text}{shown}")


class ObjectFacts:
    """Objects as they were at import.

    Args:
        places: where those are that the program was made for.
    """

    def __init__(self, places: Mapping[str, Place]) -> None:
        self._values = [(place, _copied(place.current())) for place in places.values()]

    def difference(self) -> str | None:
        """Return what the program was not made for, None if nothing."""
        for place, value in self._values:
            now = place.current()
            if not same_value(now, value):
                return f"'{place.text}': expected {value!r}, got {'nothing' if now is MISSING else repr(now)}"
        return None


def is_comparable(value: Any) -> bool:
    """Whether all that an object is can be compared: it is made of constants, and of code, which stays what it is."""
    if isinstance(value, dict):
        return all(map(is_comparable, (*value, *value.values())))
    if isinstance(value, (list, tuple, set, frozenset)):
        return all(map(is_comparable, value))
    return value is MISSING or isinstance(value, (*_PLAIN, *_NAMED, *_CODE))


def _copied(value: Any) -> Any:
    """Copy the containers of a value."""
    if isinstance(value, dict):
        made = copy.copy(value)
        for key, part in value.items():
            dict.__setitem__(made, key, _copied(part))
        return made
    if isinstance(value, tuple):
        parts = [_copied(part) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    if isinstance(value, list):
        copied = copy.copy(value)
        copied[:] = [_copied(part) for part in value]
        return copied
    return copy.copy(value) if isinstance(value, set) else value
