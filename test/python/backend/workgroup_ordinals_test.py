"""Kernels that write slices of dynamic sizes get as many workgroups as they need, wherever the slice starts."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from ssa_compiler.testing import check


class Cache(nn.Module):
    """A cache of keys that is moved on when it is full, which leaves the choice between two tensors to a branch."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("keys", torch.zeros(1, 4, 2))

    def forward(self, x: Tensor, position: int, n: int) -> Tensor:
        if position + n > 4:
            self.keys = torch.roll(self.keys, -n, 1)
            position = 4 - n
        self.keys[:, position : position + n] = x[:, :n]
        return self.keys * 2


def test_writes_at_the_start_of_a_cache() -> None:
    x = torch.arange(1.0, 9.0).reshape(1, 4, 2)
    check(
        Cache(), *[(x + 8 * k, position, n) for k, (position, n) in enumerate([(0, 1), (1, 1), (0, 2), (3, 2), (0, 4)])]
    )


@pytest.mark.slow
def test_large_slices_are_written_whole() -> None:
    def write(k: Tensor, x: Tensor, p: int, n: int) -> Tensor:
        if p > 100:
            k = k + 1
        k[:, p : p + n] = x
        return k.clone()

    wide, column = torch.zeros(60, 3000), torch.ones(60, 1)
    check(write, (wide, column, 1, 2999), (wide, column, 0, 1), (wide, column, 101, 0), (wide, column, 2900, 99))
