"""`linspace`, `logspace` and `arange` with fractional steps, bit for bit."""

import math

import pytest
import torch
from torch import Tensor

import ssa_compiler
from ssa_compiler.testing import check

X = torch.zeros(2)


def known(x: Tensor):
    floats = [
        torch.linspace(0.1, 0.7, 33),
        torch.linspace(-3, 10, 10, dtype=torch.float64),
        torch.linspace(0.1, 0.7, 33, dtype=torch.float16),
        torch.linspace(-3.0, 10.0, 10, dtype=torch.bfloat16),
        torch.logspace(0.1, 0.7, 33),
        torch.logspace(0.0, 3.0, 101, base=2.0, dtype=torch.float64),
        torch.arange(0.0, 30.0, 1.3),
        torch.arange(0.1, 20.0, 0.3, dtype=torch.float64),
        torch.arange(1.0, -1.0, -0.07, dtype=torch.float16),
    ]
    ints = torch.linspace(-3.0, 10.0, 10, dtype=torch.int64), torch.arange(5.5, dtype=torch.int32), torch.arange(9)
    return floats, ints, torch.linspace(0.0, 1.0, 1), torch.linspace(0.0, 1.0, 0), x


def dynamic(x: Tensor, a: float, b: float, n: int):
    floats = torch.linspace(a, b, 33), torch.linspace(a, b, 9, dtype=torch.float64), torch.linspace(a, n, 7)
    few = torch.linspace(a, b, 1), torch.linspace(a, b, 0), torch.logspace(a, 1.0, 7)
    half = torch.linspace(a, b, 9, dtype=torch.float16)
    return floats, few, half, torch.linspace(a, b, 9, dtype=torch.int32), torch.logspace(n, 2, 3, dtype=torch.int64), x


def flat(results) -> list[Tensor]:
    return [results] if isinstance(results, Tensor) else [part for each in results for part in flat(each)]


@pytest.mark.parametrize(
    ("program", "calls"), [(known, [()]), (dynamic, [(0.3, 5.7, 3), (-2.5, 100.0, 0), (1.0, 1.0, 9)])]
)
def test_numbers_are_those_of_eager(program, calls) -> None:
    compiled = ssa_compiler.compile(program, (X, *calls[0]))
    for call in calls:
        for found, expected in zip(flat(compiled(X, *call)), flat(program(X, *call)), strict=True):
            assert found.dtype == expected.dtype
            assert torch.equal(found, expected)


def infinite(x: Tensor, a: float, b: float):
    return torch.linspace(a, b, 5, dtype=torch.float64), x


def small(x: Tensor, a: float, b: float):
    return torch.linspace(a, b, 5, dtype=torch.uint8), x


def test_numbers_out_of_range() -> None:
    check(infinite, (X, 1.0, 2.0), (X, math.inf, 0.0), (X, 0.0, math.nan), (X, -1e300, 1e300), compiled=False)
    check(small, (X, 3.0, 7.5), (X, 300.0, 7.0), (X, -3.0, 200.0), compiled=False)
