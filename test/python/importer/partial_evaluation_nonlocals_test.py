# ruff: noqa: B020
# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""Variables that nested functions assign."""

import pytest
import torch

import ssa_compiler
from ssa_compiler import errors
from ssa_compiler.testing import check

X = torch.tensor([[1.0, 3.0], [2.0, 4.0]])
OTHERS = [(X, 2), *((X.flip(0) * 0.5, n) for n in (0, 1, 4))]


def counted(x, n: int):
    """Ints and tensors, of functions inside of functions."""
    calls, total = 0, x * 0

    def step(v, k):
        nonlocal calls, total
        calls += 1
        total = total + v * k

        def again(calls=1):
            nonlocal total
            total -= calls

        if k > 1:
            again()
        return total.sum()

    for i in range(n):
        step(x, i)
    shifted = lambda calls: calls + 1  # noqa: E731
    return calls, total, shifted(calls), [calls + 1 for calls in range(n)]


def best_of(x, n: int):
    """A variable that is None at first, and a parameter."""
    best = None

    def keep(v):
        nonlocal best, n
        n += 1
        if best is None or v.sum() > best.sum():
            best = v

    for i in range(3):
        keep(x * (i - n))
    return best, n


def apply(function, x, times):
    for _ in range(times):
        x = function(x)
    return x


def passed(x, n: int):
    """A function that counts its calls, and is passed on."""
    count: int = 0
    kept = []

    def halved(v):
        nonlocal count
        for count in range(count, count + 2):
            kept.append(count)
        return v / 2

    y = apply(halved, x, n)
    return y, count, kept, sum(count for _ in range(2))


def in_place(x, n: int):
    """A tensor that is written stays the same."""
    total = torch.zeros(2)
    same = total

    def add(v):
        nonlocal total
        total += v
        if n > 1:
            total = total * 2

    add(x[0])
    add(x[1])
    return total, same


@pytest.mark.parametrize("program", [counted, best_of, passed, in_place])
def test_nonlocals(program):
    check(program, *OTHERS, compiled=program is counted)


def not_set_first(x):
    def put():
        nonlocal y
        y = x + 1

    put()
    if x.sum() > 0:
        y = x
    return y


def deleted(x):
    y = x

    def drop():
        nonlocal y
        del y

    drop()
    return x


@pytest.mark.parametrize("program", [not_set_first, deleted])
def test_what_is_rejected(program):
    with pytest.raises(errors.ScriptError):
        ssa_compiler.compile(program, (X,))
