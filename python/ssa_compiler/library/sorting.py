"""Sorting and the largest elements.

IREE sorts by bubble sort, and finds the k largest of n elements in about k * n steps that it does not vectorise: 0.6 s and
5 s for ten thousand elements. Here few elements are ranked by comparing each with each, which vectorises well; many are sorted
four bits at a time (radix sort). All of it is stable, and places NaN where PyTorch does: above all numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from . import _bits  # noqa: F401 - defines ssa_compiler::bits
from ._registry import implements

__all__ = ["sort_order"]


def _keys(x: Tensor) -> Tensor:
    """Integers in the order of the elements: int32, or int64 for elements of 64 bits."""
    if x.dtype == torch.float64:
        bits = torch.ops.ssa_compiler.bits(x)
        bits = torch.where(bits == -0x7FFFFFFFFFFFFFFF - 1, 0, bits)  # negative zero
        bits = torch.where(bits < 0, -0x7FFFFFFFFFFFFFFF - 1 - (bits + 1), bits)  # larger ones are further below zero
        return torch.where(torch.isnan(x), 0x7FFFFFFFFFFFFFFF, bits)
    if x.is_floating_point():
        numbers = x.to(torch.float32)
        bits = torch.ops.ssa_compiler.bits(numbers)
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


def _order(x: Tensor, dim: int, descending: bool) -> Tensor:
    """The stable order along a dimension, in the last dimension of a tensor [rows, n]."""
    moved = x.movedim(dim, -1)
    n = moved.size(-1)
    rows = 1
    for size in moved.shape[:-1]:
        rows = rows * size
    return sort_order(_descending(_keys(moved.reshape(rows, n)), descending))


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


@implements("aten::argsort", "aten::argsort.stable")
def argsort(self: Tensor, dim: int, descending: bool) -> Tensor:
    """The order along a dimension."""
    if self.dim() == 0:
        return torch.zeros([], dtype=torch.int64, device=self.device)
    moved = self.movedim(dim, -1)
    return _order(self, dim, descending).view(moved.shape).movedim(-1, dim).contiguous()


@implements("aten::sort", "aten::sort.stable")
def sort(self: Tensor, dim: int, descending: bool) -> tuple[Tensor, Tensor]:
    """The elements in order along a dimension, and the order."""
    if self.dim() == 0:
        return self.clone(), torch.zeros([], dtype=torch.int64, device=self.device)
    order = argsort(self, dim, descending)
    return self.gather(dim, order), order
