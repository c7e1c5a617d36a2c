"""What `torch.autocast` does around a call, as eager does it: a program is compiled for it, and again without it."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

import ssa_compiler
from ssa_compiler.errors import UnsupportedOpError
from ssa_compiler.testing import check


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


def product(x: Tensor, w: Tensor) -> Tensor:
    return x @ w


def products(x: Tensor, w: Tensor) -> list[Tensor]:
    y = x.to(torch.bfloat16)
    return [x @ w, x @ y[0], torch.addmm(x[:1, :1], y, w), torch.einsum("ij,kj->ik", x, y), F.linear(x, y)]


def mixed(x: Tensor, w: Tensor) -> list[Tensor]:
    y = x.to(torch.bfloat16)
    attended = F.scaled_dot_product_attention(x[None], x[None], x[None])
    parts = [attended, F.prelu(x, w[0]), F.conv1d(x, w[None]), torch.cdist(x, x + 1)]
    return [torch.cat([x, y]), torch.stack([y, y]), x.softmax(-1), y.sum(), parts[0], parts[1], parts[2], parts[3]]


@pytest.mark.slow
def test_operands_are_converted() -> None:
    # 257 is no bfloat16: the products are another number without the conversion.
    calls = [(torch.tensor([[257.0, first]]), torch.ones(2, 1)) for first in (-256.0, 0.5)]
    with torch.autocast("cpu", dtype=torch.bfloat16):
        check(products, *calls, rtol=0, atol=0)
        check(mixed, (torch.tensor([[257.0, -256.0], [1, 2]]), torch.full((2, 1), 0.5)), rtol=1e-2, atol=1e-2)
    with torch.autocast("cpu", dtype=torch.float16):
        check(product, (torch.tensor([[2049.0, -2048.0]]), torch.ones(2, 1)), rtol=0, atol=0)


@pytest.mark.skipif(
    not torch.ops.mkldnn._is_mkldnn_bf16_supported(), reason="eager has no LSTM of bfloat16 for this processor"
)
def test_what_depends_on_the_kernel_is_rejected() -> None:
    layer = nn.LSTM(3, 3).eval()
    with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
        says = r"aten::lstm.input under torch.autocast, whose .*; turn autocast off"
        with pytest.raises(UnsupportedOpError, match=says):
            ssa_compiler.compile(layer, (torch.ones(2, 3),))
