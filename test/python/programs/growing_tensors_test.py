"""Tensors that loops make longer: `y = torch.cat([y, x])`."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

import ssa_compiler
from ssa_compiler.testing import check

TRIPS = (3, 0, 1, 2, 6)


def generated(x: Tensor, emb: Tensor, n: int) -> Tensor:
    for _ in range(n):
        token = (emb[x].mean(1) @ emb.t()).argmax(-1, keepdim=True)
        x = torch.cat((x, token), dim=1)
    return x


def until(x: Tensor, emb: Tensor, n: int) -> tuple[Tensor, int]:
    out, last = x, x
    for _ in range(n):
        last = (emb[out].mean(1) @ emb.t()).argmax(-1, keepdim=True)
        out = torch.cat([out, last], dim=-1)
        if bool((last == 3).all()):
            break
    return out, out.shape[1]


def cached(x: Tensor, w: Tensor, n: int) -> tuple[Tensor, Tensor, Tensor]:
    k, v, h = x @ w, x @ w.t(), x[:, -1:]
    for _ in range(n):
        k = torch.cat([k, h @ w], dim=1)
        v = torch.cat([v, h @ w.t(), h], dim=1)
        h = torch.tanh(torch.softmax(h @ k.transpose(1, 2), -1) @ v[:, : k.shape[1]])
    return h, k, v


def under_branches(x: Tensor, n: int) -> tuple[Tensor, Tensor]:
    y, z = x[0], x[0]
    for i in range(n):
        if x[i, 0] > 0.6:
            y = torch.cat([y, x[i], x[i] * 2])
            z = torch.cat([z, y[:1]])
        elif x[i, 0] < 0.3:
            z = torch.cat([z, x[i] - 1])
    return y, z


def while_small(x: Tensor, n: int) -> Tensor:
    y, i = x.t(), 0
    while i < n and y.sum() < 30:
        y = torch.cat([y, y[:, -1:] * 1.5], dim=1)
        i += 1
    return y


def before_and_after(x: Tensor, n: int) -> tuple[Tensor, Tensor]:
    """What was there before is still read after it has grown."""
    y = x[0]
    total = torch.zeros(())
    for i in range(n):
        before = y
        y = torch.cat([y, x[i]])
        total = total + before.sum() * y.sum()
    return y, total


def nested(x: Tensor, n: int) -> Tensor:
    y = x[0]
    for i in range(n):
        for _ in range(i):
            y = torch.cat([y, x[i] + y.sum()])
    return y


def counted_down(x: Tensor, n: int) -> Tensor:
    y, i = x[0], 5
    while i > n:
        y = torch.cat([y, x[0, :1]])
        i -= 1
    return y


def counted_in_branches(x: Tensor, n: int) -> Tensor:
    y, i = x[0], 0
    while i <= n:
        if y.sum() > 3:
            i += 1
        else:
            i += 2
        y = torch.cat([y, x[0, :1]])
    return y


X = torch.linspace(0.1, 1.0, 12).reshape(6, 2)[[3, 0, 5, 1, 4, 2]]
EMB = torch.linspace(-1.0, 1.0, 40).reshape(10, 4).sin()
TOKENS = torch.tensor([[1, 5, 2]])

PROGRAMS: list[tuple[Any, tuple[Tensor, ...]]] = [
    (generated, (TOKENS, EMB)),
    (until, (TOKENS, EMB)),
    (cached, (torch.linspace(0, 1, 24).reshape(2, 3, 4), EMB[:4])),
    (under_branches, (X,)),
    (while_small, (X,)),
    (before_and_after, (X,)),
    (counted_down, (X,)),
    (counted_in_branches, (X,)),
    (nested, (X,)),
]


@pytest.mark.parametrize(("program", "args"), PROGRAMS)
def test_results_are_those_of_eager(program: Any, args: tuple[Tensor, ...]) -> None:
    check(program, *[(*args, n) for n in TRIPS])


@pytest.mark.parametrize(("program", "args"), [each for each in PROGRAMS if each[0] is not nested])
def test_the_loop_stores_into_a_buffer(program: Any, args: tuple[Tensor, ...]) -> None:
    compiled = ssa_compiler.compile(program, (*args, 3), fullgraph=True)
    assert "torch.aten.cat" in compiled.mlir("tensorssa")
    assert "torch.aten.cat" not in compiled.mlir("iree")
    assert compiled.explain().kernel


def endless(x: Tensor, n: int) -> Tensor:
    y = x
    for _ in range(n):
        y = torch.cat([y, x])
        if y.shape[0] > 3:
            break
    return y


@pytest.mark.parametrize("width", [1, 1 << 18])
def test_a_limit_that_is_never_reached_is_no_size(width: int) -> None:
    """65,536 rows of a MiB would be 64 GiB."""
    x = torch.ones(1, width)
    compiled = ssa_compiler.compile(endless, (x, 2), fullgraph=True)
    assert compiled.explain().kernel
    for n in (0, 1, 2**31, 2**63 - 1, -(2**63)):
        torch.testing.assert_close(compiled(x, n), endless(x, n))


def longest(x: Tensor, n: int) -> Tensor:
    for _ in range(n):
        x = torch.cat([x, x[:1]])
    return x


def test_more_iterations_than_there_is_room_for_are_an_error() -> None:
    compiled = ssa_compiler.compile(longest, (torch.ones(1), 2), fullgraph=True)
    assert compiled(torch.ones(1), 65_536).shape == (65_537,)
    with pytest.raises(RuntimeError, match="longer more than 65,536 times"):
        compiled(torch.ones(1), 65_537)
