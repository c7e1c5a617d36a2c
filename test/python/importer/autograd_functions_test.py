"""torch.autograd.Function: without gradients, `apply` is `forward`."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

import ssa_compiler
from ssa_compiler.testing import check


class Spike(torch.autograd.Function):
    """Its context keeps what `backward` needs, and is read in `forward`."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, alpha: float) -> torch.Tensor:
        ctx.save_for_backward(x)
        ctx.alpha = alpha
        ctx.set_materialize_grads(False)
        return (x >= 0).to(x) * ctx.alpha

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> Any:
        (x,) = ctx.saved_tensors
        return grads[0] / (1 + ctx.alpha * x * x), None


class Rounded(torch.autograd.Function):
    """The context is another method's."""

    @staticmethod
    def forward(x: torch.Tensor, steps: int = 2) -> torch.Tensor:
        return torch.round(x * steps) / steps

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        ctx.steps = inputs[1]

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> Any:
        return grads[0], None


class Scaled(torch.autograd.Function):
    """It writes an argument, which is its result."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, by: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        ctx.mark_dirty(x)
        x.mul_(by)
        return x, x.sum()


class Counting(torch.autograd.Function):
    """Whether gradients are wanted decides what it does."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        return x + 1 if ctx.needs_input_grad[0] else x


class Neuron(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("v", torch.zeros(5))

    def forward(self, x: torch.Tensor, n: int) -> torch.Tensor:
        total = torch.zeros(5)
        for i in range(n):
            self.v = self.v + (x - self.v) / 2
            spike = Spike.apply(self.v - 0.3, 2.0)
            self.v = (1 - spike) * self.v
            total += spike + Rounded.apply(x, i + 1)
        return total


@pytest.mark.parametrize("steps", [0, 1, 2, 5])
def test_in_a_loop_over_state(steps: int) -> None:
    check(Neuron(), (torch.rand(5), steps))


def test_what_it_writes_is_written() -> None:
    def program(x: torch.Tensor, by: torch.Tensor) -> Any:
        view = x[1:]
        y, total = Scaled.apply(view, by)
        y += 1
        return x, total

    check(program, (torch.rand(4), torch.tensor(3.0)))


def _counting(x: torch.Tensor) -> Any:
    return Counting.apply(x) * 2


def _clamped(x: torch.Tensor) -> Any:
    return Spike.apply(x, 0.5) * 2


@pytest.mark.parametrize(("program", "left"), [(_counting, ["Counting"]), (_clamped, [])])
def test_what_asks_for_gradients_is_left_to_python(program: Any, left: list[str]) -> None:
    x = torch.rand(3)
    compiled = ssa_compiler.compile(program, (x,))
    torch.testing.assert_close(compiled(x), program(x))
    assert [use.op for use in compiled.explain().callbacks] == left
