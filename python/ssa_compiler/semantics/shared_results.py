"""Whether what a Python function was given or returned is held by anybody else: then others see it change.

A program works on copies of what an ignored function returns, and gives it copies. That is right as long as nobody else
has the object, or the program does not change it. CPython's reference counts tell.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

__all__ = ["KeptArguments", "is_held", "is_held_elsewhere"]

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


_MOST_KEPT = 4096
"""Tensors that are looked at: those kept last. A function may keep one in each call."""


@dataclass
class _Kept:
    """A tensor that a function was given and keeps: how to find it, how often it was written, and the function."""

    find: Callable[[], torch.Tensor | None]
    version: int
    function: str


class KeptArguments:
    """The copies of arguments that Python functions keep. Writing one writes neither the program's tensor nor the
    caller's, whatever eager does.
    """

    def __init__(self) -> None:
        self._kept: list[_Kept] = []

    def begin(self) -> None:
        """Note what is kept before a function runs."""
        found = [kept for kept in self._kept if (tensor := kept.find()) is not None and _is_needed(kept, tensor)]
        self._kept = found[-_MOST_KEPT:]
        for kept in self._kept:
            kept.version = _version(kept)

    def written(self) -> str | None:
        """Return the name of a function that keeps what was written since `begin`; None if nothing was."""
        return next((kept.function for kept in self._kept if _version(kept) != kept.version), None)

    def keep(self, given: Sequence[Any], function: str) -> None:
        """Note which tensors a function keeps.

        Args:
            given: what it was given, copies that nobody else refers to.
            function: its name.
        """
        for number, value in enumerate(given):
            if not isinstance(value, torch.Tensor) or value.is_inference() or not is_held(given, number):
                continue
            # A view keeps the storage and its version, not the object.
            kept_itself = sys.getrefcount(value) > _ALONE + 1
            find: Callable[[], Any] = weakref.ref(value) if kept_itself else _Whole(value.detach())
            self._kept.append(_Kept(find, value._version, function))


@dataclass
class _Whole:
    """A tensor that has the storage of one that is gone."""

    tensor: torch.Tensor

    def __call__(self) -> torch.Tensor:
        return self.tensor


def _is_needed(kept: _Kept, tensor: torch.Tensor) -> bool:
    return not isinstance(kept.find, _Whole) or torch._C._storage_Use_Count(tensor.untyped_storage()._cdata) > _ALONE


def _version(kept: _Kept) -> int:
    tensor = kept.find()
    return kept.version if tensor is None else tensor._version
