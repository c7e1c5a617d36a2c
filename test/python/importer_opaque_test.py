"""Ops without a kernel for FakeTensors, and with results other than tensors: imported whole, run in PyTorch."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from importer_eager_test import assert_equal_to_eager
from ssa_compiler.testing import check


def is_close(a: Tensor, b: Tensor) -> bool:
    return torch.allclose(a, b)


def branch_on_equal(a: Tensor, b: Tensor) -> Tensor:
    c = a.clone()
    if torch.equal(a, b):
        c.add_(1)
    return c


def covariance(a: Tensor, b: Tensor) -> Tensor:
    return torch.cov(a) + b.sum()


def solve(a: Tensor, b: Tensor) -> Tensor:
    return torch.linalg.solve(a, b)


def split_copies(a: Tensor, b: Tensor) -> Tensor:
    first, second = torch.split_with_sizes_copy(a, [1, 2])
    first.add_(b[0])  # a copy: a stays
    return first.sum() + second.sum() + a.sum()


def chosen_pairs(a: Tensor, b: Tensor) -> Tensor:
    return torch.combinations(a[0], 2) * b[0, 0]


@pytest.mark.parametrize("program", [is_close, branch_on_equal, covariance, solve, split_copies, chosen_pairs])
def test_equal_to_eager(program: object) -> None:
    a = torch.eye(3) + torch.arange(9.0).reshape(3, 3) / 9
    assert_equal_to_eager(program, (a, a.clone()), (a, a + 1))


def test_results_are_checked_at_run_time() -> None:
    a = torch.eye(3)
    check(solve, (a, a), (torch.zeros(3, 3), a), compiled=False)  # eager raises for a singular matrix


def upsample(a: Tensor) -> Tensor:
    return torch.nn.functional.upsample(a, scale_factor=2.0)


def test_warnings_of_the_program_are_given_at_import() -> None:
    with pytest.warns(UserWarning, match="deprecated"):
        check(upsample, (torch.ones(1, 1, 2, 2),), compiled=False)


def complex_numbers(a: Tensor, b: Tensor) -> Tensor:
    c = a * 2j + b
    c.mul_(1 + 1j)
    return torch.index_fill(c, 0, torch.tensor([0]), 3 - 1j)


def test_complex_numbers_are_operands() -> None:
    a = torch.arange(4.0)
    assert_equal_to_eager(complex_numbers, (a, a))
