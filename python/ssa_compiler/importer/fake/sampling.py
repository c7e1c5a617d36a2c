"""Decompositions of interpolation and sampling that hold for infinities and NaN: PyTorch's own, written as eager's
kernels are.

PyTorch's decompositions weigh two elements as `a + (b - a) * w`, which of infinities is NaN, and give elements that lie
outside the weight 0 instead of reading 0 in their place, so that NaN in the first element spreads to all of these.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch._decomp import decompositions

__all__ = ["OF_FLOATS", "sampling_decompositions"]

pytorch: Any = decompositions
aten = torch.ops.aten
_BORDER, _REFLECTION = 1, 2
_BILINEAR, _NEAREST = 0, 1


def sampling_decompositions() -> dict[Any, Callable[..., Any]]:
    """Return the decompositions by OpOverload."""
    return {
        aten.upsample_linear1d.default: _linear,
        aten.upsample_bilinear2d.default: _linear,
        aten.upsample_trilinear3d.default: _linear,
        aten.upsample_linear1d.vec: _linear_vec,
        aten.upsample_bilinear2d.vec: _linear_vec,
        aten.upsample_trilinear3d.vec: _linear_vec,
        aten.grid_sampler_2d.default: _grid_sampler,
    }


OF_FLOATS = frozenset({torch.ops.aten.upsample_bilinear2d.default, torch.ops.aten.upsample_bilinear2d.vec})
"""Ops that eager computes in fixed point of bytes: what they consist of would round otherwise."""


def _linear_vec(
    input: Tensor,
    output_size: Sequence[int] | None,
    align_corners: bool,
    scale_factors: Sequence[float] | None,
) -> Tensor:
    sizes = pytorch.upsample_compute_output_size(input.size(), output_size, scale_factors)
    return _linear(input, sizes, align_corners, *(scale_factors or ()))


@pytorch.pw_cast_for_opmath  # type: ignore[untyped-decorator]
def _linear(input: Tensor, output_size: Sequence[int], align_corners: bool, *scales: float | None) -> Tensor:
    dims = len(output_size)
    dtype = input.dtype if input.is_floating_point() else torch.float32
    places = []
    for dim, size in enumerate(output_size):
        given = scales[dim] if dim < len(scales) else None
        factor = pytorch._compute_scale(input.shape[2 + dim], size, align_corners, given)
        x = torch.arange(size, device=input.device).to(dtype=dtype)
        x = pytorch._compute_source_index(factor, x, align_corners).clamp(min=0.0)
        x = x.reshape(x.shape[0], *[1] * (dims - 1 - dim))
        low = x.to(torch.int64)
        places.append((x, low, (low + 1).clamp(max=input.shape[2 + dim] - 1)))
    corners = [
        aten._unsafe_index(input, [None, None, *(place[1 + side] for place, side in zip(places, sides))]).to(dtype)
        for sides in itertools.product((0, 1), repeat=dims)
    ]
    for x, low, _ in reversed(places):
        weight = (x - low).clamp(0.0, 1.0).to(dtype)
        corners = [one * (1 - weight) + other * weight for one, other in zip(corners[::2], corners[1::2])]
    result = corners[0].contiguous(memory_format=torch._prims_common.suggest_memory_format(input))
    return result if input.is_floating_point() else result.round()


def _reflected(at: Tensor, twice_low: int, twice_high: int) -> Tensor:
    """Coordinates reflected until they are between two bounds, of which the doubles are given."""
    if twice_low == twice_high:
        return torch.zeros_like(at)
    least, period = twice_low / 2, float(twice_high - twice_low)
    distance = (at - least).abs()
    rest = distance - (distance / period).trunc() * period
    return torch.minimum(rest, period - rest) + least


@pytorch.pw_cast_for_opmath  # type: ignore[untyped-decorator]
def _grid_sampler(
    a: Tensor, grid: Tensor, interpolation_mode: int = 0, padding_mode: int = 0, align_corners: bool = False
) -> Tensor:
    count, channels, *sizes = a.shape
    rows = torch.arange(count, device=a.device).view(count, 1, 1, 1)
    planes = torch.arange(channels, device=a.device).view(1, channels, 1, 1)

    def placed(at: Tensor, size: int) -> Tensor:
        """Coordinates as the padding has them; NaN is the first element, but for padding with zeros."""
        if padding_mode == _REFLECTION:
            at = _reflected(at, 0, 2 * (size - 1)) if align_corners else _reflected(at, -1, 2 * size - 1)
        if padding_mode in (_BORDER, _REFLECTION):
            at = torch.where(at.isnan(), 0.0, torch.clamp(at, 0, size - 1))
        return at

    def element(x: Tensor, y: Tensor) -> Tensor:
        """The elements at whole coordinates, 0 outside."""
        inside = (x >= 0) & (x < sizes[1]) & (y >= 0) & (y < sizes[0])
        columns, lines = (torch.where(inside, at.to(torch.int64), 0) for at in (x, y))
        return torch.where(inside, a[rows, planes, lines, columns], 0.0)

    def scaled(at: Tensor, size: int) -> Tensor:
        """Coordinates between -1 and 1 as positions."""
        return at * (size * 0.5 - 0.5 if align_corners else size * 0.5) + (size * 0.5 - 0.5)

    x, y = scaled(grid[..., 0].unsqueeze(1), sizes[1]), scaled(grid[..., 1].unsqueeze(1), sizes[0])
    if interpolation_mode not in (_BILINEAR, _NEAREST):
        left, top = x.floor(), y.floor()
        lines = [
            pytorch._upsample_cubic_interp1d(
                [element(placed(left + i, sizes[1]), placed(top + j, sizes[0])) for i in range(-1, 3)], x - left
            )
            for j in range(-1, 3)
        ]
        return pytorch._upsample_cubic_interp1d(lines, y - top)
    x, y = placed(x, sizes[1]), placed(y, sizes[0])
    if interpolation_mode == _NEAREST:
        return element(x.round(), y.round())
    left, top = x.floor(), y.floor()
    right, bottom = left + 1, top + 1
    return (
        element(left, top) * ((right - x) * (bottom - y))
        + element(right, top) * ((x - left) * (bottom - y))
        + element(left, bottom) * ((right - x) * (y - top))
        + element(right, bottom) * ((x - left) * (y - top))
    )
