"""Divisions that are rounded down, what is left of them, angles: floating-point numbers of every kind, against
eager.
"""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from _nightly import with_nightly
from ssa_compiler.testing import check

NUMBERS = [1.0, 0.3, -1.0, 5.5, -7.25, 1e30, -1e-30, 0.0, -0.0, math.inf, -math.inf, math.nan]
DIVISORS = [0.1, -0.1, 3.0, -2.5, 1e-3, math.inf, -math.inf, math.nan, 0.0, -0.0]


def quotients(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    c = a.clone()
    c //= b
    return torch.floor_divide(a, b), torch.div(a, b, rounding_mode="floor"), torch.fmod(a, b), c


def by_numbers(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    return a // 0.1, torch.div(a, -3, rounding_mode="floor"), torch.fmod(a, 0.1), b.fmod(math.inf)


def of_two(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return torch.atan2(a, b), torch.logaddexp(a, b), torch.atan2(a, b * 0.0 + 2.0)


@pytest.mark.parametrize("dtype", with_nightly([torch.float32], [torch.float64]))
@pytest.mark.parametrize("function", [quotients, by_numbers, of_two])
def test_all_kinds_of_numbers(function: object, dtype: torch.dtype) -> None:
    a, b = torch.broadcast_tensors(torch.tensor(NUMBERS, dtype=dtype)[:, None], torch.tensor(DIVISORS, dtype=dtype))
    generator = torch.Generator().manual_seed(0)
    others = (
        torch.randn(2, 12, 10, generator=generator, dtype=dtype) * torch.tensor([30.0, 2.0], dtype=dtype)[:, None, None]
    )
    checked = check(function, (a.contiguous(), b.contiguous()), (others[0], others[1]), compiled=True)
    # IREE has neither for float64.
    expected = {"aten::atan" if function is of_two else "aten::remainder.Tensor"} if dtype == torch.float64 else set()
    assert {use.op for use in checked.compiled.explain().callbacks} == expected


def mixed(a: Tensor, b: Tensor, i: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:
    return a // b, torch.fmod(a, 0.1), i // b, i // 0.1, torch.fmod(i, b), torch.div(i, -0.5, rounding_mode="floor")


@pytest.mark.parametrize("dtype", with_nightly([torch.float16], [torch.bfloat16, torch.float64]))
def test_halves_and_integers(dtype: torch.dtype) -> None:
    a, b = torch.broadcast_tensors(torch.tensor(NUMBERS)[:, None], torch.tensor(DIVISORS))
    inputs = (a.to(dtype), b.to(dtype), (torch.arange(120).reshape(12, 10) - 60).int())
    checked = check(mixed, inputs, compiled=True)
    assert bool(checked.compiled.explain().callbacks) == (dtype == torch.float64)


def of_two_dtypes(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return torch.atan2(a, b), torch.logaddexp(a, b), torch.hypot(a, b)


@pytest.mark.parametrize("other", [torch.float16, torch.bfloat16, torch.float32])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_zeros_and_infinities_of_halves(dtype: torch.dtype, other: torch.dtype) -> None:
    a, b = torch.broadcast_tensors(torch.tensor(NUMBERS)[:, None], torch.tensor(DIVISORS))
    check(of_two_dtypes, (a.to(dtype), b.to(other)), compiled=True)


def remaining(x: Tensor, n: int) -> Tensor:
    total = torch.zeros_like(x)
    for i in range(n):
        total[i] = x[i] // 0.1 + torch.fmod(x[i], 0.3)
    return total


def test_rows_in_a_loop() -> None:
    x = torch.linspace(-1.0, 1.0, 12).reshape(4, 3)
    check(remaining, (x, 4), (x, 0), (x, 1), compiled=True)


def of_smallest(x: Tensor, y: Tensor, n: int) -> list[Tensor]:
    """The smallest integer divided by -1: on x86 the instruction ends the process. Eager's `trunc` of 32 bits does
    so.
    """
    one, by = x[:1], y[:1]
    narrow = y.to(torch.int8)
    found = [one % by, torch.fmod(one, by), one // by, torch.div(one, by, rounding_mode="floor"), one % n, one // n]
    found += [torch.fmod(one, n), one % -1, torch.fmod(one, -1), one // -1, x[0] % y[0], x[0] // n]
    found += [x % y, torch.fmod(x, y), x // y, x % n, x // n, x % -1, torch.fmod(x, -1), x // -1, x[:, None] // y]
    found += [torch.div(x, n, rounding_mode="floor"), x % narrow, torch.fmod(x, narrow), x // narrow, narrow // x]
    return found


def by_narrow_integers(x: Tensor, a: Tensor, b: Tensor, n: int) -> list[Tensor]:
    """Quotients of int64 are exact, whatever the other dtype is."""
    found = [torch.fmod(x, 3), torch.fmod(x, -7), torch.fmod(x, n), torch.fmod(a, -7), torch.fmod(x, a)]
    for narrow in (a, b):
        found += [x // narrow, narrow // x, torch.div(x, narrow, rounding_mode="trunc")]
    return found


@pytest.mark.parametrize("dtype", [torch.int8, torch.int32])
def test_narrow_integers_beside_wide_ones(dtype: torch.dtype) -> None:
    low = torch.iinfo(torch.int64).min
    x = torch.tensor([low + 1, -(2**60) - 1, 2**53 + 1, -7, 7])
    a = torch.tensor([-1, 3, -128, 127, -5], dtype=dtype)
    checked = check(
        by_narrow_integers,
        (x, a, a.to(torch.uint8), 3),
        (-x, a, a.to(torch.uint8), -1),
        (x, -a, a.to(torch.uint8), 2**40),
        compiled=True,
    )
    assert not checked.compiled.explain().callbacks


def of_smallest_to_zero(x: Tensor, y: Tensor, n: int) -> list[Tensor]:
    return [torch.div(value, by, rounding_mode="trunc") for value, by in [(x, y), (x[:1], y[:1])]] + [
        torch.div(x, n, rounding_mode="trunc"),
        torch.div(x, -1, rounding_mode="trunc"),
    ]


@pytest.mark.parametrize("dtype", with_nightly([torch.int8, torch.int64], [torch.int16, torch.int32]))
@pytest.mark.slow
def test_smallest_integer_by_minus_one(dtype: torch.dtype) -> None:
    low = torch.iinfo(dtype).min
    x, y = (torch.tensor(numbers, dtype=dtype) for numbers in ([low, low, 7, -7, low + 1], [-1, 1, -1, 3, -1]))
    function = of_smallest_to_zero if dtype is torch.int8 else of_smallest
    check(function, (x, y, -1), (x, y, 3), (y, y, -1), (x, y, low), compiled=True)
