"""Calls of compiled programs that PyTorch traces or transforms are rejected: their results would be constants of what
is traced.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch._subclasses import FakeTensorMode
from torch.autograd import forward_ad
from torch.fx.experimental.proxy_tensor import make_fx

from ssa_compiler import ArgumentValueError, CompiledProgram, compile
from ssa_compiler.testing import check

X = torch.arange(4.0)


def doubled(x: Tensor) -> Tensor:
    return x * 2 + x.sum()


@pytest.fixture(scope="module")
def compiled() -> CompiledProgram:
    return compile(doubled, (X,), cache=False)


def under_fake_mode(program: Callable[[Tensor], Any]) -> None:
    with FakeTensorMode() as mode:
        program(mode.from_tensor(X))


def on_a_fake_tensor(program: Callable[[Tensor], Any]) -> None:
    program(FakeTensorMode().from_tensor(X))


def with_a_tangent(program: Callable[[Tensor], Any]) -> None:
    with forward_ad.dual_level():
        program(forward_ad.make_dual(X, torch.ones(4)))


@pytest.mark.parametrize(
    "use",
    [
        lambda program: torch.jit.trace(lambda x: program(x) * 2, (X,)),
        lambda program: make_fx(lambda x: program(x) * 2)(X),
        lambda program: torch.vmap(program)(torch.stack([X, X])),
        lambda program: torch.func.jvp(program, (X,), (X,)),
        lambda program: torch.func.functionalize(program)(X),
        under_fake_mode,
        on_a_fake_tensor,
        with_a_tangent,
    ],
    ids=["trace", "make_fx", "vmap", "jvp", "functionalize", "fake_mode", "fake_tensor", "forward_gradients"],
)
def test_is_rejected(compiled: CompiledProgram, use: Callable[[Any], Any]) -> None:
    with pytest.raises(ArgumentValueError):
        use(compiled)
    assert torch.equal(compiled(X), doubled(X))


def test_a_level_of_gradients_without_any_is_no_matter(compiled: CompiledProgram) -> None:
    with forward_ad.dual_level():
        assert torch.equal(compiled(X), doubled(X))


def updated(x: Tensor) -> None:
    x.add_(1)


def test_tensors_of_inference_mode_are_written_there_only() -> None:
    program = compile(updated, (X.clone(),), cache=False)
    with torch.inference_mode():
        x = X.clone()
        program(x)
        assert torch.equal(x, X + 1)
    for model in (updated, program):
        with pytest.raises(RuntimeError, match="Inplace update to inference tensor"):
            model(x)


def divided(x: Tensor, n: int) -> Tensor:
    for i in range(n):
        x = x // (2 - i)
    return x


def test_errors_of_builtins_have_the_users_line() -> None:
    program = check(divided, (torch.tensor([9, 8]), 1), (torch.tensor([9, 8]), 4)).compiled
    with pytest.raises(RuntimeError, match=r"tracing_test.py:\d+: ZeroDivisionError"):
        program(torch.tensor([9, 8]), 4)
