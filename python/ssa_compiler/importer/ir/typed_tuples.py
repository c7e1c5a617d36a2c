"""Names of the classes that stand for a class of named tuples without declared types, one for each set of types."""

from __future__ import annotations

import re

__all__ = ["plain_name", "typed_name"]

_SUFFIX = "__ssa_compiler_typed_"


def typed_name(name: str, number: int) -> str:
    """Return the name of such a class.

    Args:
        name: that of the class that it stands for.
        number: which one it is.
    """
    return f"{name}{_SUFFIX}{number}"


def plain_name(name: str) -> str:
    """Return the name of the class that one stands for; any other name as it is."""
    return re.sub(rf"{_SUFFIX}\d+$", "", name)
