"""Numbers, and tensors that eager takes for numbers, which do not fit the dtype of what they are stored in."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from ssa_compiler import errors
from ssa_compiler.importer import import_program
from ssa_compiler.testing import check

MASK = torch.tensor([True, False, True])
NONE = torch.zeros(3, dtype=torch.bool)


def fill(x: Tensor, m: Tensor, v: Tensor) -> Tensor:
    return x.masked_fill(m, v)


def fill_in_place(x: Tensor, m: Tensor, v: Tensor) -> Tensor:
    y = x.clone()
    y.masked_fill_(m, v)
    return y


def store(x: Tensor, m: Tensor, v: Tensor) -> Tensor:
    y = x.clone()
    y[m] = v
    return y


def store_in_columns(x: Tensor, m: Tensor, v: Tensor) -> Tensor:
    y = torch.stack([x, x])
    y[:, m] = v
    return y


def fill_rows(x: Tensor, m: Tensor, v: Tensor) -> Tensor:
    return x.index_fill(0, torch.tensor([0, 2]), v)


VALUES = [
    (torch.float16, torch.float32, [2.5, 1e9, math.inf, math.nan]),
    (torch.int32, torch.float64, [2.5, 1e30, -3e9, math.nan, 2147483647.5]),
    (torch.uint8, torch.int64, [7, 300, -300]),
    (torch.float64, torch.int64, [7]),
]


@pytest.mark.parametrize("function", [fill, fill_in_place, store, store_in_columns, fill_rows])
def test_tensors_that_are_numbers(function: Callable[..., Tensor]) -> None:
    for dtype, other, values in VALUES:
        x = torch.arange(3).to(dtype)
        calls = [(x, mask, torch.tensor(value, dtype=other)) for value in values for mask in (MASK, NONE)]
        check(function, *calls, compiled=False)


def test_tensors_that_are_numbers_compiled() -> None:
    x = torch.arange(3).half()
    found = check(store, *[(x, MASK, torch.tensor(value)) for value in (2.5, 1e9, math.inf)])
    assert [error is None for error in found.errors] == [True, False, True]


def test_a_tensor_of_the_same_dtype_stays_one() -> None:
    found = check(fill, (torch.ones(3), MASK, torch.tensor(2.5)), compiled=False)
    assert found.count_ops("imported", "torch.runtime.assert") == 0


def fills(x: Tensor, f: float) -> Tensor:
    return x.clone().fill_(f)


def full(x: Tensor, f: float) -> Tensor:
    return torch.full_like(x, f)


def fill_by_number(x: Tensor, f: float) -> Tensor:
    return x.masked_fill(x > 0, f)


def scatter(x: Tensor, f: float) -> Tensor:
    return x.scatter(0, torch.tensor([1]), f)


def store_number(x: Tensor, f: float) -> Tensor:
    y = x.clone()
    y[0] = f
    return y


FLOATS = [1.0, 200.7, -0.5, -1.0, 300.0, 32767.5, 3e9, 1e300, math.nan, math.inf]


@pytest.mark.parametrize("function", [fills, full, fill_by_number, scatter, store_number])
def test_floats_that_do_not_fit(function: Callable[..., Tensor]) -> None:
    for dtype in (torch.uint8, torch.int32, torch.int64):
        x = torch.tensor([0, 1, 1]).to(dtype)
        check(function, *[(x, number) for number in FLOATS], compiled=False)


def literal(x: Tensor) -> Tensor:
    return x.masked_fill(x > 0, -1.0)


def added(x: Tensor, f: float) -> tuple[Tensor, Tensor]:
    return x + f, x > f


def test_literals_and_ops_that_promote() -> None:
    with pytest.raises(errors.ProgramError, match="overflow"):
        import_program(literal, (torch.ones(3, dtype=torch.uint8),))
    check(literal, (torch.ones(3, dtype=torch.int8),), compiled=False)
    check(added, *[(torch.ones(3, dtype=torch.uint8), number) for number in FLOATS], compiled=False)
