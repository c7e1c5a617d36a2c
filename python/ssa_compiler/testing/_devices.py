"""Copies of programs, arguments and results on another device, for programs that are compiled for a GPU.

Eager on the CPU is the oracle there as well, so that a program may be checked with inputs that were made for the CPU.
"""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Iterator
from typing import Any

import torch

__all__ = ["copied_to", "factories_on"]

_TENSORS = (torch.Tensor, torch.nn.Parameter, torch.nn.Buffer)


def copied_to(device: str, value: Any) -> Any:
    """Return a deep copy of a value whose tensors are on a device; what shares memory does so in the copy, too.

    Args:
        device: "cpu" or "cuda".
        value: tensors, modules, containers and whatever else can be copied.
    """
    return _Copier(device).copy(value)


class _Copier:
    """Copies by `copy.deepcopy`, with a way of its own for tensors."""

    def __init__(self, device: str) -> None:
        self._device = device
        self._storages: dict[int, torch.UntypedStorage] = {}

    def copy(self, value: Any) -> Any:
        dispatch: dict[type, Any] = copy._deepcopy_dispatch  # type: ignore[attr-defined]
        try:
            dispatch.update(dict.fromkeys(_TENSORS, self._tensor))
            return copy.deepcopy(value)
        finally:
            for kind in _TENSORS:
                del dispatch[kind]

    def _tensor(self, tensor: torch.Tensor, _memo: dict[int, Any]) -> torch.Tensor:
        if tensor.layout is not torch.strided or tensor.is_neg() or tensor.is_conj() or tensor.device.type == "meta":
            moved = tensor.detach().to(self._device)
        else:
            storage = tensor.untyped_storage()
            if storage._cdata not in self._storages:
                own = torch.UntypedStorage(storage.nbytes(), device=self._device)  # type: ignore[no-untyped-call]
                if storage.nbytes():
                    own.copy_(storage)
                self._storages[storage._cdata] = own
            moved = torch.empty(0, dtype=tensor.dtype, device=self._device)
            moved.set_(self._storages[storage._cdata], tensor.storage_offset(), tensor.shape, tensor.stride())
        if isinstance(tensor, torch.nn.Parameter):
            return torch.nn.Parameter(moved, requires_grad=tensor.requires_grad)
        if isinstance(tensor, torch.nn.Buffer):
            return torch.nn.Buffer(moved, persistent=tensor.persistent)
        return moved.requires_grad_(tensor.requires_grad)


@contextlib.contextmanager
def factories_on(device: str) -> Iterator[None]:
    """Make tensors for which a program names no device on a device."""
    if device == "cpu":
        yield
        return
    with torch.device(device):
        yield
