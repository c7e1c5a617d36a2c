"""Sorting and the largest elements.

IREE sorts by bubble sort, and finds the k largest of n elements in about k * n steps that it does not vectorise: 0.6 s
and 5 s for ten thousand elements. Here few elements are ranked by comparing each with each, which vectorises well; many
are sorted four bits at a time (radix sort). All of it is stable, and places NaN where PyTorch does: above all numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from . import _bits, _kernel_ops  # noqa: F401 - define ssa_compiler::bits and order
from ._registry import implements

__all__ = ["kernel_nth", "kernel_running_places", "sort_order"]


def _keys(x: Tensor) -> Tensor:
    """Integers in the order of the elements: int32, or int64 for elements of 64 bits."""
    if x.dtype == torch.float64:
        bits = torch.ops.ssa_compiler.bits(x.clone())
        bits = torch.where(bits == -0x7FFFFFFFFFFFFFFF - 1, 0, bits)  # negative zero
        bits = torch.where(bits < 0, -0x7FFFFFFFFFFFFFFF - 1 - (bits + 1), bits)  # larger ones are further below zero
        return torch.where(torch.isnan(x), 0x7FFFFFFFFFFFFFFF, bits)
    if x.is_floating_point():
        numbers = x.to(torch.float32)
        bits = torch.ops.ssa_compiler.bits(numbers.clone())
        bits = torch.where(bits == -0x80000000, 0, bits)
        bits = torch.where(bits < 0, -0x80000000 - (bits + 1), bits)
        return torch.where(torch.isnan(numbers), 0x7FFFFFFF, bits)
    if x.dtype == torch.int64:
        return x.clone()
    return x.to(torch.int32)


def _ranks(keys: Tensor) -> Tensor:
    """The position that each key of a row has when the row is sorted: int32 [rows, n] of [rows, n]."""
    n = keys.size(1)
    place = torch.arange(n, dtype=torch.int32, device=keys.device)
    mine, other = keys.unsqueeze(2), keys.unsqueeze(1)
    earlier = place.unsqueeze(0) < place.unsqueeze(1)
    before = torch.logical_or(other < mine, torch.logical_and(other == mine, earlier))
    return before.to(torch.int32).sum(2, dtype=torch.int32)


def _invert(ranks: Tensor) -> Tensor:
    """The order that gives elements their ranks: int64 [rows, n]."""
    rows, n = ranks.size(0), ranks.size(1)
    start = torch.arange(rows, device=ranks.device).unsqueeze(1) * n
    place = torch.arange(n, device=ranks.device).unsqueeze(0).expand(rows, n)
    order = torch.zeros([rows * n], dtype=torch.int64, device=ranks.device)
    order[(start + ranks.to(torch.int64)).flatten()] = place.flatten()
    return order.view(rows, n)


def sort_order(keys: Tensor) -> Tensor:
    """The stable order of rows of integers.

    Args:
        keys: int32 or int64 [rows, n].
    Returns:
        int64 [rows, n].
    """
    return _invert(_ranks(keys)) if _are_few(keys.size(1)) else _radix_order(keys)


def _are_few(n: int) -> bool:
    return n <= 1024


def _radix_order(keys: Tensor) -> Tensor:
    rows, n = keys.size(0), keys.size(1)
    bits = 64 if keys.dtype == torch.int64 else 32
    highest = 0x7FFFFFFFFFFFFFFF if keys.dtype == torch.int64 else 0x7FFFFFFF
    blocks = (n + 63) // 64
    size = blocks * 64
    work = torch.full([rows, size], highest, dtype=keys.dtype, device=keys.device)
    work[:, :n] = keys
    order = torch.arange(size, device=keys.device).unsqueeze(0).expand(rows, size).contiguous()
    numbers = torch.arange(16, dtype=keys.dtype, device=keys.device)
    fifteen = torch.full([], 15, dtype=keys.dtype, device=keys.device)
    place = torch.arange(64, dtype=torch.int32, device=keys.device)
    earlier = place.unsqueeze(0) < place.unsqueeze(1)
    block = torch.arange(blocks, device=keys.device).unsqueeze(1)
    row = torch.arange(rows, device=keys.device).unsqueeze(1)
    for step in range(bits // 4):
        shift = torch.full([], 4 * step, dtype=keys.dtype, device=keys.device)
        digit = torch.bitwise_and(torch.bitwise_right_shift(work, shift), fifteen).view(rows, blocks, 64)
        if step == bits // 4 - 1:
            digit = torch.where(digit >= 8, digit - 8, digit + 8)  # the sign
        count = (digit.unsqueeze(3) == numbers).to(torch.int32).sum(2, dtype=torch.int32)
        before = count.transpose(1, 2).reshape(rows, 16 * blocks).cumsum(1, dtype=torch.int32)
        start = (before - count.transpose(1, 2).reshape(rows, 16 * blocks)).to(torch.int64).view(-1)
        same = torch.logical_and(digit.unsqueeze(2) == digit.unsqueeze(3), earlier)
        inside = same.to(torch.int32).sum(3, dtype=torch.int32).view(rows, size)
        bucket = (digit.to(torch.int64) * blocks + block).view(rows, size) + row * (16 * blocks)
        target = (start[bucket.view(-1)].view(rows, size) + inside + row * size).view(-1)
        moved, places = torch.zeros_like(work).view(-1), torch.zeros_like(order).view(-1)
        moved[target] = work.view(-1)
        places[target] = order.view(-1)
        work, order = moved.view(rows, size), places.view(rows, size)
    return order[:, :n].contiguous()


def _descending(keys: Tensor, descending: bool) -> Tensor:
    return -1 - keys if descending else keys


def _row_keys(x: Tensor, dim: int, descending: bool) -> Tensor:
    """Integers in the order of the elements along a dimension: [rows, n]."""
    moved = x.movedim(dim, -1)
    n = moved.size(-1)
    rows = 1
    for size in moved.shape[:-1]:
        rows = rows * size
    return _descending(_keys(moved.reshape(rows, n)), descending)


def _has_no_elements(arguments: Mapping[str, Any]) -> bool:
    return any(isinstance(size, int) and size == 0 for size in arguments["self"].shape)


@implements("aten::argsort", "aten::argsort.stable", where=_has_no_elements)
def argsort_nothing(self: Tensor) -> Tensor:
    """The order of no elements."""
    return torch.zeros_like(self, dtype=torch.int64)


@implements("aten::sort", "aten::sort.stable", where=_has_no_elements)
def sort_nothing(self: Tensor) -> tuple[Tensor, Tensor]:
    """No elements in order, and their order."""
    return self.clone(), torch.zeros_like(self, dtype=torch.int64)


def _kernel_keys(x: Tensor, dim: int, descending: bool) -> Tensor:
    """What `ssa_compiler::order` orders: int64 [rows, n]; from 0 to 2^32 - 1 unless elements have 64 bits."""
    keys = _row_keys(x, dim, descending)
    return keys.to(torch.int64) + 0x80000000 if keys.dtype == torch.int32 else keys


def _kernel_order(x: Tensor, dim: int, descending: bool) -> Tensor:
    """The stable order along a dimension, moved to the end: int64 [rows, n]."""
    keys = _kernel_keys(x, dim, descending)
    if x.dtype == torch.float64 or x.dtype == torch.int64:
        return torch.ops.ssa_compiler.order(keys)
    return torch.ops.ssa_compiler.order_low(keys)


def kernel_running_places(x: Tensor, dim: int, largest: bool) -> Tensor:
    """Where the extreme element so far is along a dimension: the last of equal ones; NaN is more extreme than all.

    Args:
        x: real, with at least one dimension.
        dim: the dimension.
        largest: whether the largest element is meant, else the smallest.
    Returns:
        int64, of the shape of `x`.
    """
    moved = x.movedim(dim, -1)
    keys = _row_keys(x, dim, False)
    if not largest:
        keys = torch.where(torch.isnan(moved).reshape(keys.shape), keys, -1 - keys)
    places = torch.ops.ssa_compiler.running_largest(keys.to(torch.int64))
    return places.view(moved.shape).movedim(-1, dim).contiguous()


def kernel_nth(x: Tensor, numbers: Tensor, dim: int) -> Tensor:
    """The places of elements that have given numbers when `x` is sorted along a dimension.

    Args:
        x: real, of any shape.
        numbers: int64, from 0 on, of the shape of `x` with size 1 in the dimension.
        dim: the dimension.
    Returns:
        int64, of the shape of `numbers`.
    """
    return torch.ops.ssa_compiler.nth(_kernel_keys(x, dim, False), numbers.reshape(-1)).view(numbers.shape)


def _may_have_elements(arguments: Mapping[str, Any]) -> bool:
    """Whether no size is known to be 0: there are no kernels on tensors without elements."""
    return all(size != 0 for size in arguments["self"].shape if isinstance(size, int))


@implements("aten::argsort", "aten::argsort.stable", where=_may_have_elements, kernels=True)
def argsort_in_kernel(self: Tensor, dim: int, descending: bool) -> Tensor:
    """The order along a dimension."""
    if self.dim() == 0:
        return torch.zeros([], dtype=torch.int64, device=self.device)
    moved = self.movedim(dim, -1)
    order = _kernel_order(self, dim, descending)
    return order.view(moved.shape).movedim(-1, dim).contiguous()


@implements("aten::sort", "aten::sort.stable", where=_may_have_elements, kernels=True)
def sort_in_kernel(self: Tensor, dim: int, descending: bool) -> tuple[Tensor, Tensor]:
    """The elements in order along a dimension, and the order."""
    if self.dim() == 0:
        return self.clone(), torch.zeros([], dtype=torch.int64, device=self.device)
    order = argsort_in_kernel(self, dim, descending)
    return self.gather(dim, order), order


@implements("aten::argsort", "aten::argsort.stable")
def argsort(self: Tensor, dim: int, descending: bool) -> Tensor:
    """The order along a dimension."""
    if self.dim() == 0:
        return torch.zeros([], dtype=torch.int64, device=self.device)
    moved = self.movedim(dim, -1)
    return sort_order(_row_keys(self, dim, descending)).view(moved.shape).movedim(-1, dim).contiguous()


@implements("aten::sort", "aten::sort.stable")
def sort(self: Tensor, dim: int, descending: bool) -> tuple[Tensor, Tensor]:
    """The elements in order along a dimension, and the order."""
    if self.dim() == 0:
        return self.clone(), torch.zeros([], dtype=torch.int64, device=self.device)
    order = argsort(self, dim, descending)
    return self.gather(dim, order), order


def _smallest(keys: Tensor, k: int) -> Tensor:
    """The places of the k smallest integers of each row, in the order of the places: int64 [rows, k] of [rows, n].

    The k-th smallest is found bit by bit, by counting; of those equal to it the first ones are taken.
    """
    rows, n = keys.size(0), keys.size(1)
    bits = 63 if keys.dtype == torch.int64 else 31
    negative = (keys < 0).to(torch.int32).sum(1, keepdim=True, dtype=torch.int32)
    lowest = -0x7FFFFFFFFFFFFFFF - 1 if keys.dtype == torch.int64 else -0x80000000
    bound = torch.where(negative >= k, lowest, 0).to(keys.dtype)
    half = torch.full([rows, 1], 1 << (bits - 1), dtype=keys.dtype, device=keys.device)
    for _ in range(bits):
        reached = (keys <= bound + (half - 1)).to(torch.int32).sum(1, keepdim=True, dtype=torch.int32) >= k
        bound = torch.where(reached, bound, bound + half)
        half = torch.bitwise_right_shift(half, torch.ones_like(half))
    below, equal = keys < bound, keys == bound
    missing = k - below.to(torch.int32).sum(1, keepdim=True, dtype=torch.int32)
    if n > 32 * k:
        place = torch.arange(n, device=keys.device)
        chosen = torch.logical_or(below, torch.logical_and(equal, place <= _nth(equal, missing - 1)))
        return _nth(chosen, torch.arange(k, dtype=torch.int32, device=keys.device).expand(rows, k))
    taken = torch.logical_and(equal, equal.to(torch.int32).cumsum(1, dtype=torch.int32) <= missing)
    return _true_places(torch.logical_or(below, taken), k)


def _true_places(mask: Tensor, k: int) -> Tensor:
    """The places of the k true elements of each row: int64 [rows, k] of bool [rows, n]."""
    rows, n = mask.size(0), mask.size(1)
    target = torch.where(mask, mask.to(torch.int32).cumsum(1, dtype=torch.int32) - 1, k)
    start = torch.arange(rows, device=mask.device).unsqueeze(1) * (k + 1)
    places = torch.zeros([rows * (k + 1)], dtype=torch.int64, device=mask.device)  # one more, for what is not true
    places[(start + target.to(torch.int64)).reshape(-1)] = (
        torch.arange(n, device=mask.device).expand(rows, n).reshape(-1)
    )
    return places.view(rows, k + 1)[:, :k]


def _nth(mask: Tensor, number: Tensor) -> Tensor:
    """The places of true elements of each row, counted from 0 on: int64 [rows, q] of bool [rows, n] and int32 [rows,
    q].

    A number that a row has too few true elements for gets a meaningless place. The elements are counted in blocks of 32
    and in blocks of blocks, through which each number looks for its own: where there are far fewer numbers than
    elements, that is quicker than `_true_places`, whose cumulative sum and scatter of all elements are not vectorised.
    """
    rows, n, q = mask.size(0), mask.size(1), number.size(1)
    outer = (n + 1023) // 1024
    flags = torch.zeros([rows, outer * 1024], dtype=torch.bool, device=mask.device)
    flags[:, :n] = mask
    inner = flags.view(rows, outer, 32, 32).to(torch.int32).sum(3, dtype=torch.int32)
    count = inner.sum(2, dtype=torch.int32)
    ends = count.cumsum(1, dtype=torch.int32)
    first = (ends.unsqueeze(1) <= number.unsqueeze(2)).to(torch.int32).sum(2, dtype=torch.int64).clamp(max=outer - 1)
    left = number - (ends - count).gather(1, first)
    first = (first + torch.arange(rows, device=mask.device).unsqueeze(1) * outer).view(-1)
    second, left = _block_of(inner.view(rows * outer, 32)[first], left.reshape(-1, 1))
    blocks = first * 32 + second
    third, left = _block_of(flags.view(rows * outer * 32, 32)[blocks].to(torch.int32), left)
    start = torch.arange(rows, device=mask.device).unsqueeze(1) * (outer * 1024)
    return (blocks * 32 + third).view(rows, q) - start


def _block_of(counts: Tensor, number: Tensor) -> tuple[Tensor, Tensor]:
    """Which of a row's counts a number falls into, and how many of that count are before it.

    Args:
        counts: int32 [q, 32].
        number: int32 [q, 1].
    Returns:
        int64 [q], int32 [q, 1].
    """
    ends = counts.cumsum(1, dtype=torch.int32)
    block = (ends <= number).to(torch.int32).sum(1, keepdim=True, dtype=torch.int64).clamp(max=31)
    return block.view(-1), number - (ends - counts).gather(1, block)


def _has_elements(arguments: Mapping[str, Any]) -> bool:
    known = [size for size in (*arguments["self"].shape, arguments["k"]) if isinstance(size, int)]
    return arguments["self"].dim() > 0 and 0 not in known


def _is_maximum(arguments: Mapping[str, Any]) -> bool:
    return isinstance(arguments["k"], int) and arguments["k"] == 1 and arguments["largest"] and _has_elements(arguments)


@implements("aten::topk", where=_is_maximum)
def maximum(self: Tensor, dim: int) -> tuple[Tensor, Tensor]:
    """The largest element along a dimension."""
    values, places = self.max(dim, keepdim=True)
    return values, places


_FEW_PLACES = 16


def _are_few_places(arguments: Mapping[str, Any]) -> bool:
    n = [size for size in arguments["self"].shape if isinstance(size, int)]
    k = arguments["k"]
    return isinstance(k, int) and k <= _FEW_PLACES and max(n, default=0) > 4 * _FEW_PLACES and _has_elements(arguments)


@implements("aten::topk", where=_are_few_places)
def few_largest(self: Tensor, k: int, dim: int, largest: bool) -> tuple[Tensor, Tensor]:
    """The k largest or smallest elements along a dimension, and their places, for small k: one after the other."""
    moved = self.movedim(dim, -1)
    n = moved.size(-1)
    if k < 0 or k > n:
        raise RuntimeError("selected index k out of range")
    rows = 1
    for size in moved.shape[:-1]:
        rows = rows * size
    keys = _descending(_keys(moved.reshape(rows, n)), largest)
    highest = 0x7FFFFFFFFFFFFFFF if keys.dtype == torch.int64 else 0x7FFFFFFF
    place = torch.arange(n, dtype=torch.int32, device=keys.device)
    left = torch.ones([rows, n], dtype=torch.bool, device=keys.device)
    order = torch.zeros([rows, k], dtype=torch.int32, device=keys.device)
    for number in range(k):
        least = torch.where(left, keys, highest).amin(1, keepdim=True)
        first = torch.where(torch.logical_and(left, keys == least), place, n).amin(1, keepdim=True)
        order[:, number] = first.select(1, 0)
        left = torch.logical_and(left, place != first)
    shape = list(moved.shape[:-1]) + [k]  # noqa: RUF005 - TorchScript does not unpack into lists
    places = order.to(torch.int64).reshape(shape).movedim(-1, dim).contiguous()
    return self.gather(dim, places), places


def _is_sorted(arguments: Mapping[str, Any]) -> bool:
    return _has_elements(arguments) and not _is_maximum(arguments)


@implements("aten::topk", where=_is_sorted, kernels=True)
def topk_in_kernel(self: Tensor, k: int, dim: int, largest: bool) -> tuple[Tensor, Tensor]:
    """The k largest or smallest elements along a dimension, and their places; of equal ones the first."""
    moved = self.movedim(dim, -1)
    n = moved.size(-1)
    if k < 0 or k > n:
        raise RuntimeError("selected index k out of range")
    shape = list(moved.shape[:-1]) + [k]  # noqa: RUF005 - TorchScript does not unpack into lists
    keys = _kernel_keys(self, dim, largest)
    if self.dtype == torch.float64 or self.dtype == torch.int64:
        places = torch.ops.ssa_compiler.smallest(keys, k)
    else:
        places = torch.ops.ssa_compiler.smallest_low(keys, k)
    places = places.reshape(shape).movedim(-1, dim).contiguous()
    return self.gather(dim, places), places


@implements("aten::topk", where=_has_elements)
def topk(self: Tensor, k: int, dim: int, largest: bool, sorted: bool) -> tuple[Tensor, Tensor]:
    """The k largest or smallest elements along a dimension, and their places; of equal ones the first."""
    moved = self.movedim(dim, -1)
    n = moved.size(-1)
    if k < 0 or k > n:
        raise RuntimeError("selected index k out of range")
    rows = 1
    for size in moved.shape[:-1]:
        rows = rows * size
    keys = _descending(_keys(moved.reshape(rows, n)), largest)
    if _are_few(n):
        order = sort_order(keys)[:, :k]
    else:
        order = _smallest(keys, k)
        if sorted:
            order = order.gather(1, sort_order(keys.gather(1, order)))
    shape = list(moved.shape[:-1]) + [k]  # noqa: RUF005 - TorchScript does not unpack into lists
    places = order.reshape(shape).movedim(-1, dim).contiguous()
    return self.gather(dim, places), places
