"""A store through a view of a view is one store to the tensor, at sizes and dynamic places too."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from torch.export import Dim

import ssa_compiler


def element(y: Tensor, i: int, j: int) -> Tensor:
    y[i, j] = 9.0
    return y


def part_of_a_row(y: Tensor, i: int, j: int) -> Tensor:
    y[i][j:] += 1.0
    return y


def part_of_a_column(y: Tensor, i: int, j: int) -> Tensor:
    y[i:, j] = 5.0
    return y


def columns_of_rows(y: Tensor, i: int, j: int) -> Tensor:
    y[i:][:, j:] *= 2.0
    return y


def transposed(y: Tensor, i: int, j: int) -> Tensor:
    y.t()[j, i:] = 3.0
    return y


def twice(y: Tensor, i: int, j: int) -> Tensor:
    row = y[i]
    row[j] = 1.0
    row[0] = row.sum()
    return y


WRITES = (element, part_of_a_row, part_of_a_column, columns_of_rows, transposed, twice)


@pytest.mark.parametrize("write", WRITES, ids=lambda write: write.__name__)
def test_one_artefact_for_all_sizes_and_places(write: Callable[[Tensor, int, int], Tensor]) -> None:
    rows, columns = Dim("rows", min=2), Dim("columns", min=2)
    compiled = ssa_compiler.compile(write, (torch.rand(4, 3), 1, 1), dynamic_shapes=({0: rows, 1: columns}, None, None))
    for shape in ((4, 3), (2, 2), (7, 5)):
        for i in (0, 1, -1, -2):
            for j in (0, 1, -1, -2):
                y = torch.arange(float(shape[0] * shape[1])).reshape(shape)
                expected = write(y.clone(), i, j)
                assert torch.equal(compiled(y, i, j), expected), (shape, i, j)
                assert torch.equal(y, expected), (shape, i, j)
    assert len(compiled.specialisations) == 1
    assert compiled.explain().copies == 0
    assert "_scatter" not in compiled.mlir("iree")


@pytest.mark.parametrize("write", [element, part_of_a_column, transposed, twice], ids=lambda write: write.__name__)
def test_an_index_out_of_range_raises_and_writes_nothing(write: Callable[[Tensor, int, int], Tensor]) -> None:
    compiled = ssa_compiler.compile(write, (torch.rand(4, 3), 1, 1))
    for j in (3, -4):
        y = torch.rand(4, 3)
        before = y.clone()
        with pytest.raises(IndexError):
            write(y.clone(), 1, j)
        with pytest.raises(IndexError):
            compiled(y, 1, j)
        assert torch.equal(y, before)
