"""Named tuples that partial evaluation gives types: the name says which class of the user's they are of."""

from __future__ import annotations

import itertools

__all__ = ["name_of_class", "typed_name"]

_TYPED = "_ssa_compiler_typed_"
_NUMBERS = itertools.count()


def typed_name(name: str) -> str:
    """Return a name, which nothing else has, for the class with types that stands for a class.

    Args:
        name: that of the class.
    """
    return f"{name}{_TYPED}{next(_NUMBERS)}"


def name_of_class(name: str) -> str:
    """Return the name of the class that one of a name stands for; others are returned as they are."""
    return name.partition(_TYPED)[0]
