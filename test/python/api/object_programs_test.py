# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""Methods of plain objects, callable objects and partial functions as programs."""

import copy
import functools

import pytest
import torch
from torch import nn

import ssa_compiler
from ssa_compiler import errors
from ssa_compiler.testing import check, compare_values

X = torch.tensor([1.0, -2.0, 3.0])


class Net(nn.Module):
    def __init__(self, scale: float):
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.scale = scale
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x):
        self.calls += 1
        return torch.tanh(self.linear(x)) * self.scale


class Sampler:
    rate = 0.5

    def __init__(self):
        torch.manual_seed(0)
        self.net = Net(1.0)
        self.others = [self.net, Net(2.0)]
        self.steps, self.last, self.bias = 0, None, torch.ones(3)

    @torch.no_grad()
    def sample(self, x, steps: int = 2, *, scale=1.0, name=None):
        for _ in range(steps):
            x = x + scale * self.rate * self.net(x) + self.bias
            x = x - self.others[1](x)
        self.steps += steps
        self.bias += 1
        self.last = x
        return (x, name) if name is not None else (x, "none")

    def __call__(self, x, steps: int = 2):
        return self.sample(x, steps)[0] + 1

    @classmethod
    def decay(cls, x, n: int):
        for k in range(n):
            x = x * cls.rate + k
        return x


def state(sampler):
    return sampler.steps, sampler.last, sampler.bias, [net.calls for net in sampler.others]


def check_same(ours, eager):
    assert compare_values(eager, ours, rtol=1e-4, atol=1e-5) is None


@pytest.mark.parametrize("method", ["sample", "__call__"])
def test_methods_change_their_object(method):
    eager, ours = Sampler(), Sampler()
    compiled = ssa_compiler.compile(ours if method == "__call__" else ours.sample, (X, 3), fullgraph=True)
    for steps in (3, 0, 1, 2):
        check_same(compiled(X, steps), getattr(eager, method)(X, steps))
        torch.testing.assert_close(state(ours), state(eager))


def test_a_signature_is_that_of_the_method():
    eager, ours = Sampler(), Sampler()
    compiled = ssa_compiler.compile(ours.sample, (X,), fullgraph=True)
    for given in ({}, {"scale": 3.0}, {"name": "a"}, {"steps": 1, "name": "b", "scale": 0.5}):
        check_same(compiled(X, **given), eager.sample(X, **given))
    with pytest.raises(errors.ArgumentTypeError, match="unexpected keyword argument 'other'"):
        compiled(X, other=1)


def test_another_module_and_another_number():
    eager, ours = Sampler(), Sampler()
    compiled = ssa_compiler.compile(ours, (X,), fullgraph=True)
    torch.testing.assert_close(compiled(X), eager(X))
    first = ours.net, eager.net
    for net in (Net(4.0), Net(1.0)):  # of which the second differs in its parameters only
        ours.net, eager.net = net, copy.deepcopy(net)
        torch.testing.assert_close(compiled(X), eager(X))
    ours.net, eager.net = first
    torch.testing.assert_close(compiled(X), eager(X))
    ours.others[1], eager.others[1] = net, copy.deepcopy(net)
    torch.testing.assert_close(compiled(X), eager(X))
    ours.rate = eager.rate = 0.25
    torch.testing.assert_close(compiled(X), eager(X))


def scaled(x, y, z, k: int = 2, flag: bool = False):
    return x * y - z * k + (1 if flag else 0)


def by_keywords(x, **options):
    return x * options.get("scale", 1) + options["shift"]


def test_partial_functions():
    bound = functools.partial(scaled, torch.full((3,), 2.0), z=X * 2, k=5)
    check(bound, (X,), (-X,))
    compiled = ssa_compiler.compile(bound, (X,), fullgraph=True)
    torch.testing.assert_close(compiled(X, k=1, flag=True), bound(X, k=1, flag=True))
    of_keywords = functools.partial(by_keywords, scale=3, shift=X)
    check(of_keywords, (X,), (-X,))
    eager, ours = (functools.partial(Sampler().sample, steps=3) for _ in range(2))
    compiled = ssa_compiler.compile(ours, (X,), fullgraph=True)
    for x in (X, -X):
        check_same(compiled(x), eager(x))
    of_module = functools.partial(Net(3.0), X)
    check(of_module, ())


def test_methods_of_classes():
    check(Sampler.decay, (X, 3), (X, 0), (X, 1), (X, 2))


class Fails:
    def __call__(self, x):
        try:
            x = x + 1
        except ValueError:
            x = x * 2
        for k in range(2):
            x = x * 2 + k
        return x


def test_what_is_rejected_names_the_line_of_the_user_and_runs_with_graph_breaks():
    with pytest.raises(errors.ScriptError, match=r"object_programs_test.py:\d+: Fails cannot be compiled: .* try"):
        ssa_compiler.compile(Fails(), (X,), fullgraph=True)
    compiled = ssa_compiler.compile(Fails(), (X,), fullgraph=False)
    torch.testing.assert_close(compiled(X), Fails()(X))
    assert compiled.explain().fragments
