"""Ops on segments, on runs of equal elements, and on places of elements: `segment_reduce`, `mode`, `nonzero_static`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Optional

import torch
from torch import Tensor

from ._registry import implements

__all__: list[str] = []

_REAL = (torch.float32, torch.float64)


def _has_segments(arguments: Mapping[str, Any]) -> bool:
    data, lengths, offsets = (arguments[name] for name in ("data", "lengths", "offsets"))
    given = lengths if lengths is not None else offsets
    if given is None or arguments["indices"] is not None or data.dtype not in _REAL:
        return False
    known = all(isinstance(size, int) and size > 0 for size in (*data.shape, *given.shape))
    plain = arguments["initial"] is None or isinstance(arguments["initial"], (int, float))
    return known and plain and given.dim() == 1 and given.dtype == torch.int64 and arguments["axis"] == 0


def _bounds(data: Tensor, lengths: Optional[Tensor], offsets: Optional[Tensor], unsafe: bool) -> tuple[Tensor, Tensor]:  # noqa: UP045
    """Where segments begin and end; offsets are taken as they are, as eager does."""
    if lengths is not None:
        if not unsafe:
            if bool((lengths < 0).any()):
                raise RuntimeError("lengths contains negative value!")
            if bool(lengths.sum() != data.size(0)):
                raise RuntimeError(
                    "segment_reduce(): Expected all rows of lengths along axis to sum to data.size(lengths.dim()-1) "
                    "when !unsafe."
                )
        ends = lengths.cumsum(0)
        return ends - lengths, ends
    assert offsets is not None
    return offsets[:-1], offsets[1:]


def _start(reduce: str) -> float:
    """What a reduction gives of nothing."""
    start = 0.0
    if reduce == "prod":
        start = 1.0
    elif reduce == "max":
        start = -math.inf
    elif reduce == "min":
        start = math.inf
    return start


@implements("aten::segment_reduce", where=_has_segments)
def segment_reduce(
    data: Tensor,
    reduce: str,
    lengths: Optional[Tensor],  # noqa: UP045 - TorchScript
    offsets: Optional[Tensor],  # noqa: UP045
    unsafe: bool,
    initial: Optional[float],  # noqa: UP045
) -> Tensor:
    """Combine the rows of each segment, and a first number."""
    starts, ends = _bounds(data, lengths, offsets, unsafe)
    known = torch.logical_and(starts >= 0, ends <= data.size(0))
    if bool(torch.logical_and(torch.logical_not(known), starts < ends).any()):
        raise RuntimeError("segment_reduce(): a segment is not inside the data")
    shape = list(data.shape)
    shape[0] = ends.size(0)
    result = torch.full(shape, _start(reduce) if initial is None else initial, dtype=data.dtype, device=data.device)
    for i in range(ends.size(0)):
        for j in range(int(starts[i]), int(ends[i])):
            row, other = result[i], data[j]
            if reduce == "prod":
                result[i] = row * other
            elif reduce == "max":
                result[i] = torch.where(torch.logical_or(torch.isnan(other), other > row), other, row)
            elif reduce == "min":
                result[i] = torch.where(torch.logical_or(torch.isnan(other), other < row), other, row)
            else:
                result[i] = row + other
    if reduce == "mean":
        count = (ends - starts).to(data.dtype).reshape([-1] + [1] * (data.dim() - 1))
        mean = torch.where(count > 0.0, result / torch.where(count > 0.0, count, 1.0), result)
        result = torch.where(count == 0.0, math.nan, mean) if initial is None else mean
    return result


def _has_elements(arguments: Mapping[str, Any]) -> bool:
    tensor, rank = arguments["self"], max(arguments["self"].dim(), 1)
    if not isinstance(arguments["dim"], int) or not -rank <= arguments["dim"] < rank:
        return False
    return tensor.dtype in _REAL and all(isinstance(size, int) and size > 0 for size in tensor.shape)


@implements("aten::mode", where=_has_elements)
def mode(self: Tensor, dim: int, keepdim: bool) -> tuple[Tensor, Tensor]:
    """The most frequent element along a dimension, the smallest of several, and the last place of it."""
    if self.dim() == 0:
        return self.clone(), torch.zeros_like(self, dtype=torch.int64)
    rows = self.movedim(dim, 0)
    order = torch.argsort(rows, dim=0, stable=True)
    ordered = rows.gather(0, order)
    starts = torch.ones_like(ordered, dtype=torch.bool)
    starts[1:] = ordered[1:] != ordered[:-1]
    shape = [1] * self.dim()
    shape[0] = rows.size(0)
    place = torch.arange(rows.size(0), dtype=torch.float64, device=self.device).reshape(shape)
    first = torch.cummax(torch.where(starts, place, 0.0), 0)[0]
    chosen = (place - first).argmax(0, keepdim=True)
    index = order.gather(0, chosen)
    values = rows.gather(0, index)
    if not keepdim:
        return values.squeeze(0), index.squeeze(0)
    return values.movedim(0, dim), index.movedim(0, dim)


def _has_known_size(arguments: Mapping[str, Any]) -> bool:
    tensor, size, fill = (arguments[name] for name in ("self", "size", "fill_value"))
    known = all(isinstance(each, int) and each > 0 for each in tensor.shape)
    real = not tensor.dtype.is_complex
    return known and real and isinstance(size, int) and size >= 0 and isinstance(fill, int)


@implements("aten::nonzero_static", where=_has_known_size)
def nonzero_static(self: Tensor, size: int, fill_value: int) -> Tensor:
    """The places of the first elements that are not 0, int64 [size, dimensions]; where there are none, a number."""
    result = torch.full([size + 1, self.dim()], fill_value, dtype=torch.int64, device=self.device)
    if self.dim() == 0 or size == 0:
        return result[:size].clone()
    found = (self != 0).reshape(-1)
    number = found.to(torch.int64).cumsum(0) - 1
    row = torch.where(found, number, size).clamp(max=size)
    place = torch.arange(found.size(0), device=self.device)
    length = found.size(0)
    for dim in range(self.dim()):
        length = length // self.size(dim)
        column = torch.div(place, length, rounding_mode="floor")
        result[:, dim] = result[:, dim].scatter(0, row, column)
        place = place - column * length
    return result[:size].clone()
