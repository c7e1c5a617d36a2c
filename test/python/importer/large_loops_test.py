"""Loops of few iterations that build lists: small ones are written out, large ones stay loops where they can."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from ssa_compiler.importer import import_program
from ssa_compiler.testing import check


def _step(x: Tensor, k: int) -> Tensor:
    """More ops than one iteration of a loop may have that is written out."""
    for _ in range(3):
        y = torch.linalg.solve(torch.eye(3) * 4 + x[k % 3 : k % 3 + 1].t() @ x[:1], x[k % 3])
        x = (x * 0.5 + y).sin() + (x - y).cos()
    return x


def tensors(x: Tensor) -> Tensor:
    out: list[Tensor] = [x]
    for k in range(x.size(0)):
        out.append(_step(out[-1], k))
    return torch.stack(out)


def tuples(x: Tensor) -> tuple[Tensor, Tensor, int]:
    out: list[tuple[Tensor, int]] = []
    for k in range(x.size(0)):
        out.append((_step(x, k), k))
    total = 0
    for y, k in reversed(out):
        x = x + y * k
        total += k
    return x, out[-1][0], total


def written_after(x: Tensor) -> tuple[Tensor, Tensor]:
    """The list has the very tensor that is written."""
    out: list[Tensor] = []
    for k in range(x.size(0)):
        y = _step(x, k)
        out.append(y)
        y += 1
    return torch.stack(out), x


def of_other_lengths(x: Tensor) -> tuple[Tensor, Tensor]:
    out: list[Tensor] = []
    for k in range(x.size(0)):
        out.append(_step(x, k)[: k + 1])
    return torch.cat(out), out[-1]


def numbers(x: Tensor) -> tuple[Tensor, Tensor, float]:
    """A sampler: its steps are numbers in a list."""
    steps: list[float] = x.flatten()[: 6 * x.size(0)].tolist()
    seen: list[Tensor] = []
    last = 0.0
    for i, (now, then) in enumerate(zip(steps, [*steps[1:], -1.0])):
        x = _step(x, i) * now - then
        if i % 2 == 0:
            seen.append(x[0])
        last = last * 0.5 + now if now > 0.5 else then
    return x, torch.stack(seen), last


def few_numbers(x: Tensor) -> Tensor:
    steps: list[float] = x.flatten()[:6].tolist()
    for step in steps:
        x = x * step + 1
    return x


def small(x: Tensor) -> Tensor:
    out: list[Tensor] = []
    for k in range(x.size(0)):
        out.append(x[k] * 2)
    return torch.stack(out)


def _rows(count: int) -> Tensor:
    return torch.linspace(-1, 1, count * 3).reshape(count, 3)


def _ops(program: Callable[..., Any], count: int) -> int:
    return import_program(program, (_rows(count),), {}).module.count("\n")


@pytest.mark.slow
@pytest.mark.parametrize("program", [tensors, tuples, written_after, of_other_lengths, numbers, few_numbers, small])
def test_as_eager(program: Callable[..., Any]) -> None:
    for count in (1, 4):
        check(program, (_rows(count),), rtol=1e-3, atol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("program", [tensors, tuples])
def test_large_ones_stay_loops(program: Callable[..., Any]) -> None:
    assert _ops(program, 12) <= _ops(program, 5) + 2  # constants


def test_a_loop_over_numbers_stays_a_loop() -> None:
    assert _ops(numbers, 3) - _ops(numbers, 2) < 100, "only the numbers are more"
    assert "prim.Loop" not in import_program(few_numbers, (_rows(4),)).module


def test_small_ones_are_written_out() -> None:
    assert _ops(small, 12) > _ops(small, 5)


def nested_once(x: Tensor, n: int) -> Tensor:
    for _ in range(1):
        if n > 0:
            continue
        x = x + 1
        for _ in range(1):
            x = x * 2
            if x.sum() > 10:
                break
            x[0] += 1
            for _ in range(1):
                if n == -1:
                    continue
                x = x - 3
    return x


def test_a_loop_that_runs_once_is_no_loop() -> None:
    """So are iterations of a loop over modules that have a `continue` or `break` written out."""
    x = torch.ones(3)
    text = import_program(nested_once, (x, 0)).module
    assert "prim.Loop" not in text
    assert text.count("aten.mul") == 1
    for values in (x, x * 5):
        check(nested_once, (values, 0), (values, 1), (values, -1), (values, -2), compiled=False)
