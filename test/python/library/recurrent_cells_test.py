"""Recurrent cells of numbers of rows that only the program knows."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from ssa_compiler.testing import check


class Kept(nn.Module):
    """A step of the rows that are positive."""

    def __init__(self, cell: nn.Module) -> None:
        super().__init__()
        self.cell = cell

    def forward(self, x: Tensor, h: Tensor, c: Tensor):  # type: ignore[no-untyped-def]
        rows = [t[torch.nonzero(t[:, 0] > 0)[:, 0]] for t in (x, h, c)]
        if isinstance(self.cell, nn.LSTMCell):
            return self.cell(rows[0], (rows[1], rows[2]))
        return self.cell(rows[0], rows[1])


def _rows(*signs: int, size: int) -> Tensor:
    made = torch.randn(len(signs), size)
    made[:, 0] = torch.tensor(signs, dtype=torch.float32) * (made[:, 0].abs() + 0.1)
    return made


CELLS = [
    nn.LSTMCell(3, 4),
    nn.LSTMCell(3, 4, bias=False),
    nn.GRUCell(3, 4),
    nn.RNNCell(3, 4),
    nn.RNNCell(3, 4, nonlinearity="relu", bias=False),
]


@pytest.mark.parametrize("cell", CELLS, ids=str)
@pytest.mark.slow
def test_cells(cell: nn.Module) -> None:
    torch.manual_seed(0)

    def call(x: tuple[int, ...], h: tuple[int, ...], c: tuple[int, ...]) -> tuple[Tensor, Tensor, Tensor]:
        return _rows(*x, size=3), _rows(*h, size=4), _rows(*c, size=4)

    fits = [
        call((1, 1, -1), (1, -1, 1), (-1, 1, 1)),
        call((1, -1, -1), (1, -1, -1), (-1, -1, 1)),
        call((-1, -1, -1), (-1, -1, -1), (-1, -1, -1)),
        call((1, 1, 1), (1, 1, 1), (1, 1, 1)),
    ]
    differ = [  # eager raises, though one row could be broadcast
        call((1, -1, -1), (1, 1, -1), (1, -1, -1)),
        call((1, 1, -1), (1, -1, -1), (1, 1, 1)),
        call((1, 1, -1), (1, 1, -1), (1, -1, -1)),
    ]
    checked = check(Kept(cell), *fits, *differ)
    states = 3 if isinstance(cell, nn.LSTMCell) else 2
    assert [error is not None for error in checked.errors] == [False] * 4 + [True, True, states == 3]
    assert checked.compiled.explain().callbacks == ()
