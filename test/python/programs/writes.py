"""Every kind of write that is promised, with broadcasting and dtype conversion."""

from __future__ import annotations

import torch
from torch import Tensor

from . import program
from .data import ramp


@program(lambda: [(ramp(3, 4), s) for s in (2.0, -0.5)])
def arithmetic_in_place(x: Tensor, s: float) -> Tensor:
    """add_, sub_, mul_, div_ with tensors and scalars, on parts of a tensor."""
    y = x.clone()
    y[0].add_(y[1], alpha=2)
    y[1].sub_(s)
    y[2].mul_(y[0])
    y[:, 1].div_(4.0)
    return y


@program(lambda: [(ramp(5, 4) * 0.1, n) for n in (0, 1, 2, 5)], loops=1)
def unary_in_place(x: Tensor, n: int) -> Tensor:
    """Unary functions in place on views, in a loop."""
    y = x.clone()
    for i in range(n):
        y[i].exp_()
        y[:, 0].sqrt_()
        y[i, 1:3].neg_().tanh_()
        y[i, 3:].sigmoid_().relu_()
    return y


@program(lambda: [(ramp(4, 3), k) for k in (0, 2)])
def fills(x: Tensor, k: int) -> Tensor:
    """fill_ and zero_ of parts."""
    y = x.clone()
    y[k].fill_(3.5)
    y[:, 1].zero_()
    y[3, 2] = 8
    return y


@program(lambda: [(ramp(4, 3), t) for t in (5.5, 0.0, 100.0)])
def masked_fill_of_a_view(x: Tensor, t: float) -> Tensor:
    """masked_fill_ through a slice, with a mask computed from it."""
    y = x.clone()
    v = y[1:]
    v.masked_fill_(v > t, -1.0)
    return y


@program(lambda: [(ramp(4, 3), lo, hi) for lo, hi in ((3.0, 8.0), (0.0, 0.5))])
def clamps(x: Tensor, lo: float, hi: float) -> Tensor:
    """clamp_ and its one-sided forms."""
    y = x.clone()
    y[:2].clamp_(lo, hi)
    y[2].clamp_(min=lo)
    y[3].clamp_(max=hi)
    return y


@program(lambda: [(ramp(5, 3), torch.tensor(i)) for i in ([0, 3], [4, 4], [1, 0])])
def index_put(x: Tensor, i: Tensor) -> Tensor:
    """Rows named by a tensor of indices: one assignment, one accumulation."""
    y = x.clone()
    y.index_put_([i], torch.ones(2, 3), accumulate=True)
    y[1:].index_put_([torch.tensor([0, 2])], torch.zeros(3))
    return y


@program(lambda: [(ramp(5, 3), torch.tensor(i)) for i in ([0, 3], [4, 1], [1, 0])])
def slot_assignment_by_tensor(x: Tensor, i: Tensor) -> Tensor:
    """Assignment and augmented assignment through a tensor of indices."""
    y = x.clone()
    y[i] = -y[i]
    y[i, 1] += 100.0
    return y


@program(lambda: [(ramp(4, 3), k) for k in (0, 1, 3)])
def broadcasting_writes(x: Tensor, k: int) -> Tensor:
    """A scalar, a row and a column written where more is needed."""
    y = x.clone()
    y[:, 1:] = x[k, 0]
    y[2:] = x[k]
    y[:2, :] += x[:2, 2:3]
    return y


@program(lambda: [(ramp(6, dtype=torch.int64), s) for s in (1.75, -2.5)])
def floats_into_integers(x: Tensor, s: float) -> Tensor:
    """Writing floats into an integer tensor truncates."""
    y = x.clone()
    y[:3] = torch.full((3,), s)
    y[4] = s * 2.0
    return y


@program(lambda: [(ramp(4), ramp(4, dtype=torch.int64)), (ramp(4) * 1.5, -ramp(4, dtype=torch.int64))])
def integers_and_bools_into_floats(x: Tensor, i: Tensor) -> Tensor:
    """Writing integers and bools into a float tensor converts; doubles lose precision."""
    y = x.clone()
    y[:2] = i[2:]
    y[2:3] = i[:1] > 0
    y[3] += i[3].to(torch.float64) / 3.0
    return y


@program(lambda: [(ramp(3, 4), n) for n in (0, 1, 2, 3)], loops=1)
def augmented_assignments(x: Tensor, n: int) -> Tensor:
    """All four operators on slots and slices."""
    y = x.clone()
    for i in range(n):
        y[i, 0] += 1.0
        y[i] -= y[(i + 1) % 3]
        y[:, 2] *= 2.0
        y[i, 1:] /= 4.0
    return y


@program(lambda: [(ramp(4), ramp(4, start=20)), (ramp(4) * -1.0, ramp(4))])
def two_arguments_written(x: Tensor, y: Tensor) -> Tensor:
    """Both arguments change, one of them through a view; the result is the first."""
    y[1:].add_(x[:3])
    x.mul_(2.0)
    return x


@program(lambda: [(ramp(3, 3), n) for n in (0, 1, 2, 5)], loops=1)
def bool_tensor_written(x: Tensor, n: int) -> Tensor:
    """A bool tensor is written slot by slot and used as a mask."""
    seen = torch.zeros(3, 3, dtype=torch.bool)
    for i in range(n):
        seen[i % 3, (i * 2) % 3] = True
    return torch.where(seen, x, -x)


@program(lambda: [(ramp(6), k) for k in (1, 0, 3)])
def source_is_a_view_of_the_target(x: Tensor, k: int) -> Tensor:
    """Parts of a tensor copied to other parts of it that do not overlap them."""
    y = x.clone()
    y[:3] = y[3:]
    y[3:5] = y[0:2] + y[k]
    return y
