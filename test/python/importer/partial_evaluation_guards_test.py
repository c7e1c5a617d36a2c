# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""What partial evaluation takes for known: it is compared at each call, computed in the program, or the program is
rejected.

Each program has something that TorchScript rejects: a lambda, or a part of a model that is chosen by index.
"""

import collections
import copy
import functools
import types
from dataclasses import dataclass

import pytest
import torch
from torch import nn

import ssa_compiler
from ssa_compiler import errors

X = torch.tensor([1.0, 2.0, 3.0])


class Model(nn.Module):
    """A model whose forward TorchScript rejects."""

    def __init__(self, *parts):
        super().__init__()
        self.parts = nn.ModuleList(parts or [nn.ReLU()])

    def first(self, x):
        for k in range(1):
            x = self.parts[k](x)
        return x


@torch.no_grad()
def agree(make, *steps) -> None:
    """Compare a program with eager.

    Args:
        make: makes the model.
        steps: the arguments of each call, and functions that change the model between calls.
    """
    model, twin = make(), make()
    compiled = ssa_compiler.compile(model, copy.deepcopy(steps[0]))
    for step in steps:
        if callable(step):
            step(model)
            step(twin)
            continue
        one, other = copy.deepcopy(step), copy.deepcopy(step)
        torch.testing.assert_close(compiled(*one), twin(*other))
        torch.testing.assert_close(one, other)
        for (name, value), (_, expected) in zip(state(model), state(twin), strict=True):
            assert value == expected, name


def state(model):
    values = vars(model).items() if isinstance(model, nn.Module) else ()
    return [(name, value) for name, value in values if isinstance(value, (int, list, dict)) and name[0] != "_"]


def rejected(make, *arguments, match=None) -> None:
    with pytest.raises((errors.ScriptError, errors.UnsupportedProgramError), match=match):
        ssa_compiler.compile(make(), arguments)


# Classes and methods. -------------------------------------------------------------------------------------------------


class Adds(Model):
    def forward(self, x):
        return x + 1


class Tens(Adds):
    def forward(self, x):
        return super().forward(x) * 10


class Skips(Tens):
    def forward(self, x):
        return super(Tens, self).forward(self.first(x))


class Elsewhere(Tens):
    def forward(self, x, other=None):
        return super(Tens, self.parts[0]).forward(self.first(x))


def test_super_of_another_class() -> None:
    agree(Skips, (X,))
    rejected(lambda: Elsewhere(Tens()), X)


class AsksForClass(Model):
    def __init__(self, kind, of_weight):
        super().__init__()
        self.w, self.kind, self.of_weight = nn.Parameter(torch.ones(3)), kind, of_weight

    def forward(self, x):
        x = self.first(x)
        return x, isinstance(self.w, self.kind) if self.of_weight else isinstance(x, self.kind)


@pytest.mark.parametrize(
    ("kind", "of_weight"), [(nn.Parameter, True), (torch.FloatTensor, False), ((int, nn.Parameter), False)]
)
def test_what_a_tensor_may_be_is_not_known(kind, of_weight) -> None:
    rejected(lambda: AsksForClass(kind, of_weight), X)


def test_what_a_tensor_is() -> None:
    agree(lambda: asks_for_class, (X,))


def asks_for_class(x):
    g = lambda t: t  # noqa: E731
    return g(x) * 2, isinstance(x, (torch.Tensor, str)), isinstance(x, (list, int)), isinstance(x.shape, tuple)


def counts(x):
    g = lambda t: t  # noqa: E731
    return g(x) + 1 if x.shape.numel() == 3 else x


def test_methods_of_lists_that_are_not_known() -> None:
    rejected(lambda: counts, X)


class Doubles(nn.Module):
    def forward(self, x):
        return x * 2


class Called(Doubles):
    def __call__(self, x):
        return super().__call__(x) * 10


class Chain(Model):
    def forward(self, x):
        for k in range(2):
            x = self.parts[k](x)
        return x


def hundredfold(self, x):
    return x * 100


def patch(model):
    model.parts[1].forward = types.MethodType(hundredfold, model.parts[1])
    return model


def patch_root(model):
    model.forward = types.MethodType(Adds.forward, model)


def test_forward_that_is_set_on_a_module() -> None:
    agree(lambda: Chain(Doubles(), Doubles()), (X,), patch, (X,), patch_root, (X,))
    agree(lambda: patch(Chain(Doubles(), nn.Sequential(Doubles()))), (X,))
    model = Chain(Doubles(), Doubles())
    model.parts[0].forward = lambda x: x * 3
    rejected(lambda: model, X)


@pytest.mark.parametrize("make", [Called, lambda: nn.Sequential(Called()), lambda: Chain(Called(), Called())])
def test_call_that_is_not_forward(make) -> None:
    rejected(make, X, match="has a __call__ of its own")


# What was found not to be None. ---------------------------------------------------------------------------------------


def by_another_name(x, d: dict[str, torch.Tensor | None]):
    g = lambda t: t  # noqa: E731
    e = d
    if d["k"] is not None:
        e["k"] = None
        if d["k"] is None:
            return g(x) * 10
    return x


def in_a_branch(x, d: dict[str, torch.Tensor | None], twice: bool):
    g = lambda t: t  # noqa: E731
    e, found = d, 0
    if d["k"] is not None:
        if twice:
            e["k"] = None
        found += 1 if d["k"] is None else 2
    return g(x) * found


def in_a_loop(x, items: list[torch.Tensor | None], n: int):
    g = lambda t: t  # noqa: E731
    other, found = items, 0
    if items[0] is not None:
        for _ in range(n):
            found += 1 if items[0] is None else 10
            other[0] = None
    return g(x) * found


def test_none_is_written_by_another_name() -> None:
    agree(lambda: by_another_name, (X, {"k": X}))
    agree(lambda: in_a_branch, (X, {"k": X}, True), (X, {"k": X}, False))
    agree(lambda: in_a_loop, (X, [X, None], 3), (X, [X, None], 1), (X, [None], 1))


# Attributes. ----------------------------------------------------------------------------------------------------------


class AsksForRank(Model):
    def __init__(self):
        super().__init__()
        self.w, self.scales = nn.Parameter(torch.ones(3)), nn.ParameterList([nn.Parameter(torch.ones(3))])
        self.register_buffer("mask", torch.ones(1, 3))

    def forward(self, x):
        x = self.first(x) * self.mask
        return (x * 2 if self.w.ndim == 1 else x), self.scales[0].dim(), self.mask.dtype == torch.float32


def replace_weight(model):
    model.w = nn.Parameter(torch.ones(1, 3))


def replace_scale(model):
    model.scales[0] = nn.Parameter(torch.ones(1, 3))


def replace_mask(model):
    model.mask = torch.ones(1, 3, dtype=torch.float64)


def test_ranks_of_parameters_that_nothing_else_reads() -> None:
    agree(AsksForRank, (X,), replace_weight, (X,), replace_scale, (X,), replace_mask, (X,))


@dataclass
class Depth:
    """A configuration with a property."""

    depth: int

    @property
    def twice(self):
        return self.depth * 2


class Counts(Model):
    def __init__(self, counts=True):
        super().__init__(nn.ReLU(), nn.Tanh())
        self.n, self.counts, self.config, self.w = 0, counts, Depth(2), nn.Parameter(torch.ones(3))

    @property
    def twice(self):
        return self.n * 2

    @property
    def next(self):
        return self.twice + 1 if self.counts else 0

    @property
    def chosen(self):
        return self.parts[1 if self.counts else 0]

    @property
    def scaled(self):
        w = self.w * self.n
        return w if self.n > 1 else w + 1

    def forward(self, x):
        for k in range(self.config.twice):
            x = self.parts[k % 2](x)
        x = self.chosen(x) * self.twice
        self.n += 1
        return x + self.next * self.scaled + self.twice


class Fixed(Counts):
    def forward(self, x):
        for k in range(self.twice + self.next):
            x = self.parts[k % 2](x) * self.scaled
        return x


def deeper(model):
    model.config = Depth(1)


def plain(model):
    model.counts, model.n = False, 2


@pytest.mark.slow
def test_properties_are_functions() -> None:
    agree(Counts, (X,), (X,), deeper, (X,), plain, (X,))
    agree(Fixed, (X,), plain, (X,))


class Inert(Model):
    """What is computed where it is read: each is an error, or an effect, for a compiler that reads it."""

    def __init__(self, name):
        super().__init__()
        self.name, self.n = name, 0
        self.made = collections.defaultdict(int, there=1)

    @property
    def bumped(self):
        self.n += 1
        return 2

    @functools.cached_property
    def cached(self):
        return self.n + 3

    def forward(self, x):
        x = self.first(x)
        if self.name == "missing":
            return x * self.made["missing"]
        return x * (self.made["there"] if self.name == "there" else getattr(self, self.name))


@torch.no_grad()
@pytest.mark.parametrize("name", ["bumped", "cached", "missing"])
def test_compiling_computes_nothing_that_is_stored(name) -> None:
    model = Inert(name)
    before = state(model), dict(model.made), "cached" in vars(model)
    with pytest.raises(errors.ScriptError):
        ssa_compiler.compile(model, (X,))
    assert before == (state(model), dict(model.made), "cached" in vars(model))


def with_cached(name):
    model = Inert(name)
    assert model.cached == 3
    return model


def recache(model):
    model.cached = 5


def test_what_is_stored_is_read() -> None:
    agree(lambda: with_cached("cached"), (X,), recache, (X,))
    agree(lambda: Inert("there"), (X,), lambda model: model.made.update(there=4), (X,))
