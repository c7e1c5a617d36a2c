"""Every view that is promised, written through and read beside its base."""

from __future__ import annotations

import torch
from torch import Tensor

from . import program
from .data import ramp


@program(lambda: [(ramp(9), k) for k in (0, 1, 2)])
def slice_with_a_step(x: Tensor, k: int) -> Tensor:
    """Slots 1, 4 and 7, then one of them by its number in the view."""
    y = x.clone()
    v = y[1::3]
    v *= -1.0
    v[k] = 100.0
    return y


@program(lambda: [(ramp(6, 4), k) for k in (2, 0, 1, 4)])
def narrow_at_a_dynamic_offset(x: Tensor, k: int) -> Tensor:
    """Two rows starting at `k`, copied to from the first two."""
    y = x.clone()
    y.narrow(0, k, 2).copy_(x[:2] * 10.0)
    return y


@program(lambda: [(ramp(2, 6), k) for k in (0, 3, 11)])
def view_reshape_flatten(x: Tensor, k: int) -> Tensor:
    """Three shapes of one storage, each written."""
    y = x.clone()
    y.view(3, 4)[1] += 100.0
    y.flatten()[k] = -1.0
    y.reshape(4, 3)[:, 2].mul_(2.0)
    return y


@program(lambda: [(ramp(3, 4), k) for k in (0, 1, 2)])
def transposes(x: Tensor, k: int) -> Tensor:
    """Columns written as rows of the transposed tensor."""
    y = x.clone()
    y.t()[k] = 0.0
    y.transpose(0, 1)[3].add_(1.0)
    return y + y.t()[k].sum()


@program(lambda: [(ramp(2, 3, 4), k) for k in (0, 2, 3)])
def permuted(x: Tensor, k: int) -> Tensor:
    """A permutation of three dimensions, a slot of it written from a broadcast row."""
    y = x.clone()
    v = y.permute(2, 0, 1)
    v[k] = v[0, 0]
    return y * 2.0


@program(lambda: [(ramp(3, 4), n) for n in (0, 1, 2, 3)], loops=1)
def unsqueeze_and_squeeze(x: Tensor, n: int) -> Tensor:
    """Dimensions of size one added and dropped on the way to a write."""
    y = x.clone()
    for i in range(n):
        v = y.unsqueeze(1)[i]
        v.squeeze(0)[i] = 50.0 + float(i)
    return y


@program(lambda: [(ramp(4, 1), k) for k in (0, 3)])
def expanded_for_reading(x: Tensor, k: int) -> Tensor:
    """An expanded view of a tensor that is written after the view was taken."""
    y = x.clone()
    wide = y.expand(4, 3)
    y[k] = -7.0
    return wide + 1.0


@program(lambda: [(ramp(4, 4), n) for n in (0, 1, 2, 4)], loops=1)
def diagonals(x: Tensor, n: int) -> Tensor:
    """The diagonal filled, a slot of the one above it counted up in a loop."""
    y = x.clone()
    y.diagonal(0, 0, 1).fill_(0.0)
    upper = y.diagonal(1)
    for i in range(n):
        upper[i % 3] += 1.0
    return y


@program(lambda: [(ramp(6, 2), k) for k in (0, 1)])
def split_and_chunk(x: Tensor, k: int) -> Tensor:
    """Parts of a tensor written one by one."""
    y = x.clone()
    a, b, c = y.split(2)
    a += 10.0
    b[k] = c[k]
    left, right = y.chunk(2, dim=1)
    left.copy_(right)
    return y


@program(lambda: [(ramp(3, 4), k) for k in (0, 3)])
def unbound_rows(x: Tensor, k: int) -> Tensor:
    """The rows as three names, written and mixed."""
    y = x.clone()
    a, b, c = y.unbind(0)
    b.copy_(a + c)
    a[k] = b[k]
    c.neg_()
    return y


@program(lambda: [(ramp(4, 6), n) for n in (0, 1, 2, 4)], loops=1)
def chain_of_views(x: Tensor, n: int) -> Tensor:
    """Transpose, slice, reshape and select on the way to one slot, in a loop."""
    y = x.clone()
    for i in range(n):
        y.t()[1:5:2].unsqueeze(0)[0, :, i].mul_(float(i) - 3.0)
    return y


@program(lambda: [(ramp(4, 4), k) for k in (-1, -4, 0, 3)])
def negative_indices(x: Tensor, k: int) -> Tensor:
    """An index that may count from the end."""
    y = x.clone()
    y[k] = y[-1] + y[:, k]
    y[:, -1] = 0.0
    y[-1, :2] *= 2.0
    return y


@program(lambda: [(ramp(4, 3), k) for k in (2, 0, 3)])
def base_written_after_its_view(x: Tensor, k: int) -> Tensor:
    """A view sees what is written to its base later, a clone does not."""
    y = x.clone()
    seen = y[k]
    kept = y[k].clone()
    y += 100.0
    return torch.stack([seen, kept])


@program(lambda: [(ramp(2, 3, 4), i, j) for i, j in ((0, 0), (1, 2), (-1, 1))])
def slots_with_two_dynamic_indices(x: Tensor, i: int, j: int) -> Tensor:
    """`x[i, j]` and `x[i, :, j]` in one statement."""
    y = x.clone()
    y[i, j] = y[i, :, j].sum() + 0.5
    return y
