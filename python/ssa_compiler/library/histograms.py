"""Histograms: how many elements are in each of a number of equally large bins."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, List, Optional  # noqa: UP035 - TorchScript

import torch
from torch import Tensor

from ._registry import implements

__all__: list[str] = []

# ruff: noqa: UP006, UP045 - TorchScript reads these annotations

_REAL = (torch.float32, torch.float64)


def _has_elements(arguments: Mapping[str, Any]) -> bool:
    tensor, bins = arguments["self"], arguments["bins"]
    known = all(isinstance(size, int) and size > 0 for size in tensor.shape)
    return known and tensor.dtype in _REAL and isinstance(bins, int) and bins > 0


def _has_known_range(arguments: Mapping[str, Any]) -> bool:
    ends = arguments["min"], arguments["max"]
    return _has_elements(arguments) and all(isinstance(end, (int, float)) for end in ends) and ends[0] <= ends[1]


def _counted(places: Tensor, inside: Tensor, weights: Tensor, bins: int) -> Tensor:
    """The sums of weights at places, of those that are inside."""
    counts = torch.zeros([bins + 1], dtype=weights.dtype, device=weights.device)
    return counts.scatter_add(0, torch.where(inside, places, bins), weights)[:bins].clone()


def _interpolated(x: Tensor, low: Tensor, high: Tensor, bins: int) -> tuple[Tensor, Tensor]:
    """The bins of elements, as linear interpolation has them, and whether they are in the range."""
    inside = torch.logical_and(x >= low, x <= high)
    places = torch.where(inside, (x - low) * float(bins) / (high - low), 0.0).to(torch.int64)
    return places.clamp(0, bins), inside  # also of what overflows


@implements("aten::histc", where=_has_known_range)
def histc(self: Tensor, bins: int, min: float, max: float) -> Tensor:
    """The numbers of elements in bins between two numbers; between the ends of the elements, if these are equal."""
    x = self.reshape(-1)
    low = torch.full([], min, dtype=self.dtype, device=self.device)
    high = torch.full([], max, dtype=self.dtype, device=self.device)
    if min == max:
        low, high = x.amin(), x.amax()
        if not bool(torch.logical_and(torch.isfinite(low), torch.isfinite(high))):
            raise RuntimeError("range of the elements is not finite")
        same = low == high
        low, high = torch.where(same, low - 1.0, low), torch.where(same, high + 1.0, high)
    places, inside = _interpolated(x, low, high, bins)
    return _counted(places.clamp(max=bins - 1), inside, torch.ones_like(x), bins)


def _is_unweighted_or_alike(arguments: Mapping[str, Any]) -> bool:
    weight, ends = arguments["weight"], arguments["range"]
    if ends is not None and not (all(isinstance(end, (int, float)) for end in ends) and ends[0] <= ends[1]):
        return False
    alike = weight is None or (weight.dtype == arguments["self"].dtype and weight.shape == arguments["self"].shape)
    return _has_elements(arguments) and alike and isinstance(arguments["density"], bool)


@implements("aten::histogram.bin_ct", where=_is_unweighted_or_alike)
def histogram(
    self: Tensor, bins: int, range: Optional[List[float]], weight: Optional[Tensor], density: bool
) -> tuple[Tensor, Tensor]:
    """The numbers, or the weights, of elements in bins, and the edges of these."""
    x = self.reshape(-1)
    low, high = x.amin(), x.amax()
    if range is not None:
        low = torch.full([], range[0], dtype=self.dtype, device=self.device)
        high = torch.full([], range[1], dtype=self.dtype, device=self.device)
    if not bool(torch.logical_and(torch.isfinite(low), torch.isfinite(high))):
        raise RuntimeError("torch.histogramdd: the range of dimension 0 is not finite")
    same = low == high
    low, high = torch.where(same, low - 0.5, low), torch.where(same, high + 0.5, high)
    step = (high - low) / float(bins)
    number = torch.arange(bins + 1, dtype=self.dtype, device=self.device)
    edges = torch.where(number < (bins + 1) // 2, low + step * number, high - step * (float(bins) - number))
    places, inside = _interpolated(x, low, high, bins)
    # The bin is that of the last edge, of those around the place, which is not above the element.
    before, behind = (places - 1).clamp(min=0), (places + 1).clamp(max=bins)
    places = torch.where(edges[behind] <= x, behind, torch.where(edges[places] <= x, places, before)).clamp(
        max=bins - 1
    )
    weights = torch.ones_like(x) if weight is None else weight.reshape(-1)
    counts = _counted(places, inside, weights, bins)
    if density:
        counts = counts / counts.sum() / (edges[1:] - edges[:-1])
    return counts, edges
