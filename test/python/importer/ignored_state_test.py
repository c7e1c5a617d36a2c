"""Ignored methods beside what the program does to the module: what a method may read, change or return."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

import ssa_compiler
from ssa_compiler import errors
from ssa_compiler.testing import check

X = torch.ones(3)


class Base(nn.Module):
    numbers: list[int]
    scales: dict[str, float]
    tensors: list[Tensor]
    pair: tuple[int, int]
    mode: str

    def __init__(self) -> None:
        super().__init__()
        self.numbers = [1, 2]
        self.scales = {"a": 1.0}
        self.tensors = [torch.zeros(3), torch.ones(3)]
        self.pair = (1, 2)
        self.mode = "a"
        self.state = torch.zeros(3)
        self.register_buffer("buffer", torch.zeros(3))

    @torch.jit.ignore
    def look(self) -> int:
        return self.numbers[0] + len(self.mode) + self.pair[0]


class ChangesList(Base):
    def forward(self, x: Tensor) -> Tensor:
        self.numbers[0] += 1
        return x + self.look()


class AppendsAndPops(Base):
    """The list is at the end what it was, and something else while the method looks."""

    def forward(self, x: Tensor) -> Tensor:
        self.numbers.insert(0, 5)
        y = x + self.look()
        self.numbers.pop(0)
        return y


class ChangesDict(Base):
    def forward(self, x: Tensor) -> Tensor:
        self.scales["a"] += 1.0
        return x + self.look()


class WritesTensorInList(Base):
    def forward(self, x: Tensor) -> Tensor:
        self.tensors[0] += x
        return x + self.look()


class ReplacesTensorInList(Base):
    def forward(self, x: Tensor) -> Tensor:
        self.tensors[0] = x + 1
        return x + self.look()


class AssignsString(Base):
    def forward(self, x: Tensor) -> Tensor:
        self.mode = "abc"
        return x + self.look()


class AssignsTuple(Base):
    def forward(self, x: Tensor, k: int = 7) -> Tensor:
        self.pair = (k, 2)
        return x + self.look()


class AssignsTensor(Base):
    def forward(self, x: Tensor) -> Tensor:
        self.state = x + 1
        return x + self.look()


class AssignsTensorInBranch(Base):
    def forward(self, x: Tensor) -> Tensor:
        if bool(x.sum() > 2):
            self.state = x + 1
        return x + self.look()


class Child(nn.Module):
    def __init__(self, numbers: list[int]) -> None:
        super().__init__()
        self.shared = numbers

    @torch.jit.ignore
    def look(self) -> int:
        return self.shared[0]

    def forward(self, x: Tensor) -> Tensor:
        return x + self.look()


class SharesListWithChild(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.numbers = [1, 2]
        self.child = Child(self.numbers)

    def forward(self, x: Tensor) -> Tensor:
        self.numbers[0] += 1
        return self.child(x)


CHANGED = [
    (ChangesList, "numbers"),
    (AppendsAndPops, "numbers"),
    (ChangesDict, "scales"),
    (WritesTensorInList, "tensors"),
    (ReplacesTensorInList, "tensors"),
    (AssignsString, "mode"),
    (AssignsTuple, "pair"),
    (AssignsTensor, "state"),
    (AssignsTensorInBranch, "state"),
    (SharesListWithChild, "child.shared"),
]


@pytest.mark.parametrize(("kind", "name"), CHANGED)
def test_a_method_might_read_what_the_program_changes(kind: type[nn.Module], name: str) -> None:
    with pytest.raises(errors.UnsupportedProgramError, match=f"whose '{name}' the program writes"):
        ssa_compiler.compile(kind(), (X,), cache=False)


class ReadsOnly(Base):
    """The program reads lists and tensors that the method may read as well."""

    def forward(self, x: Tensor) -> Tensor:
        return x + self.look() + self.tensors[1] + self.numbers[1] + self.scales["a"] + self.state


def test_a_method_may_read_what_the_program_reads() -> None:
    check(ReadsOnly(), (X,), (X * 2,))


class Changes(Base):
    @torch.jit.ignore
    def change(self, x: Tensor) -> int:
        return 0

    def forward(self, x: Tensor) -> Tensor:
        k = self.change(x)
        return x + self.tensors[0] + k


class ReplacesElement(Changes):
    @torch.jit.ignore
    def change(self, x: Tensor) -> int:
        self.tensors[0] = self.tensors[0] + 1
        return 0


class WritesElement(Changes):
    """Of memory that is not aligned, the program gets a copy."""

    def __init__(self) -> None:
        super().__init__()
        self.tensors = [torch.zeros(9)[1:4], torch.ones(3)]

    @torch.jit.ignore
    def change(self, x: Tensor) -> int:
        self.tensors[0].add_(1)
        return 0


class BindsOptional(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.optional: Tensor | None = None

    @torch.jit.ignore
    def change(self, x: Tensor) -> int:
        self.optional = x + 1
        return 0

    def forward(self, x: Tensor) -> Tensor:
        k = self.change(x)
        found = self.optional
        return x + found if found is not None else x + k


@pytest.mark.parametrize("kind", [ReplacesElement, WritesElement, BindsOptional])
def test_a_method_that_changes_what_the_program_reads_is_noticed(kind: type[nn.Module]) -> None:
    compiled = ssa_compiler.compile(kind(), (X,), cache=False)
    with pytest.raises(errors.ProgramError, match="of the module, which the compiled program reads"), torch.no_grad():
        compiled(X)


class Returns(Base):
    @torch.jit.ignore
    def fresh(self) -> Tensor:
        return torch.ones(3) * 2

    @torch.jit.ignore
    def fresh_list(self) -> list[int]:
        return [1, 2]

    @torch.jit.ignore
    def own(self) -> Tensor:
        return self.buffer

    @torch.jit.ignore
    def view_of_own(self) -> Tensor:
        return self.buffer.view(3)

    @torch.jit.ignore
    def in_a_list(self) -> list[Tensor]:
        return [torch.ones(3), self.tensors[0]]

    @torch.jit.ignore
    def own_list(self) -> list[int]:
        return self.numbers


class WritesFresh(Returns):
    def forward(self, x: Tensor) -> Tensor:
        y = self.fresh()
        y += x
        numbers = self.fresh_list()
        numbers[0] += 3
        return y * numbers[0]


class ReadsOwn(Returns):
    def forward(self, x: Tensor) -> Tensor:
        return x + self.own() + self.view_of_own() + self.in_a_list()[1] + self.own_list()[1]


@pytest.mark.parametrize("kind", [WritesFresh, ReadsOwn])
def test_what_a_method_returns(kind: type[nn.Module]) -> None:
    check(kind(), (X,), (X * 2,))


class WritesOwn(Returns):
    def forward(self, x: Tensor) -> Tensor:
        y = self.own()
        y += x
        return y * 1


class WritesViewOfOwn(Returns):
    def forward(self, x: Tensor) -> Tensor:
        y = self.view_of_own()
        y[0] = 5
        return y * 1


class WritesInAList(Returns):
    def forward(self, x: Tensor) -> Tensor:
        y = self.in_a_list()
        y[1] += x
        return y[1] * 1


class ChangesOwnList(Returns):
    def forward(self, x: Tensor) -> Tensor:
        numbers = self.own_list()
        numbers[0] += 1
        return x * numbers[0]


@pytest.mark.parametrize("kind", [WritesOwn, WritesViewOfOwn, WritesInAList, ChangesOwnList])
def test_what_is_held_elsewhere_may_not_be_changed(kind: type[nn.Module]) -> None:
    compiled = ssa_compiler.compile(kind(), (X,), cache=False)
    with pytest.raises(errors.ProgramError, match="held elsewhere, too, and the program changes it"), torch.no_grad():
        compiled(X)


class Keeps(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.log: list[Tensor] = []

    @torch.jit.ignore
    def keep(self, x: Tensor) -> None:
        self.log.append(x)

    @torch.jit.ignore
    def keep_a_part(self, x: Tensor) -> None:
        self.log.append(x[1:])

    @torch.jit.ignore
    def keep_a_clone(self, x: Tensor) -> None:
        self.log.append(x.clone())


class KeepsWhatIsWritten(Keeps):
    def forward(self, x: Tensor) -> Tensor:
        y = x * 2
        self.keep(y)
        y += 1
        return y


class KeepsAPart(Keeps):
    def forward(self, x: Tensor) -> Tensor:
        y = x * 2
        self.keep_a_part(y)
        y[2] = 1
        return y


class KeepsAClone(Keeps):
    def forward(self, x: Tensor, n: int = 3) -> Tensor:
        y = x * 2
        for _ in range(n):
            self.keep_a_clone(y)
            y += 1
        self.keep(y * 2)
        return y


@pytest.mark.parametrize("kind", [KeepsWhatIsWritten, KeepsAPart])
def test_what_a_method_keeps_may_not_be_written(kind: type[nn.Module]) -> None:
    compiled = ssa_compiler.compile(kind(), (X,), cache=False)
    with pytest.raises(errors.ProgramError, match="kept an argument that the program writes"), torch.no_grad():
        compiled(X)


def test_a_method_may_keep_clones() -> None:
    module, oracle = KeepsAClone(), KeepsAClone()
    compiled = ssa_compiler.compile(module, (X, 3), cache=False)
    with torch.no_grad():
        for n in (0, 1, 2):
            assert torch.equal(compiled(X, n), oracle(X, n))
    assert len(module.log) == len(oracle.log)
    assert all(torch.equal(one, other) for one, other in zip(module.log, oracle.log))


HELD: list[Tensor] = []


@torch.jit.ignore
def hold(x: Tensor) -> None:
    HELD.append(x)


@torch.jit.ignore
def hold_a_part(x: Tensor) -> None:
    HELD.append(x[1:])


@torch.jit.ignore
def fill_held(v: float) -> None:
    for held in HELD:
        held.fill_(v)


def held_and_filled(x: Tensor, v: float) -> Tensor:
    hold(x)
    fill_held(v)
    return x + 1


def part_held_and_filled(x: Tensor, v: float) -> Tensor:
    y = x * 2
    hold_a_part(y)
    fill_held(v)
    return y + 1


@pytest.mark.parametrize("program", [held_and_filled, part_held_and_filled])
def test_what_a_function_kept_may_not_be_written_by_another(program: Callable[[Tensor, float], Tensor]) -> None:
    HELD.clear()
    compiled = ssa_compiler.compile(program, (X, 2.0), cache=False)
    with pytest.raises(errors.ProgramError, match=r"wrote a tensor that 'hold.*' was given and kept"), torch.no_grad():
        compiled(X, 2.0)
    HELD.clear()
