"""Ops of torchvision: features pooled from regions of interest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from ._registry import implements

__all__: list[str] = []


def _neighbours(places: Tensor, size: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The two elements around each place, and their weights, which are 0 more than one element outside."""
    inside = torch.logical_and(places >= -1.0, places <= size)
    held = places.clamp(0.0, float(size - 1))
    low = held.to(torch.int64).clamp(0, size - 1)  # also of what is not a number
    part = held - low
    weight = torch.where(inside, 1.0 - part, torch.zeros_like(part))
    return low, (low + 1).clamp(max=size - 1), weight, torch.where(inside, part, torch.zeros_like(part))


def _are_regions(arguments: Mapping[str, Any]) -> bool:
    input, rois = arguments["input"], arguments["rois"]
    fits = input.dim() == 4 and rois.dim() == 2 and rois.shape[1] == 5 and input.dtype == rois.dtype
    known = [size for size in (*input.shape, *rois.shape) if isinstance(size, int)]
    return fits and input.dtype in (torch.float32, torch.float64) and 0 not in known


@implements("torchvision::roi_align", where=_are_regions)
def roi_align(
    input: Tensor,
    rois: Tensor,
    spatial_scale: float,
    pooled_height: int,
    pooled_width: int,
    sampling_ratio: int,
    aligned: bool,
) -> Tensor:
    """The mean of bilinear samples in each bin of each region, [regions, channels, pooled_height, pooled_width].

    A region is image, left, top, right, bottom; its bins are a grid of pooled_height x pooled_width. With
    sampling_ratio <= 0 a bin has a sample for each element it spans, so regions have grids of their own: all take part
    in each of the samples of the largest, those that have no such sample with weight 0. Source: He et al., Mask R-CNN,
    section 3 (RoIAlign).
    """
    height, width = input.size(2), input.size(3)
    image = rois[:, 0].to(torch.int64)
    if bool(torch.logical_or(image < 0, image >= input.size(0)).any()):
        raise IndexError("roi_align: a region of an image that is not in the batch")
    corners = rois[:, 1:] * spatial_scale - (0.5 if aligned else 0.0)
    left, top = corners[:, 0:1], corners[:, 1:2]
    spans_x, spans_y = corners[:, 2:3] - left, corners[:, 3:4] - top
    if not aligned:
        spans_x, spans_y = spans_x.clamp(min=1.0), spans_y.clamp(min=1.0)
    bins_y, bins_x = spans_y / pooled_height, spans_x / pooled_width
    samples_y, samples_x = torch.full_like(bins_y, sampling_ratio), torch.full_like(bins_x, sampling_ratio)
    if sampling_ratio <= 0:
        samples_y, samples_x = torch.ceil(bins_y).clamp(min=0.0), torch.ceil(bins_x).clamp(min=0.0)
    most_y, most_x = sampling_ratio, sampling_ratio
    if sampling_ratio <= 0 and rois.size(0) > 0:
        most_y, most_x = int(samples_y.max()), int(samples_x.max())
    rows = torch.arange(pooled_height, dtype=rois.dtype, device=rois.device)
    columns = torch.arange(pooled_width, dtype=rois.dtype, device=rois.device)
    # Channels last: a sample reads all channels of one element.
    features = input.permute(0, 2, 3, 1).contiguous()
    of_image = image[:, None, None]
    total = torch.zeros(
        [rois.size(0), pooled_height, pooled_width, input.size(1)], dtype=input.dtype, device=input.device
    )
    for y in range(most_y):
        place = top + rows * bins_y + (y + 0.5) * bins_y / samples_y
        upper, lower, weight_upper, weight_lower = _neighbours(place, height)
        weight_upper = torch.where(y < samples_y, weight_upper, torch.zeros_like(weight_upper))[:, :, None, None]
        weight_lower = torch.where(y < samples_y, weight_lower, torch.zeros_like(weight_lower))[:, :, None, None]
        for x in range(most_x):
            place = left + columns * bins_x + (x + 0.5) * bins_x / samples_x
            before, after, weight_before, weight_after = _neighbours(place, width)
            weight_before = torch.where(x < samples_x, weight_before, torch.zeros_like(weight_before))[:, None, :, None]
            weight_after = torch.where(x < samples_x, weight_after, torch.zeros_like(weight_after))[:, None, :, None]
            above = features[of_image, upper[:, :, None], before[:, None, :]] * weight_before
            above = above + features[of_image, upper[:, :, None], after[:, None, :]] * weight_after
            below = features[of_image, lower[:, :, None], before[:, None, :]] * weight_before
            below = below + features[of_image, lower[:, :, None], after[:, None, :]] * weight_after
            total += above * weight_upper + below * weight_lower
    count = (samples_y * samples_x).clamp(min=1.0)
    return (total / count[:, :, None, None]).permute(0, 3, 1, 2).contiguous()
