"""Sizes that branches and loops join with 0, of tensors that share a block of memory."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from ssa_compiler.testing import check

X = torch.arange(72.0).reshape(18, 4) - 30


def rows(x: Tensor, n: int) -> Tensor:
    found = []
    if n > 0:
        for k in range(n):
            found.append(x[k])
    return torch.stack(found)[:, 0].cumsum(0)


def counted(x: Tensor, n: int) -> tuple[Tensor, Tensor]:
    size = 0
    for i in range(n):
        if x[i, 0] > -10:
            size += 2
    y = torch.ones(size)
    return y.cumsum(0), y.double().cumsum(0).sort(descending=True)[0]


def largest(x: Tensor, n: int) -> Tensor:
    boxes = []
    kept = x[:, 0] > n
    if kept.any():
        for row in x[kept]:
            boxes.append(row)
    if len(boxes) == 0:
        return x.new_zeros(0, 4)
    found = torch.stack(boxes)
    return found[found[:, -1].sort(descending=True)[1][:3]]


def queue(x: Tensor, n: int) -> tuple[Tensor, int, list[Tensor]]:
    """Lists that are made anew in each trip: of nothing, if the list is empty."""
    waiting = [x * 1, x * 2, x * 3]
    total = torch.zeros(())
    k = 0
    while k < n:
        first = waiting.pop(0)
        total = total + first.sum()
        k += 1
        if k % 2 == 0:
            waiting.append(first[:1] * 2)
        waiting.append(x * 2)
    return total, k, waiting


@pytest.mark.slow
def test_a_static_size_of_one_branch() -> None:
    """The cast to a dynamic size was taken for hidden, as there was a barrier in front of it."""
    check(queue, *((X[:4, :2], n) for n in (1, 0, 2, 3, 5)))


@pytest.mark.slow
def test_what_is_computed_of_tensors_of_such_sizes_lies_in_their_memory() -> None:
    """IREE took the bytes that they need of a block for none, and wrote behind its end."""
    check(rows, *((X, n) for n in (10, 1, 2, 18, 0)))
    check(counted, *((X, n) for n in (10, 0, 1, 18)))
    check(largest, *((X, n) for n in (-20, 41, 100, -31)))
