# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""What partial evaluation must keep of Python: unpacking, scopes, names, ends of loops, attributes that change.

Each program equals eager, and is one that TorchScript rejects.
"""

import dataclasses

import pytest
import torch
from torch import nn

import ssa_compiler
from ssa_compiler import errors
from ssa_compiler.testing import check

X = torch.tensor([1.0, 2.0, 3.0])


class Ticks(nn.Module):
    """The order in which elements, keys and values are computed."""

    def __init__(self):
        super().__init__()
        self.n = 0

    def tick(self):
        self.n = self.n + 1
        return self.n

    def forward(self, x, xs):
        *a, b = self.tick(), self.tick(), self.tick()
        d = {self.tick(): self.tick() * 10 for v in xs if v > 0}
        return x, a, b, d


def starred(x, xs: list[int], n: int):
    b = n
    b, *a = 1, b, 5
    *rows, row = x
    *c, d = xs
    e, *f, g = xs
    c.append(7)
    return a, b, rows, row, c, d, e, f, g


def starred_tuple(x, n: int):
    *a, b = n, n + 1, n + 2
    return x * b, a


def grow(items):
    items.append(4)
    return len(items)


def displays(x, xs: list[int]):
    ys = [*xs]
    ys.append(9)
    n = grow([*xs])
    return x * len(xs), xs, ys, n, [*xs, *ys], (n, *xs)[0]


def scopes(x, xs: list[int], ys: list[int]):
    a = [min(ys, key=lambda v: -v) + v for v in xs if v > 0]
    b = [x + 1 for x in xs if x > 1]
    c = [[x * y for y in range(x)] for x in xs if x > 0]
    d = [sum([x for x in ys if x > v]) for v in xs if v < 3]
    e = [x for x in [x + 1 for x in xs if x > 1] if x < 4]
    return x, a, b, c, d, e


def applied(f, t):
    f_y = t * 3
    return f(t) + f_y


def applied_twice(f, t):
    y = t * 3
    g = lambda u: f(u) * y  # noqa: E731
    h = lambda f_y: g(f_y) - f_y  # noqa: E731
    return applied(g, t) + applied(f, t) + applied(h, t)


def captured(x, y, a=2):
    field = lambda t: t * a  # noqa: E731
    inner = lambda a: field(a) + a * y  # noqa: E731
    g = lambda t: t + y  # noqa: E731
    y = y + 1
    return applied(g, x), applied_twice(g, x), applied_twice(inner, x), inner(x)


def told(x, xs: list[int], n: int):
    assert n > 0, [1 // v for v in xs if v < 5][0]  # noqa: RUF015
    return x * n, [1 // v for v in xs if v > n]


def value(x, k):
    return x * k


def value_1(x, k):
    return value(x, k) + 1


def named(x):
    a, b = value(x, 2), value_1(x, 3)
    c = [value(v, 2.5) for v in [a, b] if v.sum() > 0]
    return a, b, c


@pytest.mark.slow
def test_values_are_those_of_python() -> None:
    check(Ticks(), (X, [1, 2]), (X, [-1, 2]), compiled=False)
    for xs in ([1, 2], [1, 2, 3, 4]):
        check(starred, (X, xs, 7), compiled=False)
    check(starred_tuple, (X, 1), compiled=False)
    check(displays, (X, [1, 2]), compiled=False)
    check(scopes, (X, [1, 2, -3], [3, 4, 1]), compiled=False)
    check(captured, (X, X * 10), compiled=False)
    check(told, (X, [0, 6], 1), (X, [1, 2], 2), compiled=False)
    check(named, (X,), compiled=False)


class Config:
    def __init__(self, scale):
        self.scale = scale


class Layers(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.ReLU(), nn.Tanh(), nn.Sigmoid()])
        self.config, self.sizes, self.held = Config(2), [1, 2], {"a": 1}

    def get(self):
        return self.sizes


class Underscore(Layers):
    def forward(self, x):
        _, c = x.shape
        for layer in self.layers[::-1]:
            if x.sum() > 100:
                break
            x = layer(x)
        total = 0
        for _, layer in enumerate(self.layers):
            if x.sum() > 2:
                continue
            x = layer(x) * self.config.scale
            total += _
        return x * c, total


class Changes(Layers):
    def forward(self, x):
        for i in range(1):
            x = self.layers[i](x)
        grow(self.sizes)
        self.get().append(3)
        sizes = self.sizes
        sizes += [3]
        for size in self.sizes:
            x = x + size
        held = self.held
        held["b"] = 2
        return x * len(self.sizes) + len(self.held)


class Stops(Layers):
    """Written-out loops beside tensors, dicts and lists that are shorter, or change."""

    def forward(self, x, d: dict[int, int], xs):
        out, n = [], 0
        for i, (layer, part) in enumerate(zip(self.layers, x.split(2))):
            y = layer(part) * (i + 1)
            n += 1
            out.append(y)
            if y.sum() > 6:
                break
            if y.sum() < 0:
                continue
            out.append(part)
        keys = []
        for layer, key, row in zip(self.layers, d, x):
            keys.append(key)
            last = layer(row)
        for layer, item in zip(self.layers, xs):
            xs.append(layer(item))
            if len(xs) > 3:
                xs.clear()
        rows = [layer(part) for layer, part in zip(self.layers, x.split(2))]
        return torch.cat(out), n, keys, last, len(xs), torch.cat(rows)


@pytest.mark.slow
def test_attributes_and_loops_over_parts() -> None:
    check(Underscore(), (torch.ones(2, 3),), (torch.ones(2, 3) * -9,), (torch.ones(2, 3) * 90,), compiled=False)
    check(Changes(), (X,), compiled=False)
    ones, some = torch.ones(6), {5: 0, 7: 1}
    check(Stops(), (ones, some, [X]), (-ones, some, [X]), (ones * 3, some, [X]), compiled=False)
    for size, items in ((4, [X, X]), (2, [X] * 4)):
        check(Stops(), (torch.ones(size), {1: 1}, items), compiled=False)


def deleted(x, gone: bool):
    f = lambda t: t  # noqa: E731
    y = x * 2
    if gone:
        del y
    return f(y)


def twice(x):
    f = lambda t: t  # noqa: E731
    return f(value(x, 2, k=3))


def test_what_python_raises_is_rejected() -> None:
    for program, arguments in ((deleted, (X, True)), (twice, (X,))):
        with pytest.raises(errors.ScriptError):
            ssa_compiler.compile(program, arguments)
    with pytest.raises(AssertionError):
        ssa_compiler.compile(told, (X, [1], 1))(X, [1], 0)


class Leaves(Layers):
    def forward(self, x):
        with torch.no_grad():
            for layer in self.layers:
                with torch.no_grad():
                    if x.sum() < -100:
                        return x * 3
                x = layer(x)
        return x + 1


def test_a_variable_that_torchscript_loses() -> None:
    with pytest.raises(errors.UnsupportedProgramError, match="inside of several with statements"):
        ssa_compiler.compile(Leaves(), (X,))


def of_python(x, n, d):
    f = lambda t: t  # noqa: E731
    rows = [x * i for i in range(n)]
    numbers = range(n)
    for i in numbers:
        x = x + i
    backwards = sorted([n, 2, 5], reverse=True)
    return f(x), sum(rows, torch.zeros(3)), backwards, d.get("a", None), d.get("b", None) is None, len(numbers)


def of_sets(x, n):
    f = lambda t: t  # noqa: E731
    seen = set()
    for i in range(n):
        seen.add(i % 2)
    return f(x), len(seen)


@pytest.mark.slow
def test_functions_of_python() -> None:
    x = torch.ones(3)
    for n in (2, 0, 1):
        check(of_python, (x, n, {"a": x}), compiled=False)
    check(of_sets, (x, 2), (x, 0))


def halved(x, by: float = 2.0):
    return x / by


def by_name(x, way, n):
    """A function out of a display; another one of the same name in each trip."""
    limit = float(n)
    function = {"half": halved, "quarter": lambda y: halved(y, by=4.0), "limit": lambda y: y.clamp(max=limit)}[way]
    for i in range(n):
        other = {"a": lambda y: y + i, "b": halved}["a" if way == "half" else "b"]  # noqa: B023 - called in this trip
        x = function(x) + other(x)
    return x


def test_functions_out_of_a_display() -> None:
    for way in ("half", "quarter", "limit"):
        check(by_name, (X, way, 2), (X, way, 0), (X, way, 1), (X, way, 5), compiled=way == "limit")
    with pytest.raises(errors.SsaCompilerError):
        ssa_compiler.compile(by_name, (X, "none", 1), fullgraph=True)


class Chooses(nn.Module):
    """The key of a display has effects, which come once."""

    def __init__(self):
        super().__init__()
        self.n = 0

    def tick(self):
        self.n = self.n + 1
        return self.n

    def forward(self, x, xs):
        first, *rest = [x, x + 1], len(xs)
        a, b = first
        return {1: a, 2: b}[self.tick()] * self.n, rest


def test_the_key_of_a_display_is_evaluated_once() -> None:
    check(Chooses(), (X, [X]), (X, [X]))


class Anchors(nn.Module):
    """Buffers by number, for as many levels as there are strides: the list may be shorter, or longer."""

    def __init__(self):
        super().__init__()
        self.strides = (4, 8, 16)
        for k in range(3):
            self.register_buffer(f"cell_{k}", torch.arange(2.0) + k)

    def forward(self, x, n):
        levels = [x]
        for _ in range(n):
            levels.append(levels[-1] * 0.5)
        out = []
        for k, (level, stride) in enumerate(zip(levels, self.strides), 1):
            if stride > 8 and x[0, 0] > 5:
                break
            out.append(level * stride + getattr(self, f"cell_{k - 1}"))
        return torch.stack(out)


def signs(x, rows):
    return x[rows, range(x.size(1))], x[range(1, x.size(0))], x[[0, 1], range(2)]


@dataclasses.dataclass
class Options:
    steps: int = 2
    rate: float = 0.5


def with_options(x, options=None):
    options = options or Options()
    parts = [row * 2 for row in x]
    for _ in range(options.steps):
        parts = [part * options.rate for part in parts]
    return torch.stack(parts)


@pytest.mark.slow
def test_ordinary_idioms() -> None:
    x = torch.arange(6.0).reshape(3, 2)
    for n in (0, 1, 2, 4):
        check(Anchors(), (x, n), (x + 9, n), compiled=n == 2)
    check(signs, (x, torch.tensor([0, 1])), (x, torch.tensor([2, 0])))
    check(with_options, (x,), compiled=False)
    check(with_options, (x, Options(3, 0.25)), (x, Options(1, 2.0)), compiled=False)


def powers(x, levels: int):
    sizes = []
    for level in range(levels):
        stride = 2**level  # a float to TorchScript
        sizes.append(x.size(0) // stride)
        x = x[: max(stride, 1)] * 3**level
    scale = 2
    scale **= levels
    return x, torch.zeros(2**levels), sizes, scale


def test_powers_of_ints_are_ints() -> None:
    check(powers, (X, 2), *[(X, levels) for levels in (0, 1, 3)])
