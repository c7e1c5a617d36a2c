"""Functions of the C library, which kernels call by address: as exact as Python's, whatever else the status holds."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from _kernels import kernel_of
from ssa_compiler import TargetError, compile
from ssa_compiler.runtime.c_library import address_of
from ssa_compiler.testing import check
from ssa_compiler.testing.verified_kernels import verify_kernels

NUMBERS = (0.3, 1.0, 0.0, -0.0, -0.7, 0.9999999, 1e-300, 5e-324, 2.5, 700.0, -1e17, math.inf, -math.inf, math.nan)


def cooled(x: Tensor, n: int, t: float) -> tuple[Tensor, float]:
    for i in range(n):
        t = t * math.exp(-0.1 * i) + math.sin(t) * (abs(t) ** 0.3) + t % 0.7
        t = t + math.log(abs(t) + 2) - math.tanh(t) + math.cos(t) // 0.3 + math.log10(3 + abs(t))
        x = x * t
    return x, t


def test_numbers_of_python_are_the_same_to_the_last_bit() -> None:
    inputs = [(torch.ones(3), n, t) for n in (3, 0, 1, 2, 40) for t in NUMBERS]
    compiled = kernel_of(cooled, *inputs)
    assert set(compiled.artifact.interface.functions) >= {"exp", "sin", "pow", "fmod", "log", "tanh"}
    for x, n, t in inputs:
        if not math.isinf(t):
            (_, expected), (_, found) = cooled(x, n, t), compiled(x, n, t)
            assert found == expected or (math.isnan(found) and math.isnan(expected)), (n, t)
    assert compiled(torch.ones(3), 1, 5e-324)[1] == cooled(torch.ones(3), 1, 5e-324)[1]


def powers(x: Tensor, y: Tensor, n: int, f: float) -> Tensor:
    for i in range(n):
        x = x ** (f + i) + torch.pow(y, x) - torch.remainder(y, 0.3) + torch.fmod(x, y)
    return x


def functions(x: Tensor, y: Tensor, n: int, f: float) -> Tensor:
    z = x
    for _ in range(n):
        z = torch.sin(z * f) + torch.cos(y) - torch.tan(x) * torch.tanh(z) + torch.atan2(z, y) + torch.log2(x.abs() + 1)
        z = z + torch.erf(z) - torch.log10(y.abs() + 3) + torch.asin(z.clamp(-1, 1)) + torch.sinh(x) * torch.expm1(x)
    return z


EDGES = torch.tensor([0.5, 1.5, -0.0, 0.0, -2.5, math.inf, -math.inf, math.nan, 3.0])


@pytest.mark.parametrize("program", [powers, functions])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_elements(program: Callable[..., Any], dtype: torch.dtype) -> None:
    sets = [torch.rand(9, dtype=dtype), EDGES.to(dtype), -EDGES.flip(0).to(dtype)]
    kernel_of(program, *[(x, y, n, 2.0) for n in (2, 0, 1) for x in sets for y in sets])


def summed(x: Tensor, n: int) -> Tensor:
    total = torch.zeros((), dtype=x.dtype)
    for i in range(n):
        total = total + (x[i % 2] ** 1.5).sum()
    return total


def test_sums_of_many() -> None:
    """Sums along memory are computed in vectors, whose elements are passed one by one."""
    kernel_of(summed, *[(torch.rand(2, 70, dtype=torch.float64), n) for n in (3, 0, 1)])


def everything(x: Tensor, n: int, f: float) -> tuple[Tensor, float, Tensor, int]:
    """Results whose size depends on data, scalar ones, and an error that has numbers."""
    rows = torch.nonzero(x > f)
    for i in range(n):
        f = f * 0.5 + math.exp(f)
        if f > 4.0:
            raise ValueError(f"{f} after {i} of {n}")
    return rows, f, x[x < f], n * 2


X = torch.linspace(-1, 2, 12)
_EVERYTHING = [(X, n, f) for n in (2, 0, 1, 9) for f in (0.25, -3.0, 1.75)]


@pytest.mark.parametrize("verified", [False, True])
def test_what_else_the_status_holds(verified: bool) -> None:
    compiled = kernel_of(everything, *_EVERYTHING)
    assert compiled.artifact.interface.functions == ("exp",)
    if verified:
        verify_kernels(compiled)
        for args in ((X, 0, 0.25), (X, 1, 0.25), (X, 4, -3.0)):
            for found, expected in zip(compiled(*args), everything(*args), strict=True):
                assert torch.equal(torch.as_tensor(found), torch.as_tensor(expected))


def test_of_a_part_of_a_program() -> None:
    """Nobody passes it addresses: such ops are not part of a kernel."""

    def printed(x: Tensor, n: int, f: float) -> tuple[Tensor, float]:
        for i in range(n):
            x = (x + f).cumsum(0) * 0.5 - i
            f = math.exp(-f)
        print(n)
        return x, f

    checked = check(printed, *[(torch.rand(5), n, 0.5) for n in (3, 0, 1)])
    assert not checked.compiled.artifact.is_kernel


def test_two_threads() -> None:
    compiled = compile(cooled, (torch.ones(3), 3, 0.5), cache=False)
    expected = [cooled(torch.ones(3), n, 0.5)[1] for n in range(20)]
    found: list[list[float]] = []

    def run() -> None:
        found.append([compiled(torch.ones(3), n, 0.5)[1] for n in range(20)])

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 4


def test_a_function_that_is_not_there() -> None:
    with pytest.raises(TargetError, match="no function sine_of"):
        address_of("sine_of")
