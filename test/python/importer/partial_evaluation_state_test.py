# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""State in objects that are attributes of modules and are no modules: schedulers, caches, trackers."""

import pytest
import torch
from torch import nn

import ssa_compiler
from ssa_compiler import errors

X = torch.tensor([1.0, 3.0, 2.0])


def described(thing):
    """What a value is, objects and modules included."""
    if isinstance(thing, torch.Tensor):
        return thing.dtype, thing.tolist()
    if isinstance(thing, (list, tuple)):
        return [described(part) for part in thing]
    if isinstance(thing, nn.Module):
        own = {name: part for name, part in vars(thing).items() if not name.startswith("_")}
        return described({**own, **thing._buffers, **thing._modules})
    if isinstance(thing, dict):
        return {name: described(part) for name, part in thing.items()}
    return described(vars(thing)) if hasattr(thing, "__dict__") else thing


def agree(kind, *steps):
    """Call a compiled model and another one; steps that are functions change both."""
    model, expected = kind(), kind()
    program = None
    for step in steps:
        if callable(step):
            step(model)
            step(expected)
            continue
        program = program or ssa_compiler.compile(model, step)
        try:
            wanted = described(expected(*step))
        except Exception as error:  # noqa: BLE001 - the program raises what eager raises
            with pytest.raises(type(error)):
                program(*step)
            continue
        assert described(program(*step)) == wanted
        assert described(model) == described(expected)


class Scheduler:
    def __init__(self, n=0):
        self.n = n
        self.last = None
        self.log = []
        self.total = torch.zeros(3)
        self.scale = 0.5

    def step(self, x):
        self.n += 1
        if self.n % 2 == 0:
            self.last = x * self.n
        else:
            self.log.append(self.n)
        self.total += x
        return self.total * self.scale if self.last is None else self.last + self.total

    def reset(self):
        self.n, self.last, self.total = 0, None, torch.zeros(3)
        self.log.clear()


class Stepping(nn.Module):
    def __init__(self):
        super().__init__()
        self.scheduler = Scheduler()

    def forward(self, x):
        y = self.scheduler.step(x)
        return y, self.scheduler.n


@pytest.mark.slow
def test_methods_of_an_object_change_it():
    agree(
        Stepping,
        *[(X,)] * 3,
        lambda model: setattr(model.scheduler, "n", 10),
        (X,),
        lambda model: model.scheduler.reset(),
        (X,),
        lambda model: setattr(model, "scheduler", Scheduler(3)),
        *[(X,)] * 2,
        lambda model: setattr(model.scheduler, "scale", 2.0),
        (X,),
    )


class Loops(Stepping):
    def forward(self, x, n: int):
        state = self.scheduler
        for i in range(n):
            state.n += i
            state.total = state.total + x
            if float(state.total.sum()) > 20:
                state.last = state.total
        assert n != 4
        if state.last is None:
            return x
        if n > 5:
            state.reset()
        return state.total


@pytest.mark.slow
def test_loops_and_branches_change_it():
    agree(Loops, *[(X, n) for n in (2, 0, 1, 3, 4, 7, 1)])


class Reads(Stepping):
    def forward(self, x):
        return x if self.scheduler.last is None else self.scheduler.last


def test_what_only_others_assign_is_compared():
    agree(Reads, (X,), lambda model: setattr(model.scheduler, "last", X * 3), (X,))


class Cache:
    def __init__(self, size):
        self.keys = torch.zeros(4, size)
        self.position = 0

    def update(self, key):
        self.keys[self.position] = key
        self.position += 1
        return self.keys[: self.position]


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0

    def forward(self, x, cache=None):
        self.calls += 1
        keys = cache.update(x) if cache is not None else x[None]
        return (keys @ x).sum() % 8 - x


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([Attention(), Attention()])
        self.caches = [Cache(3), Cache(3)]

    def forward(self, x):
        for layer, cache in zip(self.layers, self.caches):
            x = layer(x, cache=cache)
        return x, self.layers[0](x), self.caches[-1].position


def test_caches_are_passed_to_layers():
    agree(Decoder, *[(X,)] * 2, lambda model: model.caches.__setitem__(0, Cache(3)), *[(X,)] * 3)


class Several(nn.Module):
    def __init__(self):
        super().__init__()
        self.all = [Scheduler(), Scheduler(2)]

    def forward(self, x):
        for each in self.all:
            each.n += 1
            x = x * each.n
        return x, len(self.all)


def test_lists_of_objects():
    agree(
        Several,
        (X,),
        lambda model: model.all.append(Scheduler(4)),
        *[(X,)] * 2,
        lambda model: model.all.reverse(),
        (X,),
    )


class Buffered(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("total", torch.zeros(3))
        self.scheduler = Scheduler()
        self.scheduler.total = self.total

    def forward(self, x):
        self.scheduler.total += x
        return self.total * 2


def test_a_tensor_that_is_a_buffer_too():
    agree(Buffered, (X,), (X,))


class Two(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = Scheduler(), Scheduler(5)

    def forward(self, x):
        self.a.n += 1
        self.b.n += 2
        return x * self.a.n + self.b.n


def test_two_objects_that_become_one_are_not_two():
    model = Two()
    program = ssa_compiler.compile(model, (X,))
    assert torch.equal(program(X), X * 1 + 7)
    model.a, model.b = model.b, model.a
    assert torch.equal(program(X), X * 8 + 3)
    model.b = model.a
    with pytest.raises(errors.ScriptError):
        program(X)


class Named(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = Scheduler()
        self.b = self.a

    def forward(self, x):
        self.a.n += 1
        return x * self.b.n


class Replaced(Stepping):
    def forward(self, x):
        self.scheduler = Scheduler(5)
        return x * self.scheduler.n


class Grown(Several):
    def forward(self, x):
        self.all.append(Scheduler())
        return x * len(self.all)


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        (Named, "a Scheduler with state that has several names"),
        (Replaced, "nonexistent attribute: scheduler"),
        (Grown, "has no attribute 'all'"),
    ],
)
def test_other_state_is_rejected(kind, says):
    with pytest.raises(errors.SsaCompilerError, match=says):
        ssa_compiler.compile(kind(), (X,))


class Keeps(nn.Module):
    """Attributes that `__init__` does not have."""

    def __init__(self):
        super().__init__()
        self.functions = [torch.relu]

    def forward(self, x, n: int):
        self.attention = self.functions[0](x) * n
        self.note(x)
        return self.attention

    def note(self, x):
        self.seen = x + 1


def test_attributes_that_a_module_gets():
    agree(Keeps, *[(X, n) for n in (1, 0, -2)])
    model = Keeps()
    assert ssa_compiler.compile(model, (X, 1))(X, 1) is model.attention


class ReadsFirst(Keeps):
    def forward(self, x, n: int):
        if n > x.sum():
            self.attention = self.functions[0](x)
        return self.attention


class Asks(Keeps):
    """What is there changes while the program runs."""

    def forward(self, x, n: int):
        before = getattr(self, "attention", None)
        known = hasattr(self, "attention")
        for _ in range(n):
            self.attention = self.functions[0](x)
        y = x if before is None else x + before
        return (y, hasattr(self, "attention")) if known else (y * 2, hasattr(self, "attention"))


class Solver:
    """Attributes that methods set, and a list of tensors that are None first."""

    shift = None

    def __init__(self):
        self.outputs, self.recent, self.latest, self.order = [None, None], [None, None, None], [None, None], 0

    def set_steps(self, x):
        self.steps = x.round()
        self.outputs, self.order = [None, None], 0

    def step(self, i: int, x):
        self.outputs[0] = self.outputs[1]
        self.outputs[1] = x * self.steps[i]
        self.recent = self.recent[1:] + [x]  # noqa: RUF005 - both are written
        self.latest = [*self.latest[1:], x]
        self.shift = x if self.shift is None else self.shift + x
        if self.order < 1:
            self.order += 1
            return x + 1
        return x - self.outputs[0]


class Sampling(nn.Module):
    def __init__(self):
        super().__init__()
        self.solver, self.other = Solver(), Solver()


class Samples(Sampling):
    def forward(self, x, n: int):
        self.solver.set_steps(x)
        for i in range(n):
            x = self.solver.step(i, x)
        return x * len(self.solver.steps), hasattr(self.other, "steps")


class SetsUnderACondition(Sampling):
    def forward(self, x, n: int):
        if n > 0:
            self.solver.steps = x
        return self.solver.steps + x


@pytest.mark.slow
def test_attributes_that_objects_get():
    agree(ReadsFirst, (X, 1), (X, 9), (X, 1))
    agree(Asks, (X, 0), (X, 2), (X, 0), (X, 1))
    agree(SetsUnderACondition, (X, 0), (X, 1), (X, 0))


@pytest.mark.slow
@pytest.mark.parametrize("first", [0, 1, 2, 3])
def test_lists_of_tensors_that_are_none_first(first):
    agree(Samples, (X, first), (X, 2), (X, 0), (X, 1), (-X, 3))


class Counts(Sampling):
    def forward(self, x, n: int):
        self.solver.count = n
        return x


def test_numbers_that_objects_get():
    agree(Counts, (X, 0), (X, 1), (X, 0))


class KeepsADict(Sampling):
    def forward(self, x, n: int):
        self.solver.kept = {"x": x}
        return x


def test_other_attributes_that_are_not_there_are_rejected():
    with pytest.raises(errors.ScriptError, match="kept, an attribute that a Solver does not have yet"):
        ssa_compiler.compile(KeepsADict(), (X, 1))


class Pair:
    def __init__(self):
        self.low: list[float] = []
        self.high = [1.0]
        self.count = 0


class SideBySide(nn.Module):
    def __init__(self):
        super().__init__()
        self.pair = Pair()

    def forward(self, x):
        for v in x.tolist():
            low, high = self.pair.low, self.pair.high
            low.append(v)
            high[0], self.pair.count = high[0] + v, self.pair.count + 1
            if len(low) > 2:
                low.sort()
        return x * len(self.pair.low) + self.pair.high[0]


@pytest.mark.slow
def test_lists_that_get_names_side_by_side():
    agree(SideBySide, (X,), (-X,), (X[:0],), (X,))
