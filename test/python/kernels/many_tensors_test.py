"""Programs with more tensors than IREE passes to a kernel, which is told how far away those beyond the limit are."""

from __future__ import annotations

import torch
from torch import Tensor

import ssa_compiler
from _kernels import kernel_of


class Layers(torch.nn.Module):
    """40 weights, a counter and a written buffer."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(8, 8) for _ in range(20))
        self.register_buffer("last", torch.zeros(8))

    def forward(self, x: Tensor, n: int, scale: float) -> tuple[Tensor, float]:
        for _ in range(n):
            for layer in self.layers:
                x = torch.tanh(layer(x)) + x * scale
        self.last.copy_(x[0])
        return x, scale * n


def test_weights_are_read_where_they_are() -> None:
    torch.manual_seed(0)
    model = Layers().eval()
    compiled = ssa_compiler.compile(model, (torch.randn(3, 8), 2, 0.5), cache=False)
    interface = compiled.artifact.interface
    assert interface is not None, compiled.artifact.kernel_reason
    assert len(interface.far) == 40 + 4 - 32  # weights; the buffer, argument, result, status
    for call in range(6):  # from the third on the views of earlier ones are used
        x = torch.randn(3, 8)
        with torch.no_grad():
            if call == 4:
                model.layers[19].weight.mul_(2)
                model.layers[0].weight = torch.nn.Parameter(torch.randn(8, 8))
            elif call == 5:
                model.layers[7].bias.data = torch.randn(16)[8:]
            expected = model(x, call, 0.25)
            last = model.last.clone()
            model.last.zero_()
            found = compiled(x, call, 0.25)
        torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-6)
        torch.testing.assert_close(model.last, last, rtol=1e-5, atol=1e-6)


def many(tensors: list[Tensor], n: int) -> Tensor:
    y = torch.zeros(4)
    for i in range(n):
        for each in tensors:
            y = y * 0.5 + each[i % 2]
    return y


def test_arguments_that_share_memory() -> None:
    base = torch.randn(50, 2, 4)
    separate = [torch.randn(2, 4) for _ in range(45)]
    sets = [(separate, n) for n in (3, 0, 1)] + [([base[i] for i in range(45)], 2), ([base[0]] * 45, 2)]
    kernel_of(many, *sets)
