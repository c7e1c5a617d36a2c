"""Tensors for the programs: deterministic, small, and such that every element is different."""

from __future__ import annotations

import torch

__all__ = ["ramp", "randn"]


def ramp(*sizes: int, dtype: torch.dtype = torch.float32, start: int = 1) -> torch.Tensor:
    """Return `start, start + 1, ...` in the given shape.

    Args:
        sizes: the shape.
        dtype: the dtype.
        start: the first element.
    """
    count = 1
    for size in sizes:
        count *= size
    return torch.arange(start, start + count).to(dtype).reshape(sizes)


def randn(*sizes: int, seed: int = 0, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """Return normal random numbers that depend on the seed only."""
    return torch.randn(*sizes, generator=torch.Generator().manual_seed(seed), dtype=dtype)
