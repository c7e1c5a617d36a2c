"""Inverse functions of angles, and powers of 2 and their logarithms: in kernels, and as exact as float32 can be."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch

import ssa_compiler
from ssa_compiler.testing import check

_SPECIAL = torch.tensor(
    [0.0, -0.0, 1.0, -1.0, 1.5, math.inf, -math.inf, math.nan, 1e-45, -3e38, 0.4375, 0.6875, 2.4375]
)


def _atan(x: torch.Tensor) -> torch.Tensor:
    return torch.atan(x)


def _asin(x: torch.Tensor) -> torch.Tensor:
    return torch.asin(x)


def _acos(x: torch.Tensor) -> torch.Tensor:
    return torch.acos(x)


def _log2(x: torch.Tensor) -> torch.Tensor:
    return torch.log2(x)


def _exp2(x: torch.Tensor) -> torch.Tensor:
    return torch.exp2(x)


def _values(program: Callable[[torch.Tensor], torch.Tensor]) -> torch.Tensor:
    if program in (_asin, _acos):
        return torch.linspace(-1, 1, 4001)
    if program is _exp2:
        return torch.linspace(-126, 127, 4001)
    return torch.randn(2000) * 10 ** torch.linspace(-8, 8, 2000)


@pytest.mark.parametrize("program", [_atan, _asin, _acos, _log2, _exp2])
def test_within_a_unit_in_the_last_place(program: Callable[[torch.Tensor], torch.Tensor]) -> None:
    x = torch.cat([_values(program), _SPECIAL])
    made = check(program, (x,))
    assert made.compiled.explain().kernels == 1
    result, exact = made.compiled(x), program(x.double())
    rounded = exact.float()
    finite = torch.isfinite(rounded) & torch.isfinite(exact)
    unit = torch.nextafter(rounded.abs(), torch.tensor(math.inf)).double() - rounded.abs().double()
    assert ((result.double() - exact).abs() <= 0.6 * unit)[finite].all()
    assert torch.equal(torch.signbit(result)[~exact.isnan()], torch.signbit(program(x))[~exact.isnan()])


def test_powers_of_two_are_exact() -> None:
    numbers = torch.arange(-126.0, 128.0)
    compiled = ssa_compiler.compile(_exp2, (numbers,))
    powers = torch.tensor([2.0**k for k in range(-126, 128)])
    assert torch.equal(compiled(numbers), powers)
    assert torch.equal(ssa_compiler.compile(_log2, (powers,))(powers), numbers)


@pytest.mark.parametrize("dtype", [torch.int64, torch.bool, torch.float16, torch.bfloat16, torch.float64])
@pytest.mark.parametrize("program", [_atan, _asin, _acos, _exp2])
def test_other_dtypes(program: Callable[[torch.Tensor], torch.Tensor], dtype: torch.dtype) -> None:
    check(program, (torch.tensor([0, 1, 1, 0]).to(dtype),))


def test_angles_of_vectors() -> None:
    def program(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.atan2(x, y)

    x, y = torch.meshgrid(torch.cat([_SPECIAL, torch.randn(20)]), _SPECIAL, indexing="ij")
    assert check(program, (x, y)).compiled.explain().kernels == 1
