"""The ways to what a module holds: `layers.0.weight`, `caches.1.keys`."""

from __future__ import annotations

from typing import Any

__all__ = ["follow", "holder_of"]


def follow(owner: Any, path: str) -> Any:
    """Return what an object has under a name; None if it is not there.

    Args:
        owner: the object, mostly a module.
        path: names of attributes, and places in lists and tuples, with dots between them; "" for the object itself.
    """
    for part in path.split(".") if path else ():
        if isinstance(owner, (list, tuple)) and part.isdigit():
            owner = owner[int(part)] if int(part) < len(owner) else None
        else:
            owner = getattr(owner, part, None)
    return owner


def holder_of(owner: Any, path: str) -> tuple[Any, str]:
    """Return the object that has an attribute, and the attribute's own name."""
    holder, _, name = path.rpartition(".")
    return follow(owner, holder), name
