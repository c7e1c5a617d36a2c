"""Integers that no 32-bit float holds: what IREE computes through floating point is rewritten."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

import ssa_compiler
from ssa_compiler.backend.driver import module_at_work
from ssa_compiler.testing import check


def negated(x: Tensor) -> Tensor:
    return -x


def subtracted_from(x: Tensor) -> Tensor:
    return 7 - x


def subtracted_twice(x: Tensor) -> Tensor:
    return torch.rsub(x, 7, alpha=2)


LARGE = torch.tensor([-(2**24) - 1, 2**24 + 1, -1234567891, 1234567891, 0, -1])


@pytest.mark.parametrize("program", [negated, subtracted_from, subtracted_twice])
@pytest.mark.parametrize("dtype", [torch.int32, torch.int64])
def test_large_integers(program: Callable[[Tensor], Tensor], dtype: torch.dtype) -> None:
    x = LARGE.to(dtype)
    assert check(program, (x,), compiled=True).compiled.explain().callbacks == ()


@pytest.mark.parametrize("program", [negated, subtracted_from])
def test_iree_rounds_them(program: Callable[[Tensor], Tensor], monkeypatch: pytest.MonkeyPatch) -> None:
    """Where this fails, the entry in `op_rewrites` can go."""
    monkeypatch.setattr(module_at_work, "rewrite_ops", lambda module: 0)
    compiled = ssa_compiler.compile(program, (LARGE,))
    assert not torch.equal(compiled(LARGE), program(LARGE))


QUOTIENTS = torch.tensor([-7, -6, -1, 0, 1, 6, 2**33 + 1, -(2**53) - 5, 2**60 + 1, 2**63 - 1, -(2**63), -(2**63) + 1])


def divided(x: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    return x // 3, x // -3, x // 1, x // -1, torch.div(x, 2**40 + 1, rounding_mode="floor")


def divided_by_halves(x: Tensor) -> tuple[Tensor, Tensor]:
    return x // 2, x // -(2**62)


@pytest.mark.parametrize("program", [divided, divided_by_halves])
def test_floor_division_by_a_constant_is_exact(program: Callable[[Tensor], tuple[Tensor, ...]]) -> None:
    checked = check(program, (QUOTIENTS,), (QUOTIENTS + 1,), (QUOTIENTS.flip(0),), compiled=True)
    assert checked.compiled.explain().callbacks == ()


def divided_by_numbers(x: Tensor, y: Tensor, n: int) -> list[Tensor]:
    truncated = [torch.div(x, n, rounding_mode="trunc"), torch.div(x, y, rounding_mode="trunc")]
    return truncated + [x // n, x // y, torch.fmod(x, n), x.fmod(y), x % n]  # noqa: RUF005 - TorchScript knows no other way


def test_division_by_numbers_known_at_run_time_is_exact() -> None:
    x, y = QUOTIENTS[QUOTIENTS != 0], torch.tensor([[3], [-3], [2**40 + 1], [-(2**62)], [1]])
    numbers = (7, -7, 1, 2**53 + 1, -(2**63))
    checked = check(divided_by_numbers, *((x, y, n) for n in numbers), (x, y * 0 - 2, 5), compiled=True)
    assert checked.compiled.explain().callbacks == ()
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        checked.compiled(x, y, 0)
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        checked.compiled(x, y // 5, 1)
    # Eager ends the process for these; here they wrap around.
    checked.compiled(x, y * 0 - 1, -1)


def one_row_after_the_other(x: Tensor, y: Tensor, n: int) -> Tensor:
    out = x.clone()
    for i in range(n):
        out[i] = out[i] // y[i] + out[i] % y[i]
        out[:, int(y[i]) % 3] += i
    return out


def test_divisions_that_run_before_their_check_do_not_end_the_process() -> None:
    x, y = torch.arange(12).reshape(4, 3), torch.tensor([3, -2, 1, 5])
    checked = check(one_row_after_the_other, (x, y, 4), compiled=True)
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        checked.compiled(x, torch.tensor([0, 1, 2, 3]), 4)


def shifted(x: Tensor, y: Tensor, n: int) -> list[Tensor]:
    k = torch.tensor(n)
    z = x.clone()
    z <<= n
    found = [x << n, x >> n, z, torch.bitwise_left_shift(x, k), torch.bitwise_right_shift(x, k)]
    return found + [torch.bitwise_left_shift(x, y), torch.bitwise_right_shift(x, y)]  # noqa: RUF005


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.int8, torch.uint8])
def test_shifts_by_no_number_of_bits(dtype: torch.dtype) -> None:
    x = torch.tensor([7, -7, 1, -128, 100]).to(dtype)
    y = torch.tensor([-1, 8, 64, -128, 1]).to(dtype)
    checked = check(shifted, *((x, y, n) for n in (1, 7, 8, 32, 64, 2**32, -1, -64, -(2**63))), compiled=True)
    assert checked.compiled.explain().callbacks == ()


def checked_behind_an_update(flags: Tensor, n: int, divisor: int) -> tuple[int, int]:
    if n > 4:
        raise ValueError(f"not {divisor} so")
    flags.index_fill_(0, torch.tensor([4, 2]), True)
    return n // divisor, n % divisor


def test_what_is_divided_before_its_check_traps_not() -> None:
    """The check waits for the update in front of it, and the division waits for neither."""
    check(
        checked_behind_an_update, *((torch.zeros(5) > 0, n, k) for n, k in ((1, 3), (1, 0), (5, 0), (-7, -1), (3, -2)))
    )
