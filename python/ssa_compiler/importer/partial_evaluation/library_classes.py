"""Which objects stand for sets and deques; with the library comes what a program from the cache does not need."""

from __future__ import annotations

from .values import ObjectValue, Value

__all__ = ["is_deque", "is_set"]


def is_set(value: Value | None) -> bool:
    """Whether a value is a set, see `sets`."""
    from ...library.sets import Set

    return isinstance(value, ObjectValue) and issubclass(value.kind, Set)


def is_deque(value: Value | None) -> bool:
    """Whether a value is a deque, see `deques`."""
    from ...library.deques import Deque

    return isinstance(value, ObjectValue) and issubclass(value.kind, Deque)
