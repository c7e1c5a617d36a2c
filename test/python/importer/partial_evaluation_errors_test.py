# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""Errors that eager raises, and so do partially evaluated programs: unset variables, None, dropped expressions."""

import functools
import warnings

import pytest
import torch
from torch import nn

import ssa_compiler
from ssa_compiler import errors
from ssa_compiler.testing import check

X = torch.tensor([1.0, 3.0, 2.0])


def unset_after(x, n):
    for i in range(n):
        y = x * i
    return y


def unset_before(x, n):
    for i in range(n):
        if i > 0:
            x = x + last  # noqa: F821
        last = x * 2  # noqa: F841
    return x


def added(x, n):
    h = None
    for i in range(n):
        h = x * i
    return x + h


def summed(x, n):
    h = None
    for i in range(n):
        h = x * i
    return h.sum()


def subscripted(x, n):
    h = None
    for i in range(n):
        h = x * i
    return h[0]


def passed(x, n):
    h = None
    for i in range(n):
        h = x * i
    return torch.relu(h)


def smallest(x, n):
    rows = []
    for i in range(n):
        rows.append(x * i)
    return min(rows, key=lambda row: float(row.sum()))


class Holder:
    def __init__(self, x, n):
        self.last = None
        if n > 1:
            self.size = n
        for i in range(n):
            self.last = x * i


def held(x, n):
    return x + Holder(x, n).last


def of_size(x, n):
    return x + Holder(x, n).size


@pytest.mark.parametrize(
    "program",
    [unset_after, unset_before, added, summed, subscripted, passed, smallest, held, of_size],
)
def test_what_is_not_there(program):
    check(program, (X, 2), (X, 0), (X, 1), (X, 3), compiled=program in (unset_after, summed))


def test_messages_are_pythons():
    with pytest.raises(UnboundLocalError, match="cannot access local variable 'y'"):
        ssa_compiler.compile(unset_after, (X, 2))(X, 0)
    with pytest.raises(AttributeError, match="'NoneType' object has no attribute 'sum'"):
        ssa_compiler.compile(summed, (X, 2))(X, 0)
    with pytest.raises(AttributeError, match="'Holder' object has no attribute 'size'"):
        ssa_compiler.compile(of_size, (X, 2))(X, 0)


class Weights(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("weights", torch.ones(3))
        self.functions = [torch.relu]

    def forward(self, x, y, i: int):
        z = self.functions[0](x)
        if isinstance(self.weights[i], torch.Tensor):
            z = z + 1
        if isinstance(x < y, torch.Tensor):
            z = z + 1
        return z


def test_expressions_that_are_dropped_raise():
    check(Weights(), (X, X, 1), (X, X, 3), (X, X, -4), compiled=False)
    with pytest.raises(RuntimeError, match="must match"):
        ssa_compiler.compile(Weights(), (X, X, 1))(X, X[:2], 1)


def logged(function):
    @functools.wraps(function)
    def call(*args):
        return function(*args) + 100

    return call


class Decorated(nn.Module):
    def __init__(self):
        super().__init__()
        self.functions = [torch.relu]

    @logged
    def inner(self, x):
        return self.functions[0](x)

    def forward(self, x):
        return self.inner(x)


def test_decorators_of_methods_are_rejected():
    with pytest.raises(errors.ScriptError, match=": a decorator"):
        ssa_compiler.compile(Decorated(), (X,))


def total(x, n):
    rows = []
    for i in range(n):
        rows.append(x * i)
    return sum(rows)


def replaced(x, n):
    rows = [x, x, x]
    f = lambda t: t  # noqa: E731
    rows[:n] = [f(x) * 2]
    return rows


@pytest.mark.parametrize(("program", "given"), [(total, 0), (replaced, 2)])
def test_values_that_programs_cannot_have_are_unsupported(program, given):
    compiled = ssa_compiler.compile(program, (X, 1))
    with pytest.raises(errors.UnsupportedProgramError):
        compiled(X, given)


def by_rank(x, fail):
    f = lambda t: t  # noqa: E731
    while x.dim() > 1:
        if fail:
            raise ValueError("too many dimensions")
        return f(x) + 1
    return f(x)


def test_loops_over_ranks_that_are_left():
    for x in (X, X[None]):
        for fail in (True, False):
            check(by_rank, (x, fail), compiled=False)


def helper(x):
    return x * 2


decorated = logged(helper)


def calls_decorated(x, n):
    return decorated(x) * n


def calls_what_is_not_there(x, n):
    for _ in range(n):
        x = x.no_method()
    return x


def returns_two_types(x, n):
    if x[0] > 1:
        return x
    if x[1] > n:
        return x, 1.5


@pytest.mark.parametrize(
    ("program", "says"),
    [
        (calls_decorated, r"errors_test.py:\d+: a decorator"),
        (returns_two_types, "results of several types, and the end of the function"),
        (calls_what_is_not_there, "Of what partial evaluation.* makes of it: .*no_method"),
    ],
)
def test_messages_say_what_stops_partial_evaluation(program, says):
    with pytest.raises(errors.SsaCompilerError, match=says):
        ssa_compiler.compile(program, (X, 2))


def set_in_a_branch(x, n):
    if x.sum() > n:
        q = x * 3
    return q


def set_in_a_branch_of_a_loop(x, n):
    for i in range(n):
        if x[i] > 1.5:
            last = x[i]
        if i > 1:
            x = x + last
    return x


def read_behind_a_loop(x, n):
    for i in range(n):
        if x[i] > 2.5:
            found = i
    return found


def kept_by_a_loop(x, n):
    for i in range(n):
        if i > 0:
            x = x + p  # noqa: F821
        if i != 1:
            p = x * 2  # noqa: F841
    return x


@pytest.mark.parametrize("program", [set_in_a_branch, set_in_a_branch_of_a_loop, read_behind_a_loop, kept_by_a_loop])
def test_variables_that_branches_set(program):
    check(program, *[(x, n) for x in (X, -X) for n in (3, 0, 1)], compiled=False)


def of_other_sizes(x, y, n):
    made = {"scaled": x * n, "n": n}
    return torch.nn.functional.mse_loss(made["scaled"], y[0])


def test_what_pytorch_warns_of_while_types_are_found_is_not_shown() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ssa_compiler.compile(of_other_sizes, (torch.rand(3, 4), torch.rand(3, 4), 2))
