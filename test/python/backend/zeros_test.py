"""Zeros have the sign that eager gives them."""

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

import ssa_compiler

X = torch.tensor([-0.0, 0.0, -1e-30, 1e-30, -0.5, 2.0, -3.0, float("inf"), -float("inf"), float("nan")])


def signs(x: Tensor):
    y = x[:4]
    odd = [torch.erf(x), torch.trunc(x), torch.round(x), torch.sign(x), torch.expm1(x)]
    bounded = [F.relu(x), F.relu6(x), F.hardtanh(x, 0.0, 1.0), F.hardtanh(x, -1.0, 0.0), x.clamp(min=0.0), F.selu(x)]
    sums = [torch.cumsum(y, 0), torch.logcumsumexp(y, 0), y[:1].sum(0), torch.frac(x), torch.fmod(x, 1.0)]
    return odd + bounded + sums


def converted_sums(x: Tensor):
    y = x[:4]
    sums = [torch.cumsum(y, 0, dtype=torch.float64), torch.cumsum(y, 0, dtype=torch.float32), torch.cumsum(y[0], 0)]
    return [*sums, torch.cumprod(y, 0, dtype=torch.float64), torch.sum(y[:1], 0, dtype=torch.float64)]


def bessel(x: Tensor):
    return [torch.special.bessel_j1(x)]


@pytest.mark.parametrize(
    ("program", "dtype"),
    [
        (signs, torch.float32),
        (signs, torch.float64),
        (signs, torch.float16),
        (converted_sums, torch.float32),
        (converted_sums, torch.float16),
        (bessel, torch.float32),
    ],
)
def test_zeros(program, dtype: torch.dtype) -> None:
    x = X.to(dtype)
    for number, (found, expected) in enumerate(zip(ssa_compiler.compile(program, (x,))(x), program(x), strict=True)):
        zero = expected == 0
        assert torch.equal(found == 0, zero), number
        assert torch.equal(torch.signbit(found[zero]), torch.signbit(expected[zero])), number
        torch.testing.assert_close(found, expected, equal_nan=True)
