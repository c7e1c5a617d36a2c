"""Ops of torchvision that pool regions of interest, as programs of the library."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

import ssa_compiler
from _nightly import with_nightly
from ssa_compiler.testing import check


def pool(features: Tensor, regions: Tensor) -> Tensor:
    return torch.ops.torchvision.roi_align(features, regions, 0.5, 3, 2, 2, True)


def pool_adaptively(features: Tensor, regions: Tensor) -> Tensor:
    return torch.ops.torchvision.roi_align(features, regions, 0.25, 2, 3, -1, False)


def pool_confident(features: Tensor, regions: Tensor, scores: Tensor) -> Tensor:
    """As a second stage does: the regions that an earlier step kept."""
    pooled = torch.ops.torchvision.roi_align(features, regions[scores > 0.5], 1.0, 2, 2, 0, True)
    return pooled.sum(dim=[2, 3])


FEATURES = torch.rand(2, 3, 7, 9, generator=torch.Generator().manual_seed(0))
INSIDE = torch.tensor([[0.0, 1.0, 2.0, 9.0, 11.0], [1.0, 0.5, 0.5, 3.0, 3.5], [1.0, 4.0, 4.0, 4.0, 4.0]])
# Beyond every edge, wholly outside, inside out, and at the last element exactly.
OUTSIDE = torch.tensor([[0.0, -9.0, -9.0, 40.0, 40.0], [1.0, 90.0, 90.0, 95.0, 99.0], [0.0, 9.0, 11.0, 2.0, 1.0]])
EDGES = torch.tensor([[1.0, -2.0, -2.0, 0.0, 0.0], [0.0, 16.0, 12.0, 18.0, 14.0], [1.0, 17.0, 13.0, 17.0, 13.0]])


def _reference(
    features: Tensor, regions: Tensor, scale: float, height: int, width: int, ratio: int, aligned: bool
) -> Tensor:
    """Sample by sample in double precision, as the paper says and torchvision documents."""

    def value(image: Tensor, y: float, x: float) -> Tensor:
        rows, columns = image.shape[1:]
        if y < -1 or y > rows or x < -1 or x > columns:
            return image[:, 0, 0] * 0
        y, x = min(max(y, 0.0), rows - 1.0), min(max(x, 0.0), columns - 1.0)
        total = image[:, 0, 0] * 0
        for row in range(rows):
            for column in range(columns):
                total = total + image[:, row, column] * max(0.0, 1 - abs(row - y)) * max(0.0, 1 - abs(column - x))
        return total

    result = torch.zeros(len(regions), features.shape[1], height, width, dtype=torch.float64)
    for k, (number, *corners) in enumerate(regions.tolist()):
        left, top, right, bottom = (corner * scale - 0.5 * aligned for corner in corners)
        tall, wide = bottom - top, right - left
        if not aligned:
            tall, wide = max(tall, 1.0), max(wide, 1.0)
        tall, wide = tall / height, wide / width
        down, across = (ratio, ratio) if ratio > 0 else (math.ceil(tall), math.ceil(wide))
        for i in range(height):
            for j in range(width):
                for m in range(down):
                    for n in range(across):
                        y, x = top + (i + (m + 0.5) / down) * tall, left + (j + (n + 0.5) / across) * wide
                        result[k, :, i, j] += value(features[int(number)].double(), y, x)
                result[k, :, i, j] /= max(down * across, 1)
    return result


@pytest.mark.parametrize("regions", [INSIDE, OUTSIDE, EDGES], ids=["inside", "outside", "edges"])
@pytest.mark.parametrize("ratio", with_nightly([-1, 3], [1]))
@pytest.mark.parametrize("aligned", [True, False])
def test_plain_implementation(regions: Tensor, ratio: int, aligned: bool) -> None:
    """What eager computes where torchvision is not installed."""
    arguments = (0.5, 2, 3, ratio, aligned)
    found = torch.ops.torchvision.roi_align(FEATURES, regions, *arguments)
    torch.testing.assert_close(found.double(), _reference(FEATURES, regions, *arguments), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("function", [pool, pool_adaptively])
def test_regions(function: object) -> None:
    inputs = [(FEATURES, regions) for regions in (INSIDE, OUTSIDE, EDGES)]
    assert check(function, *inputs, compiled=True).compiled.explain().callbacks == ()


@pytest.mark.slow
def test_regions_known_at_run_time_only() -> None:
    regions = torch.cat([INSIDE, OUTSIDE, EDGES])
    scores = torch.linspace(0.0, 1.0, 9)
    inputs = [(FEATURES, regions, each) for each in (scores, scores + 1.0, scores * 0.0)]
    assert check(pool_confident, *inputs, compiled=True).compiled.explain().callbacks == ()


def test_image_that_is_not_in_the_batch() -> None:
    """torchvision reads beside the features there."""
    compiled = ssa_compiler.compile(pool, (FEATURES, INSIDE))
    with pytest.raises(IndexError, match="not in the batch"):
        compiled(FEATURES, INSIDE + torch.tensor([2.0, 0.0, 0.0, 0.0, 0.0]))
