"""Programs that raise: the compiled program raises what eager raises, at the user's line."""

from __future__ import annotations

import inspect
import math
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
        assert location.file.endswith("program_errors_test.py")
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


class TooLarge(ValueError):
    """An exception of a user's."""


def raises_its_own(x: Tensor, k: int) -> Tensor:
    if k > 2:
        raise TooLarge("k")
    if bool(x.sum() > 0):
        raise TooLarge(f"the sum, with {k}")
    return x + 1.0


@pytest.mark.parametrize(("x", "k", "message"), [(0.0, 3, "k"), (1.0, 1, "the sum, with 1")])
def test_a_class_of_the_user_is_raised(x: float, k: int, message: str) -> None:
    compiled = ssa_compiler.compile(raises_its_own, (torch.zeros(2), 1))
    assert torch.equal(compiled(torch.zeros(2), 1), torch.ones(2))
    with pytest.raises(TooLarge, match=message) as caught:
        compiled(torch.full((2,), x), k)
    assert isinstance(caught.value, errors.ProgramError)
    with pytest.raises(TooLarge, match=message):
        raises_its_own(torch.full((2,), x), k)


class Outer:
    """Holds an exception."""

    class Inner(KeyError):
        """An exception in a class."""


def raises_others(x: Tensor, k: int) -> Tensor:
    if k == 1:
        raise Outer.Inner("inner")
    if k == 2:
        raise KeyError("key")
    if k == 3:
        raise NotImplementedError("later")
    return x + 1.0


@pytest.mark.parametrize(("k", "kind"), [(1, Outer.Inner), (2, KeyError), (3, NotImplementedError)])
def test_builtin_and_nested_classes_are_raised(k: int, kind: type[Exception]) -> None:
    compiled = ssa_compiler.compile(raises_others, (torch.zeros(2), 0))
    with pytest.raises(kind):
        raises_others(torch.zeros(2), k)
    with pytest.raises(kind) as caught:
        compiled(torch.zeros(2), k)
    assert isinstance(caught.value, errors.ProgramError)


def inverse(x: Tensor) -> Tensor:
    return torch.linalg.inv(x)


def cholesky(x: Tensor) -> Tensor:
    return torch.linalg.cholesky(x)


def singular_vectors(x: Tensor) -> Tensor:
    return torch.linalg.svd(x)[0]


@pytest.mark.parametrize(("function", "element"), [(inverse, -1.0), (cholesky, -1.0), (singular_vectors, float("nan"))])
def test_linear_algebra_raises_its_error(function: Callable[[Tensor], Tensor], element: float) -> None:
    """Compiled, and, for singular vectors, called back for."""
    compiled = ssa_compiler.compile(function, (torch.eye(3),))
    bad = torch.full((3, 3), element)
    with pytest.raises(torch.linalg.LinAlgError):
        function(bad)
    with pytest.raises(torch.linalg.LinAlgError) as caught:
        compiled(bad)
    assert isinstance(caught.value, errors.ProgramError)


def remainder_of_an_arc(u: float) -> float:
    angle = math.acos(u)
    angle %= 0.0
    return angle


def test_what_surely_raises_comes_after_what_may() -> None:
    check(remainder_of_an_arc, (0.5,), (2.5,), (-1.0,))
