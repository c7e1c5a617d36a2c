"""Which enums TorchScript has values of, and what is known of their members."""

from __future__ import annotations

import enum
from functools import lru_cache
from typing import Any, TypeGuard

__all__ = ["base_of", "is_enum", "value_kind"]

_VALUES = (int, float, str)
_OPERATORS = (
    *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "neg", "pos", "abs", "invert", "and", "or", "xor"),
    *("lshift", "rshift", "radd", "rsub", "rmul", "rtruediv", "rfloordiv", "rmod", "rpow", "lt", "le", "gt", "ge"),
    *("eq", "ne", "bool", "len", "hash", "int", "float", "index", "contains", "getitem"),
)


def is_enum(kind: Any) -> TypeGuard[type[enum.Enum]]:
    """Whether a class is an enum whose members are values to TorchScript: those of numbers, or of strings.

    Its members compare, hash and compute as those of `enum.Enum` do, or as the numbers or strings that they are.
    """
    return isinstance(kind, enum.EnumMeta) and _is_usual(kind)


@lru_cache(maxsize=256)
def _is_usual(kind: type[enum.Enum]) -> bool:
    if issubclass(kind, enum.Flag):
        return False
    if value_kind(kind) is None or not all(name.isidentifier() for name in kind.__members__):
        return False
    own = base_of(kind) or object
    names = [f"__{name}__" for name in _OPERATORS]
    is_usual = all(_special(kind, name) in (_special(own, name), _special(enum.Enum, name)) for name in names)
    return is_usual and all(own is object or each == each.value for each in kind)


def _special(kind: type, name: str) -> Any:
    """What an operator calls of objects of a class; None if it calls nothing."""
    return next((vars(each)[name] for each in kind.__mro__ if name in vars(each)), None)


@lru_cache(maxsize=256)
def value_kind(kind: type[enum.Enum]) -> type | None:
    """Return the class of the values of an enum's members; None if that is not one which TorchScript takes."""
    kinds = {type(each.value) for each in kind}
    found = next(iter(kinds)) if len(kinds) == 1 else None
    return found if found in _VALUES else None


def base_of(kind: type[enum.Enum]) -> type | None:
    """Return what the members of an enum are besides, numbers or strings; None if they are nothing else."""
    return next((each for each in _VALUES if issubclass(kind, each)), None)
