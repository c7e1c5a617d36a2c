"""Classes that stand for named tuples of the user's, and declare types of their fields."""

from __future__ import annotations

from typing import Any

__all__ = ["class_of", "stands_for"]

_CLASSES: dict[type, type] = {}


def stands_for(kind: Any, other: Any) -> None:
    """Note that a class stands for another one."""
    _CLASSES[kind] = other


def class_of(kind: type) -> type:
    """Return the user's class that a class stands for, or is."""
    return _CLASSES.get(kind, kind)
