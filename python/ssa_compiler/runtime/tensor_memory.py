"""The memory of tensors: copies that IREE can use, and which elements share a place."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

__all__ = ["dense_copy", "overlaps", "span_of"]


def dense_copy(tensor: torch.Tensor) -> torch.Tensor:
    """Return a copy that IREE can use the memory of."""
    import torch

    dense = torch.empty(tensor.shape, dtype=tensor.dtype, device=tensor.device)
    dense.copy_(tensor.detach())
    return dense


def overlaps(tensor: torch.Tensor) -> bool:
    """Whether two elements of a tensor share one place in memory."""
    import torch

    if tensor.numel() == 0:
        return False
    reach = 1  # of the dimensions with smaller strides
    steps = sorted((stride, size) for size, stride in zip(tensor.shape, tensor.stride(), strict=True) if size > 1)
    for stride, size in steps:
        if stride < reach:
            places = torch.zeros((), dtype=torch.int64)
            for dim_stride, dim_size in steps:
                places = places[..., None] + torch.arange(dim_size) * dim_stride
            return bool((places.reshape(-1).sort().values.diff() == 0).any())
        reach += stride * (size - 1)
    return False


def span_of(tensor: torch.Tensor) -> tuple[int, int]:
    """Return first and last byte address (exclusive) that a tensor's elements lie in; equal for an empty tensor."""
    start = tensor.data_ptr()
    if tensor.numel() == 0:
        return start, start
    extent = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True)) + 1
    return start, start + extent * tensor.element_size()
