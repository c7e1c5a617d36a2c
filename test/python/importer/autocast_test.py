"""What `torch.autocast` does around a call, as eager does it: a program is compiled for it, and again without it."""

from __future__ import annotations

import torch
from torch import Tensor, nn

import ssa_compiler


class Layer(nn.Module):
    """A linear layer between ops that autocast leaves alone."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x: Tensor) -> Tensor:
        return torch.softmax(self.linear(x + 1.0), dim=-1) * 2.0


def test_a_call_under_autocast_is_a_kind_of_its_own() -> None:
    layer, x = Layer().eval(), torch.randn(3, 4)
    with torch.no_grad():
        compiled = ssa_compiler.compile(layer, (x,))
        for _ in range(2):
            torch.testing.assert_close(compiled(x), layer(x))
            with torch.autocast("cpu", dtype=torch.bfloat16):
                torch.testing.assert_close(compiled(x), layer(x), rtol=2e-2, atol=2e-2)
        assert len(compiled.specialisations) == 2


class Raw(nn.Module):
    """A product alone, whose dtype is autocast's."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.linear(x)
        return y


def test_a_program_compiled_under_autocast() -> None:
    layer, x = Raw().eval(), torch.randn(3, 4)
    with torch.no_grad():
        with torch.autocast("cpu", dtype=torch.bfloat16):
            compiled = ssa_compiler.compile(layer, (x,))
            assert compiled(x).dtype == layer(x).dtype == torch.bfloat16
            torch.testing.assert_close(compiled(x), layer(x), rtol=2e-2, atol=2e-2)
        assert compiled(x).dtype == torch.float32
        torch.testing.assert_close(compiled(x), layer(x))
