"""Views of the memory of arguments, for calls whose tensors are like those of a call that was checked.

Weights and buffers lie where they lay, and PyTorch's allocator gives the tensors of a loop the same few addresses, so
that most calls of a small program need no new views of memory, which cost more than the program.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .device import ALIGNMENT

if TYPE_CHECKING:
    import torch

    from .device import Device

__all__ = ["ArgumentViews", "addresses_of"]

_MOST_VIEWS = 64
"""Views that are kept of each argument."""

_MOST_APART = 256
"""Tuples of addresses of which it is kept that the tensors share no memory."""


def addresses_of(tensors: Sequence[torch.Tensor]) -> list[int]:
    """Return where the elements of each tensor begin."""
    return [tensor.data_ptr() for tensor in tensors]


class ArgumentViews:
    """Views of the memory of tensors like certain others, which they do not keep alive.

    Which tensors are like them is decided by PyTorch's own guards, which compare class, dispatch keys (device, layout,
    views that negate or conjugate), dtype, whether they require grad, sizes and strides at once, and, if some require
    grad, by the grad mode. What was checked of the first tensors so holds for these, but for what depends on where they
    lie.

    Args:
        device: where the program runs; on the CPU.
        tensors: the tensor arguments of a call. All were checked and can be passed as they are.
        written: the positions of those that the program writes.
    Attributes:
        sizes: bytes of each tensor.
    """

    def __init__(self, device: Device, tensors: Sequence[torch.Tensor], written: Sequence[int]) -> None:
        import torch
        from torch._C._dynamo.guards import TensorGuards

        self.sizes = [tensor.nbytes for tensor in tensors]
        self._count = len(tensors)
        # What was checked of a tensor that requires grad depends on the mode, which the guards leave out.
        self._mode = torch.is_grad_enabled() if any(tensor.requires_grad for tensor in tensors) else None
        self._is_grad_enabled = torch.is_grad_enabled
        self._check = TensorGuards(
            *tensors,
            dynamic_dims_sizes=[list(tensor.shape) for tensor in tensors],  # type: ignore[misc]  # the stub is wrong
            dynamic_dims_strides=[list(tensor.stride()) for tensor in tensors],  # type: ignore[misc]
        ).check
        self._makers = [device.borrower(tensor) for tensor in tensors]
        self._views: list[dict[int, Any]] = [{} for _ in tensors]
        self._written = [(number, other) for number in written for other in range(self._count) if other != number]
        self._apart: set[tuple[int, ...]] = set()

    @staticmethod
    def can_hold(tensors: Sequence[Any]) -> bool:
        """Return whether all are tensors of PyTorch's own classes that have elements."""
        import torch

        own = (torch.Tensor, torch.nn.Parameter)
        return all(type(tensor) in own and tensor.numel() for tensor in tensors)

    def fit(self, tensors: Sequence[Any]) -> bool:
        """Return whether tensors are like the first ones, wherever they lie."""
        if self._mode is not None and self._is_grad_enabled() is not self._mode:
            return False
        return len(tensors) == self._count and self._check(*tensors)

    def find(self, addresses: list[int]) -> list[Any] | None:
        """Return a view of each tensor.

        Args:
            addresses: of tensors that fit.
        Returns:
            None if a tensor is not aligned, or one that is written shares memory with another.
        """
        found: list[Any] = []
        for number, (address, known) in enumerate(zip(addresses, self._views)):
            view = known.get(address)
            if view is None:
                if not address or address % ALIGNMENT:
                    return None
                if len(known) == _MOST_VIEWS:
                    known.clear()
                view = known[address] = self._makers[number](address)
            found.append(view)
        return found if not self._written or self._are_apart(addresses) else None

    def _are_apart(self, addresses: list[int]) -> bool:
        """Whether each tensor that is written shares no memory with another."""
        key = tuple(addresses)
        if key not in self._apart:
            sizes = self.sizes
            for one, two in self._written:
                first, second = addresses[one], addresses[two]
                if first < second + sizes[two] and second < first + sizes[one]:
                    return False
            if len(self._apart) == _MOST_APART:
                self._apart.clear()
            self._apart.add(key)
        return True
