"""Ops without a kernel for FakeTensors, and with results other than tensors: imported whole, run in PyTorch."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from _imported import assert_equal_to_eager
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


def complex_settings(a: Tensor, b: Tensor) -> Tensor:
    c = torch.addmm(a, a, b, beta=complex(1.0, 2.0), alpha=complex(0.5, -1.0))
    c.lerp_(b, complex(0.0, 0.4)).index_fill_(0, torch.tensor([1]), complex(2.0, 1.0))
    c.addr_(a[0], b[0], beta=complex(0.1, 0.4), alpha=complex(3.0, 0.0))
    return c + torch.full_like(a, complex(-8.0, 1.5))


def test_complex_numbers_that_no_overload_takes_as_tensors() -> None:
    a, b = torch.randn(3, 3, dtype=torch.complex64), torch.randn(3, 3, dtype=torch.complex64)
    checked = check(complex_settings, (a, b), (b, a), compiled=False)
    assert "aten.addmm(Tensor self, Tensor mat1, Tensor mat2, *, Tensor beta, Tensor alpha)" in checked.stages["iree"]
    assert_equal_to_eager(complex_settings, (a, b))


def least_squares(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    found = torch.linalg.lstsq(a, b, driver="gelsy")
    return found.solution, found.residuals, found.rank, found.singular_values


def test_results_whose_size_depends_on_the_elements() -> None:
    a = torch.eye(4, 3) + torch.arange(12.0).reshape(4, 3) / 9
    check(least_squares, (a, torch.ones(4, 2)), (torch.zeros(4, 3), torch.ones(4, 2)), compiled=False)


def complex_numbers(a: Tensor, b: Tensor) -> Tensor:
    c = a * 2j + b
    c.mul_(1 + 1j)
    return torch.index_fill(c, 0, torch.tensor([0]), 3 - 1j)


def test_complex_numbers_are_operands() -> None:
    a = torch.arange(4.0)
    assert_equal_to_eager(complex_numbers, (a, a))


def bags(at: Tensor, weight: Tensor, offsets: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    return torch.embedding_bag(weight, at, offsets)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_results_look_as_the_kernel_makes_them(dtype: torch.dtype) -> None:
    """FakeTensors know the fast path of this op for single precision only."""
    at, offsets = torch.tensor([1, 2, 3, 4, 0, 5]), torch.tensor([0, 2, 4])
    weight = torch.arange(27.0).reshape(9, 3).to(dtype)
    assert bags(at, weight, offsets)[1].shape == (0,)
    check(bags, (at, weight, offsets))


def transformed(x: Tensor, n: int) -> Tensor:
    w = x[::2]
    for i in range(n):
        w = x[: i + 1] * 2
    return torch.fft.fft(w)


def test_operands_of_unknown_strides() -> None:
    check(transformed, (torch.arange(6.0), 2), (torch.arange(6.0), 0), (torch.arange(6.0), 5), compiled=False)
