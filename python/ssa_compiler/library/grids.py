"""Samples of volumes at places that a grid names: `grid_sampler_3d`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from ._registry import implements

__all__: list[str] = []


def _is_volume(arguments: Mapping[str, Any]) -> bool:
    x, grid = arguments["input"], arguments["grid"]
    if x.dim() != 5 or grid.dim() != 5 or x.dtype != grid.dtype or x.dtype not in (torch.float32, torch.float64):
        return False
    known = all(isinstance(size, int) and size > 0 for size in (*x.shape, *grid.shape))
    modes = all(isinstance(arguments[name], int) for name in ("interpolation_mode", "padding_mode"))
    fits = known and x.shape[0] == grid.shape[0] and grid.shape[4] == 3
    return fits and modes and arguments["interpolation_mode"] in (0, 1) and arguments["padding_mode"] in (0, 1, 2)


def _reflected(x: Tensor, low: int, high: int) -> Tensor:
    """Places brought between two borders, in halves, by reflection."""
    if low == high:
        return torch.zeros_like(x)
    least, span = low / 2.0, (high - low) / 2.0
    distance = torch.abs(x - least)
    flips = torch.floor(distance / span)
    extra = distance - flips * span
    odd = flips - 2.0 * torch.floor(flips / 2.0) == 1.0
    return torch.where(odd, span - extra + least, extra + least)


def _place(x: Tensor, size: int, padding_mode: int, align_corners: bool) -> Tensor:
    """Places among the elements of a dimension, of numbers from -1 to 1."""
    y = (x + 1.0) / 2.0 * float(size - 1) if align_corners else ((x + 1.0) * float(size) - 1.0) / 2.0
    if padding_mode == 2:
        y = _reflected(y, 0, 2 * (size - 1)) if align_corners else _reflected(y, -1, 2 * size - 1)
    if padding_mode != 0:
        y = torch.where(torch.isnan(y), float(size - 1), y.clamp(0.0, float(size - 1)))
    return y


def _element(x: Tensor, z: Tensor, y: Tensor, w: Tensor) -> Tensor:
    """Elements [N, C, places] of volumes [N, C, D, H, W] at whole places [N, places]; 0 outside."""
    depth, height, width = x.size(2), x.size(3), x.size(4)
    inside = torch.logical_and(torch.logical_and(z >= 0.0, z < depth), torch.logical_and(y >= 0.0, y < height))
    inside = torch.logical_and(inside, torch.logical_and(w >= 0.0, w < width))
    plane = torch.where(inside, z, 0.0).to(torch.int64)
    row = torch.where(inside, y, 0.0).to(torch.int64)
    column = torch.where(inside, w, 0.0).to(torch.int64)
    place = ((plane * height + row) * width + column).unsqueeze(1)
    flat = x.reshape([x.size(0), x.size(1), -1])
    found = flat.gather(2, place.expand(x.size(0), x.size(1), place.size(2)))
    return torch.where(inside.unsqueeze(1), found, 0.0)


@implements("aten::grid_sampler_3d", where=_is_volume)
def grid_sampler_3d(
    input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Tensor:
    """Volumes [N, C, D, H, W] at the places of a grid [N, D, H, W, 3]: the nearest element, or between eight."""
    places = grid.reshape([grid.size(0), -1, 3])
    x = _place(places[:, :, 0], input.size(4), padding_mode, align_corners)
    y = _place(places[:, :, 1], input.size(3), padding_mode, align_corners)
    z = _place(places[:, :, 2], input.size(2), padding_mode, align_corners)
    shape = [input.size(0), input.size(1), grid.size(1), grid.size(2), grid.size(3)]
    if interpolation_mode == 1:
        return _element(input, torch.round(z), torch.round(y), torch.round(x)).reshape(shape)
    left, top, front = torch.floor(x), torch.floor(y), torch.floor(z)
    total = torch.zeros([input.size(0), input.size(1), places.size(1)], dtype=input.dtype, device=input.device)
    for deep in [0.0, 1.0]:
        for down in [0.0, 1.0]:
            for right in [0.0, 1.0]:
                a, b, c = front + deep, top + down, left + right
                weight = (1.0 - (z - a).abs()) * (1.0 - (y - b).abs()) * (1.0 - (x - c).abs())
                found = _element(input, a, b, c)
                inside = torch.logical_and(a >= 0.0, a < input.size(2))
                inside = torch.logical_and(inside, torch.logical_and(b >= 0.0, b < input.size(3)))
                inside = torch.logical_and(inside, torch.logical_and(c >= 0.0, c < input.size(4))).unsqueeze(1)
                total = total + torch.where(inside, found * weight.unsqueeze(1), 0.0)
    return total.reshape(shape)
