# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""Lists of None that are filled later: `[None] * n`, `[None for _ in range(n)]`."""

import pytest
import torch
from torch import nn

from ssa_compiler.testing import check

X = torch.tensor([1, 0, 2, 1, 3, 0])
OTHERS = (torch.zeros(6, dtype=torch.long), torch.tensor([3, 2, 1, 0, 1, 2]))


def stacked(x):
    rows = [None] * len(x)
    for i, v in enumerate(x.tolist()):
        rows[i] = x * v
    return torch.stack(rows), torch.stack(rows, dim=1)


def backwards(x):
    parts = [None for _ in range(3)]
    for i in range(3):
        parts[2 - i] = x[i : i + 1] * 2
    return torch.cat(parts, dim=0), parts[0].sum()


def under_a_condition(x):
    """What is not filled is an error."""
    rows = [None] * 2
    for i in range(2):
        if x[i] >= i:
            rows[i] = x * 2
    return torch.stack(rows)


def slots(x):
    """At places that are dynamic."""
    times, found = [None for _ in range(len(x))], [None] * 4
    for i in range(len(x)):
        times[int(x[i])] = float(i)
        found[int(x[i])] = x * i
    total = x * 0
    for each in found:
        if each is not None:
            total = total + each
    return times, sum(t for t in times if t is not None), total


def last_places(x):
    last = [None] * 4
    for i, v in enumerate(x.tolist()):
        if last[v] is None or i > last[v]:
            last[v] = i
    return last, [each for each in last if each is not None]


@pytest.mark.parametrize("program", [stacked, backwards, under_a_condition, slots, last_places])
def test_lists_of_nones(program):
    check(program, *((x,) for x in (X + 1, *OTHERS)[program is not under_a_condition :]), compiled=program is slots)


class Recurrent(nn.Module):
    """A state that is None where nothing was read, and that a module of PyTorch's does not take then."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.cell, self.head = nn.GRUCell(3, 3), nn.Linear(3, 2)

    def forward(self, x, n: int):
        h: torch.Tensor | None = None
        for k in range(n):
            h = self.cell(x * k, h)
        kept = [v for v in x if v.sum() > 0]
        return self.head(h) + len(kept)


def test_arguments_of_modules():
    check(Recurrent(), *((torch.arange(6.0).view(2, 3) - 2, n) for n in (2, 1, 0)), compiled=False)


class Attends(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(4, 2, batch_first=True)

    def forward(self, x, cache):
        keys = x if cache is None else torch.cat([cache, x], 1)
        found, weights = self.attention(x, keys, keys)
        return found, keys, weights


class AttendsInSteps(nn.Module):
    """Its weights may be None, says PyTorch; and attention asks whether the keys are the queries."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([Attends(), Attends()])

    def forward(self, x, n: int):
        caches, seen, step = [None] * len(self.layers), [], 0
        while True:
            for k, layer in enumerate(self.layers):
                x, caches[k], weights = layer(x, caches[k])
            seen.append(weights.argmax(-1))
            step += 1
            if step >= n:
                break
        return x, torch.cat(seen, 1)


@pytest.mark.slow
def test_what_pytorch_says_may_be_none():
    torch.manual_seed(0)
    check(AttendsInSteps().eval(), *((torch.randn(1, 1, 4), n) for n in (3, 1, 2)), compiled=False)
