"""Compiled programs record no gradients: where eager would, a call raises, or detaches what it returns if it was asked
to.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import ssa_compiler
from ssa_compiler import ArgumentValueError

X = torch.arange(3.0)
WAYS = r"torch\.no_grad\(\).*gradients=\"detach\""


class Model(nn.Module):
    """Results that depend on a parameter, on none, and on one that eager does not record."""

    def __init__(self) -> None:
        super().__init__()
        self.used = nn.Parameter(torch.ones(3))
        self.frozen = nn.Parameter(torch.ones(3))
        self.average = nn.Parameter(torch.ones(3))
        self.register_buffer("count", torch.zeros(()))

    def forward(self, x: Tensor) -> Tensor:
        return x * self.used

    @torch.jit.export
    def without(self, x: Tensor) -> Tensor:
        with torch.no_grad():
            y = x * self.frozen
        return y + 1

    @torch.jit.export
    def places(self, x: Tensor) -> tuple[Tensor, int]:
        return (x * self.used).argsort(), int(self.used.argmax())

    @torch.jit.export
    def itself(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return self.used, x + 1

    @torch.jit.export
    def branching(self, x: Tensor, n: int) -> Tensor:
        y = x.clone()
        for i in range(n):
            if i > 1:
                y[i] = self.used[i] * 2
        return y


class Decorated(nn.Module):
    """Gradients are off by a decorator."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(3))

    @torch.no_grad()
    def forward(self, x: Tensor) -> tuple[Tensor, bool]:
        return x * self.weight + self.weight, torch.is_grad_enabled()

    @torch.jit.export
    def partly(self, x: Tensor) -> tuple[Tensor, bool]:
        return scaled(x, self.weight), torch.is_grad_enabled()

    @torch.jit.export
    def outside(self, x: Tensor) -> Tensor:
        return scaled(x, self.weight) + self.weight


@torch.inference_mode()
def scaled(x: Tensor, y: Tensor) -> Tensor:
    return x * y * (1 if torch.is_grad_enabled() else 2)


def raises_where_eager_records(model: Callable[..., Any], compiled: Callable[..., Any], *args: Any) -> None:
    """Under each mode: a call raises only if a result of eager requires grad, and returns else what eager does."""
    for mode in (torch.enable_grad(), torch.no_grad(), torch.inference_mode()):
        with mode:
            expected = model(*args)
            recorded = [
                t.requires_grad and not t.is_leaf
                for t in torch.utils._pytree.tree_leaves(expected)
                if isinstance(t, Tensor)
            ]
            if any(recorded):
                with pytest.raises(ArgumentValueError, match=r"requires grad, .*compiled programs do not record "):
                    compiled(*args)
            else:
                torch.testing.assert_close(compiled(*args), expected)


def test_parameters_that_require_grad() -> None:
    model = Model()
    for method, args in ((model.forward, (X,)), (model.without, (X,)), (model.places, (X,)), (model.itself, (X,))):
        compiled = ssa_compiler.compile(method, args, max_specialisations=1)
        raises_where_eager_records(method, compiled, *args)
    assert compiled(X)[0] is model.used
    compiled = ssa_compiler.compile(model, (X,))
    with pytest.raises(ArgumentValueError, match=f"parameter 'used' requires grad, .*{WAYS}"):
        compiled(X)
    model.requires_grad_(False)
    raises_where_eager_records(model, compiled, X)
    model.used = nn.Parameter(torch.full([3], 2.0))
    raises_where_eager_records(model, compiled, X)
    with torch.no_grad():
        assert torch.equal(compiled(X), X * 2)


def test_decorators_that_turn_gradients_off() -> None:
    model = Decorated()
    for method in (model, model.partly, model.outside):
        raises_where_eager_records(method, ssa_compiler.compile(method, (X,)), X)


def test_branches_and_loops_count_as_taken() -> None:
    model = Model()
    compiled = ssa_compiler.compile(model.branching, (X, 3))
    for count in (0, 2, 3):
        with pytest.raises(ArgumentValueError, match="'used' requires grad"):
            compiled(X, count)
        with torch.no_grad():
            assert torch.equal(compiled(X, count), model.branching(X, count))


def test_detached_results() -> None:
    model = Model()
    compiled = ssa_compiler.compile(model, (X,), gradients="detach")
    for x in (X, X.clone().requires_grad_(), torch.arange(4.0)[1:].requires_grad_()):
        result = compiled(x)
        assert not result.requires_grad
        assert torch.equal(result, x * 1)
    written = ssa_compiler.script(write_first, gradients="detach")
    with pytest.raises(ArgumentValueError, match="is written by the program and requires grad"):
        written(X.clone().requires_grad_())
    with torch.no_grad():
        assert written(X.clone().requires_grad_())[0] == 5


def write_first(x: Tensor) -> Tensor:
    x[0] = 5.0
    return x + 0


def test_inputs_that_require_grad() -> None:
    compiled = ssa_compiler.compile(Model().without, (X,))
    with pytest.raises(ArgumentValueError, match=f"'x' requires grad.*{WAYS}"):
        compiled(X.clone().requires_grad_())


def test_other_words_are_rejected() -> None:
    with pytest.raises(ArgumentValueError, match="gradients: expected 'raise' or 'detach', got 'keep'"):
        ssa_compiler.compile(Model(), (X,), gradients="keep")
