"""Named tuples, dataclasses, scripted classes, enums, unions and optionals: as arguments, results and in between."""

import dataclasses
import enum
from typing import Any, NamedTuple

import pytest
import torch
from torch import Tensor, nn

import ssa_compiler
from _rejections import rejection
from ssa_compiler import ArgumentError, ArgumentTypeError, ScriptError
from ssa_compiler.importer import import_program
from ssa_compiler.testing import Call, check

X = torch.arange(12.0).reshape(3, 4)


# Named tuples. -------------------------------------------------------------------------------------------------------


class Pair(NamedTuple):
    one: Tensor
    two: int
    three: Tensor | None = None


class Nested(NamedTuple):
    pair: Pair
    many: list[Tensor]


def changes_pair(p: Pair) -> Pair:
    y = p.one.clone()
    y[0] = p.two
    return Pair(y, p.two + 1, None)


def returns_its_argument(p: Pair, x: Tensor) -> tuple[Pair, Tensor]:
    p.one.add_(1)
    return p, x


def nests(q: Nested) -> Nested:
    return Nested(Pair(q.pair.one + q.many[0], 3, q.many[0]), [q.pair.one])


def chosen(p: Pair, q: Pair, n: int) -> Pair:
    for i in range(n):
        if i == 1:
            p = Pair(q.one, p.two + i)
    return p


def test_named_tuples() -> None:
    checked = check(changes_pair, (Pair(X, 2),), (Pair(X, 5),), compiled=True)
    assert type(checked.compiled(Pair(X, 2))) is Pair
    checked = check(returns_its_argument, (Pair(X.clone(), 2), X + 1), compiled=True)
    assert type(checked.compiled(Pair(X.clone(), 2), X)[0]) is Pair
    checked = check(nests, (Nested(Pair(X, 2), [X]),), compiled=True)
    result = checked.compiled(Nested(Pair(X, 2), [X]))
    assert type(result) is Nested
    assert type(result.pair) is Pair
    check(chosen, (Pair(X, 1), Pair(X + 1, 2), 3), (Pair(X, 1), Pair(X + 1, 2), 1), compiled=True)


# Classes. ------------------------------------------------------------------------------------------------------------


@torch.jit.script
@dataclasses.dataclass
class Data:
    a: Tensor
    b: int = 2


@torch.jit.script
class Outer:
    def __init__(self, data: Data, many: dict[str, Tensor], scale: float = 1.5):
        self.data = data
        self.many = many
        self.scale = scale


@torch.jit.script
class Accumulator:
    def __init__(self, x: Tensor, n: int):
        self.total = x
        self.n = n

    def add(self, y: Tensor) -> None:
        self.total = self.total + y
        self.n += 1

    def mean(self) -> Tensor:
        return self.total / self.n


def takes_data(d: Data, k: int) -> Tensor:
    y = d.a.clone()
    y[k] = d.b
    d.a.mul_(2)
    return y


def returns_data(x: Tensor, n: int) -> Data:
    return Data(x + 1, n)


def nests_data(o: Outer) -> Outer:
    return Outer(Data(o.many["x"] * o.scale, o.data.b + 1), {"y": o.data.a}, o.scale * 2)


def accumulates(x: Tensor, n: int) -> Tensor:
    a = Accumulator(x, 1)
    for i in range(n):
        a.add(x * i)
        if i == 1:
            a.n += 3
    return a.mean() + a.n


def writes_attributes(x: Tensor, flag: bool) -> tuple[Tensor, int]:
    d = Data(x.clone())
    if flag:
        d.b = 5
        d.a = d.a * 2
    d.a[0] += 1
    return d.a, d.b


def compares(x: Tensor, n: int) -> tuple[Tensor, bool]:
    d, e = Accumulator(x, n), Accumulator(x, n)
    return d.total, d is e


class HoldsData(nn.Module):
    def forward(self, d: Data) -> Data:
        return Data(d.a[1:], d.b * 2)


def test_dataclasses_as_arguments_and_results() -> None:
    check(takes_data, (Data(X.clone(), 3), 1), (Data(X + 1, 7), 0), compiled=True)
    checked = check(returns_data, (X, 2), (X, 3), compiled=True)
    assert type(checked.compiled(X, 2)) is Data
    data = Data(X, 1)
    checked = check(nests_data, (Outer(data, {"x": X + 1}),), (Outer(data, {"x": X}, 3.0),), compiled=True)
    assert type(checked.compiled(Outer(data, {"x": X}))) is Outer
    check(HoldsData(), (Data(X, 1),), compiled=True)


@dataclasses.dataclass
class Inner:
    t: Tensor
    n: int = 3

    def total(self) -> Tensor:
        return self.t.sum() * self.n


@dataclasses.dataclass
class Whole:
    inner: Inner
    many: list[Tensor]
    mask: Tensor | None = None


def adds_rows(whole: Whole, n: int) -> Whole:
    t = whole.inner.t
    for i in range(n):
        t[i] += whole.many[0][i] * whole.inner.total()
    mask = whole.mask
    if mask is not None:
        t = t * mask
    return Whole(Inner(t + 1, n), [t * 2])


class HoldsInner(nn.Module):
    def forward(self, x: Tensor) -> Inner:
        inner = Inner(x + 1)
        inner.t[0] = inner.n
        return inner


def test_dataclasses_that_are_not_scripted() -> None:
    wholes = [Whole(Inner(X.clone(), n), [X + n]) for n in (2, 4)]
    checked = check(adds_rows, (wholes[0], 2), (wholes[1], 0), (wholes[0], 1), compiled=True)
    result = checked.compiled(wholes[0], 1)
    assert type(result) is Whole
    assert type(result.inner) is Inner
    check(adds_rows, (Whole(Inner(X.clone()), [X], X > 0), 2), compiled=True)
    checked = check(HoldsInner(), (X,), compiled=True)
    assert type(checked.compiled(X)) is Inner


@dataclasses.dataclass(frozen=True)
class Frozen:
    t: Tensor


def returns_frozen(x: Tensor) -> Frozen:
    return Frozen(x)


@dataclasses.dataclass
class Many:
    tensors: list[Tensor] = dataclasses.field(default_factory=list)


def returns_many(x: Tensor) -> Many:
    return Many([x])


def test_dataclasses_that_torchscript_does_not_take() -> None:
    with pytest.raises(ScriptError, match="leave out frozen=True"):
        import_program(returns_frozen, (X,))
    check(returns_many, (X,), compiled=True)


def test_objects_inside_of_a_program() -> None:
    check(accumulates, (X, 3), (X, 0), (X, 1), compiled=True)
    check(writes_attributes, (X, True), (X, False), compiled=True)


def changes_the_callers(d: Data) -> Tensor:
    d.b += 1
    return d.a


def test_the_callers_object_changes() -> None:
    check(changes_the_callers, (Data(X),), compiled=True)


def replaced(x: Tensor, n: Tensor) -> Tensor:
    d = Data(x)
    for _ in range(int(n)):
        d = Data(d.a + 1)
        x = x + d.a
    d.b = 3
    return x + d.b


def test_objects_that_a_loop_replaces_change() -> None:
    check(replaced, *[(X, torch.tensor(n)) for n in (3, 0, 1)], compiled=False)


def test_objects_of_another_class() -> None:
    with pytest.raises(ArgumentTypeError, match=r"'d': expected .*Data, got Pair: pass an object of that class"):
        import_program(takes_data, (Pair(X, 2), 1))
    compiled = ssa_compiler.compile(takes_data, (Data(X.clone()), 1))
    with pytest.raises(ArgumentError, match="'d': expected"):
        compiled(Pair(X, 2), 1)


# Enums. --------------------------------------------------------------------------------------------------------------


class Color(enum.Enum):
    RED = 1
    GREEN = 2


def by_color(x: Tensor, c: Color) -> tuple[Tensor, str, Color]:
    if c == Color.RED:
        return x + c.value, c.name, Color.GREEN
    if c is not Color.RED:
        x = x * 2
    for each in Color:
        x = x + each.value
    return x, c.name, c


class Step(enum.IntEnum):
    ZERO = 0
    ONE = 1


def by_step(x: Tensor, s: Step) -> Tensor:
    return x + s.value if s == Step.ONE else x * 2


class HoldsColor(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.color = Color.GREEN

    def forward(self, x: Tensor) -> Tensor:
        return x + 1 if self.color == Color.GREEN else x


@pytest.mark.parametrize("color", list(Color))
def test_enums(color: Color) -> None:
    check(by_color, (X, color), compiled=True)
    check(HoldsColor(), (X,), compiled=True)


def test_members_that_are_ints() -> None:
    check(by_step, (X, Step.ONE), compiled=False)
    compiled = ssa_compiler.compile(by_step, (X, Step.ZERO))
    for step in (Step.ZERO, Step.ONE, Step.ZERO):
        assert torch.equal(compiled(X, step), by_step(X, step))


def test_another_member_is_another_specialisation() -> None:
    compiled = ssa_compiler.compile(by_color, (X, Color.RED))
    for color in (Color.GREEN, Color.RED):
        result, expected = compiled(X, color), by_color(X, color)
        assert torch.equal(result[0], expected[0])
        assert result[1:] == expected[1:]


# Unions, Any, Optional. ----------------------------------------------------------------------------------------------


def number_or_tensor(x: int | Tensor) -> Tensor:
    if isinstance(x, int):
        return torch.zeros(2) + x
    return x + 1


def text_or_list(x: str | list[Tensor]) -> Tensor:
    if isinstance(x, str):
        return torch.zeros(2)
    return x[0] + len(x)


def anything(x: Any) -> Tensor:
    if isinstance(x, Tensor):
        return x + 1
    if isinstance(x, (int, float)):
        return torch.zeros(1) + 5
    return torch.zeros(1)


def optional(x: Tensor, y: Tensor | None = None, n: int | None = None) -> Tensor:
    if y is None:
        y = x
    if n is not None:
        y = y + n
    return y + x


def unknown(x: Tensor, n: int) -> Tensor:
    y = torch.jit.annotate(int | Tensor | None, None)
    if n > 1:
        y = x
    if isinstance(y, Tensor):
        return y
    return x + 1


@pytest.mark.parametrize("value", [X, 3])
def test_unions_and_any(value: Any) -> None:
    check(number_or_tensor, (value,), compiled=True)
    check(anything, (value,), compiled=True)


def test_unions_of_containers() -> None:
    check(text_or_list, ([X, X],), compiled=True)
    check(text_or_list, ("a",), compiled=True)
    with pytest.raises(ArgumentTypeError, match="'x': expected Union"):
        import_program(text_or_list, (3.5,))


def test_optional_arguments() -> None:
    check(optional, (X,), (X + 1,), compiled=True)
    check(optional, (X, X), (X, X + 1), compiled=True)
    check(optional, Call(X, n=2), Call(X, n=3), compiled=True)


def test_types_that_only_the_run_knows() -> None:
    assert "isinstance on a value whose type is dynamic" in rejection(unknown, (X, 2))
