"""`ssa_compiler.script`: programs compiled at their first call, as decorator and function."""

from __future__ import annotations

import copy
import io
import pickle

import pytest
import torch
from torch import Tensor, nn
from torch.export import Dim

import ssa_compiler
from ssa_compiler import ArgumentTypeError, ArgumentValueError


@ssa_compiler.script
def fill_rows(x: Tensor, n: int, value: float = 2.0) -> Tensor:
    """Fill the first rows of a copy."""
    y = x.clone()
    for i in range(n):
        y[i] = value
    return y


def test_a_function_is_compiled_when_it_is_called() -> None:
    assert fill_rows.__name__ == "fill_rows"
    assert fill_rows.__doc__ == "Fill the first rows of a copy."
    assert isinstance(fill_rows, ssa_compiler.CompiledProgram)
    with pytest.raises(ArgumentValueError, match="compiled when it is called first"):
        fill_rows.mlir()
    for shape, n in (((4, 3), 2), ((2, 5), 1), ((4, 3), 4)):
        x = torch.randn(shape)
        assert torch.equal(fill_rows(x, n=n), fill_rows.model(x, n))
    assert len(fill_rows.specialisations) == 2
    assert "scf.for" in fill_rows.mlir("iree")
    with pytest.raises(ArgumentTypeError, match="missing required argument 'n'"):
        fill_rows(torch.zeros(1))


@ssa_compiler.script(dynamic_shapes={"x": {0: Dim("n")}}, max_specialisations=1)
def halve(x: Tensor) -> Tensor:
    """Halve the rows in place, one by one."""
    for i in range(x.size(0)):
        x[i] /= 2
    return x


def test_options() -> None:
    for size in (4, 0, 1, 7):
        x = torch.ones(size, 2)
        assert halve(x) is x
        assert torch.equal(x, torch.full((size, 2), 0.5))
    with pytest.raises(ArgumentTypeError, match=r"expected dtype .*only once"):
        halve(torch.ones(3, 2, dtype=torch.float64))
    with pytest.raises(
        ArgumentTypeError, match="unexpected keyword argument 'speed'; expected max_specialisations, target"
    ):
        ssa_compiler.script(speed=3)
    with pytest.raises(ArgumentTypeError, match="'x': expected a tensor, got int"):
        ssa_compiler.script(halve.model)(3)
    with pytest.raises(ArgumentValueError, match="requires grad"):
        ssa_compiler.script(halve.model)(torch.ones(2, 2, requires_grad=True))


def halve_all(x: Tensor, y: Tensor) -> Tensor:
    """Call a decorated function."""
    return halve(x) + halve(y)


def test_a_program_may_call_a_decorated_function() -> None:
    compiled = ssa_compiler.compile(halve_all, (torch.ones(2, 2), torch.ones(2, 2)))
    x = torch.ones(2, 2)
    assert torch.equal(compiled(x, torch.ones(2, 2)), torch.ones(2, 2))
    assert torch.equal(x, torch.full((2, 2), 0.5))
    assert compiled.explain().callbacks == ()


class Counts(nn.Module):
    """Counts its calls."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(3))
        self.calls = 0

    def forward(self, x: Tensor) -> Tensor:
        """Scale."""
        self.calls += 1
        return x * self.weight


@torch.no_grad()
def test_a_module() -> None:
    model = Counts()
    compiled = ssa_compiler.script(model)
    for shape in ((2, 3), (3,), (2, 3)):
        x = torch.randn(shape)
        assert torch.equal(compiled(x), x * model.weight.detach())
    assert compiled.model is model
    assert model.calls == 3
    assert len(compiled.specialisations) == 2


@ssa_compiler.script
class Scaled(nn.Module):
    """A class whose instances are compiled."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = Counts()

    def forward(self, x: Tensor) -> Tensor:
        """Scale, and write a row."""
        y = self.inner(x)
        y[0] = 0.0
        return y


@torch.no_grad()
def test_a_class() -> None:
    one, two = Scaled(), Scaled()
    x = torch.randn(2, 3)
    for model in (one, two, one):
        expected = x * model.inner.weight.detach()
        expected[0] = 0.0
        assert torch.equal(model(x), expected)
    assert (one.inner.calls, two.inner.calls) == (2, 1)
    program = vars(one)["_ssa_compiler_program"]
    assert len(program.specialisations) == 1
    three = copy.deepcopy(one)
    assert vars(three)["_ssa_compiler_program"].model is three
    three.inner.weight.data.zero_()
    assert torch.equal(three(x), torch.zeros(2, 3))
    assert not torch.equal(one(x), torch.zeros(2, 3))
    buffer = io.BytesIO()
    pickle.dump(one, buffer)
    buffer.seek(0)
    assert torch.equal(pickle.load(buffer)(x), one(x))
    outer = nn.Sequential(one, nn.ReLU())
    assert torch.equal(outer(x).detach(), one(x).relu())
    traced = torch.jit.trace(two, (x,))
    assert torch.equal(traced(x).detach(), two(x))


def test_methods_are_rejected() -> None:
    class Net(nn.Module):
        @ssa_compiler.script
        def forward(self, x: Tensor) -> Tensor:
            return x

    with pytest.raises(ArgumentTypeError, match="decorate the class"):
        Net()(torch.ones(2))
    with pytest.raises(ArgumentTypeError, match="got the class int"):
        ssa_compiler.script(int)
