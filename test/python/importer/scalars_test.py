"""Scalar arithmetic of compiled programs, compared with Python's at boundary values."""

from __future__ import annotations

import pytest
import torch

import ssa_compiler

_FLOATS = [
    0.0,
    -0.0,
    0.5,
    -0.5,
    0.9999999999999999,
    1.0,
    -1.0,
    1.5,
    -2.7,
    4503599627370495.5,
    2.0**52,
    2.0**53 + 2,
    -(2.0**62),
]


def truncate(x: torch.Tensor, a: float) -> tuple[int, torch.Tensor]:
    """Convert a double to an int and use it in a tensor."""
    n = int(a)
    return n, x + n


@pytest.fixture(scope="module")
def truncating() -> ssa_compiler.CompiledProgram:
    """The program, compiled once."""
    return ssa_compiler.compile(truncate, (torch.zeros(2, dtype=torch.float64), 1.5))


@pytest.mark.parametrize("value", [*_FLOATS, 1e-310, -1e-310, 9.2e18, 123456789.987])
def test_int_of_a_float_truncates(truncating: ssa_compiler.CompiledProgram, value: float) -> None:
    x = torch.ones(2, dtype=torch.float64)
    number, tensor = truncating(x, value)
    assert number == int(value)
    assert torch.equal(tensor, x + int(value))
