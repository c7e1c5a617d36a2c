"""Elements chosen by a mask, repeated as often as numbers say, or taken once of each kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Optional

import torch
from torch import Tensor

from ._registry import implements

__all__: list[str] = []


@implements("aten::masked_select")
def masked_select(self: Tensor, mask: Tensor) -> Tensor:
    """The elements at which a mask holds, both broadcast to one shape."""
    whole, chosen = torch.broadcast_tensors(self, mask)  # type: ignore[no-untyped-call]
    places = chosen.reshape(-1).nonzero().select(1, 0)
    return whole.reshape(-1)[places]


def _is_vector(arguments: Mapping[str, Any]) -> bool:
    repeats = arguments["repeats"]
    return repeats.dim() == 1 and not (isinstance(repeats.shape[0], int) and repeats.shape[0] == 0)


@implements("aten::repeat_interleave.Tensor", where=_is_vector)
def repeat_interleave(repeats: Tensor, output_size: Optional[int]) -> Tensor:  # noqa: UP045 - TorchScript
    """Each position as often as the number there says."""
    if bool((repeats < 0).any()):
        raise RuntimeError("repeats can not be negative")
    ends = repeats.to(torch.int64).cumsum(0)
    total = int(repeats.sum())  # there may be none
    if output_size is not None and output_size != total:
        raise RuntimeError("allocated size does not match required size")
    # A position ends where the next begins; those that are not repeated end where others do, those at the end nowhere.
    marks = torch.zeros([total + 1], dtype=torch.int64, device=repeats.device)
    marks = marks.scatter_add(0, ends, torch.ones_like(ends))
    return marks.cumsum(0)[:total].to(repeats.dtype)


def _has_static_repeats(arguments: Mapping[str, Any]) -> bool:
    repeats, self = arguments["repeats"], arguments["self"]
    sizes = [size for size in (*repeats.shape, *self.shape) if isinstance(size, int)]
    return repeats.dim() == 1 and self.dim() > 0 and 0 not in sizes


@implements("aten::repeat_interleave.self_Tensor", where=_has_static_repeats)
def repeat_elements(self: Tensor, repeats: Tensor, dim: Optional[int]) -> Tensor:  # noqa: UP045 - TorchScript
    """Each element along a dimension, of all if it is None, as often as the number for it says."""
    x, along = self, 0
    if dim is None:
        x = self.reshape(-1)
    else:
        along = dim
    counts = repeats
    if repeats.size(0) == 1:
        counts = repeats.expand(x.size(along))
    elif repeats.size(0) != x.size(along):
        raise RuntimeError("repeats must have the same size as input along dim")
    return x.index_select(along, repeat_interleave(counts, None))


@implements("aten::repeat_interleave.self_int", where=lambda arguments: arguments["self"].dim() > 0)
def repeat_equally(self: Tensor, repeats: int, dim: Optional[int]) -> Tensor:  # noqa: UP045 - TorchScript
    """Each element along a dimension, of all if it is None, equally often."""
    if repeats < 0:
        raise RuntimeError("repeats must be non-negative")
    x, along = self, 0
    if dim is None:
        x = self.reshape(-1)
    else:
        along = dim
    last = x.movedim(along, -1)
    sizes = list(last.shape)
    several = last.unsqueeze(-1).expand(sizes + [repeats])  # noqa: RUF005 - TorchScript does not unpack into lists
    several = several.reshape(sizes[:-1] + [sizes[-1] * repeats])  # noqa: RUF005
    return several.movedim(-1, along).contiguous()


def _has_numbers(arguments: Mapping[str, Any]) -> bool:
    tensor = arguments["self"]
    known = [size for size in tensor.shape if isinstance(size, int)]
    return tensor.dim() > 0 and 0 not in known


def _is_flat(arguments: Mapping[str, Any]) -> bool:
    return _has_numbers(arguments) and arguments["dim"] is None


def _runs(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The first element of each run of equal ones, the number of its run for each element, and the lengths of the
    runs.
    """
    n = x.size(0)
    starts = torch.ones([n], dtype=torch.bool, device=x.device)
    starts[1:] = x[1:] != x[:-1]
    numbers = starts.to(torch.int64).cumsum(0) - 1
    places = starts.nonzero().select(1, 0)
    ends = torch.cat([places, torch.full([1], n, dtype=torch.int64, device=x.device)])[1:]
    return x[places], numbers, ends - places


@implements("aten::unique_consecutive", where=_is_flat)
def unique_consecutive(self: Tensor, return_inverse: bool, return_counts: bool) -> tuple[Tensor, Tensor, Tensor]:
    """Each run of equal elements once."""
    values, numbers, counts = _runs(self.reshape(-1))
    nothing = torch.zeros([0], dtype=torch.int64, device=self.device)
    inverse = numbers.reshape(self.shape) if return_inverse else nothing
    return values, inverse, counts if return_counts else nothing.clone()


@implements("aten::_unique2", where=_has_numbers)
def unique(self: Tensor, return_inverse: bool, return_counts: bool) -> tuple[Tensor, Tensor, Tensor]:
    """Each element once, in order."""
    flat = self.reshape(-1)
    order = torch.argsort(flat, dim=0, stable=True)
    values, numbers, counts = _runs(flat[order])
    nothing = torch.zeros([0], dtype=torch.int64, device=self.device)
    inverse = nothing
    if return_inverse:
        inverse = torch.zeros_like(order)
        inverse[order] = numbers
        inverse = inverse.reshape(self.shape)
    return values, inverse, counts if return_counts else nothing.clone()


def _counts_from_the_end(arguments: Mapping[str, Any]) -> bool:
    dim = arguments["dim"]
    return isinstance(dim, int) and dim < 0 and dim >= -arguments["self"].dim()


@implements("aten::unique_consecutive", where=_counts_from_the_end)
def unique_consecutive_along(
    self: Tensor, return_inverse: bool, return_counts: bool, dim: int
) -> tuple[Tensor, Tensor, Tensor]:
    """The same along the dimension counted from the start, for which PyTorch knows the sizes of the result."""
    return torch.ops.aten.unique_consecutive(self, return_inverse, return_counts, dim + self.dim())


def _weighs_samples(arguments: Mapping[str, Any]) -> bool:
    """Whether rows have weights in their bag, and none is left out."""
    return arguments["per_sample_weights"] is not None and arguments.get("padding_idx") is None


@implements("aten::embedding_bag", "aten::embedding_bag.padding_idx", where=_weighs_samples)
def embedding_bag(
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    scale_grad_by_freq: bool,
    mode: int,
    sparse: bool,
    per_sample_weights: Tensor,
    include_last_offset: bool,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Sums of rows, each times its weight, which torch-mlir leaves out: the bags are of rows that have been
    multiplied.
    """
    wide = torch.float64 if weight.dtype == torch.float64 else torch.float32
    rows = weight.index_select(0, indices).to(wide) * per_sample_weights.to(wide).unsqueeze(1)
    places = torch.arange(indices.size(0), dtype=indices.dtype, device=indices.device)
    sums, bags, sizes, largest = torch.embedding_bag(
        rows, places, offsets, scale_grad_by_freq, mode, sparse, None, include_last_offset, None
    )
    return sums.to(weight.dtype), bags, sizes, largest


def _are_rows(arguments: Mapping[str, Any]) -> bool:
    known = arguments["self"].dtype in (torch.float32, torch.float64) and arguments["self"].dim() == 2
    return known and arguments["indices"].dtype in (torch.int32, torch.int64)


@implements("aten::embedding_renorm", where=_are_rows)
def embedding_renorm(self: Tensor, indices: Tensor, max_norm: float, norm_type: float) -> Tensor:
    """Rows that are asked for, made shorter where their norm is larger than it may be."""
    places = indices.reshape(-1)
    rows = self.size(0)
    if bool(torch.logical_or(places < -rows, places >= rows).any()):
        raise IndexError("select(): index out of range")
    used = torch.zeros([rows], dtype=torch.bool, device=self.device)
    used[torch.where(places < 0, places + rows, places)] = True
    norms = torch.linalg.vector_norm(self, norm_type, [1], True)
    shortened = torch.logical_and(used.unsqueeze(1), norms > max_norm)
    return torch.where(shortened, self * (max_norm / (norms + 1e-7)), self)


@implements("aten::_unique2", where=lambda arguments: arguments["self"].dim() == 0)
def unique_of_one(self: Tensor, return_inverse: bool, return_counts: bool) -> tuple[Tensor, Tensor, Tensor]:
    """The one element."""
    nothing = torch.zeros([0], dtype=torch.int64, device=self.device)
    inverse = torch.zeros([], dtype=torch.int64, device=self.device) if return_inverse else nothing
    counts = torch.ones([1], dtype=torch.int64, device=self.device) if return_counts else nothing.clone()
    return self.reshape([1]), inverse, counts


def _is_one_flat(arguments: Mapping[str, Any]) -> bool:
    return arguments["self"].dim() == 0 and arguments["dim"] is None


@implements("aten::unique_consecutive", where=_is_one_flat)
def run_of_one(self: Tensor, return_inverse: bool, return_counts: bool) -> tuple[Tensor, Tensor, Tensor]:
    """The same."""
    return unique_of_one(self, return_inverse, return_counts)
