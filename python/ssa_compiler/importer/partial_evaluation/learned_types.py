"""What a program has been found to hold in its variables and containers, by the evaluations of it so far."""

from __future__ import annotations

from typing import Any

from .values import NEVER, UNKNOWN, ListValue, Never, Unknown, Value

__all__ = ["element_of", "forget_types", "forget_unknown"]

_ATTRIBUTES = frozenset({"attribute", "field"})
"""Begin the keys under which types are noted, beside the places of displays."""
_CHOICES = frozenset({"optional", "results", "several"})
"""Begin those under which it is noted what variables and results have several types."""


def element_of(value: Value) -> Value:
    """Return what the parts are of what is unpacked; nothing is ever taken of a list into which nothing was put yet."""
    if isinstance(value, ListValue):
        return NEVER if value.element is None else value.element
    return value if isinstance(value, Never) else UNKNOWN


def forget_types(elements: dict[Any, Value]) -> None:
    """Let the next evaluation find out the types anew.

    Args:
        elements: what was found, `Program.elements`.
    """
    for key in [key for key in elements if _is_type(key) or (isinstance(key, tuple) and key[0] in _CHOICES)]:
        del elements[key]


def forget_unknown(elements: dict[Any, Value]) -> bool:
    """Let the next evaluation find out anew what is of an unknown type; returns whether anything is.

    What an early evaluation did not know yet, such as the result of a function that was not evaluated before, made
    unknown whatever it was put into.

    Args:
        elements: what was found, `Program.elements`.
    """
    found = [key for key, value in elements.items() if _is_type(key) and _has_unknown(value)]
    for key in found:
        del elements[key]
    return bool(found)


def _is_type(key: Any) -> bool:
    return isinstance(key, tuple) and (not isinstance(key[0], str) or key[0] in _ATTRIBUTES)


def _has_unknown(value: Any) -> bool:
    if isinstance(value, Unknown):
        return True
    parts = (getattr(value, "element", None), getattr(value, "key", None), *(getattr(value, "elements", ()) or ()))
    return any(_has_unknown(part) for part in parts if isinstance(part, Value))
