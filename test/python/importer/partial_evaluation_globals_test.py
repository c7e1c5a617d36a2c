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
