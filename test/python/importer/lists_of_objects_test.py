# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""Lists of objects of several classes, as a sampler has of its processors: loops over them are written out."""

import pytest
import torch
from torch import nn

from ssa_compiler.testing import check

X = torch.tensor([1.0, -2.0, 3.0])


class Scale:
    def __init__(self, factor):
        self.factor = factor

    def __call__(self, x, seen):
        return x * self.factor

    def reset(self, x):
        self.factor = float(x)


class Penalty:
    def __init__(self, amount, floor=-1):
        self.amount, self.floor, self.calls = amount, floor, 0

    def __call__(self, x, seen):
        self.calls += 1
        return (x - self.amount * seen).clamp(min=self.floor)

    def reset(self, x):
        self.calls = 0


def processed(x, n: int):
    processors = [Scale(2.0), Penalty(0.5), Penalty(3.0, floor=0)]
    seen = torch.zeros(3)
    for k in range(n):
        for processor in processors:
            x = processor(x, seen)
        seen = seen + x
        if k == 1:
            for processor in processors[:1]:
                processor.reset(x.sum())
    return x, len(processors), processors[1].calls, processors[0].factor


def indexed(x, n: int):
    pair = [Scale(2.0), Penalty(0.5)]
    first, second = pair
    for _ in range(n):
        x = second(first(x, x), x) + pair[0](x, x)
    pair[-1].reset(x)
    return x, pair[1].calls


@pytest.mark.parametrize("program", [processed, indexed])
def test_objects_of_several_classes(program):
    check(program, *[(X, n) for n in (3, 0, 1, 2)], compiled=False)


class Layer(nn.Module):
    def __init__(self, factor):
        super().__init__()
        self.factor = factor

    def forward(self, x, inverse=False):
        return (x / self.factor if inverse else x * self.factor), x.sum()


class Flow(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([Layer(2.0), Layer(4.0)])

    def forward(self, x):
        found = [x]
        for layer in self.layers:
            z, _ = layer(found[-1])
            found.append(z)
        y = found[-1]
        for layer in reversed(self.layers):
            y, _ = layer(y + 1, inverse=True)
        return y, found


def test_modules_are_gone_through_from_the_last_one():
    """Also where a list of the program's changes its length, which is no list of modules."""
    check(Flow(), (X,), compiled=False)


def attended(x, past):
    y = x + past[0] if past else x
    z = y * (past[1] if past else 2)
    return z, (y, z.sum())


def cached(x, n: int):
    past = [None] * 2
    for _ in range(n):
        for i in range(2):
            x, past[i] = attended(x, past[i])
    return x


def test_a_tuple_that_may_be_none_is_true_if_it_is_there():
    check(cached, *[(X, n) for n in (3, 0, 1, 2)], compiled=False)


class Cache:
    def __init__(self, layers):
        self.scores = [None for _ in range(layers)]

    def add(self, layer, x):
        if self.scores[layer] is None:
            self.scores[layer] = torch.zeros(3)
        self.scores[layer] += x
        return self.scores[layer] * 2


def accumulated(x, n: int):
    cache = Cache(2)
    total = torch.zeros(3)
    for _ in range(n):
        total = total + cache.add(0, x)
        total = total - cache.add(1, total)
    return total


def test_an_element_that_may_be_none_is_added_to():
    check(accumulated, *[(X, n) for n in (3, 0, 1, 2)], compiled=False)
