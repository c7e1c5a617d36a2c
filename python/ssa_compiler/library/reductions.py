"""Writes at indices that combine what is there with what comes: `index_reduce`, `put`, `scatter` with a number."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, List  # noqa: UP035 - TorchScript

import torch
from torch import Tensor

from ._registry import implements

__all__: list[str] = []

# ruff: noqa: UP006 - TorchScript reads these annotations


def _is_float(arguments: Mapping[str, Any]) -> bool:
    tensor = arguments["self"]
    known = [size for size in tensor.shape if isinstance(size, int)]
    return tensor.dtype in (torch.float32, torch.float64) and 0 not in known


def _further(x: Tensor, best: Tensor, better: Tensor) -> Tensor:
    """The numbers that are better, or NaN, and the best so far elsewhere; IREE's maximum may lose NaN."""
    return torch.where(torch.logical_or(torch.isnan(x), better), x, best)


def _reduce(self: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, include_self: bool) -> Tensor:
    """Combine rows of a source with the rows that an index names, one after the other."""
    result = self.movedim(dim, 0).clone(memory_format=torch.contiguous_format)
    rows = source.movedim(dim, 0)
    places = index.reshape(-1).to(torch.int64)
    if not include_self:
        start = 0.0
        if reduce == "prod":
            start = 1.0
        elif reduce == "amax":
            start = -math.inf
        elif reduce == "amin":
            start = math.inf
        result.index_fill_(0, places, start)
    for i in range(places.size(0)):
        place = int(places[i])
        if reduce == "prod":
            result[place] = result[place] * rows[i]
        elif reduce == "mean":
            result[place] = result[place] + rows[i]
        elif reduce == "amax":
            result[place] = _further(rows[i], result[place], rows[i] > result[place])
        else:
            result[place] = _further(rows[i], result[place], rows[i] < result[place])
    if reduce == "mean":
        first = 1.0 if include_self else 0.0
        counts = torch.full([result.size(0)], first, dtype=self.dtype, device=self.device)
        counts = counts.index_add(0, places, torch.ones_like(places).to(self.dtype))
        counts = torch.where(counts == 0.0, 1.0, counts)
        result = result / counts.reshape([-1] + [1] * (result.dim() - 1))
    return result.movedim(0, dim).contiguous()


@implements("aten::index_reduce", where=_is_float)
def index_reduce(self: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, include_self: bool) -> Tensor:
    """The same for tensors with dimensions and without."""
    if self.dim() == 0:
        return _reduce(self.unsqueeze(0), 0, index, source.reshape(-1), reduce, include_self).squeeze(0)
    return _reduce(self, dim, index, source, reduce, include_self)


def _puts_nothing(arguments: Mapping[str, Any]) -> bool:
    tensor, index, source = (arguments[name] for name in ("self", "index", "source"))
    fits = index.dtype == torch.int64 and source.dtype == tensor.dtype
    return fits and 0 in index.shape and 0 in source.shape


@implements("aten::put", where=_puts_nothing)
def put_nothing(self: Tensor) -> Tensor:
    """The tensor as it is."""
    return self.clone()


@implements("aten::put", where=lambda arguments: 0 not in arguments["self"].shape)
def put(self: Tensor, index: Tensor, source: Tensor, accumulate: bool) -> Tensor:
    """Store or add elements at places in the flattened tensor."""
    flat = self.reshape(-1).clone()
    places = index.reshape(-1)
    places = torch.where(places < 0, places + flat.size(0), places)
    flat = flat.index_put([places], source.reshape(-1), accumulate)
    return flat.reshape(self.shape)


def _has_number(arguments: Mapping[str, Any]) -> bool:
    return _is_float(arguments) and isinstance(arguments["value"], (int, float)) and arguments["reduce"] in _REDUCTIONS


_REDUCTIONS = ("add", "multiply")


@implements("aten::scatter.value_reduce", where=_has_number)
def scatter_number(self: Tensor, dim: int, index: Tensor, value: float, reduce: str) -> Tensor:
    """Add a number to elements, or multiply them by it."""
    source = torch.full_like(index, value, dtype=self.dtype)
    if reduce == "add":
        return torch.scatter_reduce(self, dim, index, source, "sum")
    return torch.scatter_reduce(self, dim, index, source, "prod")


def _has_known_sizes(arguments: Mapping[str, Any]) -> bool:
    tensors = [arguments["self"], arguments["src"]]
    return all(isinstance(size, int) and size > 0 for tensor in tensors for size in tensor.shape)


def _is_diagonal(arguments: Mapping[str, Any]) -> bool:
    numbers = [arguments[name] for name in ("offset", "dim1", "dim2")]
    if not _has_known_sizes(arguments) or not all(isinstance(number, int) for number in numbers):
        return False
    try:
        shape = torch.empty(tuple(arguments["self"].shape), device="meta").diagonal(*numbers).shape
    except (IndexError, RuntimeError):  # which eager raises, too
        return False
    return tuple(shape) == tuple(arguments["src"].shape)


@implements("aten::diagonal_scatter", where=_is_diagonal)
def diagonal_scatter(self: Tensor, src: Tensor, offset: int, dim1: int, dim2: int) -> Tensor:
    """A copy with another diagonal."""
    result = self.clone()
    torch.diagonal(result, offset, dim1, dim2).copy_(src)
    return result


def _is_inside(arguments: Mapping[str, Any]) -> bool:
    """Whether strides tell places inside a contiguous tensor, each once."""
    tensor, size, stride, first = (arguments[name] for name in ("self", "size", "stride", "storage_offset"))
    known = _has_known_sizes(arguments) and all(isinstance(number, int) for number in (*size, *stride, first))
    if not known or not tensor.is_contiguous() or list(size) != list(arguments["src"].shape) or first < 0:
        return False
    reach = 0
    for step, count in sorted(zip(stride, size, strict=True)):
        if count > 1 and step <= reach:
            return False
        reach += step * (count - 1)
    return first + reach < tensor.numel()


@implements("aten::as_strided_scatter", where=_is_inside)
def as_strided_scatter(self: Tensor, src: Tensor, size: List[int], stride: List[int], storage_offset: int) -> Tensor:
    """A copy with other elements at places that strides tell."""
    result = self.clone()
    torch.as_strided(result, size, stride, storage_offset).copy_(src)
    return result
