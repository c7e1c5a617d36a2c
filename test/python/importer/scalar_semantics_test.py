"""Programs in which TorchScript, MLIR or IREE would compute something else of numbers than Python."""

import math
from typing import Any

import pytest
import torch
from torch import Tensor

import ssa_compiler
from ssa_compiler.testing import check

_library = torch.library.Library("scalar_semantics", "DEF")
for _schema, _function in (
    ("gcd(int a, int b) -> int", lambda a, b: 100 * a + b),
    ("select(int a) -> int", lambda a: a + 7),
    ("neg(float a) -> float", lambda a: a + 0.5),
    ("pow(float a, int b, *, float c=1.0) -> float", lambda a, b, c=1.0: a + b + c),
):
    _library.define(_schema)
    _library.impl(_schema.partition("(")[0], _function, "CompositeExplicitAutograd")


@torch.jit.ignore
def sqrt(v: float) -> float:
    return v + 1000.0


def of_the_user(x: Tensor, a: int, u: float):  # TorchScript has another type for the result
    op = torch.ops.scalar_semantics
    return op.gcd(a, 4), op.gcd(6, 4), op.select(a), op.neg(u), op.pow(u, a, c=2.0), sqrt(u), x + op.neg(u)


def augmented(x: Tensor, a: int, u: float):  # as above
    x = x.clone()
    y = x[1:]
    u %= 2.5
    a %= 3
    y %= 2
    x[0] %= 0.75
    numbers = [5, 6]
    numbers[0] %= 3
    return a, u, x, numbers


def until_larger(x: Tensor, tolerance: float) -> int:
    n = 0
    while not float(x.max()) > tolerance and n < 5:
        x = x + 1
        n += 1
    return n


def compensated_sum(x: Tensor) -> tuple[float, Tensor]:
    total = 0.0
    lost = 0.0
    for i in range(x.size(0)):
        y = float(x[i]) - lost
        t = total + y
        lost = (t - total) - y
        total = t
    return total, x + total


def polynomial(x: Tensor, u: float, v: float) -> tuple[float, Tensor, Tensor]:
    z = u * v + u
    for _ in range(3):
        z = z * u + v
    return z, x * z, x + (u * v - v)


def comparisons(x: Tensor, y: Tensor, n: int) -> float:
    s = 0.0
    for i in range(n):
        b = int(x[i] < y[i]) % 1000
        s += float(b)
    return s


def unused_errors(u: float, n: int) -> float:
    w = 0
    while w < n and not u <= 1.0:
        w += 1
        u = u * 0.5
        math.acos(abs(u) + 2.0)
    return u


def converted(a: int, u: float) -> tuple[float, float]:
    return float(a**2), float(max(a, u))


def all_of_them(x: Tensor, a: int, u: float, v: float, n: int):  # as above
    return (
        of_the_user(x, a, u),
        augmented(x, a, u),
        until_larger(x, v),
        compensated_sum(x),
        polynomial(x, u, v),
        comparisons(x, x.flip(0), n),
        converted(a, u),
        unused_errors(u, n),
    )


def test_programs() -> None:
    x = torch.tensor([0.1, 1e16, 2.5, -1e16, 0.7], dtype=torch.float64)
    small = torch.linspace(-1.7, 1.3, 5, dtype=torch.float64)
    check(
        all_of_them,
        (x, 7, 0.3, 1.7, 5),
        (small, -7, -0.1, math.nan, 0),
        (small * math.nan, 2, 0.9, 2.5, 1),
        (x, 3, 2.5, 1.0, 2),  # math.acos raises
        rtol=0,
        atol=0,
    )


def stores(x: Tensor, n: int) -> Tensor:
    b = torch.zeros(3, dtype=torch.uint8)
    if n > 2:
        b[1] = 300.7
    return b + x


def of_numbers(u: float) -> Tensor:
    return torch.tensor(u)


@pytest.mark.parametrize(
    ("program", "calls"),
    [
        (stores, [(torch.ones(3, dtype=torch.uint8), 1), (torch.ones(3, dtype=torch.uint8), 3)]),
        (of_numbers, [(2.5,), (1e300,), (-math.inf,)]),
    ],
)
def test_numbers_in_tensors(program: Any, calls: list[Any]) -> None:
    check(program, *calls, compiled=False)


def larger(x: Tensor, a: int, u: float) -> Tensor:
    return x * max(a, u)


def test_the_larger_of_an_int_and_a_float_has_its_own_type() -> None:
    x = torch.arange(3)
    compiled = ssa_compiler.compile(larger, (x, 3, 2.5))
    for a, u in ((3, 2.5), (2, 2.5)):
        assert torch.equal(compiled(x, a, u), larger(x, a, u))
        assert compiled(x, a, u).dtype == larger(x, a, u).dtype


def larger_of_bools(flag: bool, other: bool):  # type: ignore[no-untyped-def]
    return min(True, flag), max(flag, other), max(False, True), min(True, 2.0), abs(flag), round(True)


def test_the_larger_of_two_bools_is_one() -> None:
    check(larger_of_bools, (True, False), (False, True), (False, False), (True, True), compiled=False)


def bools(x: Tensor, n: int):  # type: ignore[no-untyped-def]
    flag = True
    other: bool = False
    w = flag**2 if n > 0 else other**3
    return w, round(flag), torch.full((2,), flag), -flag


def test_bools_in_variables_are_bools() -> None:
    check(bools, (torch.ones(2), 1), (torch.ones(2), 0), compiled=False)
