"""`torch.cat([first] + rest)` where `rest` has a dynamic length and its elements are of other sizes than `first`."""

from __future__ import annotations

import torch
from torch import Tensor

import ssa_compiler
from ssa_compiler.testing import check

TRIPS = (3, 0, 1, 2)


def joined(a: Tensor, n: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    xs: list[Tensor] = []
    ys: list[Tensor] = []
    for i in range(n):
        xs.append(a[:, i : i + 1] * 2)
        if i % 2 == 0:
            ys.append(a[:, :2] + i)
    return (
        torch.cat([a] + xs + ys, dim=1),  # noqa: RUF005 (TorchScript has no unpacking)
        torch.cat(xs + [a], -1),  # noqa: RUF005
        torch.concat([a, a] + ys + [a[:, :1] * 2] + xs, 1),  # noqa: RUF005
        torch.cat([a[:, :1]] + xs, dim=1),  # noqa: RUF005
    )


def joined_before(a: Tensor, n: int) -> tuple[Tensor, Tensor]:
    xs: list[Tensor] = []
    for i in range(n):
        xs.append(a[i : i + 1] * 2)
    joined = [a] + xs  # noqa: RUF005
    xs.append(a[:1])
    return torch.cat(joined), torch.cat([a] + xs)  # noqa: RUF005


def test_results_are_those_of_eager() -> None:
    a = torch.arange(6.0).reshape(2, 3)
    check(joined, *[(a, n) for n in TRIPS])
    check(joined_before, *[(a, n) for n in (2, 0, 1)])


def test_nothing_of_it_runs_in_pytorch() -> None:
    compiled = ssa_compiler.compile(joined, (torch.rand(2, 3), 2), fullgraph=True)
    assert not compiled.explain().callbacks
