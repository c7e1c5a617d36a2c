"""Lists, dicts, tuples and strings of a module that a program changes or assigns, or that hold tensors of their own.

They are read as constants at first. A program that does more with one is imported again with it as an argument, behind
the user's (`ImportPlan.held`); then it is written back as an argument is.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from typing import Any

import torch

from ...abi.paths import follow
from ...abi.surroundings import Surroundings
from .values import DictRef, ListRef, OptionalValue, TupleValue, Value

__all__ = ["can_be_held", "containers_in", "declared_type", "holds_container"]

_MISSING = object()
_PLAIN = (bool, int, float, str, type(None))


def can_be_held(root: Any, path: str) -> bool:
    """Whether an attribute can be an argument: it is the module's own, or of an object that the module holds, and
    TorchScript holds no copy of it. One that is not there yet is None.

    Args:
        root: the user's module.
        path: the attribute's qualified name.
    """
    holder, _, name = path.rpartition(".")
    owner = follow(root, holder)
    if isinstance(owner, torch.jit.ScriptModule) or not hasattr(owner, "__dict__"):
        return False
    space = dict(owner.found()) if isinstance(owner, Surroundings) else vars(owner)
    return _can_be_passed(space.get(name, _MISSING if hasattr(owner, name) else None))


def _can_be_passed(value: Any) -> bool:
    """Whether a value is one that a caller might pass; a subclass of list or dict may mean something else by
    `d[key]`.
    """
    if type(value) is dict:
        return all(map(_is_key, value)) and all(map(_can_be_passed, value.values()))
    if type(value) in (list, tuple) or (isinstance(value, tuple) and hasattr(value, "_fields")):
        return all(map(_can_be_passed, value))
    return type(value) in _PLAIN or isinstance(value, (torch.Tensor, torch.Generator, enum.Enum))


def _is_key(key: Any) -> bool:
    return all(map(_is_key, key)) if type(key) is tuple else type(key) in (*_PLAIN, torch.device)


def declared_type(scripted: Any, path: str) -> Any:
    """Return the TorchScript type of an attribute; None if it is not known.

    Args:
        scripted: the ScriptModule.
        path: the attribute's qualified name.
    """
    parts = path.split(".")
    for count in reversed(range(len(parts))):  # of an attribute of an object that is no module, the name has dots
        holder, name = ".".join(parts[:count]), ".".join(parts[count:])
        concrete = getattr(follow(scripted, holder), "_concrete_type", None)
        if concrete is not None and name in (attributes := concrete.get_attributes()):
            return attributes[name][0]
    return None


def containers_in(value: Any) -> Iterator[Any]:
    """Iterate over the lists and dicts in a Python value, itself included."""
    if isinstance(value, (list, dict)):
        yield value
    if isinstance(value, (list, tuple, dict)):
        for part in value.values() if isinstance(value, dict) else value:
            yield from containers_in(part)


def holds_container(value: Value) -> bool:
    """Whether a value of the program is, or holds, a list or dict, whose identity one may ask for."""
    if isinstance(value, OptionalValue):
        return holds_container(value.value)
    if isinstance(value, TupleValue):
        return any(map(holds_container, value.elements))
    return isinstance(value, (ListRef, DictRef))
