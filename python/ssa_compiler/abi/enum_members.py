"""Members of enums, which `@main` takes as the numbers of the members of their class."""

from __future__ import annotations

import enum
from functools import lru_cache

__all__ = ["member_number", "members_of"]


@lru_cache(maxsize=256)
def members_of(kind: type[enum.Enum]) -> tuple[enum.Enum, ...]:
    """Return the members of an enum, without other names of the same ones."""
    return tuple(kind)


@lru_cache(maxsize=256)
def _numbers(kind: type[enum.Enum]) -> dict[str, int]:
    return {each.name: number for number, each in enumerate(kind)}


def member_number(thing: enum.Enum) -> int | None:
    """Return which of the members of its class a member is; None for a combination of flags, which is none of them."""
    return _numbers(type(thing)).get(thing.name)
