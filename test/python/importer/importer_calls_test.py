"""Functions that call functions, methods that call methods, modules that call modules, with arguments that are
written.
"""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from ssa_compiler import errors
from ssa_compiler.importer import import_program
from ssa_compiler.testing import Call, check


def grid() -> Tensor:
    return torch.arange(12.0).reshape(4, 3)


def bump(x: Tensor, k: int = 0, by: float = 1.0, twice: bool = False) -> Tensor:
    row = x[k]
    row += by
    if twice:
        row += by
    return row


def bump_both(x: Tensor, y: Tensor, k: int) -> tuple[Tensor, Tensor]:
    return bump(x, k, by=2.5), bump(y, by=0.5, k=k)


def first_big(x: Tensor, limit: float) -> int:
    for i in range(x.size(0)):
        if bool(x[i].sum() > limit):
            return i
        x[i] = -1
    return 0


def swapped(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    return y, x


def calls(x: Tensor, n: int, limit: float = 10.0) -> tuple[Tensor, Tensor, Tensor]:
    y = x * 2
    for i in range(n):
        a, b = bump_both(x, y, i)
        a *= 3
        if i > 0:
            x, y = swapped(x, y)
        b[0] = bump(b.unsqueeze(0), twice=i > 1)[1]
    k = first_big(y, limit)
    bump(y, k, twice=True)
    return x, y, bump(y.clone(), by=limit)


def keyword_only(x: Tensor, scale: float = 2.0, *, k: int, flag: bool) -> Tensor:
    bump(x, k, by=scale, twice=flag)
    return x.sum()


def test_functions_call_functions() -> None:
    check(calls, Call(grid(), 3), Call(grid(), 0, 100.0), Call(grid(), n=1, limit=-5.0), Call(grid(), 2))


def test_keyword_only_arguments() -> None:
    check(keyword_only, Call(grid(), k=1, flag=False), Call(grid(), 0.5, k=0, flag=True), Call(grid(), flag=False, k=3))


def test_writes_of_a_callee_raise_at_its_line() -> None:
    checked = check(calls, Call(grid(), 2), Call(grid(), 7), compiled=False)
    assert isinstance(checked.errors[1], IndexError)


class Cell(nn.Module):
    """Writes its argument, its buffer and a number; its methods call each other."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("seen", torch.zeros(3))
        self.weight = nn.Parameter(torch.ones(3))
        self.steps = 0

    def note(self, x: Tensor, scale: float = 1.0) -> None:
        self.seen += x * scale
        self.steps += 1

    def mixed(self, x: Tensor, deep: bool) -> Tensor:
        self.note(x)
        if deep:
            self.note(x, scale=0.5)
            return bump(self.seen.unsqueeze(0), by=0.25)
        return x

    def forward(self, x: Tensor, k: int, deep: bool = False) -> Tensor:
        row = x[k]
        row *= 2
        return self.mixed(row, deep) * self.weight


class Stack(nn.Module):
    """Calls submodules, one of them under two names, and a list of them in a loop."""

    def __init__(self) -> None:
        super().__init__()
        self.first = Cell()
        self.again = self.first
        self.cells = nn.ModuleList([Cell(), Cell()])

    def forward(self, x: Tensor, n: int, deep: bool) -> tuple[Tensor, int]:
        out = self.first(x, 0)
        for cell in self.cells:
            for i in range(n):
                out = out + cell(x, i, deep=deep)
        return out + self.again(x, 1, deep=True) + self.first.seen, self.again.steps


def test_methods_and_submodules() -> None:
    check(Cell(), Call(grid(), 1), Call(grid(), 0, deep=True), Call(grid(), 3, True), Call(grid(), k=2, deep=False))
    check(Stack(), (grid(), 2, True), (grid(), 0, True), (grid(), 1, False), (grid(), 3, False))


def countdown(x: Tensor, n: int) -> Tensor:
    if int(x[0, 0]) == n:
        return x
    return countdown(x - 1, n)


class Recursive(nn.Module):
    def down(self, x: Tensor, n: int) -> Tensor:
        if int(x[0, 0]) == n:
            return x
        return self.down(x - 1, n)

    def forward(self, x: Tensor, n: int) -> Tensor:
        return self.down(x, n)


@pytest.mark.parametrize("model", [countdown, Recursive()])
def test_recursion_is_rejected(model) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises((errors.ScriptError, errors.UnsupportedProgramError), match="recurs"):
        import_program(model, (grid(), 2))
