# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""Attributes that methods set for the first time, which are no tensors: sizes, flags, lists of features."""

import pytest
import torch
from torch import nn

import ssa_compiler
from ssa_compiler import errors

X = torch.tensor([1.0, 3.0, 2.0])


def state(model):
    return {name: value for name, value in sorted(vars(model).items()) if name[0] != "_" and name != "functions"}


def agree(kind, *calls):
    """Call a compiled model and another one, and compare types, too."""
    model, expected = kind(), kind()
    program = ssa_compiler.compile(model, calls[0])
    for args in calls:
        wanted = expected(*args)
        assert repr(program(*args)) == repr(wanted)
        assert repr(state(model)) == repr(state(expected))
    return model, program


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.functions = [torch.relu, torch.neg]


class Kinds(Model):
    def reset(self, x):
        self.batch_size = x.shape[0]
        self.symmetric, self.rate, self.mode = True, 0.5, "fast"
        self.features = []
        self.pair = (x.shape[0], x)

    def forward(self, x, n):
        self.reset(x)
        for f in self.functions:
            x = f(x)
            self.features.append(x)
        if n > 1:
            self.batch_size = self.batch_size * n
            self.seen = n
        return x * self.batch_size if self.symmetric else x - 1, self.rate, self.mode, len(self.features)


class Counts(Model):
    def forward(self, x, n):
        self.count = 0
        self.total = x * 0
        for i in range(n):
            self.count += i
            self.total += x
        return self.functions[0](x)


class Asks(Model):
    def forward(self, x, n):
        y = self.functions[0](x)
        if n > 1:
            self.sizes = [y.shape[0], n]
            self.outputs = [f(x) for f in self.functions]
            self.flag = n == 2
        elif n == 1:
            self.flag = True
        return y, hasattr(self, "outputs"), getattr(self, "flag", None), hasattr(self, "sizes")


class Shares(Model):
    def forward(self, x, n):
        self.outputs = [f(x) for f in self.functions]
        other = self.outputs
        other.append(x)
        return other, self.outputs, other is self.outputs, self.outputs[2] is x


class Missing(Model):
    def forward(self, x, n):
        y = self.functions[0](x)
        if n > 1:
            self.size = n
        return y * self.size


@pytest.mark.parametrize("kind", [Kinds, Counts, Asks, Shares])
@pytest.mark.slow
def test_they_are_there_after_the_call(kind):
    with torch.no_grad():
        agree(kind, (X, 2), (X, 0), (X, 3))
        agree(kind, (X, 1), (X, 0), (X, 3), (X, 2))
        agree(kind, (X, 0), (X, 2), (X, 1), (X, 0))


def test_the_list_is_the_one_that_is_returned():
    model = Shares()
    other, outputs, *_ = ssa_compiler.compile(model, (X, 0))(X, 0)
    assert other is outputs is model.outputs


def test_reading_one_that_is_not_there_raises():
    model, program = agree(Missing, (X, 2), (X, 0), (X, 3))
    del model.size
    with pytest.raises(AttributeError, match="'Missing' object has no attribute 'size'"):
        program(X, 1)
    assert not hasattr(model, "size")


class BecomesNone(Model):
    def forward(self, x, n):
        self.mask = None
        return self.functions[0](x)


class IsADict(Model):
    def forward(self, x, n):
        self.options = {"a": n}
        return self.functions[0](x)


class IsAShape(Model):
    def forward(self, x, n):
        self.size = x.shape
        return self.functions[0](x)


class IsADtype(Model):
    def forward(self, x, n):
        self.dtype = x.dtype
        return self.functions[0](x)


@pytest.mark.parametrize("kind", [BecomesNone, IsADict, IsAShape, IsADtype])
def test_others_are_rejected(kind):
    with pytest.raises(
        errors.ScriptError, match="an attribute that a module does not have yet, and that is no tensor or"
    ):
        ssa_compiler.compile(kind(), (X, 1))
