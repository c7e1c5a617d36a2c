# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""Attributes of the user's objects are variables of fragments: read before, and assigned after."""

import heapq
import time

import pytest
import torch
from torch import nn

import ssa_compiler
from _broken_programs import compiled_with_breaks
from ssa_compiler.testing.harness import check_other

X = torch.arange(12.0).reshape(4, 3)


class Average:
    decay = 0.5

    def __init__(self, size: int):
        self.mean = torch.zeros(size)
        self.count = 0
        self.heap = []

    def update(self, rows, n: int):
        time.sleep(0)
        self.heap = sorted([*self.heap, n])
        for i in range(n):
            self.mean = self.mean * self.count + rows[i]
            self.count += 1
            self.mean = self.mean / self.count
        return self.heap[0]

    def scale(self, n: int):
        time.sleep(0)
        self.heap = sorted([*self.heap, n])
        for _ in range(n):
            self.mean *= 2.0
            self.mean[0] += self.count

    @property
    def total(self):
        return self.mean.sum()


def averages(x, n: int):
    average = Average(3)
    lowest = average.update(x, n)
    first = average.mean
    average.scale(2)
    average.update(x.flip(0), n)
    return average.mean, average.count, lowest, first, average.total


def test_methods_change_attributes():
    compiled = []

    def build(program):
        compiled.append(ssa_compiler.compile(program, (X, 2)))
        return compiled[0]

    check_other(averages, build, [(X, 2), (X, 0), (X, 4), (X, 1)], "with graph breaks")
    found = compiled[0].explain()
    assert len(found.fragments) == 2, str(found)


class Holder:
    def __init__(self, x):
        self.x = x


def two_names(x, n: int, same: bool):
    time.sleep(0)
    a = Holder(x.clone())
    b = a if same else Holder(x.clone())
    for i in range(n):
        a.x = a.x + 1
        b.x[i] = b.x[i] * 2
    return a.x, b.x


@pytest.mark.parametrize("same", [True, False])
def test_two_names_of_an_object(same):
    def build(program):
        return compiled_with_breaks(program, X, 2, same)

    check_other(two_names, build, [(X, 2, same), (X, 0, same), (X, 2, not same), (X, 4, same)], "with graph breaks")


class Layer(nn.Module):
    def __init__(self, bias):
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.bias = bias

    def forward(self, x, n: int):
        for i in range(n):
            x = torch.tanh(self.linear(x)) + self.bias * i
        return x


class Layers(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([Layer(0.5), Layer(2.0)])
        self.order = [(1, 0), (0, 1)]

    def forward(self, x, n: int):
        order = sorted(heapq.merge(self.order))
        for _, k in order:
            layer = self.layers[k]
            x = layer(x, n) + 1
            for i in range(n):
                x = x + layer.linear.weight[i % 3] * i
        return x


@pytest.mark.slow
def test_a_module_that_is_a_variable():
    torch.manual_seed(0)

    def build(program):
        return compiled_with_breaks(program, X, 2)

    check_other(Layers().eval().requires_grad_(False), build, [(X, 2), (X, 0), (X, 3)], "with graph breaks")
