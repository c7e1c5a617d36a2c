"""Arguments that a kernel was given before: a call with tensors at the same addresses passes them again as they are.

Weights and buffers lie where they lay, and PyTorch's allocator gives the tensors of a loop the same few addresses, so
that most calls of a small program need no new views of memory, which cost more than the program.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

    from .device import Device

__all__ = ["BoundArguments", "addresses_of"]


def addresses_of(leaves: Sequence[torch.Tensor]) -> list[int]:
    """Return where the elements of each tensor begin."""
    return [leaf.data_ptr() for leaf in leaves]


class BoundArguments:
    """A list of IREE's that passes certain tensors, which it does not keep alive.

    Whether it fits a call is decided by PyTorch's own guards of tensors, which compare type, dispatch keys (device,
    layout, views that negate or conjugate), dtype, whether gradients are recorded, sizes and strides at once, and by
    the addresses. What was checked of the first call's tensors so holds for those of the others.

    Args:
        device: where the program runs.
        leaves: the tensors. All were checked and can be passed as they are.
        addresses: of `leaves`.
        inputs: an empty list, which receives their views.
    """

    def __init__(self, device: Device, leaves: Sequence[torch.Tensor], addresses: list[int], inputs: Any) -> None:
        from torch._C._dynamo.guards import TensorGuards

        self.inputs = inputs
        self._addresses = addresses
        self._count = len(leaves)
        # Where gradients would be recorded, it is not for a guard to say what becomes of them.
        self._check = TensorGuards(
            *(_without_grad(leaf) if leaf.requires_grad else leaf for leaf in leaves),
            dynamic_dims_sizes=[list(leaf.shape) for leaf in leaves],  # type: ignore[misc]  # the stub is wrong
            dynamic_dims_strides=[list(leaf.stride()) for leaf in leaves],  # type: ignore[misc]
        ).check
        for leaf in leaves:
            inputs.push_ref(device.borrowing_view(leaf))

    @staticmethod
    def can_bind(leaves: Sequence[Any]) -> bool:
        """Return whether all are tensors of PyTorch's own classes that have elements."""
        import torch

        own = (torch.Tensor, torch.nn.Parameter)
        return all(type(leaf) in own and leaf.numel() for leaf in leaves)

    def fits(self, leaves: Sequence[Any]) -> bool:
        """Return whether `inputs` passes these."""
        return len(leaves) == self._count and self._check(*leaves) and addresses_of(leaves) == self._addresses


def _without_grad(tensor: torch.Tensor) -> torch.Tensor:
    """Return a tensor of the same class and memory that does not require grad."""
    import torch

    detached = tensor.detach()
    return torch.nn.Parameter(detached, requires_grad=False) if type(tensor) is torch.nn.Parameter else detached
