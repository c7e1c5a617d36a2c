# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""What partial evaluation must not change: the order of evaluation, effects, lists that are shared, later changes.

Each program equals eager or is rejected. Each has something that TorchScript rejects.
"""

import copy

import pytest
import torch
from torch import nn

import ssa_compiler
from ssa_compiler import errors
from ssa_compiler.testing import check

X = torch.tensor([1.0, 2.0, 3.0])


def positive(xs):
    return [x + 0 for x in xs if x.sum() > 0]


def bump(x, value=True):
    x.add_(1)
    return value


def known_result(x):
    y = x * 2 if bump(x) else x
    n = bump(x, 2) + 1
    return y, n, positive([x])


def known_length(x):
    n = len((x.add_(1), x.mul_(2)))
    return x * n, x.add_(1).dim(), positive([x])


def asserted(x):
    assert bump(x)
    return x * 1, positive([x])


def popped_first(x):
    xs = [x, x * 2, x * 3]
    return xs.pop() + sum(xs), positive(xs)


def walrus(x, n=3):
    return x * (n + (n := n * 2) + n), positive([x])


def subtract(a, b):
    return a * 2 - b


def keywords(x):
    xs = [x, x * 10]
    return subtract(b=xs.pop(), a=xs.pop()), positive([x])


def of_length(xs):
    return len(xs) * 10


def lengths(x):
    xs = positive([x, x + 1, x + 2])
    return x * of_length([x]) + of_length([x, x]), of_length(x.shape), of_length(x[None].shape), len(xs)


def scaling(k):
    def scaled(x):
        return x * k

    return scaled


twice, thrice = scaling(2), scaling(3)


def closures(x):
    return twice(x) + thrice(x) * 100, positive([x])


def applied(f, x):
    return f(x) + 1


def late_binding(x):
    act = torch.relu
    f = lambda y: act(y - 1.5)  # noqa: E731
    first = applied(f, x)
    act = torch.exp
    return first, applied(f, x)


def shared_default(x, log=[0]):  # noqa: B006
    log.append(1)
    return x * len(log)


def mutable_defaults(x):
    return shared_default(x) * 0 + x, positive([x])


def copied_tuple(x):
    xs = [x, x * 2]
    both = tuple(xs)
    xs.append(x)
    return len(both), len(xs), positive(xs)


def compared(x):
    return x.shape == [3], x.shape == (3,), list(x.shape) == (3,), positive([x])


def unset(x, n=0):
    for _ in range(n):
        name = "a"
    f = lambda y: y  # noqa: E731
    return f(x) if name == "a" else x


PROGRAMS = [
    known_result, known_length, asserted, popped_first, walrus, keywords, lengths, closures, late_binding, mutable_defaults,
    copied_tuple, compared,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS)
def test_programs_equal_eager_or_are_rejected(program) -> None:
    try:
        check(program, (X,), (X * 2,), compiled=False)
    except (errors.ScriptError, errors.UnsupportedProgramError):
        assert program not in (lengths, closures, late_binding, copied_tuple, compared)


def test_a_variable_that_is_not_set() -> None:
    with pytest.raises((errors.ProgramError, errors.ScriptError)):
        ssa_compiler.compile(unset, (X,))(X)


class Layers(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.layers = nn.ModuleList([nn.Linear(3, 3) for _ in range(4)])
        self.k, self.parts, self.memory = 3, {"scale": 2}, None


class Breaks(Layers):
    def forward(self, x, limit):
        for i, layer in enumerate(self.layers):  # noqa: B007
            x = layer(x).abs()
            if float(x.sum()) > limit:
                break
        f = lambda y: y  # noqa: E731
        return f(x), i


class Closes(Layers):
    def forward(self, x):
        def run(y):
            return layer(y)

        for layer in self.layers:  # noqa: B007
            x = applied(run, x)
        return x


class Reads(Layers):
    def forward(self, x):
        parts = [self.layers[0], self.k]
        return parts[0](x) * parts[1] * self.parts["scale"], positive([x])


class Forgets(Layers):
    def reset(self):
        self.memory = None

    def forward(self, x):
        f = lambda y: y * 1  # noqa: E731
        if self.memory is not None:
            self.reset()
            if self.memory is None:
                x = x + 1000
        self.memory = f(x)
        return x


class Rebinds(Layers):
    def __init__(self):
        super().__init__()
        self.register_buffer("state", torch.zeros(3))

    def forward(self, x):
        f = lambda y: y  # noqa: E731
        self.state = f(x)[None].long()
        return x * self.state.dim(), self.state[0, 0].item() // 2


@torch.no_grad()
@pytest.mark.parametrize(
    ("kind", "calls"),
    [
        (Breaks, [(X, 0.0), (X, 100.0)]),
        (Closes, [(X,)]),
        (Reads, [(X,), (X,)]),
        (Forgets, [(X,)] * 3),
        (Rebinds, [(X,)]),
    ],
)
def test_modules_equal_eager_or_are_rejected(kind, calls) -> None:
    model = kind()
    eager = copy.deepcopy(model)
    try:
        compiled = ssa_compiler.compile(model, calls[0])
        for arguments in calls:
            torch.testing.assert_close(compiled(*arguments), eager(*arguments))
            for each in (model, eager):
                each.k += 1
                each.parts["scale"] += 1
    except (errors.ScriptError, errors.UnsupportedProgramError, errors.ArgumentValueError):
        assert kind is not Reads


def once(x):
    pairs = zip([x, x * 2], [x, x * 3])
    return [a + b for a, b in pairs], len([a for a, _ in pairs])


def late(x):
    k = 2
    parts = (v * k for v in [x, x + 1])
    k = 5
    return [part + k for part in parts]


@pytest.mark.parametrize("program", [once, late])
def test_iterators_that_are_values_are_rejected(program) -> None:
    with pytest.raises(errors.ScriptError, match="an iterator that is a value"):
        ssa_compiler.compile(program, (X,))


def worked_off(x, n: int):
    todo, steps = [0], 0
    while todo:
        depth = todo.pop()
        steps += 1
        if depth < n:
            todo.append(depth + 1)
    return x, steps


def test_while_asks_the_list_each_time() -> None:
    check(worked_off, (X, 3), compiled=False)


def reassigned(x):
    out = []
    rows = (x, x * 2)
    for a in rows:
        for b in rows:
            rows = (b, a)
            out.append(a - b)
    for i, v in enumerate((x, x * 2)):
        x = x + v * i + 1
    return out[0], out[3], x, positive([x])


def shifted(x):
    a = b = c = d = e = f = g = 0
    for _ in range(10):
        x = x + 1 if a == 0 else x * 2
        a, b, c, d, e, f, g = b, c, d, e, f, g, 1
    return x, positive([x])


def ranks(x, sizes=(2, 3)):
    y = x.sum([k for k in range(x.dim()) if k != 5])
    made = torch.zeros([size for size in sizes if size > 0])
    rows = [x]
    rows.extend((x[None],))
    held = {"a": x}
    held.update({"b": x[None]})
    return y.dim(), made.dim(), rows[-1].dim(), held["b"].dim()


def reshaped(x):
    y = x.clone()
    z = y
    z.unsqueeze_(0)
    return (x * 2 if y.dim() == 2 else x), positive([x])


def nested_lengths(x):
    rows = [[x]]
    rows[0] += [x]
    return len(rows[0]), positive([x])


@pytest.mark.parametrize("program", [reassigned, shifted, ranks, reshaped, nested_lengths])
def test_what_is_known_holds_where_it_is_used(program) -> None:
    try:
        check(program, (X,), (-X,), compiled=False)
    except (errors.ScriptError, errors.UnsupportedProgramError):
        assert program is not reassigned
