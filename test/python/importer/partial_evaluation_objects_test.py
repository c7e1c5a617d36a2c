# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""Objects of the user's classes that a program makes, which partial evaluation gives TorchScript's classes."""

import pytest
import torch
from torch import nn

import ssa_compiler
from ssa_compiler import errors
from ssa_compiler.testing import check

X = torch.arange(6.0).reshape(3, 2)


class Boxes:
    """Boxes with further fields, as detectors have them."""

    def __init__(self, boxes, size):
        self.boxes = boxes
        self.size = size
        self.fields = {}

    def add(self, name, values):
        self.fields[name] = values
        return self

    def clip(self):
        self.boxes[:, 0].clamp_(max=self.size[0] - 1)
        return self

    @property
    def area(self):
        return self.boxes.sum(1) * self.size[1]

    @staticmethod
    def empty(n):
        return Boxes(torch.zeros(n, 2), (n, n))

    def __len__(self):
        return self.boxes.shape[0]

    def __getitem__(self, index):
        out = Boxes(self.boxes[index], self.size)
        for name, values in self.fields.items():
            out.add(name, values[index])
        return out

    def __add__(self, other):
        return Boxes(torch.cat([self.boxes, other.boxes]), self.size)


class Detector(nn.Module):
    def forward(self, x, n: int):
        boxes = Boxes(x * 2, (n, 3)).add("scores", x[:, 0])
        kept = boxes.clip()[x[:, 0] > 1]
        every = [Boxes(x + i, (i, n)) for i in range(2)]
        sizes = sum([each.size[0] for each in every])
        both = kept + boxes
        return kept.boxes, kept.fields["scores"], kept.area, len(boxes), len(kept), sizes, both.boxes, x


class Filter:
    """A filter with state, of which a part is set by another method."""

    def __init__(self, n):
        self.n = n
        self.reset()

    def reset(self):
        self.state = torch.zeros(self.n)
        self.last = None
        self.log = []

    def update(self, value):
        if self.last is not None:
            self.state += value - self.last
        self.last = value
        self.log.append(value.sum())
        return len(self.log)


class Counting(Filter):
    """Its methods call those of its base."""

    def __init__(self, n):
        super().__init__(n)
        self.hits = 0

    def update(self, value):
        self.hits += super().update(value)
        return self.hits


def filtered(x, n: int):
    one, other = Counting(2), Filter(2)
    alias = one
    for i in range(n):
        alias.update(x[i % 3])
        if i % 2 == 0:
            other.update(x[0] * i)
    return one.state, one.hits, one.last, other.log, len(other.log), one is alias


def returned(x, n: int):
    made = Counting(n)
    made.update(x[0][:n])
    return made, [Filter(1)]


@torch.no_grad()
def test_objects_are_as_in_eager() -> None:
    check(Detector(), (X, 2), (X - 3, 0), (X, 1), (X + 9, 4), compiled=False)
    check(filtered, (X, 2), (X, 0), (X, 1), (X, 7), compiled=False)


def test_objects_are_returned() -> None:
    made, (other,) = ssa_compiler.compile(returned, (X, 2))(X, 2)
    assert type(made) is Counting
    assert type(other) is Filter
    assert (made.hits, made.n, other.last, other.log) == (1, 2, None, [])
    torch.testing.assert_close(made.last, X[0])


class Ticking:
    """Its methods that operators call have effects."""

    def __init__(self):
        self.n = 1

    def __getitem__(self, k: int):
        self.n += k
        return self.n

    def __len__(self):
        self.n *= 3
        return 2

    def __call__(self, x):
        self.n += 1
        return x * self.n


def ticking(x, xs: list[int]):
    t = Ticking()
    first = t[1] + [t(x).sum() * v for v in xs if v > 0][-1] + t.n
    second = len(t) + min(xs, key=lambda v: v * t[2]) + t.n
    t[5] is None  # noqa: B015
    return first, second, t.n


def test_methods_that_operators_call_are_called_in_their_order() -> None:
    check(ticking, (X, [2, 1]), (-X, [1, 3]), compiled=False)


class Unset:
    """Has attributes that its constructor may not assign."""

    def __init__(self, flag):
        if flag:
            self.value = 3

    def later(self):
        self.found = 4


def unset(x, flag: bool, calls: int):
    made = Unset(flag)
    for _ in range(calls):
        made.later()
    return x * made.value + made.found


def test_attributes_that_are_not_set_raise() -> None:
    check(unset, (X, True, 1), (-X, True, 3), compiled=False)
    compiled = ssa_compiler.compile(unset, (X, True, 1))
    for flag, calls in ((False, 1), (True, 0)):
        with pytest.raises(errors.ProgramError):
            compiled(X, flag, calls)


class ReadEarly:
    def __init__(self):
        self.double = self.base * 2
        self.base = 1


class Escapes:
    def __init__(self, held):
        held.append(self)
        self.k = 1


class Retyped:
    def __init__(self, x):
        self.value = 1 if x is None else x


def reads_early(x):
    return x * ReadEarly().double


def escapes(x):
    held = []
    Escapes(held)
    return x * held[0].k


def of_two_types(x):
    a, b = Retyped(None), Retyped(x)
    return a.value + b.value


@pytest.mark.parametrize("program", [reads_early, escapes, of_two_types])
def test_what_has_no_type_is_rejected(program) -> None:
    with pytest.raises(errors.ScriptError):
        ssa_compiler.compile(program, (X,))


class ReadLate:
    def __init__(self):
        self.base = 1
        self.double = self.base * 2


class Stays:
    def __init__(self, held):
        held.append(3)
        self.k = len(held)


def reads_late(x):
    return x * ReadLate().double


def stays(x):
    return x * Stays([1]).k


def of_one_type(x):
    a, b = Retyped(x * 2), Retyped(x)
    return a.value + b.value


@pytest.mark.parametrize("program", [reads_late, stays, of_one_type])
def test_their_neighbours_compile(program) -> None:
    """What is rejected is so for the reason that it was written for."""
    check(program, (X,), (-X,), compiled=False)


class Signed:
    def __init__(self, x):
        self.x = x

    def __neg__(self):
        return Signed(-self.x)

    def __rmul__(self, factor):
        return Signed(self.x * factor)

    def __rsub__(self, number):
        return Signed(number - self.x)

    def __bool__(self):
        return bool(self.x.sum() > 0)


class Pile:
    def __init__(self, items):
        self.items = items

    def __len__(self):
        return len(self.items)


def signed(x, n):
    value = Signed(x)
    if value and n > 2:
        return x
    if n < 2 or not value:
        return (-value).x + (2 * value).x
    assert value, "empty"
    return (n - value).x


def piled(x, n):
    pile = Pile([])
    for i in range(n):
        pile.items.append(x * i)
    if not pile:
        return x * 0, len(pile)
    count = 0
    while pile and count < 2:
        count += 1
        pile.items.pop()
    return x + count, 1 if pile else 2


def test_objects_say_whether_they_are_true_and_what_operators_do() -> None:
    for program in (signed, piled):
        check(program, *((x, n) for x in (torch.ones(3), -torch.ones(3)) for n in (3, 0, 1, 2)), compiled=False)
