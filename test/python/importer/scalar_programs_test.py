"""Programs on numbers, strings, devices and dtypes, with Python's semantics."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import Tensor

from _imported import assert_equal_to_eager
from ssa_compiler.testing import check

X = torch.arange(6.0)


def integers(x: Tensor, a: int, b: int) -> tuple[int, int, int, int, int, float, int, int]:
    return a + b, a - b, a * b, a // b, a % b, a / b, -a, abs(a)


def floats(x: Tensor, a: float, b: float) -> tuple[float, float, float, float, float]:
    return a + b, a // b, a % b, a / b, abs(a)


def mixed(x: Tensor, a: int, b: float) -> tuple[float, float, bool, bool, float, float]:
    return a // b, b % a, a < b, a == b, min(float(a), b), max(float(a), b)


def power(x: Tensor, a: int, b: int):  # TorchScript has another type for the result
    return a**b


def known_powers(x: Tensor, a: int):  # TorchScript has another type for the result
    return a**2, 2**3, a**0, 2.0**a, a**2.5


def rounding(x: Tensor, a: float):  # TorchScript has another type for the result
    return round(a), int(a), math.floor(a), math.ceil(a)


def functions(x: Tensor, a: float) -> tuple[float, float, float, float, float, float, float]:
    return math.sqrt(a), math.exp(a), math.log(a), math.sin(a), math.tanh(a), math.pow(a, 2.0), math.fabs(a)


def further_functions(x: Tensor, a: float) -> tuple[float, float, float, float, float]:
    return math.asin(a), math.atan2(a, 2.0), math.erf(a), math.lgamma(a), math.copysign(a, -1.0)


def classes(x: Tensor, a: float) -> tuple[bool, bool, bool]:
    return math.isnan(a), math.isinf(a), math.isfinite(a)


def bits(x: Tensor, a: int, b: int):  # TorchScript has another type for the result
    return a & b, a | b, a ^ b, a << 2, a >> 1


def extremes(x: Tensor, a: int, b: int) -> tuple[int, int, int, int]:
    return min(a, b), max(a, min(b, 3)), min([a, b, 3]), sum([a, b])


def quotient_and_rest(x: Tensor, a: int, b: int) -> tuple[int, int]:
    return divmod(a, b)


def activation(x: Tensor, name: str) -> Tensor:
    if name == "relu":
        return x.relu()
    if name != "tanh" and name in ["sigmoid"]:
        return x.sigmoid()
    return x.tanh()


def devices_and_dtypes(x: Tensor) -> Tensor:
    if x.device == torch.device("cpu") and x.dtype == torch.float32 and not x.is_cuda:
        return torch.zeros(3, device=x.device, dtype=x.dtype)
    return x


def refined(x: Tensor, y: Tensor | None, n: int | None) -> Tensor:
    if y is None:
        y = torch.ones_like(x)
    if n is not None and isinstance(n, int):
        y = y * n
    return x + y


@pytest.mark.parametrize(
    ("program", "calls"),
    [
        (integers, [(5, 3), (-5, 3), (5, -3), (-7, 2), (3, 0)]),
        (floats, [(5.5, 3.25), (-5.5, 2.0), (5.0, -2.5), (1.0, 0.0)]),
        (mixed, [(5, 2.5), (-5, 2.5)]),
        (power, [(2, 3), (3, 0), (-2, 5), (7, 1), (-3, 39), (1, 1000), (-1, 1001), (0, 64), (2, 62), (-2, 63)]),
        (known_powers, [(2,), (3,)]),
        (rounding, [(2.7,), (-2.7,), (2.5,), (3.5,), (-0.5,)]),
        (functions, [(0.7,), (1.3,)]),
        (further_functions, [(0.7,), (0.3,)]),
        (classes, [(0.7,), (math.inf,), (-math.inf,), (math.nan,)]),
        (bits, [(12, 10), (-7, 3)]),
        (extremes, [(3, 4), (9, 2)]),
        (quotient_and_rest, [(7, 2), (-7, 2), (7, -2), (7, 0)]),
        (devices_and_dtypes, [()]),
        (refined, [(None, 3)]),
        (refined, [(X, None)]),
        *((activation, [(name,)]) for name in ("relu", "sigmoid", "other")),
    ],
)
def test_equal_to_python(program: Any, calls: list[tuple[Any, ...]]) -> None:
    assert_equal_to_eager(program, *((X, *call) for call in calls))


@pytest.mark.parametrize(
    ("base", "exponent", "kind"), [(2, -1, ValueError), (2, 64, RuntimeError), (3, 1 << 40, RuntimeError)]
)
def test_powers_that_are_no_64_bit_ints_raise(base: int, exponent: int, kind: type[Exception]) -> None:
    from ssa_compiler.importer import import_program
    from ssa_compiler.testing import interpret

    program = import_program(power, (X, 2, 3), {})
    with pytest.raises(kind, match=r"does not fit|negative exponent"):
        interpret(program.module, X, base, exponent)


def prints(x: Tensor, n: int) -> Tensor:
    y = x.clone()
    for i in range(n):
        y += 1
        print("step", i, y.sum())
    return y


def test_prints_at_run_time_in_order(capfd: pytest.CaptureFixture[str]) -> None:
    checked = check(prints, (X, 0))
    capfd.readouterr()
    checked.compiled(X, 2)
    assert capfd.readouterr().out == "step 0 tensor(21.)\nstep 1 tensor(27.)\n"
