"""Writes through views of views, which become one store each."""

from __future__ import annotations

import torch
from torch import Tensor

from . import program
from .data import ramp


@program(lambda: [(ramp(4, 5), n) for n in (2, 0, 1, 4)], loops=1)
def elements_in_a_loop(x: Tensor, n: int) -> Tensor:
    """One element each time, counted from the start and from the end."""
    y = x.clone()
    for i in range(n):
        y[i, i + 1] = 50.0 + float(i)
        y[-i - 1][i - 5] += 1.0
    return y


@program(lambda: [(ramp(4, 6), n, k) for n in (2, 0, 1, 4) for k in (0, 3, -2)], loops=1)
def parts_of_rows(x: Tensor, n: int, k: int) -> Tensor:
    """A part of a row is read, changed and written back, and others are copied into it."""
    y = x.clone()
    for i in range(n):
        y[i][1:3] += float(i)
        y[i, 3:5] = y[k, :2]
        y[k][k:][:2] *= 2.0
    return y


@program(lambda: [(ramp(12), k) for k in (0, 1, 5)])
def steps_of_steps(x: Tensor, k: int) -> Tensor:
    """Every second of every second element, from a place on that may lie beyond the end of the inner slice."""
    y = x.clone()
    y[1::2][k::2] = -1.0
    y[::3][1:][k:] += 100.0
    return y


@program(lambda: [(ramp(2, 3, 8), ramp(2, 3), n) for n in (2, 0, 1, 8)], loops=1)
def transposed_cache(cache: Tensor, new: Tensor, n: int) -> Tensor:
    """A cache of `[batch, features, positions]`, written position by position through its transpose."""
    for i in range(n):
        cache.transpose(1, 2)[:, i] = new * float(i + 1)
    return cache.transpose(1, 2)[:, :n].sum(1)


@program(lambda: [(ramp(3, 4, 2), k) for k in (0, 1, -1)])
def permuted_parts(x: Tensor, k: int) -> Tensor:
    """Parts of a permutation of three dimensions, and of a permutation of a part."""
    y = x.clone()
    y.permute(2, 0, 1)[k, 1:, :3] = x[1:, 1:, 0] * 10.0
    y[k].t()[1, 1:3] -= 5.0
    y.permute(1, 2, 0)[1:3] = y.permute(1, 2, 0)[2:4] + 1.0
    return y


@program(lambda: [(ramp(3, 3), k) for k in (0, 1, 2)])
def square_and_its_transpose(x: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """A tensor that has the type of its transpose."""
    y = x.clone()
    y.t()[k] = x[2] * 1.5
    z = y.t().clone()
    z[k, 1] = 7.0
    return y, z


@program(lambda: [(ramp(3, 3), k) for k in (0, 1, 2)])
def constant_row_and_its_transpose(x: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """The same with a row that is known when it is compiled."""
    y = x.clone()
    y.t()[k] = torch.arange(3.0)
    z = y.t().clone()
    z[k, 1] = 7.0
    return y, z


@program(lambda: [(ramp(4, 3), n) for n in (2, 0, 1, 4)], loops=1)
def row_by_name(x: Tensor, n: int) -> tuple[Tensor, Tensor]:
    """A row has a name, is written twice, and read between and afterwards, through the name and the tensor."""
    y = x.clone()
    total = torch.zeros(())
    for i in range(n):
        row = y[i]
        before = row.clone()
        row[0] = 7.0
        total = total + row.sum()
        row[1:] = before[:2] * y[i, 0]
        total = total - y[i].sum()
    return y, total


@program(lambda: [(ramp(4, 3), c) for c in (True, False)])
def part_of_a_row_in_a_branch(x: Tensor, c: bool) -> Tensor:
    """Written under a branch through a view that was made outside."""
    y = x.clone()
    row = y[2]
    if c:
        row[1] = -1.0
    else:
        row[:2] = y[0, 1:]
    row[2] += 10.0
    return y + row


@program(lambda: [(ramp(1, 4, 1, 3), k) for k in (0, 3)])
def sizes_of_one(x: Tensor, k: int) -> Tensor:
    """Dimensions of size one on the way, dropped, added and picked from."""
    y = x.clone()
    y[0][k].squeeze(0)[1] = 9.0
    y.squeeze(2)[0].unsqueeze(1)[k, 0, 2:] += 1.0
    y[:, k, :, 0] = -4.0
    return y


@program(lambda: [(ramp(5, 4), k) for k in (0, 2, 4)])
def the_old_row(x: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """A copy of a row is written and stored over a row that has changed since."""
    y = x.clone()
    row = y[k].clone()
    y[k] = 0.0
    row[1] = 3.0
    y[k] = row
    return y, row


@program(lambda: [(ramp(4, 4).to(torch.int32), n) for n in (1, 0, 2, 4)], loops=1)
def parts_of_integers_and_flags(x: Tensor, n: int) -> tuple[Tensor, Tensor]:
    """Other dtypes than float."""
    y = x.clone()
    seen = torch.zeros(4, 4, dtype=torch.bool)
    for i in range(n):
        y[i][i] = 2**31 - 1
        seen[i][:2] = y[i, :2] > 3
    return y, seen


@program(lambda: [(ramp(4, 4), k) for k in (0, 3, 4, 9)], loops=1)
def nothing_to_write(x: Tensor, k: int) -> Tensor:
    """Views of views that show no element, some of them beyond the end."""
    y = x.clone()
    y[4:][:, 0] = 1.0
    y[:, 10:][1:] = 2.0
    y[k:][:, 4:] *= 3.0
    y[k:k][:, 1:3] += 4.0
    y[-100:2][:, -2:100] = 5.0
    none = x[:0].clone()
    for i in range(k):
        none.t()[1][3:][:i] += 1.0
    return y + none.sum()
