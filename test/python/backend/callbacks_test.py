"""Callbacks whose operands share constants, and what IREE makes of a program that calls functions it does not know."""

# Annotations are evaluated: TorchScript reads those of ignored functions as they are.

import pytest
import torch
from torch import Tensor

import ssa_compiler
from ssa_compiler.backend.workarounds import unsupported_ops
from ssa_compiler.backend.workarounds.unsupported_ops import LINKLESS
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


def of_float64(x: Tensor) -> list[Tensor]:
    y = x.acos() + x.asin() + x.atan() + x.cos() + x.sin() + x.tan() + x.tanh()
    return [y, x.log10(), x.log2(), torch.nn.functional.mish(x), x % 0.7, x % (x + 0.5)]


@pytest.mark.slow
def test_functions_that_cannot_be_linked_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """IREE is asked for each of them here, as it would be in each program: an entry that it links can go."""
    x = torch.linspace(0.1, 0.9, 5, dtype=torch.float64)

    def called() -> set[tuple[str, bool]]:
        callbacks = ssa_compiler.compile(of_float64, (x,), cache=False, kernels=False).explain().callbacks
        return {(found.op, "no such function" in found.reason) for found in callbacks}

    known = called()
    assert known == {(name, True) for name in LINKLESS}
    monkeypatch.setattr(unsupported_ops, "LINKLESS", frozenset())
    assert called() == {(name, False) for name, _ in known}
