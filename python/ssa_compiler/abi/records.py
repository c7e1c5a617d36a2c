"""Classes that stand for dicts with certain keys, and for lists and tuples of a certain length: to TorchScript, the
elements of a dict or list are all of one type.
"""

from __future__ import annotations

import keyword
from collections.abc import Iterable
from functools import cache
from typing import Any

__all__ = [
    "attribute_name",
    "can_be_record",
    "choice_class",
    "choice_numbers",
    "choice_types",
    "growing_class",
    "is_dict_of_names",
    "is_ordered",
    "later_keys",
    "record_class",
    "record_keys",
    "sequence_class",
    "sequence_kind",
]

_KEYS = "_ssa_compiler_keys"
_NUMBERS = "_ssa_compiler_numbers"
_TYPES = "_ssa_compiler_types"
_LATER = "_ssa_compiler_later"
_ORDERED = "_ssa_compiler_ordered"
_SEQUENCE = "_ssa_compiler_sequence"
_ENCODED = "_ssa_compiler_key_"


def can_be_record(keys: Iterable[Any]) -> bool:
    """Whether a class can stand for dicts with certain keys."""
    return all(type(key) is str for key in keys)


def attribute_name(key: str) -> str:
    """Return the name of the attribute for a key: the key if it can be a name, else a name that no other key has."""
    is_name = key.isidentifier() and key.isascii() and not keyword.iskeyword(key)
    if is_name and key != "self" and not key.startswith(_ENCODED):
        return key
    parts = (each if each.isascii() and each.isalnum() else f"_{ord(each):x}_" for each in key)
    return f"{_ENCODED}{''.join(parts)}"


@cache
def record_class(keys: tuple[str, ...], kinds: tuple[str, ...], ordered: bool = False) -> type:
    """Return the class that stands for dicts with certain keys.

    Args:
        keys: the keys, in their order, for each of which there is an attribute (`attribute_name`).
        kinds: what tells dicts with these keys apart: the types of their elements.
        ordered: whether it stands for OrderedDicts.
    """
    return type("record", (), {"__module__": __name__, _KEYS: keys, _ORDERED: ordered})


@cache
def growing_class(kind: type, later: tuple[str, ...]) -> type:
    """Return the class that stands for dicts which may get further keys.

    Args:
        kind: the class of those that have none of them.
        later: these keys, in the order in which a dict gets them: attributes that are None until then.
    """
    known = {_KEYS: record_keys(kind), _LATER: later, _ORDERED: is_ordered(kind)}
    return type("record", (), {"__module__": __name__, **known})


@cache
def choice_class(kinds: tuple[str, ...], numbers: tuple[int, ...]) -> type:
    """Return the class of results that are of one of several types: `kind` says which, `value_0` and so on are they.

    Args:
        kinds: the types.
        numbers: what `kind` is for each of them.
    """
    keys = ("kind", *(f"value_{k}" for k in range(len(kinds))))
    return type("choice", (), {"__module__": __name__, _KEYS: keys, _NUMBERS: numbers, _TYPES: kinds})


@cache
def sequence_class(of: type, kinds: tuple[str, ...]) -> type:
    """Return the class that stands for lists or tuples of a length: `item_0` and so on are their elements.

    Args:
        of: list or tuple.
        kinds: what tells those of this length apart: the types of their elements.
    """
    keys = tuple(f"item_{k}" for k in range(len(kinds)))
    return type("sequence", (), {"__module__": __name__, _KEYS: keys, _SEQUENCE: of})


def sequence_kind(kind: type | None) -> type | None:
    """Return list or tuple, if a class stands for such; None if it does not."""
    found: type | None = getattr(kind, _SEQUENCE, None)
    return found


def choice_numbers(kind: type | None) -> tuple[int, ...] | None:
    """Return the numbers of a class of `choice_class`; None if it is none."""
    found: tuple[int, ...] | None = getattr(kind, _NUMBERS, None)
    return found


def choice_types(kind: type) -> tuple[str, ...]:
    """Return the types that a class of `choice_class` is of."""
    found: tuple[str, ...] = getattr(kind, _TYPES)
    return found


def record_keys(kind: type | None) -> tuple[str, ...] | None:
    """Return the keys of the dicts that a class stands for, or the names of the elements of lists or tuples; None if it
    stands for none.
    """
    found: tuple[str, ...] | None = getattr(kind, _KEYS, None)
    return found


def is_ordered(kind: type | None) -> bool:
    """Whether the dicts that a class stands for are OrderedDicts."""
    return bool(getattr(kind, _ORDERED, False))


def later_keys(kind: type | None) -> tuple[str, ...]:
    """Return the keys that the dicts of a class may get, and do not have while these attributes are None."""
    found: tuple[str, ...] = getattr(kind, _LATER, ())
    return found


def is_dict_of_names(kind: type | None) -> bool:
    """Whether the attributes of a class are the keys of the dicts that it stands for, all of which these have."""
    return (
        sequence_kind(kind) is None
        and not later_keys(kind)
        and all(attribute_name(key) == key for key in record_keys(kind) or ())
    )
