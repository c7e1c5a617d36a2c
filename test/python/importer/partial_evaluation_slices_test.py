# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""Slices that are values: held in variables and tuples, and passed to functions."""

import pytest
import torch

import ssa_compiler
from ssa_compiler.testing import check

X = torch.arange(20.0).view(4, 5)


def windows(x, n: int):
    out = torch.zeros_like(x)
    for i in range(n):
        a, b = max(i - 1, 0), min(i + 2, x.size(0))
        window = (slice(a, b), slice(0, b))
        doubled = x[window] * 2
        closer = doubled > 3
        out[window] = torch.where(closer, doubled, out[window])
        out[window][closer] = i
        out[window[0], 0] -= 1
        out[:, window[1]] *= 1.5
        rows, columns = window
        out[rows, columns] += 0.5
        a = 0  # the window stays what it is
        out[window] += 0.25
    return out


def mixed(x, n: int):
    before, behind = slice(None, n), slice(n, None, 2)
    column = (before, 1)
    y = x.clone()
    y[column] = 0
    whole = slice(None)
    numbers = list(range(5))
    return y[before], y[behind], numbers[before], x[column], x[..., before], x[before, None], x[whole, 0], column[1]


def cut(x, window, scale):
    return x[window] * scale


def passed(x, n: int):
    window = slice(0, n), slice(n, None)
    return cut(x, window, 2.0), cut(x, window[1], n), cut(x, (window[0], 1), 1)


@pytest.mark.parametrize("program", [windows, mixed, passed])
def test_slices_as_values(program):
    check(program, *[(X, n) for n in (3, 0, 1, 2, 4)], compiled=program is windows)


def chosen(x, n: int):
    part = slice(0, 1)
    if n > 1:
        part = slice(0, n)
    return x[part]


def test_a_choice_of_slices_is_made_for_one():
    """Which one it is is fixed at import; another call compiles another program."""
    compiled = ssa_compiler.compile(chosen, (X, 3), fullgraph=True)
    for n in (3, 1, 2):
        assert torch.equal(compiled(X, n), chosen(X, n))
