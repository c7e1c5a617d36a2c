"""Indices that are surely in range are not checked, and those that may not be are, whatever dynamic sizes are in
between.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from ssa_compiler.importer import import_program
from ssa_compiler.testing import check

X = torch.arange(15.0).reshape(5, 3)


def masked(x: Tensor) -> Tensor:
    return x[x > 4]


def masked_rows(x: Tensor) -> Tensor:
    return x[x[:, 0] > 4]


def places(x: Tensor) -> Tensor:
    found = (x > 4).nonzero()
    return x[found[:, 0], found[:, 1]]


def places_in_another_order(x: Tensor) -> Tensor:
    found = (x > 4).nonzero()
    some = found[torch.argsort(found[:, 1], descending=True)][1:3]
    return x[some[:, 0], some[:, 1]] + x.select(1, 0)[some[:, 0]]


def sorted_rows(x: Tensor) -> Tensor:
    some = x[x[:, 0] > 4]
    return some[some[:, 1].argsort(descending=True)]


def best_rows(x: Tensor) -> Tensor:
    some = x[x[:, 0] > 4]
    return some[some[:, 1].topk(2)[1]]


def stored_where_sorted(x: Tensor) -> Tensor:
    some = x[x[:, 0] > 4]
    order = some[:, 1].argsort(descending=True)
    result = torch.zeros_like(some)
    result[order] = some
    return result


@pytest.mark.parametrize(
    "function",
    [masked, masked_rows, places, places_in_another_order, sorted_rows, best_rows, stored_where_sorted],
)
def test_in_range_by_construction(function: Callable[[Tensor], Tensor]) -> None:
    module = import_program(function, (X,)).module
    assert "IndexError: index" not in module
    checked = check(function, (X,), (X + 2,), (X.flip(0),))
    assert checked.errors == [None] * 3


def other_column(x: Tensor) -> Tensor:
    found = (x > 4).nonzero()
    return x.t()[found[:, 0]]


def columns_as_rows(x: Tensor) -> Tensor:
    found = (x > 4).nonzero()
    return x.t()[found.t()[0]]


def flattened_places(x: Tensor) -> Tensor:
    found = (x > 4).nonzero()
    return x.t()[found.flatten()]


def strided_places(x: Tensor) -> Tensor:
    found = (x > 4).nonzero().flatten()
    return x.t()[found[::2]]


def written_places(x: Tensor) -> Tensor:
    found = (x > 4).nonzero()
    found[:, 1] += 2
    return x[found[:, 0], found[:, 1]]


def swapped_columns(x: Tensor) -> Tensor:
    found = (x > 4).nonzero()[:, torch.tensor([1, 0])]
    return x[found[:, 0], found[:, 1]]


def of_a_longer_one(x: Tensor) -> Tensor:
    some, others = x[x[:, 0] > 4], x[x[:, 0] > 7]
    return others[some[:, 1].argsort()]


def of_the_iteration_before(x: Tensor) -> Tensor:
    total, order = x[0] * 0, torch.zeros(1, dtype=torch.int64)
    for i in range(x.size(0)):
        rest = x[x[:, 0] > i * 3 - 1]
        total = total + rest[order].sum(0)
        order = rest[:, 1].argsort()
    return total


def both_columns(x: Tensor) -> Tensor:
    found = (x > 4).nonzero()
    return x.t()[found.t().reshape(-1)]


def median_of_none(x: Tensor) -> Tensor:
    found = torch.arange(5)[x[:, 0] > 20]
    return x[found.median()]


def of_a_longer_arange(x: Tensor) -> Tensor:
    some = x[x[:, 0] > 4]
    return some[torch.arange(some.size(0) + 1)]


@pytest.mark.parametrize(
    "function",
    [
        other_column,
        columns_as_rows,
        flattened_places,
        strided_places,
        written_places,
        swapped_columns,
        of_a_longer_one,
        of_the_iteration_before,
        both_columns,
        median_of_none,
        of_a_longer_arange,
    ],
)
def test_out_of_range(function: Callable[[Tensor], Tensor]) -> None:
    checked = check(function, (X,), (X - 6,))
    assert isinstance(checked.errors[0], IndexError)
