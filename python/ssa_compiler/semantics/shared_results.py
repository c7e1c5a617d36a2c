"""Whether what a Python function was given or returned is held by anybody else: then others see it change.

A program works on copies of what an ignored function returns, and gives it copies. That is right as long as nobody else
has the object, or the program does not change it. CPython's reference counts tell.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

import torch

__all__ = ["is_held", "is_held_elsewhere"]

_ALONE = 2
"""References to an object that is looked up in its only container, for `sys.getrefcount`: the container's, and its own
argument. Also to a storage: the tensor's, and that of the object which stands for it in Python.
"""


def is_held_elsewhere(box: list[Any]) -> bool:
    """Whether the object in a list, or a tensor, list or dict in it, is referred to from elsewhere, or is a view.

    Memory that a tensor shares with an array of NumPy's is not seen.

    Args:
        box: one element, of which the caller holds no other reference.
    """
    return is_held(box, 0)


def is_held(container: Any, key: Any) -> bool:
    """The same for what a list, tuple or dict holds at a place."""
    if not isinstance(container[key], (torch.Tensor, list, dict, tuple)):
        return False
    # Two equal tuples of constants may be one object; what is in a tuple counts.
    if not isinstance(container[key], tuple) and sys.getrefcount(container[key]) > _ALONE:
        return True
    if isinstance(container[key], torch.Tensor):
        return _storage_is_held(container[key])
    return any(is_held(container[key], inner) for inner in _keys(container[key]))


def _keys(container: Any) -> Iterable[Any]:
    return list(container) if isinstance(container, dict) else range(len(container))


def _storage_is_held(tensor: torch.Tensor) -> bool:
    """Whether another tensor has the storage; of a view, the one that it was made of may be gone or not."""
    users = torch._C._storage_Use_Count(tensor.untyped_storage()._cdata)
    return tensor._base is not None or users > _ALONE
