"""Random ops draw in the order of memory: equal to eager for every layout of what they write or read."""

from __future__ import annotations

import torch
from torch import Tensor

from ssa_compiler.testing import check


def _x() -> Tensor:
    return torch.arange(30.0).view(5, 6)


def _in_place(x: Tensor):
    v = x.permute(1, 0)
    v.bernoulli_(0.5)
    v.t()[:, ::2].uniform_()
    v.normal_()
    v[1:].normal_(0.5, 2.0)
    return x


def _like(x: Tensor):
    v = x.t()
    probabilities = x.sigmoid()
    return (
        torch.rand_like(v),
        torch.randn_like(v[1:]),
        torch.bernoulli(probabilities.t()),
        torch.bernoulli(probabilities[0].expand(4, 6)),
        torch.nn.functional.dropout(v, 0.5, True),
    )


def _chosen(x: Tensor, y: Tensor, n: int):
    v = x.t() if n > 1 else y[::2]
    v.random_(0, 50)
    w = v[1:, 1]
    v.normal_()
    w.uniform_()
    for _ in range(n):
        v.uniform_()
    return x, y, v + 0


def test_written_views_of_other_layouts() -> None:
    check(_in_place, (_x(),), compiled=True)


def test_results_of_the_layout_of_an_argument() -> None:
    check(_like, (_x(),))


def test_layouts_that_control_flow_chooses() -> None:
    y = torch.zeros(12, 5)
    check(_chosen, (_x(), y, 2), (_x(), y, 0), (_x(), y, 1), compiled=True)


def _back_in_order(x: Tensor):
    v = x.transpose(0, 1)
    v.permute(1, 0).normal_()
    return x, torch.rand_like(v.t())


def test_views_that_are_contiguous_again() -> None:
    check(_back_in_order, (_x(),))
