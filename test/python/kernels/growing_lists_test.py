"""Lists that get longer in loops whose condition bounds their iterations: room for all elements is reserved before the
loop, so that the program is a kernel.
"""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from _kernels import kernel_of
from ssa_compiler.testing import check

X = torch.linspace(-1, 1, 9).repeat(2)


def until_break(x: Tensor, n: int, most: float) -> Tensor:
    kept: list[float] = []
    for i in range(n):
        v = x[i].item()
        if v > most:
            break
        kept.append(v * 2)
    return torch.tensor(kept)


def while_less(x: Tensor, n: int, most: float) -> tuple[Tensor, int]:
    kept: list[Tensor] = []
    i = 2
    while i < n and x[i] <= most:
        kept.append(x[i] + i)
        i += 1
    return torch.stack(kept) if len(kept) > 0 else torch.zeros(0), i


def steps_differ(x: Tensor, n: int, most: float) -> tuple[Tensor, int]:
    kept: list[float] = []
    i = 0
    while i < n:
        if x[i] > most:
            kept.append(x[i].item())
            i += 1
        else:
            kept.append(-1.0)
            kept.append(x[i].item())
            i += 3
    return torch.tensor(kept), i


def steps_back(x: Tensor, n: int, most: float) -> tuple[Tensor, int]:
    """Not bounded by n."""
    kept: list[float] = []
    i, left = 0, 30
    while i < n and left > 0:
        left -= 1
        kept.append(x[i].item())
        i = i + 1 if x[i] <= most or left % 2 == 0 else max(i - 1, 0)
    return torch.tensor(kept), i


def starts_changed(x: Tensor, n: int, most: float) -> tuple[Tensor, int]:
    start = [0]
    if n > 3:
        start[0] = -6
    kept: list[float] = []
    i = start[0]
    while i < n and x[i] <= most + n:
        kept.append(x[i].item())
        i += 1
    return torch.tensor(kept), i


def asked_at_the_end(x: Tensor, n: int, most: float) -> tuple[Tensor, int]:
    """The first iteration is there whatever the counter is."""
    kept: list[float] = []
    i = 0
    while True:
        for k in range(6):
            kept.append(x[k].item() * n)
        i += 1
        if i < 0:
            n += 1
        else:
            break
    return torch.tensor(kept), i


def until_long_enough(x: Tensor, n: int, most: float) -> tuple[Tensor, int]:
    """The length is what bounds it."""
    kept: list[Tensor] = []
    y = x[:2]
    while len(kept) < n:
        y = y * 0.5 + most
        kept += [y]
    return torch.stack(kept) if kept else torch.zeros(0, 2), len(kept)


def two_counters(x: Tensor, n: int, most: float) -> tuple[Tensor, Tensor, int, int]:
    """Steps of an adaptive solver: the sum of two counters is bounded."""
    t, h = 0.0, 0.5
    times, values = [t], [x[0]]
    taken = rejected = 0
    while t < most and taken + rejected + 1 < n:
        y = values[-1] * h
        if y.item() > -0.2 and rejected % 3 != 2:
            t = t + h
            times.append(t)
            values.append(y)
            taken += 1
        else:
            rejected += 1
            h *= 0.75
    return torch.tensor(times), torch.stack(values), taken, rejected


def several_ways(x: Tensor, n: int, most: float) -> tuple[Tensor, int]:
    """Two, one or no elements in an iteration, and one that goes."""
    kept: list[float] = []
    low, high = 0, n
    while low < high:
        if x[low] > most:
            high -= 1
            kept.append(x[low].item())
        elif low % 2 == 0:
            low += 1
            kept.append(-1.0)
            kept.append(x[low].item())
        else:
            low += 2
            if len(kept) > 1:
                kept.pop()
    return torch.tensor(kept), low + high


CALLS = [(X, 9, 0.2), (X, 0, 0.2), (X, 1, 0.2), (X, 2, 5.0), (X, 3, 5.0), (X, 18, 5.0), (X, 5, -2.0), (X, -4, 5.0)]


@pytest.mark.parametrize("program", [until_break, while_less, steps_differ, until_long_enough, two_counters])
def test_bounded_by_the_condition(program: Any) -> None:
    kernel_of(program, *CALLS)


@pytest.mark.parametrize("program", [steps_back, starts_changed, asked_at_the_end, several_ways])
def test_not_bounded_by_the_condition(program: Any) -> None:
    check(program, *CALLS)


def nothing(x: Tensor, n: int, most: float) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    y, none = x.clone(), torch.zeros(0)
    for i in range(n):
        none[:] = most
        none = none + x[i:i]
        y[i] += none.sum() + x[0]
    return y, none, torch.cat([none, y]), torch.zeros(3, 0) @ torch.zeros(0, 2)


def product(x: Tensor, y: Tensor) -> Tensor:
    return x @ y


def test_tensors_without_elements(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where an earlier program showed that IREE's own dispatches cannot have such a product."""
    with monkeypatch.context() as patched:
        patched.setenv("SSA_COMPILER_KERNELS", "off")
        earlier = check(product, (torch.zeros(3, 0), torch.zeros(0, 2))).compiled.explain()
        assert [use.op for use in earlier.callbacks] == ["aten::matmul"]
    kernel_of(nothing, (X, 5, 1.0), (X, 0, 1.0), (X, 18, 2.0))
