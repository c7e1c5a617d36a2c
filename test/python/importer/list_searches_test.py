"""Looking for elements in lists whose length is dynamic, and unpacking them."""

from __future__ import annotations

import re
from typing import Any

import pytest
import torch
from torch import Tensor

import ssa_compiler
from ssa_compiler.testing import check


def inputs(*rows: tuple[list[int], int]) -> list[tuple[Tensor, int]]:
    return [(torch.tensor(numbers), n) for numbers, n in rows]


def searches(x: Tensor, n: int) -> tuple[list[int], int, int, bool, bool, bool, int, int, bool, bool]:
    found, flags, halves = [0], [True], [0.5]
    for i in range(n):
        found.append(int(x[i]))
        flags.append(bool(x[i] > 1))
        halves.append(float(x[i]) / 2)
    twos = found.count(2)
    place = found.index(2) if 2 in found else -1
    if found.count(True) > 1:
        found.remove(1)
    return (
        found,
        twos,
        place,
        all(flags),
        any(flags),
        1.5 in halves,
        halves.count(0.5),
        flags.count(False),
        all(found),
        any(halves),
    )


def test_searches() -> None:
    check(
        searches,
        *inputs(
            ([1, 2, 1, 2], 4),
            ([1, 2, 1, 2], 0),
            ([1, 2, 3, 1], 3),
            ([5, 5, 5, 5], 1),
            ([3, 3, 2, 0], 4),
            ([0, 0, 0, 0], 2),
            ([1, 1, 1, 1], 4),
        ),
    )


def index_of_seven(x: Tensor, n: int) -> int:
    found = [0]
    for i in range(n):
        found.append(int(x[i]))
    return found.index(7)


def without_seven(x: Tensor, n: int) -> list[int]:
    found = [0]
    for i in range(n):
        found.append(int(x[i]))
    found.remove(7)
    return found


def unpacked(x: Tensor, n: int) -> float:
    row = [0.5]
    for i in range(n):
        row.append(float(x[i]))
    a, b, c = row
    return a + b * c


def unpacked_rows(x: Tensor, n: int) -> int:
    rows = []
    for i in range(n):
        row = [int(x[i])]
        for j in range(int(x[i])):
            row.append(j)
        rows.append(row)
    total = 0
    for a, b in rows:
        total += a * 10 + b
    return total


@pytest.mark.parametrize(
    ("program", "calls"),
    [
        (index_of_seven, inputs(([1, 7, 1, 7], 4), ([1, 7, 1, 7], 1), ([1, 7, 1, 7], 0), ([7, 7], 2))),
        (without_seven, inputs(([1, 7, 1, 7], 4), ([1, 7, 1, 7], 1), ([1, 7, 1, 7], 0), ([7, 7], 2))),
        (unpacked, inputs(([1, 2, 3], 2), ([1, 2, 3], 1), ([1, 2, 3], 0), ([1, 2, 3], 3))),
        (unpacked_rows, inputs(([1, 1, 1], 3), ([1, 1, 1], 0), ([1, 2, 1], 2), ([0, 1], 1))),
    ],
)
def test_what_is_missing_raises_as_in_eager(program: Any, calls: list[tuple[Tensor, int]]) -> None:
    compiled = ssa_compiler.compile(program, calls[0], fullgraph=True)
    for x, n in calls:
        try:
            expected = program(x, n)
        except ValueError as error:
            with pytest.raises(ValueError, match=re.escape(str(error).partition(" (")[0])):
                compiled(x, n)
        else:
            assert compiled(x, n) == expected


def holds_a_nan(x: Tensor, n: int) -> bool:
    found = [0.5]
    for i in range(n):
        found.append(float(x[i]))
    return float(x[0]) in found


def test_a_search_for_nan_is_rejected_when_it_happens() -> None:
    compiled = ssa_compiler.compile(holds_a_nan, (torch.tensor([1.0, 2.0]), 2), fullgraph=True)
    assert compiled(torch.tensor([2.0, float("nan")]), 2)
    with pytest.raises(RuntimeError, match="a search for NaN"):
        compiled(torch.tensor([float("nan"), 1.0]), 2)
