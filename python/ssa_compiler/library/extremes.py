"""The largest and smallest elements of floating point and where they are.

IREE's own search compares a candidate with the best so far, which is never true of NaN. PyTorch gives NaN where there
is one, and the place of the first; of equal elements the first, too. Here the extreme is found first (`amax` and `amin`
keep NaN), then the first place that has it: two reductions that vectorise.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from ._registry import implements

__all__: list[str] = []


def _has_floats(arguments: Mapping[str, Any]) -> bool:
    tensor = arguments["self"]
    return tensor.dtype.is_floating_point and 0 not in [size for size in tensor.shape if isinstance(size, int)]


def _first(x: Tensor, best: Tensor, dim: int) -> Tensor:
    """The first place along a dimension of the extreme, or of NaN: int64, with the dimension; there is NaN if it is
    that.
    """
    n = x.size(dim)
    place = torch.arange(n, dtype=torch.int32, device=x.device)
    shape = [1] * x.dim()
    shape[dim] = n
    found = torch.logical_or(x == best, torch.isnan(x))
    return torch.where(found, place.view(shape), n).amin(dim, keepdim=True).to(torch.int64)


def _extreme(x: Tensor, dim: int, keepdim: bool, largest: bool) -> tuple[Tensor, Tensor]:
    if x.dim() == 0:
        return x.clone(), torch.zeros([], dtype=torch.int64, device=x.device)
    best = x.amax(dim, keepdim=True) if largest else x.amin(dim, keepdim=True)
    place = _first(x, best, dim)
    if keepdim:
        return best, place
    return best.squeeze(dim), place.squeeze(dim)


@implements("aten::max.dim", where=_has_floats)
def largest_along(self: Tensor, dim: int, keepdim: bool) -> tuple[Tensor, Tensor]:
    """The largest element along a dimension, NaN if there is one, and where it is first."""
    return _extreme(self, dim, keepdim, True)


@implements("aten::min.dim", where=_has_floats)
def smallest_along(self: Tensor, dim: int, keepdim: bool) -> tuple[Tensor, Tensor]:
    """The smallest element along a dimension, NaN if there is one, and where it is first."""
    return _extreme(self, dim, keepdim, False)


def _place(x: Tensor, dim: int | None, keepdim: bool, largest: bool) -> Tensor:
    if dim is not None:
        return _extreme(x, dim, keepdim, largest)[1]
    place = _extreme(x.reshape(-1), 0, False, largest)[1]
    return place.reshape([1] * x.dim()) if keepdim else place


@implements("aten::argmax", where=_has_floats)
def place_of_largest(self: Tensor, dim: int | None, keepdim: bool) -> Tensor:
    """Where the largest element is first, along a dimension or in the flattened tensor."""
    return _place(self, dim, keepdim, True)


@implements("aten::argmin", where=_has_floats)
def place_of_smallest(self: Tensor, dim: int | None, keepdim: bool) -> Tensor:
    """Where the smallest element is first, along a dimension or in the flattened tensor."""
    return _place(self, dim, keepdim, False)


def _is_real(arguments: Mapping[str, Any]) -> bool:
    return not arguments["self"].dtype.is_complex


@implements("aten::clamp_min.Tensor", where=_is_real)
def at_least(self: Tensor, min: Tensor) -> Tensor:
    """Numbers that are no smaller than others."""
    return torch.maximum(self, min)


@implements("aten::clamp_max.Tensor", where=_is_real)
def at_most(self: Tensor, max: Tensor) -> Tensor:
    """Numbers that are no larger than others."""
    return torch.minimum(self, max)
