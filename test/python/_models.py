"""Models that several tests pass to `compile`."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class Counts(nn.Module):
    """Writes a buffer, has a parameter, and methods beside forward."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 4)
        self.calls = 0
        self.register_buffer("total", torch.zeros(4))
        self.register_buffer("shift", torch.ones(4), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        self.total += x.sum(0)
        y = self.layer(x) + self.shift
        y[0] = 1
        return y

    @torch.jit.export
    def encode(self, x: Tensor, first: int = 2) -> Tensor:
        self.calls += 1
        self.total += 1
        y = self.layer(x)
        y[0] = first
        return y

    def plain(self, x: Tensor) -> Tensor:
        y = x - self.total
        y[1] = 7
        return y


def rows(x: Tensor, n: int) -> Tensor:
    y = x.clone()
    for i in range(n):
        y[i] += 1
    return y
