"""Programs that raise: the compiled program raises what eager raises, at the user's line."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

import ssa_compiler
from ssa_compiler import errors
from ssa_compiler.testing import check


def line_of(function: Callable[..., Any]) -> int:
    """Number of the line of a function that ends in the comment `# raises`."""
    lines, first = inspect.getsourcelines(function)
    return next(first + offset for offset, line in enumerate(lines) if line.rstrip().endswith("# raises"))


def write_a_slot(x: Tensor, i: int) -> Tensor:
    y = x.clone()
    y[i] = 1.0  # raises
    return y


def read_a_slot(x: Tensor, i: int) -> Tensor:
    return x * 2.0 + x[0, i]  # raises


def write_in_a_loop(x: Tensor, n: int) -> Tensor:
    y = x.clone()
    for i in range(n):
        y[i] += 1.0  # raises
    return y


def read_under_a_branch(x: Tensor, i: int) -> Tensor:
    y = x.clone()
    if i >= 0:
        y[0] = x[i]  # raises
    else:
        y[1] = 0.0
    return y


def write_the_callers_tensor(x: Tensor, i: int) -> None:
    x[i].fill_(1.0)  # raises


CASES = [
    (write_a_slot, (3, -4, 0), (4, -5, 2**40, -(2**62))),
    (read_a_slot, (2, -3, 1), (3, -4)),
    (write_in_a_loop, (4, 0, 1), (5, 100)),
    (read_under_a_branch, (3, -100, 0), (4, 10**9)),
    (write_the_callers_tensor, (3, -4, 0), (4, -5)),
]


@pytest.mark.parametrize(("function", "good", "bad"), CASES, ids=[case[0].__name__ for case in CASES])
def test_index_out_of_range(function: Callable[..., Any], good: tuple[int, ...], bad: tuple[int, ...]) -> None:
    x = torch.arange(12.0).reshape(4, 3)
    checked = check(function, *[(x, i) for i in (*good, *bad)])
    assert [error is not None for error in checked.errors] == [False] * len(good) + [True] * len(bad)
    for i in bad:
        with pytest.raises(IndexError) as raised:
            checked.compiled(x.clone(), i)
        assert isinstance(raised.value, errors.ProgramIndexError)
        location = raised.value.location
        assert location is not None
        assert location.file.endswith("errors_test.py")
        assert location.line == line_of(function)


def assert_on_data(x: Tensor) -> Tensor:
    assert bool((x.sum() > 0).item()), "the sum must be positive"
    return x * 2.0


def test_assertion_of_the_program() -> None:
    x = torch.ones(3)
    checked = check(assert_on_data, (x,), (-x,))
    with pytest.raises(AssertionError, match="the sum must be positive"):
        checked.compiled(-x)


def divide(x: Tensor, a: int, b: int) -> Tensor:
    return x[a // b]  # raises


def test_division_by_zero() -> None:
    x = torch.arange(4.0)
    checked = check(divide, (x, 7, 2), (x, -7, 2), (x, 1, 0))
    with pytest.raises(ZeroDivisionError):
        checked.compiled(x, 1, 0)


def partly_overlapping(x: Tensor) -> Tensor:
    y = x.clone()
    y[1:] += y[:-1]
    return y


def test_write_whose_source_overlaps_its_target() -> None:
    x = torch.arange(4.0)
    with pytest.raises(RuntimeError):
        partly_overlapping(x)
    with pytest.raises(RuntimeError, match="single memory location"):
        ssa_compiler.compile(partly_overlapping, (x,))(x)
