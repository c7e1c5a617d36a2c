# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""Attributes that a method sets first, and others change in place: environments that are reset, streams."""

import pytest
import torch

import ssa_compiler
from ssa_compiler.testing import check

X = torch.tensor([1.0, 0.0])


class Environment:
    def __init__(self, limit):
        self.limit = limit

    def reset(self):
        self.time = 0
        self.place = torch.ones(2)
        self.seen = [0.5]
        return self.place.clone()

    def step(self, x):
        self.time += 1
        self.place += x
        self.seen += [float(self.time)]
        return self.place.clone(), self.time >= self.limit


def episodes(x, n: int):
    environment = Environment(3)
    total = torch.zeros(())
    for _ in range(n):
        place, done = environment.reset(), False
        while not done:
            place, done = environment.step(x)
            total = total + place.sum()
    return total


def once(x, n: int):
    environment = Environment(n)
    environment.reset()
    before = environment.place
    for _ in range(n):
        environment.step(x)
    return before, environment.place, environment.time, environment.seen


@pytest.mark.parametrize("program", [episodes, once])
def test_attributes_that_reset_sets(program):
    check(program, *[(X, n) for n in (3, 0, 1, 2)], compiled=program is episodes)


def too_early(x, n: int):
    environment = Environment(n)
    if n > 1:
        environment.reset()
    environment.step(x)
    return environment.time


def test_what_is_not_set_yet_raises():
    compiled = ssa_compiler.compile(too_early, (X, 2), fullgraph=True)
    assert compiled(X, 2) == 1
    with pytest.raises(AttributeError, match="'Environment' object has no attribute 'time'"):
        compiled(X, 1)
