"""Linear and nearest interpolation of images whose sizes, or those of the result, are dynamic.

With sizes that are known the op is decomposed (`importer/fake/sampling.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, List, Optional, Tuple  # noqa: UP035 - TorchScript

import torch
from torch import Tensor

from ._registry import implements

__all__: list[str] = []

# ruff: noqa: UP006, UP045 - TorchScript reads these annotations


def _has_dynamic_sizes(arguments: Mapping[str, Any]) -> bool:
    input, wanted = arguments["input"], arguments["output_size"]
    sizes = (*input.shape[2:], *(wanted or ()))
    factors = arguments["scale_factors"] or ()
    known = all(isinstance(factor, float) for factor in factors)
    return known and any(isinstance(size, torch.SymInt) for size in sizes)


def _has_floats(arguments: Mapping[str, Any]) -> bool:
    return arguments["input"].dtype in (torch.float32, torch.float64) and _has_dynamic_sizes(arguments)


def _wanted(
    input: Tensor, dim: int, output_size: Optional[List[int]], scale_factors: Optional[List[float]]
) -> Tuple[int, float]:
    """The size of the result along a dimension, and its factor, 0 if none is given."""
    factor = 0.0
    if scale_factors is not None:
        factor = scale_factors[dim - 2]
    size = output_size[dim - 2] if output_size is not None else int(input.size(dim) * factor)
    if size <= 0 or input.size(dim) <= 0:
        raise RuntimeError("Input and output sizes should be greater than 0")
    return size, factor


def _lines(input: Tensor, dim: int, size: int, align_corners: bool, factor: float) -> Tensor:
    """Interpolate along one dimension, to `size` elements; `factor` is how many there are for each, 0 if not given."""
    count = input.size(dim)
    x = torch.arange(size, dtype=input.dtype, device=input.device)
    if align_corners:
        step = 0.0
        if size > 1:
            step = (count - 1) / (size - 1)
        x = x * step
    else:
        step = count / size
        if factor > 0.0:
            step = 1.0 / factor
        x = ((x + 0.5) * step - 0.5).clamp(min=0.0)
    low = x.to(torch.int64).clamp(max=count - 1)
    weight = (x - low).clamp(0.0, 1.0)
    for _ in range(input.dim() - 1 - dim):
        weight = weight.unsqueeze(-1)
    first, second = input.index_select(dim, low), input.index_select(dim, (low + 1).clamp(max=count - 1))
    return first * (1.0 - weight) + second * weight


@implements(
    "aten::upsample_linear1d.vec",
    "aten::upsample_bilinear2d.vec",
    "aten::upsample_trilinear3d.vec",
    where=_has_floats,
)
def upsample_linear(
    input: Tensor,
    output_size: Optional[List[int]],
    align_corners: bool,
    scale_factors: Optional[List[float]],
) -> Tensor:
    """Images [batch, channels, *sizes], interpolated along the last dimension first, as eager's kernels do."""
    result = input
    for number in range(input.dim() - 2):
        dim = input.dim() - 1 - number
        size, factor = _wanted(input, dim, output_size, scale_factors)
        result = _lines(result, dim, size, align_corners, factor)
    return result


def _places(count: int, size: int, factor: float, shift: float, device: torch.device) -> Tensor:
    """Which of `count` elements is nearest to each of `size`, in float32 as eager's kernels compute it."""
    if shift == 0.0 and size == count:
        return torch.arange(size, device=device)
    step = count / size
    if factor > 0.0:
        step = 1.0 / factor
    if shift == 0.0 and size == 2 * count:
        step = 0.5
    x = (torch.arange(size, dtype=torch.float32, device=device) + shift) * step
    return x.floor().to(torch.int64).clamp(max=count - 1)


def _nearest(
    input: Tensor, output_size: Optional[List[int]], scale_factors: Optional[List[float]], shift: float
) -> Tensor:
    result = input
    for dim in range(2, input.dim()):
        size, factor = _wanted(input, dim, output_size, scale_factors)
        result = result.index_select(dim, _places(input.size(dim), size, factor, shift, input.device))
    return result


@implements(
    "aten::upsample_nearest1d.vec",
    "aten::upsample_nearest2d.vec",
    "aten::upsample_nearest3d.vec",
    where=_has_dynamic_sizes,
)
def upsample_nearest(input: Tensor, output_size: Optional[List[int]], scale_factors: Optional[List[float]]) -> Tensor:
    """Images [batch, channels, *sizes], of which each element is that one whose place begins before it."""
    return _nearest(input, output_size, scale_factors, 0.0)


@implements(
    "aten::_upsample_nearest_exact1d.vec",
    "aten::_upsample_nearest_exact2d.vec",
    "aten::_upsample_nearest_exact3d.vec",
    where=_has_dynamic_sizes,
)
def upsample_nearest_exact(
    input: Tensor, output_size: Optional[List[int]], scale_factors: Optional[List[float]]
) -> Tensor:
    """Images [batch, channels, *sizes], of which each element is the one whose middle is nearest."""
    return _nearest(input, output_size, scale_factors, 0.5)
