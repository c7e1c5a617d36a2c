# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""Programs that are rejected as a whole run in Python, and what stands around the graph breaks is compiled."""

import copy
import logging
import time
from collections import Counter
from contextlib import suppress

import pytest
import torch
from torch import nn

import ssa_compiler
from ssa_compiler.errors import ScriptError, UnsupportedProgramError
from ssa_compiler.testing.harness import check_other

X = torch.arange(12.0).reshape(4, 3)


class Tally(Counter):
    """A class of which nothing is compiled, as it is one of Python's with a part of its own."""


def broken(program, *calls, fragments):
    """Compare a program with eager, and the first lines of what was compiled with those that are expected."""
    compiled = None

    def build(model):
        nonlocal compiled
        compiled = ssa_compiler.compile(model, copy.deepcopy(calls[0]))
        return compiled

    check_other(program, build, calls, "with graph breaks")
    found = compiled.explain()
    names = sorted(name.partition(" ")[0] for name, _ in found.fragments)
    assert names == sorted(fragments), str(found)
    return found


def counts_words(x, n: int, words: list[str]):
    y = x.clone()
    for i in range(n):
        y[i] = y[i] + i
    most = Tally(words).most_common(1)[0][1]
    for _ in range(most):
        y = y * 1.5
        y[0] += 1
    return y, most


def test_what_stands_before_and_after():
    words = ["a", "b", "a"]
    found = broken(counts_words, (X, 3, words), (X, 0, ["c"]), (X, 4, words * 3), fragments=["lines", "lines"])
    assert found.breaks


def in_a_branch(x, n: int, named: bool):
    x = x.clone()
    for i in range(n):
        x = x + 1
        if named:
            k = Tally("hello")["l"]
            for j in range(k):
                x[j] = x[j] * 2
        else:
            for j in range(i):
                x[j] = x[j] - 1
    return x


@pytest.mark.slow
def test_in_a_branch_of_a_loop():
    broken(in_a_branch, (X, 3, True), (X, 0, True), (X, 3, False), (X, 1, True), fragments=["lines", "lines"])


def step(x, k: int):
    for i in range(k):
        x = torch.tanh(x) + x[i]
    return x


def smallest_first(x, n: int):
    heap = [(float(row.sum()), i) for i, row in enumerate(x)]
    order = Tally({i: -value for value, i in heap}).most_common()
    total = torch.zeros(3)
    for k in range(n):
        time.sleep(0)
        i, _ = order[k]
        total = total + step(x[i], 3)
    return total


@pytest.mark.slow
def test_functions_that_a_graph_break_calls():
    broken(smallest_first, (X, 2), (X, 0), (X.flip(0), 4), fragments=["lines", "lines"])


def returns_in_a_loop(x, limit: float):
    seen = Tally()
    for i in range(4):
        x = x * 2
        seen[i] += 1
        total = x.sum().item()
        if total > limit:
            return x, seen[0]
    return x - 1, len(seen)


def test_returns():
    broken(returns_in_a_loop, (X, 100.0), (X, 1e9), (X, 0.0), fragments=[])


def assigned_in_a_loop(x, n: int):
    names = len(Tally("ab"))
    for i in range(n):
        last = x[i] * names
        for _ in range(2):
            last = last + 1
    return last


def test_variables_that_may_have_no_value():
    """Python raises where such a variable is read."""
    broken(assigned_in_a_loop, (X, 2), (X, 1), (X, 0), fragments=["lines"])


def unused(x, n: int, flag: bool):
    if flag:
        y = x * 2
    names = len(Tally("ab"))
    for _ in range(n):
        x = x + names
        if flag:
            x = x * y
    return x


def test_variables_that_have_no_value_and_are_not_read():
    broken(unused, (X, 2, True), (X, 2, False), (X, 0, False), fragments=["lines"])


class Cell(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.register_buffer("steps", torch.zeros(()))
        self.names = Tally("aab")

    def update(self, x, n: int):
        for i in range(n):
            x = torch.relu(self.linear(x)) + i
            self.steps += 1
        return x

    def forward(self, x, n: int):
        k = self.names.most_common(1)[0][1]
        x = self.update(x, n)
        for i in range(k):
            x[i] = self.linear(x[i])
        self.steps = self.steps * 2
        return x, k


@pytest.mark.slow
def test_modules():
    torch.manual_seed(0)
    broken(Cell(), (X, 2), (X, 0), (X, 3), fragments=["lines", "lines"])


def raises(x, n: int):
    names = len(Tally("abc"))
    y = x.clone()
    for i in range(n):
        y[i] = y[i] + names
    return y


def test_errors():
    compiled = ssa_compiler.compile(raises, (X, 2))
    assert compiled(X, 2).equal(raises(X, 2))
    with pytest.raises(IndexError, match=rf"{__file__}:{raises.__code__.co_firstlineno + 4}"):
        compiled(X, 5)


def caught(x, n: int):
    names = len(Tally("abc"))
    y = x.clone()
    with suppress(IndexError):
        for i in range(n):
            y[i] = y[i] + names
    try:
        for i in range(n):
            y[i] = y[i] * 2
    except IndexError:
        y = y - 1
    return y


def test_what_is_written_before_an_error_that_is_caught():
    broken(caught, (X, 2), (X, 5), fragments=[])


def test_other_arguments_than_the_example():
    compiled = ssa_compiler.compile(raises, (X, 2))
    for other in (X.double(), X[:2], X.int(), X.t()):
        torch.testing.assert_close(compiled(other, 2), raises(other, 2))


def test_gradients_are_recorded():
    compiled = ssa_compiler.compile(raises, (X, 2))
    x = X.clone().requires_grad_()
    compiled(x, 2).sum().backward()
    assert x.grad is not None
    assert x.grad.equal(torch.ones_like(X))
    detached = ssa_compiler.compile(raises, (X, 2), gradients="detach")
    assert not detached(x, 2).requires_grad


def test_fullgraph():
    with pytest.raises((ScriptError, UnsupportedProgramError), match="counts_words"):
        ssa_compiler.compile(counts_words, (X, 3, ["a"]), fullgraph=True)
    with pytest.raises((ScriptError, UnsupportedProgramError), match="counts_words"):
        ssa_compiler.compile(counts_words, (X, 3, ["a"]), strict=True)


def test_it_is_said(caplog):
    with caplog.at_level(logging.WARNING, "ssa_compiler"):
        compiled = ssa_compiler.compile(raises, (X, 2))
    assert "raises is compiled with graph breaks" in caplog.text
    with pytest.raises(UnsupportedProgramError, match="graph breaks"):
        compiled.mlir()
    compiled(X, 1)
    assert "1 fragment" in str(compiled.explain())


@ssa_compiler.script
def decorated(x, n: int):
    k = Tally("aab")["a"]
    for i in range(n):
        x = x * k + i
    return x


def test_the_decorator():
    torch.testing.assert_close(decorated(X, 3), decorated.model(X, 3))
    assert len(decorated.explain().fragments) == 1


class Scores(nn.Module):
    """A variable that is a float, or a tensor of a fragment that is a method."""

    def forward(self, x, words: list[str]):
        most = Tally(words).most_common(1)[0][1]
        score = 0.0
        if x.sum() > 0:
            y = x * most + 1
            score = (y.log() / y.exp()).mean()
        return score


def test_a_number_or_a_tensor():
    for calls in (((X, ["a"]), (-X, ["a"])), ((-X, ["a"]), (X, ["a"]))):
        broken(Scores(), *calls, fragments=["lines"])
