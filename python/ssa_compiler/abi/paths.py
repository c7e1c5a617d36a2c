"""The ways to what a module holds: `layers.0.weight`, `caches.1.keys`."""

from __future__ import annotations

import itertools
from typing import Any

from .object_guards import MISSING, Place

__all__ = ["follow", "holder_of", "name_of_place"]

_PLACES: dict[str, Place] = {}
_NUMBERS = itertools.count()


def name_of_place(place: Place) -> str:
    """Return a name under which every module has what is at a place, for `follow`: a tensor of a global name or of a
    class, which is there as long as the process is.
    """
    for name, known in _PLACES.items():
        if known.holder is place.holder and known.steps == place.steps:
            return name
    text = "".join(each if each.isalnum() else "_" for each in place.text)
    name = f"_ssa_compiler_place_{next(_NUMBERS)}_{text}"
    _PLACES[name] = place
    return name


def follow(owner: Any, path: str) -> Any:
    """Return what an object has under a name; None if it is not there.

    Args:
        owner: the object, mostly a module.
        path: names of attributes, and places in lists and tuples, with dots between them; "" for the object itself.
    """
    for part in path.split(".") if path else ():
        if isinstance(owner, (list, tuple)) and part.isdigit():
            owner = owner[int(part)] if int(part) < len(owner) else None
        elif (place := _PLACES.get(part)) is not None:
            found = place.current()
            owner = None if found is MISSING else found
        else:
            owner = getattr(owner, part, None)
    return owner


def holder_of(owner: Any, path: str) -> tuple[Any, str]:
    """Return the object that has an attribute, and the attribute's own name."""
    holder, _, name = path.rpartition(".")
    return follow(owner, holder), name
