"""`dynamic_shapes=Dim.AUTO`: programs whose sizes are odd, even, 0, 1 and larger than the example's, on one artefact or several."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.export import Dim

from ssa_compiler.testing import check

AUTO = {"dynamic_shapes": Dim.AUTO}
HALVES = (6, 5, 1, 0, 2, 9, 3)


def put_together(x: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    h = x.size(1) // 2
    y = x.relu() - 2
    written = torch.ones_like(x)
    written[:, :h] = -x[:, h : 2 * h]
    written[:, h : 2 * h] = x[:, :h]
    return (
        torch.cat([-x[:, h:], x[:, :h]], 1),
        torch.cat([-y[:, h:], y[:, :h]], -1),
        torch.cat([-0.0 - x[:, h:], x[:, :h]], 1),
        torch.cat([-x[:, : x.size(1) - h], x[:, x.size(1) - h :]], 1),
        written,
    )


def of_known_sizes(x: Tensor) -> list[Tensor]:
    written = torch.ones_like(x)
    written[:, :2] = -x[:, 2:4]
    written[:, 2:4] = x[:, :2]
    y = x[:, :4]
    return [
        torch.cat([-y[:, 2:], y[:, :2]], 1),
        torch.cat([-y[:, :2], y[:, 2:]], 1),
        torch.cat([-y[:, 1::2], y[:, ::2]], 1),
        torch.cat([-y[:, 1:3], y[:, 1:3]], 1),
        torch.cat([-x[:, :1], x[:, 1:]], 1),
        written,
    ]


def rows(*sizes: int, columns: int = 3) -> list[tuple[Tensor, ...]]:
    """Input sets, one for each number of rows; the first is the example."""
    return [(torch.arange(float(size * columns)).reshape(size, columns) - 2,) for size in sizes]


def test_parts_of_open_sizes() -> None:
    sets = [(torch.arange(2.0 * size).reshape(2, size) - 3,) for size in HALVES]
    checked = check(put_together, *sets, options=AUTO)
    assert not any(checked.refusals)


def test_parts_of_known_sizes() -> None:
    check(of_known_sizes, *rows(2, columns=5))


def halves(x: Tensor) -> tuple[Tensor, Tensor]:
    a, b = x.chunk(2)
    return a + 1, torch.cat([-b, a])


def pieces(x: Tensor) -> Tensor:
    total = torch.zeros(3)
    for part in x.split(2):
        total = total * 2 + part.sum(0)
    return total


def named_pieces(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    a, b = x.split([2, x.size(0) - 2])
    first, second = x.tensor_split(2)
    b = b.clone()
    b += 1
    return a * 2, b, first.sum(0) - second.sum(0)


@pytest.mark.parametrize("program", [halves, pieces, named_pieces])
def test_splits(program: Callable[..., Any]) -> None:
    """How many pieces there are is a guard; which elements are in them is computed."""
    checked = check(program, *rows(4, 5, 6, 3, 9, 2), options=AUTO, refusals=True, compiled=program is halves)
    assert checked.refusals[0] is None
    assert (checked.refusals[1:] == [None] * 5) is (program is halves)
