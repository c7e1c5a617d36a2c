# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""Objects that are no parts of a model, with which a program computes: a change of one is seen, or the program is
rejected.

TorchScript rejects each program, or takes what a closure has for constant.
"""

import enum
import functools
import types

import pytest
import torch
from torch import nn

import ssa_compiler
from ssa_compiler import errors

X = torch.tensor([1.0, 2.0, 3.0])


@torch.no_grad()
def agree(make, *changes) -> None:
    """Compare a program with eager, and again after each change."""
    model, twin = make(), make()
    compiled = ssa_compiler.compile(model, (X,))
    for change in (None, *changes):
        if change is not None:
            change(model)
            change(twin)
        torch.testing.assert_close(compiled(X.clone()), twin(X.clone()))


class Scale:
    def __init__(self, factor):
        self.factor, self.parts = factor, [1, 2]

    def scale(self, x):
        return x * self.factor

    @property
    def double(self):
        return self.factor * 2

    def __call__(self, x):
        return x + self.factor


class Counter(Scale):
    def counted(self, x):
        self.factor += 1
        return x * self.factor


class Mode(enum.Enum):
    ADD = 1
    MUL = 2


class Limits:
    low = 1


SETTINGS = types.ModuleType("settings")  # as if it was imported


def reset():
    SETTINGS.CONFIG = {"k": 2, "act": torch.relu, "inner": {"sizes": [1, 3]}, "other": object()}
    SETTINGS.OBJECT = Scale(3)
    SETTINGS.MODE = Mode.ADD
    Limits.low = 1
    helper.k = 2


def default(x, config=types.SimpleNamespace(k=2)):  # noqa: B008
    return x * config.k


def helper(x):
    return x


def part(x, k=2):
    return x * k


SCALE, COUNTER, PARTIAL = Scale(3), Counter(3), functools.partial(part, k=4)


def reads_elements(x):
    sizes = SETTINGS.CONFIG["inner"]["sizes"]
    for size in sizes:
        x = x * size
    return (
        SETTINGS.CONFIG["act"](x) * SETTINGS.CONFIG["inner"].get("k", 1),
        x.view(SETTINGS.CONFIG["inner"]["sizes"]),
        part(x),
    )


def reads_objects(x):
    return SETTINGS.OBJECT.scale(x) * SETTINGS.OBJECT.double, SETTINGS.OBJECT(x), scaled_by(x, SETTINGS.OBJECT)


def scaled_by(x, scale):
    return x * (scale.extra if hasattr(scale, "extra") else scale.factor) + len(scale.parts)


def reads_names(x):
    x = PARTIAL(x) * helper.k + SCALE.factor + Limits.low
    return x if SETTINGS.MODE is Mode.ADD else default(x) * 2


def elements(_):
    SETTINGS.CONFIG["act"], SETTINGS.CONFIG["k"] = torch.neg, 5


def inner(_):
    SETTINGS.CONFIG["inner"]["sizes"] = [3]


def objects(_):
    SETTINGS.OBJECT.factor = 7


def extra(_):
    SETTINGS.OBJECT.extra = 9


def another(_):
    SETTINGS.OBJECT = Scale(1)


def names(_):
    helper.k, SCALE.factor, Limits.low, PARTIAL.keywords["k"] = 3, 5, 7, 9


def mode(_):
    SETTINGS.MODE, default.__defaults__[0].k = Mode.MUL, 11


@pytest.mark.parametrize(
    ("program", "changes"),
    [(reads_elements, [elements, inner]), (reads_objects, [objects, extra, another]), (reads_names, [names, mode])],
)
def test_changes_of_global_objects_are_seen(program, changes) -> None:
    reset()
    agree(lambda: program, *changes)


def counts_a_global(x):
    return COUNTER.counted(x)


def keeps_a_global(x):
    kept = SETTINGS.CONFIG["inner"]["sizes"]
    if x.sum() > 0:
        kept = [5]
    kept.append(4)
    return x * len(kept)


def assigns_a_global(x):
    SETTINGS.OBJECT.factor = 4
    return x * SETTINGS.OBJECT.factor


@pytest.mark.parametrize("program", [keeps_a_global, assigns_a_global])
def test_global_objects_that_the_program_changes(program) -> None:
    reset()
    with pytest.raises((errors.ScriptError, errors.UnsupportedProgramError)):
        ssa_compiler.compile(program, (X,))


def closes_over(k=2, scale=None):
    def multiplied(x):
        g = lambda t: t * k  # noqa: E731
        return g(x) + (0 if scale is None else scale.factor)

    def change(value):
        nonlocal k
        k = value

    multiplied.change = change
    return multiplied


def test_cells_of_closures() -> None:
    agree(closes_over, lambda program: program.change(5))
    scale = Scale(3)
    agree(lambda: closes_over(2, scale), lambda _: setattr(scale, "factor", 4))


class Configured(nn.Module):
    """One configuration, which has two names."""

    def __init__(self):
        super().__init__()
        self.config = self.other = types.SimpleNamespace(act=torch.relu, k=2)

    def forward(self, x):
        return by_config(x, self.config) + by_config(x, self.other)


def by_config(x, config):
    return config.act(x) * config.k


def other_config(model):
    model.other = types.SimpleNamespace(act=torch.neg, k=3)


def other_function(model):
    model.config.act = torch.tanh


def test_configurations_of_a_model() -> None:
    agree(Configured, other_config, other_function)


SCALES, COUNTS = torch.tensor([1.0, 2.0, 0.5]), torch.zeros(3)


class Walk:
    MOVES = torch.tensor([[0.0, 1.0, 0.0], [1.0, 0.0, -1.0]])

    def __init__(self):
        self.at = torch.zeros(3)

    def step(self, k):
        self.at = self.at + self.MOVES[k] * SCALES


def weighted(x, k):
    return x * SCALES[k] + torch.einsum("i,j->ij", SCALES, x)[k]


class Weighted(nn.Module):
    def forward(self, x, k: int):
        return weighted(x, k) - SCALES


class ReadsGlobals(nn.Module):
    """Methods of modules, functions that they call and classes read tensors that are no parameters."""

    OFFSETS = torch.tensor([0.5, 0.0, -0.5])

    def __init__(self):
        super().__init__()
        self.part, self.weight = Weighted(), nn.Parameter(torch.ones(3))

    def forward(self, x, n: int):
        walk = Walk()
        for k in range(n):
            x = self.part(x, k % 3) * self.weight + self.OFFSETS
            walk.step(k % 2)
            COUNTS[k % 3] += 1
        return x, walk.at, weighted(x, 1)


def test_tensors_of_global_names_in_methods_of_modules(monkeypatch):
    model, x = ReadsGlobals().eval(), torch.tensor([1.0, -2.0, 3.0])
    compiled = ssa_compiler.compile(model, (x, 2), fullgraph=True)

    def both(n):
        found = []
        for call in (model, compiled):
            COUNTS.zero_()
            found.append((*call(x, n), COUNTS.clone()))
        for expected, got in zip(*found):
            torch.testing.assert_close(got, expected)

    with torch.no_grad():
        for n in (2, 0, 1, 5):
            both(n)
        monkeypatch.setitem(globals(), "SCALES", torch.tensor([3.0, 0.0, 1.0]))
        both(3)
        SCALES.mul_(2)
        monkeypatch.setattr(Walk, "MOVES", Walk.MOVES + 1)
        both(3)
        monkeypatch.setitem(globals(), "SCALES", torch.tensor([3, 0, 1]))
        both(3)


class ReturnsGlobal(nn.Module):
    def forward(self, x):
        return SCALES, {"n": 1, "x": x + SCALES}


def test_a_global_tensor_that_is_a_result_is_that_tensor():
    compiled = ssa_compiler.compile(ReturnsGlobal(), (torch.ones(3),), fullgraph=True)
    assert compiled(torch.ones(3))[0] is SCALES


def of_a_closure(scale):
    class Scaled(nn.Module):
        def forward(self, x):
            return {"n": 1, "x": x * scale}

    return Scaled()


def test_tensors_of_closures_of_methods_are_rejected():
    with pytest.raises(ssa_compiler.SsaCompilerError):
        ssa_compiler.compile(of_a_closure(torch.ones(3)), (torch.ones(3),), fullgraph=True)
