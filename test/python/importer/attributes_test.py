"""Numbers of a module that its forward assigns: read at each call, set on the user's module after it."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

import ssa_compiler
from ssa_compiler import errors
from ssa_compiler.importer import import_program
from ssa_compiler.testing import check


def grid() -> Tensor:
    return torch.arange(12.0).reshape(4, 3)


class Counter(nn.Module):
    """Counts its calls, in an int, a float, a bool and a buffer."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = 0
        self.scale = 1.5
        self.started = False
        self.rows = 4
        self.register_buffer("total", torch.zeros(3))

    def forward(self, x: Tensor) -> Tensor:
        if not self.started:
            self.total.zero_()
            self.started = True
        self.total += x[self.calls]
        self.calls += 1
        self.scale = self.scale * 2
        return x[self.calls % self.rows] * self.scale


class Conditional(nn.Module):
    """Writes numbers in branches and loops."""

    def __init__(self) -> None:
        super().__init__()
        self.hits = 0
        self.last = -1.0

    def forward(self, x: Tensor, n: int, flag: bool) -> Tensor:
        for i in range(n):
            if flag:
                self.hits += i
                x[i] += self.hits
            elif bool(x[i].sum() > 3):
                self.last = float(x[i, 0])
                break
        return x * self.last


class Tree(nn.Module):
    """A submodule under two names, and one in a list."""

    def __init__(self) -> None:
        super().__init__()
        self.first = Conditional()
        self.second = self.first
        self.many = nn.ModuleList([Conditional(), Conditional()])

    def forward(self, x: Tensor, n: int) -> Tensor:
        x = self.first(x, n, True) + self.second(x, n, True)
        for module in self.many:
            x = module(x, n, n > 1)
        return x + self.first.hits


def test_numbers_are_read_and_set() -> None:
    check(Counter(), (grid(),), (grid() + 1,), (grid(),))


def test_numbers_in_branches_and_loops() -> None:
    check(
        Conditional(), (grid(), 3, True), (grid(), 4, False), (grid(), 0, True), (grid(), 1, True), (grid(), 2, False)
    )


def test_submodules_keep_their_own_numbers() -> None:
    check(Tree(), (grid(), 2), (grid(), 0), (grid(), 1), (grid(), 3))


@pytest.mark.parametrize("scripted", [False, True])
def test_the_users_module_has_the_numbers(scripted: bool) -> None:
    model = torch.jit.script(Counter()) if scripted else Counter()
    compiled = ssa_compiler.compile(model, (grid(),), target="cpu", max_specialisations=1)
    assert (model.calls, model.scale, model.started) == (0, 1.5, False), "compiling runs nothing"
    compiled(grid())
    compiled(grid())
    assert (model.calls, model.scale, model.started) == (2, 6.0, True)
    model.calls, model.started = 0, False
    reference = Counter()
    reference.scale = 6.0
    assert torch.equal(compiled(grid()), reference(grid()))
    assert (model.calls, model.scale) == (1, 12.0)
    if scripted:
        return  # whose attributes keep their types
    model.calls = 1.5
    with pytest.raises(errors.ArgumentTypeError, match="'calls': expected an int, got float"):
        compiled(grid())


def test_what_is_not_assigned_stays_a_constant() -> None:
    program = import_program(Counter(), (grid(),))
    assert [(a.name, a.index, a.kind) for a in program.attributes] == [
        ("started", 1, bool),
        ("calls", 2, int),
        ("scale", 3, float),
    ]
    assert [(p.name, p.index) for p in program.parameters] == [("total", 4)]


class AssignsDevice(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.place = torch.device("cpu")

    def forward(self, x: Tensor) -> Tensor:
        self.place = torch.device("cpu")
        return x + 1


def test_other_attributes_are_rejected() -> None:
    with pytest.raises(errors.UnsupportedProgramError, match="attribute place, which is no tensor, number, string"):
        import_program(AssignsDevice(), (grid(),))


class Turned(nn.Module):
    """In eager the next call finds the buffer transposed, and its view raises."""

    def __init__(self, contiguous: bool) -> None:
        super().__init__()
        self.contiguous = contiguous
        self.register_buffer("state", torch.arange(16.0).reshape(4, 4))

    def forward(self, n: int) -> Tensor:
        turned = self.state.t()
        self.state = turned.contiguous() if self.contiguous else turned
        for _ in range(n):
            return turned.view(8, 2)
        return self.state * 2


def test_an_attribute_keeps_the_strides_that_matter() -> None:
    with pytest.raises(
        errors.UnsupportedProgramError, match=r"other strides .*aten::view, which raises, at .*; assign its"
    ):
        import_program(Turned(False), (2,))
    check(Turned(True), (0,), (0,), compiled=False)


class TurnedInALoop(nn.Module):
    """Whether the next call finds the buffer transposed is dynamic."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("state", torch.arange(6.0).reshape(3, 2))

    def forward(self, y: Tensor, n: int) -> Tensor:
        turned, flat = y.t(), self.state.flatten()
        for _ in range(n):
            self.state = turned
        return flat


def test_an_attribute_that_a_loop_binds_to_other_strides() -> None:
    with pytest.raises(errors.UnsupportedProgramError, match="bound to a tensor with other strides"):
        import_program(TurnedInALoop(), (torch.zeros(2, 3), 2))


class Tied(nn.Module):
    """Binds one of two names of a tensor to another tensor, and lets two names change places."""

    def __init__(self) -> None:
        super().__init__()
        one = torch.zeros(2)
        self.register_buffer("a", one)
        self.register_buffer("b", one)
        self.register_buffer("p", torch.zeros(2))
        self.register_buffer("q", torch.ones(2))
        self.register_buffer("last", torch.ones(2))

    def forward(self, x: Tensor, n: int) -> tuple[Tensor, Tensor, Tensor]:
        self.a = self.a + x
        old = self.q
        self.p, self.q = self.q, self.p
        self.p += x
        for _ in range(n):
            self.last = x * 2
        self.b += 1
        return self.a + self.b, old, self.last + 0


class Follows(nn.Module):
    """Binds an attribute to another one, or to an argument, which writes are seen through."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("a", torch.zeros(2))
        self.register_buffer("b", torch.ones(2))
        self.register_buffer("seen", torch.ones(2))

    def forward(self, x: Tensor, follow: bool) -> Tensor:
        if follow:
            self.b = self.a
        self.a += x
        result = self.b + self.seen
        self.seen = x
        return result


@pytest.mark.parametrize(
    ("made", "numbers"), [(Tied, (2, 0, 1, 0)), (Follows, (True, False, True)), (Follows, (False, True, False))]
)
def test_attributes_are_bound_to_other_tensors(made: type[nn.Module], numbers: tuple[int, ...]) -> None:
    check_bindings(made, numbers)


def check_bindings(made: type[nn.Module], numbers: tuple[int, ...]) -> None:
    """Which names hold one tensor, and which tensors a caller holds already, is what it is in eager."""
    eager, module = made(), made()
    inputs = torch.ones(2), torch.ones(2)
    compiled = ssa_compiler.compile(module, (inputs[1], numbers[0]), cache=False)
    for number in numbers:
        before = [dict(m.named_buffers(remove_duplicate=False)) for m in (eager, module)]
        results = [eager(inputs[0], number), compiled(inputs[1], number)]
        torch.testing.assert_close(results[1], results[0])
        after = [dict(m.named_buffers(remove_duplicate=False)) for m in (eager, module)]
        for held in (before, after):
            for name, expected in held[0].items():
                torch.testing.assert_close(held[1][name], expected)
        returned = [result if isinstance(result, tuple) else (result,) for result in results]
        known = [[*b.values(), *a.values(), x, *r] for b, a, x, r in zip(before, after, inputs, returned)]
        assert [[one is other for other in known[1]] for one in known[1]] == [
            [one is other for other in known[0]] for one in known[0]
        ]
        for x in inputs:
            x.add_(1)


class Accumulator(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.zeros(3))
        self.register_buffer("last", torch.zeros(3))

    def forward(self, x: Tensor, n: int) -> Tensor:
        before = self.total
        for i in range(n):
            self.total = self.total + x[i]
        if n > 2:
            self.last, self.total = self.total, self.last
        return before


def test_attributes_bound_in_loops_and_branches() -> None:
    check(Accumulator(), *((grid(), n) for n in (2, 0, 4, 1)))


class Sometimes(nn.Module):
    """Binds attributes to arguments, to each other and to new tensors, as only the run decides."""

    def __init__(self) -> None:
        super().__init__()
        for number, name in enumerate(("a", "b", "c", "d", "e", "f", "g", "h")):
            self.register_buffer(name, torch.full([2], float(number)))

    def forward(self, x: Tensor, n: int) -> tuple[Tensor, Tensor]:
        y, z = x + 1, x * 2
        if n > 0:
            self.a, self.b = self.b, self.a
            self.c = y
            self.d = y
        else:
            self.c = x
        if n > 1:
            self.e = z
            self.f = self.g
        self.g = self.g + x
        for i in range(n):
            self.h = z + i
        if n == 3:
            return x * 1, y
        self.b = self.a * 2
        return self.f + self.e + self.c, y


@pytest.mark.parametrize("first", [0, 2])
def test_attributes_that_only_the_run_binds(first: int) -> None:
    check_bindings(Sometimes, (first, 0, 1, 2, 3, 1, 0))


class Recurrent(nn.Module):
    """A state that is None at first; so says the annotation in `__init__`."""

    def __init__(self) -> None:
        super().__init__()
        self.state: Tensor | None = None
        self.weight = nn.Parameter(torch.tensor([[0.5, 1.0], [-1.0, 0.25]]), requires_grad=False)

    def forward(self, x: Tensor, reset: bool) -> Tensor:
        state = self.state
        if state is None:
            state = torch.zeros_like(x)
        state = torch.tanh(state @ self.weight + x)
        if reset:
            self.state = None
        else:
            self.state = state
        return state


class Remembers(nn.Module):
    """Nothing says that the attribute may be None but that it is; whether it is assigned is dynamic."""

    def __init__(self) -> None:
        super().__init__()
        self.first = None
        self.register_buffer("largest", None)

    def forward(self, x: Tensor, limit: bool) -> Tensor:
        if self.first is None:
            self.first = x.clone()
        if bool(x.sum() > 2):
            self.largest = x * 2
        largest = self.largest
        return x if largest is None else x + largest


class Grows(nn.Module):
    """Attributes of other shapes and dtypes after each call."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("state", torch.zeros(0, 2))
        self.register_buffer("largest", torch.zeros(1))

    def forward(self, x: Tensor, again: bool) -> Tensor:
        self.state = torch.cat([self.state, x])
        self.largest = x.argmax(1)
        if again:
            self.state = self.state[:, :1].repeat(1, 2)
        return self.state.sum(0) + self.state.view(-1)[0] + self.largest


@pytest.mark.parametrize("made", [Recurrent, Remembers, Grows])
def test_attributes_that_are_none_at_first(made: type[nn.Module]) -> None:
    eager, module = made(), made()
    compiled = ssa_compiler.compile(module, (torch.zeros(1, 2), False), cache=False)
    assert "__annotations__" not in vars(module)
    for number, reset in enumerate((False, False, True, False, False)):
        x = torch.full((1, 2), 0.5 + number)
        expected = eager(x, reset)
        torch.testing.assert_close(compiled(x, reset), expected)
        for name in ("state", "first", "largest"):
            one, other = getattr(eager, name, None), getattr(module, name, None)
            assert (one is None) == (other is None)
            if one is not None:
                torch.testing.assert_close(other, one)
    assert len(compiled.specialisations) <= (5 if made is Grows else 4)
