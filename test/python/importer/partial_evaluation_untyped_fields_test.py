# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""Named tuples with fields that TorchScript has no types for."""

import collections
from typing import Any, NamedTuple

import pytest
import torch

import ssa_compiler
from ssa_compiler.testing import check

X = torch.tensor([1.0, 3.0, 2.0])
Pair = collections.namedtuple("Pair", ["left", "right"], defaults=[7])


class Sampled(NamedTuple):
    sample: torch.Tensor
    history: list | None
    count: int = 3


class Anything(NamedTuple):
    value: Any


def steps(x, n, keep):
    history = []
    for i in range(n):
        x = x * (i + 2)
        if keep:
            history.append(x + 1)
    return Sampled(x, history if keep else None)


def passed_on(x, n, keep):
    def counted(given):
        return given if keep else Sampled(given.sample + 1, [given.sample * 2], count=given.count + n)

    made = counted(Sampled(x + 1, []))
    sample, history, count = made
    return made, made.sample + 1, sample * 2, len(history), count


def last(x, n, keep):
    found = None
    for i in range(n):
        if x[i] > 1 or keep:
            found = Sampled(x[i] * 2, [i], i)
    return found


def in_a_list(x, n, keep):
    return [Pair(i, right=x * i) for i in range(n)] if n else []


def with_default(x, n, keep):
    pair = Pair(n)
    left, right = pair
    return pair, left + right, pair.right, len(pair), pair[0], isinstance(pair, tuple), Anything(x + n)


@pytest.mark.parametrize("program", [steps, passed_on, last, with_default])
def test_fields_have_the_types_of_what_is_put_there(program):
    for keep in (True, False):
        check(program, *[(X, n, keep) for n in (2, 0, 1, 3)], compiled=False)
    program = ssa_compiler.compile(steps, (X, 2, True))
    assert type(program(X, 2, True)) is Sampled


def test_lists():
    for n in (2, 1, 3):
        check(in_a_list, (X, n, True), compiled=False)


def of_several_types(x, n):
    return Pair(n, x), Pair(n)


def replaced(x, n):
    return Pair(n, 2)._replace(left=5)


def test_one_class_with_fields_of_several_types():
    check(of_several_types, *((X, n) for n in (1, 0, 5)))


def test_replaced():
    check(replaced, *((X, n) for n in (1, 0, 5)))
