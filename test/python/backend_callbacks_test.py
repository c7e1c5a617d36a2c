"""Callbacks whose operands share constants."""

from __future__ import annotations

import torch
from torch import Tensor

from ssa_compiler.testing import check


def spectrum(x: Tensor) -> Tensor:
    return torch._fft_r2c(x, [0], 0, True)


def test_a_constant_that_is_an_operand_and_in_a_list_is_erased_once() -> None:
    check(spectrum, (torch.arange(8.0),))
