# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""Members of enums that are held in variables, attributes and lists which change as the data decides."""

import dataclasses
import enum
from enum import Enum, IntEnum

import pytest
import torch
from torch import Tensor, nn

import ssa_compiler

X = torch.tensor([1.0, -2.0, 3.0, 0.5, -1.0])
OTHERS = (X, -X, X.abs(), -X.abs(), X[[1, 0, 2, 4, 3]])


class State(Enum):
    IDLE = 0
    RISING = 1
    HIGH = 5

    @property
    def is_active(self):
        return self is not State.IDLE

    def after(self, up):
        if not up:
            return State.IDLE
        return State.RISING if self is State.IDLE else State.HIGH


class Level(IntEnum):
    LOW = enum.auto()
    MID = enum.auto()
    HIGH = enum.auto()


class How(str, Enum):
    SUM = "sum"
    MEAN = "mean"


NEXT = {State.IDLE: State.RISING, State.RISING: State.HIGH, State.HIGH: State.HIGH}
GAIN = {State.IDLE: 0.5, State.RISING: 2.0, State.HIGH: -1.0}
HANDLERS = {State.IDLE: lambda v: v + 1, State.RISING: lambda v: v * 2, State.HIGH: lambda v: v - 3}
TABLE = [0.0, 0.5, 1.5, 2.5]


def same(found, expected):
    """Compare results; members have to be the very same ones."""
    assert type(found) is type(expected), (found, expected)
    if isinstance(expected, Tensor):
        torch.testing.assert_close(found, expected)
    elif isinstance(expected, (list, tuple)):
        assert len(found) == len(expected)
        for pair in zip(found, expected):
            same(*pair)
    elif isinstance(expected, Enum):
        assert found is expected
    else:
        assert found == expected


@torch.no_grad()
def agree(program, *calls):
    """Compare a program with eager in one specialisation, without code that is left to eager."""
    compiled = ssa_compiler.compile(program, calls[0], cache=False, fullgraph=True)
    for arguments in calls:
        same(compiled(*arguments), program(*arguments))
    assert len(compiled.specialisations) == 1


# Variables. ------------------------------------------------------------------------------------------------------


def machine(x: Tensor):
    """TorchScript takes it as it is."""
    state = State.IDLE
    n = 0
    for i in range(x.shape[0]):
        if bool(x[i] > 0):
            state = State.RISING if state is State.IDLE else State.HIGH
        elif state != State.HIGH:
            state = State.IDLE
        if state is not State.IDLE:
            n += state.value
    return state, state.name, n


def members(x):
    state, n, kept = State.IDLE, 0, None
    for v in x:
        if v > 0:
            state = kept = NEXT[state]
        elif state in (State.RISING, State.HIGH):
            state = State.IDLE
        n += 1 if state not in [State.IDLE, State.HIGH] else 10
        n += 100 if state in {State.HIGH, State.IDLE} else 0
        n += 1000 if state.is_active and kept is not State.HIGH else 0
    return n, state, kept, x * GAIN[state], {State.IDLE: 1, State.RISING: n, State.HIGH: 3}[state]


def called(x):
    state, y = State.IDLE, x
    for v in x:
        y = HANDLERS[state](y)
        state = state.after(bool(v > 0))
    return y, state


def unequal(x):
    state, level = State.IDLE, Level.LOW
    if x.sum() > 0:
        state, level = State.RISING, Level.HIGH
    return state == 1, state != Level.LOW, state is level, not state, state == State.RISING, level == 3, f"{state.name}"


def numbers(x):
    level, total = Level.LOW, 0
    for v in x:
        level = Level.LOW if v <= 0 else Level.HIGH if level >= Level.MID else Level.MID
        total += level * 2 + -level
        total += 100 if level > 1 else 0
        total += 1000 if level in (1, 3) else 0
    for _ in range(level):
        total += 10**6
    return total, level, level + 1, int(level), x * level + TABLE[level], torch.full((2,), level)


def strings(x):
    how = How.SUM
    if x.sum() > 0:
        how = How.MEAN
    return how, how == "mean", x.mean() if how == How.MEAN else x.sum(), how.value


def looked_up(x):
    found = []
    for v in x.abs().long().clamp(max=1):
        found.append(State(int(v)))
    return found, State(int(x[2] > 0) * 5)


@pytest.mark.parametrize("program", [machine, members, called, unequal, numbers, strings, looked_up])
def test_variables(program):
    agree(program, *((x,) for x in OTHERS))


def test_what_is_not_there():
    def value(x):
        return State(int(x[0]))

    def key(x):
        state = State.HIGH if x.sum() > 0 else State.IDLE
        return {State.IDLE: 1.0, State.RISING: 2.0}[state] + x

    for program, fine, wrong, error in (
        (value, torch.tensor([5]), torch.tensor([4]), ValueError),
        (key, -X, X, KeyError),
    ):
        compiled = ssa_compiler.compile(program, (fine,), cache=False, fullgraph=True)
        same(compiled(fine), program(fine))
        for call in (program, compiled):
            with pytest.raises(error):
                call(wrong)


# Lists and objects. ------------------------------------------------------------------------------------------------


def history(x):
    state, seen, changes = State.IDLE, [], []
    for i in range(x.shape[0]):
        if x[i] > 0:
            state = state.after(True)
            seen.append(state)
        elif state is State.HIGH:
            state = State.IDLE
            changes.append((i, state))
    n = sum([each.value for each in seen])
    last = seen[-1] if len(seen) > 0 else State.HIGH
    return seen, changes, n, last, State.HIGH in seen, [State.IDLE, state][int(x[0] > 0)]


@dataclasses.dataclass
class Track:
    position: float
    state: State = State.IDLE
    age: int = 0

    def step(self, value):
        self.age += 1
        if self.state is State.IDLE and self.age > 1:
            self.state = State.RISING
        elif self.state is State.RISING and value < 0:
            self.state = State.HIGH


def tracks(x):
    found = []
    for v in x:
        if v > 0:
            found.append(Track(float(v)))
        for track in found:
            track.step(v)
        found = [each for each in found if each.state is not State.HIGH]
    return [each.position for each in found], [each.age for each in found], [each.state for each in found]


@pytest.mark.parametrize("program", [history, tracks])
def test_lists(program):
    agree(program, *((x,) for x in OTHERS))


# Modules and arguments. --------------------------------------------------------------------------------------------


class Detector(nn.Module):
    """Its state stays between calls."""

    def __init__(self):
        super().__init__()
        self.state = State.IDLE
        self.last = None
        self.count = 0
        self.start = None

    def _advance(self, active):
        if self.state is State.IDLE:
            if active:
                self.state, self.count, self.start = State.RISING, 1, self.count
        elif not active:
            ended = (self.start, self.state)
            self.state, self.start = State.IDLE, None
            return ended
        else:
            self.state = State.HIGH
        return None

    def forward(self, x):
        flags, found = [], []
        for v in x:
            ended = self._advance(bool(v > 0))
            if ended is not None:
                found.append(ended[0])
                self.last = ended[1]
            flags.append(self.state.value)
        return torch.tensor(flags), found, self.state


@torch.no_grad()
def test_state_of_a_module():
    model, twin = Detector(), Detector()
    compiled = ssa_compiler.compile(model, (X,), cache=False, fullgraph=True)
    for x in (*OTHERS, X, -X):
        same(compiled(x), twin(x))
        for name in ("state", "last", "count", "start"):
            same(getattr(model, name), getattr(twin, name))
    model.state = twin.state = State.HIGH
    same(compiled(X), twin(X))
    assert model.state is twin.state


class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.state = State.IDLE

    def forward(self, x: Tensor):
        if bool(x.sum() > 0):
            self.state = State.RISING if self.state is State.IDLE else State.HIGH
        return x * self.state.value


def test_any_member_is_taken_by_one_specialisation():
    model, twin = Counter(), Counter()
    compiled = ssa_compiler.compile(model, (X,), cache=False, fullgraph=True)
    for state in (*State, *State):
        for x in (X, -X):
            model.state = twin.state = state
            same(compiled(x), twin(x))
            assert model.state is twin.state
    assert len(compiled.specialisations) == 1


def passed(x, state=State.RISING):
    for v in x:
        state = state.after(bool(v > 0))
    return state


def test_an_argument():
    compiled = ssa_compiler.compile(passed, (X, State.IDLE), cache=False, fullgraph=True)
    for state in State:
        for x in (X, -X):
            assert compiled(x, state) is passed(x, state)
    assert compiled(X) is passed(X)


def made(factor):
    class State(Enum):
        A = factor
        B = 2 * factor

    def program(x: Tensor):
        state = State.A
        if bool(x.sum() > 0):
            state = State.B
        return state, state.value

    return program


def test_enums_of_one_name():
    programs = [made(1), made(5)]
    for program in (*programs, *programs):
        agree(program, (X,), (-X,))


class Holder(nn.Module):
    """TorchScript has no type for the dict."""

    def __init__(self):
        super().__init__()
        self.weights = {State.IDLE: 1.0, State.HIGH: 3.0}

    def forward(self, x):
        state = State.IDLE if x.sum() > 0 else State.HIGH
        return x * self.weights[state]


def test_a_dict_of_a_module():
    model = Holder()
    agree(model, (X,), (-X,))
    compiled = ssa_compiler.compile(model, (X,), cache=False, fullgraph=True)
    same(compiled(X), model(X))
    model.weights[State.IDLE] = 7.0
    same(compiled(X), model(X))
    model.weights[State.RISING] = 2.0
    same(compiled(-X), model(-X))


class Odd(Enum):
    A = 1
    B = 2

    def __eq__(self, other):
        return True

    __hash__ = Enum.__hash__


def test_members_that_compare_as_they_like():
    def program(x: Tensor):
        member = Odd.A
        if bool(x.sum() > 0):
            member = Odd.B
        return member == Odd.A, member is Odd.A, member

    agree(program, (X,), (-X,))


class Stepping(nn.Module):
    """Members that are ints are no ints to TorchScript."""

    def __init__(self):
        super().__init__()
        self.level = Level.LOW
        self.previous = None

    def forward(self, x):
        for v in x:
            self.previous = self.level
            if v > 0:
                self.level = Level.MID if self.level == 1 else Level.HIGH
            elif self.level > 1:
                self.level = Level(self.level - 1)
        return self.level, x * self.level


@torch.no_grad()
def test_ints_of_a_module():
    model, twin = Stepping(), Stepping()
    compiled = ssa_compiler.compile(model, (X,), cache=False, fullgraph=True)
    for x in (*OTHERS, X, -X):
        same(compiled(x), twin(x))
        assert model.level is twin.level
        assert model.previous is twin.previous


class Only(enum.Enum):
    ONE = 4


class OfOne(nn.Module):
    """Which member it is is known, though the attribute is assigned."""

    def __init__(self):
        super().__init__()
        self.state = Only.ONE

    def forward(self, x):
        value = self.state.value
        if bool(x.sum() > 0):
            self.state = Only.ONE
        return x * value, self.state


def test_an_enum_of_one_member():
    agree(OfOne(), (X,), (-X,))
