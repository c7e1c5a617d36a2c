"""Classes that stand for dicts with certain keys: to TorchScript, the elements of a dict are all of one type."""

from __future__ import annotations

import keyword
from collections.abc import Iterable
from functools import cache
from typing import Any

__all__ = ["can_be_record", "record_class", "record_keys"]

_KEYS = "_ssa_compiler_keys"


def can_be_record(keys: Iterable[Any]) -> bool:
    """Whether all keys of a dict can be names of attributes."""
    return all(type(key) is str and key.isidentifier() and not keyword.iskeyword(key) for key in keys)


@cache
def record_class(keys: tuple[str, ...], kinds: tuple[str, ...]) -> type:
    """Return the class that stands for dicts with certain keys.

    Args:
        keys: the keys, which are the attributes, in their order.
        kinds: what tells dicts with these keys apart: the types of their elements.
    """
    return type("record", (), {"__module__": __name__, _KEYS: keys})


def record_keys(kind: type | None) -> tuple[str, ...] | None:
    """Return the keys of the dicts that a class stands for; None if it stands for none."""
    found: tuple[str, ...] | None = getattr(kind, _KEYS, None)
    return found
