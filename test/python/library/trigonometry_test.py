"""Sine, cosine and tangent of small and large angles, near their zeros and poles."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

import ssa_compiler
from _nightly import with_nightly
from ssa_compiler.testing import check


def sine(x: Tensor) -> Tensor:
    return torch.sin(x)


def cosine(x: Tensor) -> Tensor:
    return torch.cos(x)


def tangent(x: Tensor) -> Tensor:
    return torch.tan(x)


FUNCTIONS = (sine, cosine, tangent)


def angles(dtype: torch.dtype) -> Tensor:
    """Angles up to 4e8, multiples of pi / 4 and their neighbours, and what is no angle."""
    generator = torch.Generator().manual_seed(0)
    spread = torch.cat([(torch.rand(50, generator=generator) * 2 - 1) * 10.0**power for power in range(-4, 9)])
    edges = torch.arange(-40, 41) * (math.pi / 4)
    beside = [torch.nextafter(edges, torch.full_like(edges, bound)) for bound in (-math.inf, math.inf)]
    special = torch.tensor([0.0, -0.0, math.inf, -math.inf, math.nan, 4e8])
    x = torch.cat([spread, edges, *beside, special])
    return (x.clamp(-6e4, 6e4) if dtype == torch.float16 else x).to(dtype)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
@pytest.mark.parametrize("dtype", with_nightly([torch.float32], [torch.bfloat16]), ids=str)
def test_as_exact_as_the_dtype(function: Callable[[Tensor], Tensor], dtype: torch.dtype) -> None:
    """Beside float64's result, rounded: eager's own is wrong by a unit in the last place here and there."""
    x = angles(dtype)
    compiled = ssa_compiler.compile(function, (x,))
    assert compiled.explain().callbacks == ()
    exact = function(x.double())
    # Subnormal results are 0 (README, Limits).
    torch.testing.assert_close(
        compiled(x), exact.to(dtype), rtol=1.01 * torch.finfo(dtype).eps, atol=torch.finfo(dtype).tiny, equal_nan=True
    )


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
@pytest.mark.slow
def test_equals_eager(function: Callable[[Tensor], Tensor]) -> None:
    check(function, (torch.linspace(-20.0, 20.0, 101),))
    check(function, (torch.linspace(-20.0, 20.0, 101).half(),))
    check(function, (torch.arange(-5, 5),))
    check(function, (torch.tensor([True, False]),))
    check(function, (torch.linspace(-20.0, 20.0, 11, dtype=torch.float64),))


def position_encoding(t: Tensor, half: int) -> Tensor:
    frequencies = torch.exp(-math.log(10000.0) * torch.arange(half, dtype=torch.float32) / half)
    angle = t[:, None].float() * frequencies
    return torch.cat([torch.cos(angle), torch.sin(angle)], dim=-1)


def test_position_encoding_of_late_steps() -> None:
    steps = torch.tensor([0, 1, 250, 999])
    compiled = ssa_compiler.compile(position_encoding, (steps, 16))
    # What is left is that of the angles: exp in float32.
    torch.testing.assert_close(compiled(steps, 16), position_encoding(steps, 16), rtol=0, atol=2e-4)


def in_place(x: Tensor) -> Tensor:
    x.sin_()
    x[0].cos_()
    return x


def test_in_place() -> None:
    check(in_place, (torch.linspace(-200.0, 200.0, 12).reshape(3, 4),))


def bounded(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return torch.sin(x).abs() <= 1.0, torch.cos(x).abs() <= 1.0, torch.sin(x).isnan()


def test_bounded_where_it_is_not_exact() -> None:
    check(bounded, (torch.tensor([1e9, -3e9, 7e12, 1e20, 3e38, math.inf, math.nan]),), compiled=True)


def degrees(x: Tensor) -> tuple[Tensor, Tensor]:
    return torch.rad2deg(x), torch.deg2rad(x)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_degrees(dtype: torch.dtype) -> None:
    check(degrees, (torch.linspace(-1e3, 1e3, 101, dtype=dtype),), compiled=True)


def of_zeros(x: Tensor) -> list[Tensor]:
    return [torch.sin(x).signbit(), torch.tan(x).signbit()]


def test_signs_of_zero() -> None:
    check(of_zeros, (torch.tensor([0.0, -0.0, 1.0]),))
