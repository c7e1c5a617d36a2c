"""Integers of 8 to 32 bits: what is extended has its sign, what does not fit wraps or is rejected, nothing is divided
by 0.
"""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from ssa_compiler import ProgramError
from ssa_compiler.testing import check

NARROW = [torch.uint8, torch.int8, torch.int16, torch.int32]


def numbers(dtype: torch.dtype) -> list[Tensor]:
    """Small numbers, and those at the ends of the dtype."""
    limits = torch.iinfo(dtype)
    ends = [[limits.min, limits.max, 0], [1, limits.max - 1, limits.max]]
    return [torch.tensor([[100, 200, 3], [4, 90, 250]]).to(dtype), torch.tensor(ends, dtype=dtype)]


def reduced(x: Tensor) -> list[Tensor]:
    sums = [x.sum(), x.sum(0), x.sum(1, keepdim=True), x.sum(dtype=torch.int32), x.sum(dtype=torch.float32)]
    return sums + [x.prod(0), x.cumsum(0), torch.mean(x, dtype=torch.float32), x.argmax(), x.amax(0), x.count_nonzero()]  # noqa: RUF005 - TorchScript


def quotients(x: Tensor) -> list[Tensor]:
    return [x / 3, x / x.clamp(min=1), x // 3, x % 7, torch.true_divide(x, 7), x.sqrt(), x.float() * 0.5, x * 2.5]


def compared(x: Tensor) -> list[Tensor]:
    y = x.flip(1)
    return [x == 200, x < 200, x >= -1, x == y, x > y, x != 70000, x == 2.5, x < 99.5, x == x.long(), x < x.float()]


def mixed(x: Tensor) -> list[Tensor]:
    return [x + x.long(), x * x.int(), torch.where(x > 3, x, x.long()), x - x.half(), torch.maximum(x, x.long())]


@pytest.mark.parametrize("program", [reduced, quotients, compared, mixed])
@pytest.mark.parametrize("dtype", [torch.uint8, torch.int16])
def test_computed_in_another_dtype(program: object, dtype: torch.dtype) -> None:
    check(program, *[(x,) for x in numbers(dtype)], compiled=True)  # type: ignore[arg-type]


def read(x: Tensor) -> tuple[float, int, float, bool, int]:
    return float(x[0, 1]), int(x[0, 1]), x[1, 2].item() * 0.5, bool(x[0, 1] > 3), int(x.sum())


@pytest.mark.parametrize("dtype", [*NARROW, torch.int64])
def test_numbers_of_elements(dtype: torch.dtype) -> None:
    check(read, *[(x,) for x in numbers(dtype)[:1]], compiled=True)


def compared_with(x: Tensor, n: int) -> list[Tensor]:
    return [x == n, x < n, x >= n, x + n, n - x, x & n, x == torch.tensor(n), torch.tensor(n) < x]


def filled_with(x: Tensor, n: int) -> tuple[Tensor, Tensor]:
    return x.masked_fill(x > 3, n), torch.full_like(x, n)


def bounded_by(x: Tensor, n: int) -> Tensor:
    return x.clamp(max=n)


def chosen(x: Tensor, n: int) -> Tensor:
    return torch.where(x > 3, x, n)


@pytest.mark.parametrize("program", [compared_with, filled_with, bounded_by, chosen])
@pytest.mark.parametrize("dtype", [torch.uint8, torch.int32])
def test_numbers_that_do_not_fit(program: object, dtype: torch.dtype) -> None:
    """One artefact: eager takes some modulo the dtype's, and raises for others."""
    given = [3, 200, -1, 256, 1 << 31, (1 << 40) + 3, -(1 << 63)]
    check(program, *[(numbers(dtype)[1], n) for n in given], compiled=True)  # type: ignore[arg-type]


def filled_with_a_constant(x: Tensor) -> Tensor:
    return x.masked_fill(x > 3, 300)


def minus_infinity(x: Tensor, f: float) -> tuple[Tensor, Tensor]:
    return x.masked_fill(x > 0, f), x + f


def test_constants_that_do_not_fit() -> None:
    with pytest.raises(ProgramError, match="cannot be converted to type uint8_t without overflow"):
        check(filled_with_a_constant, (torch.tensor([1, 5], dtype=torch.uint8),))
    for dtype in (torch.float16, torch.bfloat16, torch.float32):
        x = torch.tensor([1.0, -2.0], dtype=dtype)
        check(minus_infinity, *[(x, f) for f in (0.5, -1e4, -1e9, 1e300, -float("inf"))], compiled=True)


def divided(x: Tensor, y: Tensor) -> list[Tensor]:
    return [x // y, torch.div(x, y, rounding_mode="trunc")]


def remaining(x: Tensor, y: Tensor) -> list[Tensor]:
    z = x.clone()
    z %= y
    return [x % y, torch.fmod(x, y), z]


def divided_by(x: Tensor, n: int) -> Tensor:
    y = x.clone()
    y //= n
    return y + x % n


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int32, torch.int64])
def test_division_by_zero(dtype: torch.dtype) -> None:
    x = torch.tensor([1, 7, 100]).to(dtype)
    divisors = [torch.tensor(y).to(dtype) for y in ([1, 2, 3], [0, 1, 2], [1, 1, 0], [0, 0, 0])]
    check(divided, *[(x, y) for y in divisors], compiled=True)
    check(divided, (x[:0], x[:0]), compiled=True)
    check(remaining, *[(x, y) for y in divisors], compiled=True)
    check(divided_by, *[(x, n) for n in (1, 0, 3)], compiled=True)


def zeros_in_a_loop(x: Tensor, n: int) -> Tensor:
    for i in range(n):
        x[i] = x[i] // (x[i] - 3)
    return x


def test_division_by_zero_in_a_loop() -> None:
    check(zeros_in_a_loop, *[(torch.tensor([7, 8, 3, 9]), n) for n in (0, 1, 2, 3, 4)], compiled=True)


def of_bytes(x: Tensor, y: Tensor) -> list[Tensor]:
    pointwise = [
        x.abs(),
        x.sign(),
        x % y,
        torch.fmod(x, y),
        x // y,
        x >> 2,
        x.clamp(max=y),
        torch.bitwise_right_shift(x, y % 8),
    ]
    return pointwise + [torch.maximum(x, y), x.amax(1), x.sort(1)[0], torch.cat([x, y.int()]), x + y.half()]  # noqa: RUF005 - TorchScript


def combined(x: Tensor, y: Tensor) -> list[Tensor]:
    places = y.long() % 3
    kinds = [
        x.scatter_reduce(1, places, x, "amax"),
        x.scatter_reduce(1, places, x, "sum"),
        x.scatter_reduce(1, places, x, "mean"),
    ]
    return kinds + [x.scatter_reduce(1, places, x, "amin"), x.scatter_add(1, places, y)]  # noqa: RUF005 - TorchScript


@pytest.mark.parametrize("program", [of_bytes, combined])
def test_bytes_have_no_sign(program: object) -> None:
    x = torch.tensor([[100, 200, 3], [4, 90, 250], [128, 255, 127]], dtype=torch.uint8)
    y = torch.tensor([[7, 130, 3], [250, 1, 9], [129, 255, 2]], dtype=torch.uint8)
    check(program, (x, y), (y, x), compiled=True)  # type: ignore[arg-type]


def as_complex(m: Tensor, z: Tensor) -> list[Tensor]:
    y = z.clone()
    y[0] = True
    y.copy_(m)
    return [m.to(torch.complex64), z * m, z + m, y, z.clone().fill_(True), torch.stack([z, m.to(z.dtype)])]


@pytest.mark.parametrize("dtype", [torch.bool, torch.uint8, torch.int8, torch.int64])
def test_as_complex_numbers(dtype: torch.dtype) -> None:
    check(as_complex, (torch.tensor([1, 3, 200]).to(dtype), torch.tensor([1 + 2j, 0.5j, -1])), compiled=True)


def weighed(x: Tensor, w: Tensor, y: Tensor) -> list[Tensor]:
    return [torch.bincount(x, w), torch.bincount(x, w.double(), minlength=5), torch.bincount(x), x.sum(dtype=w.dtype)]


def of_signed(x: Tensor, w: Tensor, y: Tensor) -> list[Tensor]:
    z = y.to(torch.int8)
    return [y**x, torch.clamp(y, x), z**x, torch.clamp(z, x), torch.clamp(x, max=z), x // (z + 5), z % x, x * z, y - x]


def test_bytes_and_another_dtype() -> None:
    """What runs in PyTorch gets integers as they were, and none that are wider than the result."""
    given = [torch.tensor([1, 1, 200]), torch.tensor([0.5, 2.0, 3.0]), torch.tensor([-2, 3, 4], dtype=torch.int16)]
    x, w, y = given[0].to(torch.uint8), given[1], given[2]
    for program in (weighed, of_signed):
        check(program, (x, w, y), (x.flip(0), w, y.flip(0)), compiled=True)


def narrowed(x: Tensor) -> list[Tensor]:
    stored = torch.zeros(2, 4, dtype=torch.int8)
    stored[0] = x
    return [x.to(torch.int16), x.byte(), stored, x.sum(dtype=torch.int16)]


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32])
def test_floats_that_narrow_integers_do_not_hold(dtype: torch.dtype) -> None:
    """As many as a register holds: what LLVM makes of these saturates."""
    inf, nan = float("inf"), float("nan")
    rows = ([1.0, 2.0, 3.0, -4.0], [40000.0, -40000.0, inf, nan], [300.0, -300.0, 200.0, 65504.0])
    for kernels in (True, False):
        check(narrowed, *((torch.tensor(row, dtype=dtype),) for row in rows), options={"kernels": kernels})


def _with_numbers(y: torch.Tensor, n: int) -> list[torch.Tensor]:
    """What programs do to images: none of it may be left to PyTorch."""
    filled = y.clone()
    filled.fill_(n)
    return [
        y * 2,
        y * n,
        y * 300,
        y - 2,
        y - n,
        2 - y,
        -y,
        y // 2,
        y % 3,
        filled,
        y.max(),
        y.min(),
        y.clone().add_(1).mul_(3),
    ]


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8])
@pytest.mark.slow
def test_bytes_and_numbers(dtype: torch.dtype) -> None:
    y = torch.tensor([0, 1, 3, 100, 127, -128, -1]).to(dtype)
    for n in (3, 0, -1, 255, 1000):
        made = check(_with_numbers, (y, n))
        assert not made.compiled.explain().callbacks
