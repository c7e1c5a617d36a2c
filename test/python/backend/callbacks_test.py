"""Callbacks whose operands share constants, and what IREE makes of a program that calls functions it does not know."""

# Annotations are evaluated: TorchScript reads those of ignored functions as they are.

import torch
from torch import Tensor

from ssa_compiler.testing import check


def spectrum(x: Tensor) -> Tensor:
    return torch._fft_r2c(x, [0], 0, True)


def test_a_constant_that_is_an_operand_and_in_a_list_is_erased_once() -> None:
    check(spectrum, (torch.arange(8.0),))


@torch.jit.ignore
def less_two(n: int) -> int:
    return n - 2


def place_from_a_branch(x: Tensor, n: int, first: bool) -> tuple[Tensor, Tensor, Tensor, int]:
    i = 1
    if not first:
        m = less_two(n)
        if m > 0:
            x = x + 1
            i = m
        else:
            i = -2
    y = x.clone()
    y[i] = 100.0
    return x[i], x[i:], y, i // 2


def place_from_the_iteration_before(x: Tensor, n: int) -> Tensor:
    i = 0
    total = x.sum()
    for _ in range(n):
        total = total + x[i].sum()
        x[i] = 7.0
        drawn = x.bernoulli(0.0)
        if drawn.sum() < 100.0:
            x = x + drawn
        i = -2
    return total


def test_a_negative_place_that_is_chosen_after_a_callback_counts_from_the_end() -> None:
    check(place_from_a_branch, *[(torch.rand(5, 2), n, first) for n in (1, 4) for first in (False, True)])
    check(place_from_the_iteration_before, *[(torch.rand(3, 2), n) for n in (0, 1, 3)])
