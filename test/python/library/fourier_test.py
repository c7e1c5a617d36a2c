"""Fourier transforms and complex numbers of the library: natively, of one factor and of two, as eager has them."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from ssa_compiler.testing import check


def of_real(x: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    half = torch.fft.rfft2(x, norm="ortho")
    return half, torch.fft.irfft(half, 7), torch.fft.fft(x, 5, dim=0), torch.fft.hfft(x, 9, norm="forward")


def of_complex(z: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    back = torch.fft.ifftn(z, dim=[1, 0], norm="ortho")
    return torch.fft.fft2(z), back, torch.conj(back), torch.imag(torch.conj(z))


def of_two_factors(x: Tensor) -> tuple[Tensor, Tensor]:
    whole = torch.fft.fft(x)
    return whole, torch.fft.irfft(whole[:, :49], 96)


def _native(program: Any, *sets: Any) -> None:
    checked = check(program, *sets)
    assert checked.compiled.explain().callbacks == ()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_of_real(dtype: torch.dtype) -> None:
    x = torch.randn(3, 8, dtype=dtype)
    _native(of_real, (x,), (torch.zeros_like(x),), (torch.full_like(x, torch.nan),))


def test_of_complex() -> None:
    _native(of_complex, (torch.randn(4, 6, dtype=torch.complex64),), (torch.ones(4, 6, dtype=torch.complex64),))


def test_of_two_factors() -> None:
    _native(of_two_factors, (torch.randn(2, 96),))
