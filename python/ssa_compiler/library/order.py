"""What sorting and running maxima decide: `median`, `kthvalue`, `cummax`, `searchsorted`; and distances of points."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from ._registry import implements
from .sorting import kernel_nth, kernel_running_places

__all__: list[str] = []

_REAL = (torch.float32, torch.float64)


def _is_filled(arguments: Mapping[str, Any]) -> bool:
    tensor = arguments["self"]
    static = all(isinstance(size, int) and size > 0 for size in tensor.shape)
    return static and tensor.dim() > 0 and not tensor.dtype.is_complex


def _has_elements(arguments: Mapping[str, Any]) -> bool:
    return _is_filled(arguments) and arguments["self"].dtype in _REAL


def _is_one(arguments: Mapping[str, Any]) -> bool:
    tensor = arguments["self"]
    fits = arguments.get("dim", 0) in (0, -1) and arguments.get("k", 1) == 1
    return fits and tensor.dim() == 0 and tensor.dtype in _REAL


@implements("aten::median", "aten::nanmedian", where=_is_one)
def itself(self: Tensor) -> Tensor:
    """The one element."""
    return self.clone()


@implements("aten::median.dim", "aten::nanmedian.dim", "aten::kthvalue", "aten::cummax", "aten::cummin", where=_is_one)
def itself_and_where(self: Tensor) -> tuple[Tensor, Tensor]:
    """The one element, and its place."""
    return self.clone(), torch.zeros_like(self, dtype=torch.int64)


def _middle_place(x: Tensor, dim: int, skip: bool) -> Tensor:
    """Where the lower of the elements in the middle is in sorted order, or the first NaN unless these are skipped."""
    missing = torch.isnan(x).sum(dim, keepdim=True)
    n = x.size(dim)
    place = torch.div(n - missing - 1, 2, rounding_mode="floor").clamp(min=0)
    if not skip:  # NaN come last
        place = torch.where(missing > 0, n - missing, torch.full_like(missing, (n - 1) // 2))
    return place


def _picked(x: Tensor, dim: int, index: Tensor, keepdim: bool) -> tuple[Tensor, Tensor]:
    """The elements in places, one along a dimension, and the places."""
    values = x.gather(dim, index)
    if keepdim:
        return values, index
    return values.squeeze(dim), index.squeeze(dim)


def _middle(x: Tensor, dim: int, keepdim: bool, skip: bool) -> tuple[Tensor, Tensor]:
    """The lower of the elements in the middle; NaN if there is one, or of those that are not, if asked for."""
    index = torch.argsort(x, dim=dim, stable=True).gather(dim, _middle_place(x, dim, skip))
    return _picked(x, dim, index, keepdim)


def _middle_in_kernel(x: Tensor, dim: int, keepdim: bool, skip: bool) -> tuple[Tensor, Tensor]:
    """`_middle`, without sorting."""
    return _picked(x, dim, kernel_nth(x, _middle_place(x, dim, skip), dim), keepdim)


@implements("aten::median.dim", where=_is_filled, kernels=True)
def median_along_in_kernel(self: Tensor, dim: int, keepdim: bool) -> tuple[Tensor, Tensor]:
    """The median along a dimension and where it is; of equal elements any."""
    return _middle_in_kernel(self, dim, keepdim, False)


@implements("aten::nanmedian.dim", where=_is_filled, kernels=True)
def nanmedian_along_in_kernel(self: Tensor, dim: int, keepdim: bool) -> tuple[Tensor, Tensor]:
    """The median of what is a number."""
    return _middle_in_kernel(self, dim, keepdim, True)


@implements("aten::median", where=_is_filled, kernels=True)
def median_in_kernel(self: Tensor) -> Tensor:
    """The median of all elements."""
    return _middle_in_kernel(self.reshape(-1), 0, False, False)[0]


@implements("aten::nanmedian", where=_is_filled, kernels=True)
def nanmedian_in_kernel(self: Tensor) -> Tensor:
    """The median of what is a number."""
    return _middle_in_kernel(self.reshape(-1), 0, False, True)[0]


@implements("aten::median.dim", where=_has_elements)
def median_along(self: Tensor, dim: int, keepdim: bool) -> tuple[Tensor, Tensor]:
    """The median along a dimension and where it is; of equal elements any."""
    return _middle(self, dim, keepdim, False)


@implements("aten::nanmedian.dim", where=_has_elements)
def nanmedian_along(self: Tensor, dim: int, keepdim: bool) -> tuple[Tensor, Tensor]:
    """The median of what is a number."""
    return _middle(self, dim, keepdim, True)


@implements("aten::median", where=_has_elements)
def median(self: Tensor) -> Tensor:
    """The median of all elements."""
    return _middle(self.reshape(-1), 0, False, False)[0]


@implements("aten::nanmedian", where=_has_elements)
def nanmedian(self: Tensor) -> Tensor:
    """The median of what is a number."""
    return _middle(self.reshape(-1), 0, False, True)[0]


def _is_among(arguments: Mapping[str, Any]) -> bool:
    k, dim, tensor = arguments["k"], arguments["dim"], arguments["self"]
    if not _is_filled(arguments) or not isinstance(k, int) or not -tensor.dim() <= dim < tensor.dim():
        return False
    return bool(1 <= k <= tensor.shape[dim])


@implements("aten::kthvalue", where=_is_among, kernels=True)
def kthvalue_in_kernel(self: Tensor, k: int, dim: int, keepdim: bool) -> tuple[Tensor, Tensor]:
    """The k-th smallest element along a dimension, NaN being the largest, and where it is."""
    numbers = torch.full_like(self.narrow(dim, 0, 1), k - 1, dtype=torch.int64)
    return _picked(self, dim, kernel_nth(self, numbers, dim), keepdim)


@implements("aten::kthvalue", where=lambda arguments: _has_elements(arguments) and _is_among(arguments))
def kthvalue(self: Tensor, k: int, dim: int, keepdim: bool) -> tuple[Tensor, Tensor]:
    """The k-th smallest element along a dimension, NaN being the largest, and where it is."""
    index = torch.argsort(self, dim=dim, stable=True).narrow(dim, k - 1, 1)
    values = self.gather(dim, index)
    if keepdim:
        return values, index.contiguous()
    return values.squeeze(dim), index.squeeze(dim).contiguous()


def _is_ordered(arguments: Mapping[str, Any]) -> bool:
    tensor = arguments["self"]
    filled = all(size != 0 for size in tensor.shape if isinstance(size, int))
    return filled and tensor.dim() > 0 and not tensor.dtype.is_complex


@implements("aten::cummax", where=_is_ordered, kernels=True)
def cummax_in_kernel(self: Tensor, dim: int) -> tuple[Tensor, Tensor]:
    """The largest element so far along a dimension, and where it is."""
    places = kernel_running_places(self, dim, True)
    return self.gather(dim, places), places


@implements("aten::cummin", where=_is_ordered, kernels=True)
def cummin_in_kernel(self: Tensor, dim: int) -> tuple[Tensor, Tensor]:
    """The smallest element so far along a dimension, and where it is."""
    places = kernel_running_places(self, dim, False)
    return self.gather(dim, places), places


def _running(x: Tensor, dim: int, largest: bool) -> tuple[Tensor, Tensor]:
    """The extreme so far along a dimension, and where it is: the last of equal ones; NaN is more extreme than all."""
    rows = x.movedim(dim, 0)
    values = rows.clone(memory_format=torch.contiguous_format)
    places = torch.zeros_like(values, dtype=torch.int64)
    best, place = rows[0].clone(), places[0].clone()
    for i in range(1, rows.size(0)):
        row = rows[i]
        better = row >= best if largest else row <= best
        taken = torch.logical_or(torch.isnan(row), better)
        best = torch.where(taken, row, best)
        place = torch.where(taken, torch.full_like(place, i), place)
        values[i] = best
        places[i] = place
    return values.movedim(0, dim).contiguous(), places.movedim(0, dim).contiguous()


@implements("aten::cummax", where=_has_elements)
def cummax(self: Tensor, dim: int) -> tuple[Tensor, Tensor]:
    """The largest element so far along a dimension, and where it is."""
    return _running(self, dim, True)


@implements("aten::cummin", where=_has_elements)
def cummin(self: Tensor, dim: int) -> tuple[Tensor, Tensor]:
    """The smallest element so far along a dimension, and where it is."""
    return _running(self, dim, False)


def _search(sequence: Tensor, values: Tensor, right: bool) -> Tensor:
    """Where values [b, k] belong in sorted rows [b, n]: int64 [b, k]."""
    start = torch.zeros_like(values, dtype=torch.int64)
    end = torch.full_like(start, sequence.size(1))
    size = 1
    while size <= sequence.size(1):
        middle = start + torch.div(end - start, 2, rounding_mode="floor")
        found = sequence.gather(1, middle.clamp(max=sequence.size(1) - 1))
        beyond = torch.logical_not(found > values if right else found >= values)
        active = start < end
        start, end = (
            torch.where(torch.logical_and(active, beyond), middle + 1, start),
            torch.where(torch.logical_and(active, torch.logical_not(beyond)), middle, end),
        )
        size = size * 2
    return start


def _is_sorted(arguments: Mapping[str, Any]) -> bool:
    sequence, values = arguments["sorted_sequence"], arguments["self"]
    plain = arguments["side"] is None and arguments["sorter"] is None
    if not plain or not isinstance(values, torch.Tensor) or sequence.dtype != values.dtype:
        return False
    # Dynamic sizes are the same if they are the same expression.
    fits = sequence.dim() == 1 or list(map(str, sequence.shape[:-1])) == list(map(str, values.shape[:-1]))
    return fits and sequence.dim() > 0 and sequence.dtype in _REAL


@implements("aten::searchsorted.Tensor", where=_is_sorted)
def searchsorted(sorted_sequence: Tensor, self: Tensor, out_int32: bool, right: bool) -> Tensor:
    """Where elements belong in sorted rows."""
    if sorted_sequence.dim() == 1:
        found = _search(sorted_sequence.unsqueeze(0), self.flatten().unsqueeze(0), right)
    else:
        found = _search(sorted_sequence.flatten(0, -2), self.flatten(0, -2), right)
    found = found.reshape(self.shape)
    return found.to(torch.int32) if out_int32 else found


def _is_bucketed(arguments: Mapping[str, Any]) -> bool:
    return _is_sorted({**arguments, "sorted_sequence": arguments["boundaries"], "side": None, "sorter": None})


@implements("aten::bucketize.Tensor", where=_is_bucketed)
def bucketize(self: Tensor, boundaries: Tensor, out_int32: bool, right: bool) -> Tensor:
    """Between which boundaries elements are."""
    return searchsorted(boundaries, self, out_int32, right)


def _is_number(arguments: Mapping[str, Any]) -> bool:
    sequence, value = arguments["sorted_sequence"], arguments["self"]
    plain = arguments["side"] is None and arguments["sorter"] is None and isinstance(value, float)
    return plain and sequence.dim() == 1 and sequence.dtype in _REAL


@implements("aten::searchsorted.Scalar", where=_is_number)
def searchsorted_number(sorted_sequence: Tensor, self: float, out_int32: bool, right: bool) -> Tensor:
    """Where a number belongs in a sorted row."""
    value = torch.full([1, 1], self, dtype=sorted_sequence.dtype, device=sorted_sequence.device)
    found = _search(sorted_sequence.unsqueeze(0), value, right).squeeze(0).squeeze(0)
    return found.to(torch.int32) if out_int32 else found


def _length(difference: Tensor, p: float) -> Tensor:
    """The p-norm of the last dimension, for p of 0, 1 and 2."""
    size = difference.abs()
    if p == 0.0:
        return torch.where(torch.isnan(size), size, (size > 0.0).to(size.dtype)).sum(-1)
    if p == 1.0:
        return size.sum(-1)
    return torch.sqrt((size * size).sum(-1))


def _is_plain_distance(arguments: Mapping[str, Any]) -> bool:
    x, y, p, mode = (arguments[name] for name in ("x1", "x2", "p", "compute_mode"))
    static = all(isinstance(size, int) and size > 0 for size in (*x.shape, *y.shape))
    if not static or x.dtype != y.dtype or x.dtype not in _REAL or p not in (0.0, 1.0, 2.0):
        return False
    # Eager computes Euclid's distance by a matrix product then, with errors of its own.
    by_product = p == 2.0 and (mode == 1 or (mode in (None, 0) and max(x.shape[-2], y.shape[-2]) > 25))
    return not by_product and x.dim() >= 2 and y.dim() >= 2


@implements("aten::_cdist_forward", "aten::cdist", where=_is_plain_distance)
def cdist(x1: Tensor, x2: Tensor, p: float) -> Tensor:
    """The distances of points of two sets."""
    return _length(x1.unsqueeze(-2) - x2.unsqueeze(-3), p)


def _is_distance_of_any_number(arguments: Mapping[str, Any]) -> bool:
    x, y, p, mode = (arguments[name] for name in ("x1", "x2", "p", "compute_mode"))
    if x.dtype != y.dtype or x.dtype not in _REAL or p != 2.0 or mode not in (None, 0) or min(x.dim(), y.dim()) < 2:
        return False
    numbers = (x.shape[-2], y.shape[-2])
    known = [size for size in (*x.shape, *y.shape) if isinstance(size, int)]
    is_large = any(isinstance(size, int) and size > 25 for size in numbers)
    return len(known) < x.dim() + y.dim() and 0 not in known and not is_large


@implements("aten::_cdist_forward", "aten::cdist", where=_is_distance_of_any_number, laid_out=True)
def cdist_of_any_number(x1: Tensor, x2: Tensor, p: float) -> Tensor:
    """Euclid's distances, for which eager takes a matrix product if a set has more than 25 points."""
    if max(x1.size(-2), x2.size(-2)) > 25:
        square, other = (x1 * x1).sum(-1, keepdim=True), (x2 * x2).sum(-1, keepdim=True)
        first = torch.cat([x1 * -2, square, torch.ones_like(square)], -1)
        second = torch.cat([x2, torch.ones_like(other), other], -1)
        return torch.matmul(first, second.mT).clamp(min=0).sqrt()
    return _length(x1.unsqueeze(-2) - x2.unsqueeze(-3), p)


def _are_floats(arguments: Mapping[str, Any]) -> bool:
    return arguments["self"].dtype == arguments["other"].dtype and arguments["self"].dtype.is_floating_point


@implements("aten::isclose", where=_are_floats)
def isclose(self: Tensor, other: Tensor, rtol: float, atol: float, equal_nan: bool) -> Tensor:
    """Whether numbers are equal, infinities too, or differ by no more than they may."""
    if not rtol >= 0:
        raise RuntimeError("rtol must be greater than or equal to zero")
    if not atol >= 0:
        raise RuntimeError("atol must be greater than or equal to zero")
    equal = self == other
    if equal_nan:
        equal = torch.logical_or(equal, torch.logical_and(torch.isnan(self), torch.isnan(other)))
    difference = (self - other).abs()
    near = torch.logical_and(difference < math.inf, difference <= atol + (rtol * other).abs())
    return torch.logical_or(equal, near)


def _have_one_shape(arguments: Mapping[str, Any]) -> bool:
    one, other = arguments["self"], arguments["other"]
    known = all(isinstance(size, int) for size in [*one.shape, *other.shape])
    return bool(known and one.shape == other.shape and one.dtype == other.dtype and not one.dtype.is_complex)


@implements("aten::equal", where=_have_one_shape)
def equal(self: Tensor, other: Tensor) -> bool:
    """Whether all elements are equal."""
    return bool(torch.logical_not((self != other).any()))


def _have_one_rank(arguments: Mapping[str, Any]) -> bool:
    one, other = arguments["self"], arguments["other"]
    return bool(one.dim() == other.dim() and one.dtype == other.dtype and not one.dtype.is_complex)


@implements("aten::equal", where=_have_one_rank)
def equal_in_size(self: Tensor, other: Tensor) -> bool:
    """Whether all sizes and all elements are equal."""
    for dim in range(self.dim()):
        if self.size(dim) != other.size(dim):
            return False
    return bool(torch.logical_not((self != other).any()))


def _are_close_floats(arguments: Mapping[str, Any]) -> bool:
    return _have_one_shape(arguments) and arguments["self"].dtype.is_floating_point


@implements("aten::allclose", where=_are_close_floats)
def allclose(self: Tensor, other: Tensor, rtol: float, atol: float, equal_nan: bool) -> bool:
    """Whether all elements are close to each other."""
    return bool(torch.isclose(self, other, rtol=rtol, atol=atol, equal_nan=equal_nan).all())
