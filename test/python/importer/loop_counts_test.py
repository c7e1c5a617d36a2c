"""Lengths of lists, and other ints that each iteration changes by the same amount, behind a loop."""

from __future__ import annotations

import re

import torch
from torch import Tensor

import ssa_compiler
from ssa_compiler.testing import check


def stacked(x: Tensor) -> tuple[Tensor, int]:
    outs = []
    for row in x:
        outs.append(row * 2)
        outs.append(row + 1)
    return torch.stack(outs), len(outs)


def test_a_list_has_a_static_length_behind_a_static_number_of_iterations() -> None:
    compiled = ssa_compiler.compile(stacked, (torch.rand(300, 3),), fullgraph=True)
    assert len(re.findall("torch.prim.Loop ", compiled.mlir("imported"))) == 1
    assert re.search(r"return %\w+ : !torch.tensor<\[600,3\],f32>", compiled.mlir("imported"))
    torch.testing.assert_close(compiled(torch.ones(300, 3)), stacked(torch.ones(300, 3)))


def counts(x: Tensor, n: int) -> tuple[int, int, int, int, Tensor]:
    up, down, either, left = 1, 10, 0, 0
    outs = [x[0]]
    for i in range(n):
        up += 3
        down -= 1
        outs.append(x[i])
        if x[i, 0] > 0:
            either += 1
        for _ in range(2):
            outs.append(x[i])
    while left < n:
        left += 2
    return up, down, either, left, torch.stack(outs)


def test_counts() -> None:
    x = torch.arange(-6.0, 6.0).reshape(6, 2)
    check(counts, *[(x, n) for n in (3, 0, 1, 2, 6)])


def left_early(x: Tensor, n: int) -> tuple[int, int]:
    outs, count = [0.0], 0
    for i in range(n):
        count += 1
        outs.append(float(x[i]))
        if x[i] < 0:
            break
    return len(outs), count


def test_a_loop_that_is_left_early_has_no_known_count() -> None:
    check(left_early, *[(torch.tensor([1.0, -1.0, 2.0]), n) for n in (3, 0, 1, 2)])


def starts_small(x: Tensor) -> tuple[list[Tensor], Tensor]:
    """What is known in the first iteration makes the body small: `started` is False."""
    state, started, outs = torch.zeros(3, 3), False, []
    for row in x:
        if started:
            for _ in range(3):
                state = torch.linalg.solve(state, torch.diag(row)) + torch.eye(3)
        else:
            state = state + torch.diag(row)
            started = True
        outs.append(state)
    return outs, state


def test_a_loop_whose_body_grows_stays_a_loop() -> None:
    lines = []
    for rows in (15, 60):
        x = torch.linspace(1.0, 2.0, 3 * rows).reshape(rows, 3)
        compiled = ssa_compiler.compile(starts_small, (x,), fullgraph=True)
        torch.testing.assert_close(compiled(x), starts_small(x))
        lines.append(len(compiled.mlir("imported").splitlines()))
    assert lines[0] == lines[1]
