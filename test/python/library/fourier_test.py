"""Fourier transforms and complex numbers of the library: natively, of one factor and of two, as eager has them."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from _nightly import with_nightly
from ssa_compiler.testing import check


def of_real(x: Tensor) -> tuple[Tensor, int, int, Tensor]:
    half = torch.fft.rfft2(x, dim=[1, 0], norm="ortho")
    down, along = half.stride()
    return half, down, along, torch.fft.irfft(half, 7)


def of_complex(z: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    back = torch.fft.ifft(z, norm="forward")
    return back, torch.conj(back), torch.imag(torch.conj(z))


def _native(program: Any, *sets: Any) -> None:
    checked = check(program, *sets)
    assert checked.compiled.explain().callbacks == ()


@pytest.mark.parametrize("dtype", with_nightly([torch.float32], [torch.float64]))
@pytest.mark.slow
def test_of_real(dtype: torch.dtype) -> None:
    x = torch.randn(3, 8, dtype=dtype)
    _native(of_real, (x,), (torch.full_like(x, torch.nan),))


@pytest.mark.slow
def test_of_complex() -> None:
    """The size is a product of two."""
    _native(of_complex, (torch.randn(2, 66, dtype=torch.complex64),), (torch.ones(2, 66, dtype=torch.complex64),))
