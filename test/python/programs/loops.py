"""Loops that write tensors: rows, overlapping slices, nests, views carried from one iteration to the next."""

from __future__ import annotations

import torch
from torch import Tensor

from . import program
from .data import ramp

TRIPS = (2, 0, 1, 7)


@program(lambda: [(ramp(8, 3), n) for n in TRIPS], loops=1)
def getting_started(a: Tensor, n: int) -> Tensor:
    """The getting-started example."""
    b = a.clone()
    for i in range(n):
        b[i] = b[i] + 1
    return b


@program(lambda: [(ramp(8, 3), n) for n in TRIPS], loops=1)
def row_copies(a: Tensor, n: int) -> Tensor:
    """Copy rows of one tensor into another, in reverse order."""
    b = torch.zeros(8, 3)
    for i in range(n):
        b[i] = a[7 - i]
    return b


@program(lambda: [(ramp(10), n) for n in TRIPS], loops=1)
def overlapping_slices(a: Tensor, n: int) -> Tensor:
    """Two views of one tensor that overlap, each written and read through the other."""
    b = a.clone()
    left = b[:6]
    right = b[4:]
    for i in range(n):
        left += 1.0
        right[i % 3] = left[5] * 2.0
        b[i % 10] = right[0]
    return b + left.sum() - right.sum()


@program(lambda: [(ramp(4, 5), n, m) for n in (2, 0, 1, 4) for m in (3, 0, 1, 5)], loops=2)
def nested_loops(a: Tensor, n: int, m: int) -> Tensor:
    """A view taken in the outer loop and written in the inner one."""
    b = a.clone()
    for i in range(n):
        row = b[i]
        for j in range(m):
            row[j] = row[j] * 2.0 + float(i)
        b[:, 0] += row[0] * 0.5
    return b


@program(lambda: [(ramp(8, 3), n) for n in TRIPS], loops=1)
def view_carried_by_a_loop(a: Tensor, n: int) -> Tensor:
    """The name `row` is another view at the end of each iteration."""
    b = a.clone()
    row = b[0]
    for i in range(n):
        row += 10.0
        row = b[i]
    row.zero_()
    return b


@program(lambda: [(ramp(6), n) for n in (0, 1, 2, 9)], loops=1)
def tensors_that_swap(a: Tensor, n: int) -> tuple[Tensor, Tensor]:
    """Two tensors that change their names in each iteration, one of them written."""
    x = a.clone()
    y = torch.zeros(6)
    for i in range(n):
        x[i % 6] = y[(i + 1) % 6] + float(i)
        x, y = y, x
    return x, y


@program(lambda: [(ramp(6), n) for n in (0, 1, 2, 9)], loops=1)
def two_tensors_that_start_equal(a: Tensor, n: int) -> tuple[Tensor, Tensor]:
    """Two zero tensors, each written by the loop in its own way: they must not share memory."""
    x = torch.zeros(6)
    y = torch.zeros(6)
    for i in range(n):
        x[i % 6] += a[i % 6]
        y[5 - i % 6] -= a[i % 6]
    return x, y


@program(lambda: [(ramp(4, 2), n) for n in (3, 0, 1, 2, 12)], loops=1)
def argument_written_in_a_loop(a: Tensor, n: int) -> None:
    """Nothing is returned: the caller's tensor is what changes."""
    for i in range(n):
        a[i % 4] += float(i)


@program(lambda: [(ramp(5), scale * ramp(1)) for scale in (3.0, 1000.0, 0.1, 20.0)], loops=1)
def while_on_data(a: Tensor, limit: Tensor) -> tuple[Tensor, int]:
    """Doubles slots in turn until the sum reaches a limit that is data; the count is a result."""
    b = a.clone()
    steps = 0
    while bool((b.sum() < limit.sum()).item()):
        b[steps % 5] *= 2.0
        steps += 1
    return b, steps


@program(lambda: [(ramp(5, dtype=torch.float64), n) for n in (3, 0, 1, 2, 5)], loops=2)
def two_loops_in_a_row(a: Tensor, n: int) -> Tensor:
    """The second loop reads what the first one wrote, in doubles."""
    b = a.clone()
    total = torch.zeros(1, dtype=torch.float64)
    for i in range(n):
        b[i] = b[i] / 3.0
    for i in range(n):
        total += b[i]
        b[i].neg_()
    return torch.cat([b, total])


@program(
    lambda: [
        (ramp(8, dtype=torch.int64), lo, hi, step)
        for lo, hi, step in ((1, 7, 2), (0, 0, 1), (0, 1, 3), (2, 8, 1), (5, 2, 1))
    ],
    loops=1,
)
def integers_and_a_strided_range(a: Tensor, lo: int, hi: int, step: int) -> tuple[Tensor, int]:
    """A range with three bounds that are arguments, on integers; a scalar is carried too."""
    b = a.clone()
    total = 0
    for i in range(lo, hi, step):
        b[i] = b[i] * 3 - 1
        total += i
    return b, total


@program(lambda: [(ramp(6), n) for n in (4, 0, 1, 6)], loops=1)
def running_sum(a: Tensor, n: int) -> Tensor:
    """Each slot reads the one before: a dependence carried through the tensor."""
    b = a.clone()
    for i in range(1, n):
        b[i] += b[i - 1]
    return b


@program(lambda: [(ramp(3, 3), ramp(3), n) for n in TRIPS], loops=1)
def state_rewritten_and_recorded(a: Tensor, x: Tensor, n: int) -> Tensor:
    """A state vector copied over in each iteration, and its history in four rows."""
    h = x.clone()
    history = torch.zeros(4, 3)
    for i in range(n):
        h.copy_(torch.tanh(a @ h * 0.1))
        history[i % 4] = h
    return history
