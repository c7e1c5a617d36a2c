"""Ops that IREE does not compile, or wrongly, and that PyTorch's tables take apart."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from ssa_compiler.testing import check


def gelu_tanh(x: Tensor) -> Tensor:
    return torch.nn.functional.gelu(x, approximate="tanh")


def copies(x: Tensor) -> Tensor:
    y = torch.diagonal_copy(x)
    y.add_(1)  # x stays
    return torch.t_copy(x) + y


@pytest.mark.parametrize("program", [gelu_tanh, copies])
def test_native_and_right(program: Any) -> None:
    x = torch.linspace(-5, 5, 64).reshape(8, 8)
    checked = check(program, (x,), rtol=2e-6, atol=2e-6)
    assert checked.compiled.explain().callbacks == ()


def accumulates(x: Tensor, a: Tensor, b: Tensor) -> Tensor:
    return x.addmv_(a, b, beta=2, alpha=3)


def test_conversions_inside_are_copies() -> None:
    half = [torch.randn(*sizes).to(torch.bfloat16) for sizes in ((3,), (3, 4), (4,))]
    check(accumulates, tuple(half), compiled=False)
