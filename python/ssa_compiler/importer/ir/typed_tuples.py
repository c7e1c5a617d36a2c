"""Names of the classes with declared types that stand for a class of named tuples, one for each set of types."""

from __future__ import annotations

import itertools
import re

__all__ = ["plain_name", "typed_name"]

_SUFFIX = "__ssa_compiler_typed_"
_NUMBERS = itertools.count()


def typed_name(name: str) -> str:
    """Return a name, which nothing else has, for such a class.

    Args:
        name: that of the class that it stands for.
    """
    return f"{name}{_SUFFIX}{next(_NUMBERS)}"


def plain_name(name: str) -> str:
    """Return the name of the class that one stands for; any other name as it is."""
    return re.sub(rf"{_SUFFIX}\d+$", "", name)
