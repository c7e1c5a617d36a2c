"""Generators and `map` in loops and comprehensions: Python computes each element when it is needed, in turn with what
is done with the one before. Random numbers, writes and variables that change show when.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

import ssa_compiler
from ssa_compiler.testing import check

# mypy: disable-error-code="no-untyped-def"
# ruff: noqa: C417 - what map does is what is tested

X = torch.arange(3.0)


def stops(x):
    for _ in (t.add_(1) for t in [x, x, x]):
        break
    return x


def draws(x, k: int):
    y = torch.rand(1)
    for r in (t + torch.rand(1) for t in [x, x, x]):
        y = y + r.sum()
        if y.item() > k:
            break
    return y, torch.rand(1)


def reads_what_changes(x, n: int):
    s = x
    for r in (t + n for t in [x, x, x]):
        n = n + 1
        s = s + r
    return s, n


def reads_the_place(x):
    out = []
    i = 7
    rows = map(lambda t: t + i, [x, x, x])
    for i, r in enumerate(rows):  # noqa: B007
        out.append(r)
    return out, i


def in_comprehensions(x):
    one = [r + 10 * torch.rand(1) for r in (t + torch.rand(1) for t in [x, x])]
    two = list(map(lambda r: r + 10 * torch.rand(1), (t + torch.rand(1) for t in [x, x])))
    three = [i + r * torch.rand(1) for i, r in enumerate(t + torch.rand(1) for t in [x, x])]
    return one, two, three, sum(r + 10 * torch.rand(1) for r in map(lambda t: t + torch.rand(1), [x, x]))


def without_effects(x, n: int):
    out = []
    for i, t in enumerate(x * k for k in range(n)):
        out.append(t + i)
    for a, b in zip((x + k for k in range(n)), [1, 2, 3]):
        out.append(a * b)
    total = x.sum() * 0
    for v in (a * b for a in [x, x + 1] for b in (1, 2)):
        total = total + v.sum()
    for w in (t for t in out if t.shape[0] > 1):
        if w.sum() > 10:
            continue
        total = total + w.sum()
    return out, total


CASES: dict[Callable[..., Any], list[tuple[Any, ...]]] = {
    stops: [(X,)],
    draws: [(X, 0), (X, 5), (X, 100)],
    reads_what_changes: [(X, 3), (X, 5)],
    reads_the_place: [(X,)],
    in_comprehensions: [(X,)],
    without_effects: [(X, 3), (X, 0), (X, 1)],
}


@pytest.mark.parametrize("program", CASES)
def test_elements_are_computed_in_turn(program: Callable[..., Any]) -> None:
    check(program, *CASES[program])


def several(x: Tensor) -> list[Tensor]:
    pairs = zip((t + torch.rand(1) for t in [x, x]), (t + torch.rand(1) for t in [x, x]))
    return [a + 10 * b for a, b in pairs]


def written_in_turn(x: Tensor) -> list[Tensor]:
    out = []
    for a, b in zip((t.add_(1) for t in [x, x]), (t.mul_(2) for t in [x, x])):
        out.append(a + b)
        x.sub_(1)
    return out


@pytest.mark.parametrize("program", [several, written_in_turn])
def test_several_that_have_effects_are_left_to_python(program: Callable[..., Any]) -> None:
    with pytest.raises(ssa_compiler.errors.SsaCompilerError):
        ssa_compiler.compile(program, (X.clone(),), fullgraph=True)
    compiled = ssa_compiler.compile(program, (X.clone(),), fullgraph=False)
    results = []
    for each in (program, compiled):
        torch.manual_seed(0)
        results.append(each(X.clone()))
    for one, other in zip(*results, strict=True):
        torch.testing.assert_close(one, other)


def none_or_generator(x: Tensor, h: torch.Generator) -> Tensor:
    g = None if x.sum() > 1 else h
    return torch.rand(2, generator=g)


def test_a_generator_or_none() -> None:
    compiled = ssa_compiler.compile(none_or_generator, (X, torch.Generator()), fullgraph=False)
    for x in (X, X - 5):
        torch.manual_seed(0)
        expected = none_or_generator(x, torch.Generator().manual_seed(1))
        torch.manual_seed(0)
        torch.testing.assert_close(compiled(x, torch.Generator().manual_seed(1)), expected)
