# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""Modules that functions find in global names, closures, and objects there: parts of the program."""

import pytest
import torch
from torch import nn

import ssa_compiler

X = torch.tensor([[1.0, -2.0, 3.0]])


class Cell(torch.nn.Module):
    def __init__(self, scale=1.0):
        super().__init__()
        self.linear = torch.nn.Linear(3, 3)
        self.scale = scale
        self.weight = torch.nn.Parameter(torch.full((3,), 0.5))
        self.register_buffer("seen", torch.zeros(()))

    def forward(self, x, h):
        return torch.tanh(self.linear(x) + h * self.weight) * self.scale

    def counted(self, x):
        self.seen += 1
        return x + self.seen


class Sampler:
    def __init__(self, model):
        self.model, self.temperature = model, 2.0
        self.count = model.counted

    def step(self, x):
        return self.model(x, x) / self.temperature


@pytest.fixture(autouse=True)
def _fresh():
    global CELL, SAMPLER, STACK, NAMED, DROPPING, COUNT
    torch.manual_seed(0)
    CELL, SAMPLER = Cell(), Sampler(Cell(2.0))
    STACK, NAMED = [Cell(), Cell(3.0)], {"a": Cell(), "b": Cell(0.5)}
    COUNT = Cell(2.0).counted
    DROPPING = torch.nn.Dropout(0.5).eval()
    with torch.no_grad():
        yield


def loops(x, n: int):
    h = torch.zeros(1, 3)
    for _ in range(n):
        h = CELL(x, h)
    return h, CELL.linear.weight.sum() + CELL.weight.sum(), CELL.scale


def goes_deeper(x, n: int):
    return SAMPLER.step(helper(x)) * SAMPLER.temperature


def helper(x):
    return DROPPING(CELL.linear(x))


def through_containers(x, n: int):
    for each in STACK:
        x = each(x, x)
    return NAMED["b"](x, x) + STACK[-1].weight


def writes(x, n: int):
    for _ in range(n):
        x = CELL.counted(x)
    return x, CELL.seen


CHAIN = nn.Sequential(nn.Linear(3, 3), nn.Tanh())


def through_methods(x, n: int):
    for _ in range(n):
        x = COUNT(x) + SAMPLER.count(x)
    return x


def chained(x, n: int):
    for _ in range(n):
        x = CHAIN(x)
    return x


def closing_over():
    cell = Cell()

    def program(x, n: int):
        return cell(x, x) * n

    return program


PROGRAMS = [loops, goes_deeper, through_containers]


def check(program, compiled):
    for n in (3, 0, 1, 2):
        torch.testing.assert_close(compiled(X, n), program(X, n))


@pytest.mark.parametrize("program", [*PROGRAMS, closing_over()])
def test_results_are_those_of_eager(program) -> None:
    check(program, ssa_compiler.compile(program, (X, 3), fullgraph=True))


@pytest.mark.parametrize("program", PROGRAMS)
def test_changed_parameters_are_read(program) -> None:
    compiled = ssa_compiler.compile(program, (X, 3), fullgraph=True)
    for cell in (CELL, SAMPLER.model, STACK[1], NAMED["b"]):
        cell.linear.weight.mul_(2.0)
        cell.weight.data = torch.ones(3)
    check(program, compiled)
    assert len(compiled.specialisations) == 1


@pytest.mark.parametrize("program", PROGRAMS)
def test_another_module_of_the_name_is_called(program) -> None:
    global CELL
    compiled = ssa_compiler.compile(program, (X, 3), fullgraph=True)
    CELL, SAMPLER.model, STACK[0], NAMED["b"] = Cell(5.0), Cell(7.0), Cell(9.0), Cell(11.0)
    check(program, compiled)
    STACK.append(Cell(4.0))
    check(program, compiled)


def test_the_mode_of_a_module_is_looked_at() -> None:
    compiled = ssa_compiler.compile(goes_deeper, (X, 3), fullgraph=True)
    DROPPING.p = 1.0
    DROPPING.train()
    check(goes_deeper, compiled)


def test_buffers_are_written() -> None:
    compiled = ssa_compiler.compile(writes, (X, 2), fullgraph=True)
    assert CELL.seen == 0
    for n in (2, 0, 1, 3):
        before = CELL.seen.clone()
        expected = writes(X, n)[0]
        CELL.seen.copy_(before)
        found, seen = compiled(X, n)
        torch.testing.assert_close(found, expected)
        assert seen is CELL.seen
        assert seen == before + n


def test_another_part_of_a_module_is_called() -> None:
    compiled = ssa_compiler.compile(chained, (X, 3), fullgraph=True)
    CHAIN[0] = nn.Linear(3, 3)
    check(chained, compiled)
    CHAIN.append(nn.Linear(3, 3))
    check(chained, compiled)


def halved(self, x):
    return x / 2


def test_another_method_of_the_name_is_called() -> None:
    """One of another module, and another one of the same class."""
    global COUNT
    compiled = ssa_compiler.compile(through_methods, (X, 3), fullgraph=True)
    for method in (Cell(3.0).counted, halved.__get__(CELL)):
        COUNT = method
        SAMPLER.count = Cell(4.0).counted
        buffers = [COUNT.__self__.seen, SAMPLER.count.__self__.seen]
        expected = through_methods(X, 3)
        for each in buffers:
            each.zero_()
        torch.testing.assert_close(compiled(X, 3), expected)


def hook(module, inputs, output):
    return output * 2


@pytest.mark.parametrize("program", [*PROGRAMS, chained])
def test_hooks_are_rejected(program) -> None:
    """Eager runs them, and a compiled program does not: also those that are registered later."""
    compiled = ssa_compiler.compile(program, (X, 3), fullgraph=True)
    hooked = [CELL, SAMPLER.model, STACK[1], CHAIN[0]]
    handles = [each.register_forward_hook(hook) for each in hooked]
    try:
        with pytest.raises(ssa_compiler.SsaCompilerError, match="forward hook, 'hook'"):
            compiled(X, 3)
        with pytest.raises(ssa_compiler.SsaCompilerError, match="forward hook, 'hook'"):
            ssa_compiler.compile(program, (X, 3), fullgraph=True)
    finally:
        for handle in handles:
            handle.remove()
    check(program, compiled)


def test_hooks_of_modules_that_objects_hold_are_rejected() -> None:
    sampler = Sampler(Cell(2.0))
    compiled = ssa_compiler.compile(sampler.step, (X,), fullgraph=True)
    sampler.model.linear.register_forward_hook(hook)
    for call in (lambda: compiled(X), lambda: ssa_compiler.compile(sampler.step, (X,), fullgraph=True)):
        with pytest.raises(ssa_compiler.ScriptError, match="forward hook, 'hook'"):
            call()
