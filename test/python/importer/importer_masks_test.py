"""Masks of bytes and masks without dimensions as indices, and powers of floats: Python's meaning, not TorchScript's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from ssa_compiler import errors
from ssa_compiler.importer import import_program
from ssa_compiler.testing import check

TRUE, FALSE = torch.tensor(True), torch.tensor(False)


def grid() -> Tensor:
    return torch.arange(12.0).reshape(4, 3)


def mask_bytes(*values: int) -> Tensor:
    return torch.tensor(values, dtype=torch.uint8)


def read(x: Tensor, m: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return x[m], x[:, m], x[0, m]


def assign(x: Tensor, m: Tensor) -> Tensor:
    x[m] = 7.0
    x[1, m] = x[0, m] * 2
    return x * 1


def augment(x: Tensor, m: Tensor) -> Tensor:
    x[m] += 1
    return x * 1


def under_control_flow(x: Tensor, m: Tensor, n: int) -> Tensor:
    for i in range(n):
        if i > 0:
            x[x[i].sum() > 10] += 1
        x[i, m] *= 2
    return x * 1


@pytest.mark.parametrize("function", [read, assign, augment])
def test_masks_without_dimensions(function: Callable[..., Any]) -> None:
    check(function, (grid(), TRUE), (grid(), FALSE))


def test_masks_without_dimensions_under_control_flow() -> None:
    check(under_control_flow, (grid(), TRUE, 3), (grid(), FALSE, 2), (grid(), TRUE, 0), (grid(), TRUE, 1))


def test_bytes_without_dimensions() -> None:
    check(read, (grid(), mask_bytes(1)[0]), (grid(), mask_bytes(0)[0]), (grid(), mask_bytes(5)[0]))


def bytes_read(x: Tensor, m: Tensor) -> tuple[Tensor, Tensor]:
    return x[m], x[m, 1]


def bytes_assign(x: Tensor, m: Tensor) -> Tensor:
    x[m] = torch.ones(3)
    return x * 1


def bytes_augment(x: Tensor, m: Tensor) -> Tensor:
    x[m] *= 7
    return x * 1


@pytest.mark.parametrize("function", [bytes_read, bytes_assign, bytes_augment])
def test_masks_of_bytes(function: Callable[..., Any]) -> None:
    sets = [(grid(), mask_bytes(1, 0, 1, 0)), (grid(), mask_bytes(0, 0, 2, 0))]
    check(function, *sets)
    check(function, *sets, (grid(), mask_bytes(0, 0, 0, 0)), compiled=False)


def bytes_fill(x: Tensor, m: Tensor) -> Tensor:
    x[m] = 7.0
    return x


def bytes_choose(x: Tensor, m: Tensor) -> Tensor:
    return torch.where(m[:3], x, 0.0)


def test_a_number_at_a_mask_of_bytes_raises_as_in_eager() -> None:
    with pytest.raises(RuntimeError, match="only supports boolean masks"):
        bytes_fill(grid(), mask_bytes(1, 0, 1, 0))
    with pytest.raises(errors.ProgramError, match="only supports boolean masks"):
        import_program(bytes_fill, (grid(), mask_bytes(1, 0, 1, 0)))


def test_a_choice_by_a_mask_of_bytes_runs_in_pytorch() -> None:
    """FakeTensors reject it, eager warns."""
    sets = [(grid(), mask_bytes(1, 0, 1, 0)), (grid(), mask_bytes(0, 0, 0, 1))]
    checked = check(bytes_choose, *sets, compiled=True)
    assert [use.op for use in checked.compiled.explain().callbacks] == ["aten::where.ScalarOther"]


def power(a: float, b: float) -> float:
    return a**b


def power_of_int(a: float, n: int) -> tuple[float, float]:
    return a**n, a**2 + a**3.0


def inverse(a: int, x: float) -> tuple[float, float]:
    return a**-1, x**-2


def test_powers() -> None:
    checked = check(power, (2.0, -1.0), (0.0, -1.0), (0.0, 0.0), (0.0, 1.5), (-2.0, 3.0), (-2.0, -3.0))
    assert [type(error) for error in checked.errors].count(ZeroDivisionError) == 1
    check(power_of_int, (0.0, -1), (-3.0, 3), (-3.0, -2), (0.0, 0), (2.0, -1))
    check(inverse, (2, 2.0), (0, 2.0), (2, 0.0), (-1, -0.5))


def fraction(a: float, b: float) -> tuple[float, float, float, bool]:
    return a % 1.0, a % 2.0, a % b, a % 1.0 == 0.0


def test_the_fraction_of_a_float() -> None:
    check(fraction, (2.75, 1.0), (0.5, -1.0), (-0.5, 1.0), (-3.0, 0.5), (1.0, 1.0), (1.9999999, 2.0))


def test_a_complex_power_raises() -> None:
    compiled = check(power, (2.0, 0.5)).compiled
    with pytest.raises(ValueError, match="a negative number to a fractional power is complex"):
        compiled(-2.0, 0.5)


def counted_again(mask: Tensor, x: Tensor) -> tuple[int, int, int]:
    mask = mask.clone()
    rest = mask[1:]
    first = x[mask].size(0)
    mask[0] = False
    second = x[mask].size(0)
    rest.fill_(False)
    return first, second, x[mask].size(0)


def counted_in_a_loop(mask: Tensor, x: Tensor) -> tuple[Tensor, int]:
    mask = mask.clone()
    first = x[mask].size(0)
    counts = torch.zeros(x.size(0))
    for i in range(x.size(0)):
        counts[i] = float(x[mask].size(0))
        mask[i] = False
    return counts, first


def counted_under_a_branch(mask: Tensor, x: Tensor) -> tuple[int, int]:
    mask = mask.clone()
    first = x[mask].size(0)
    if first > 2:
        mask[0] = False
    return first, x[mask].size(0)


@pytest.mark.parametrize("function", [counted_again, counted_in_a_loop, counted_under_a_branch])
def test_a_mask_that_was_written_is_counted_again(function) -> None:  # type: ignore[no-untyped-def]
    mask, x = torch.tensor([True, True, False, True]), torch.arange(4.0)
    for _ in range(2):  # the second time all that the import asks is memoised
        checked = check(function, (mask, x), (mask.logical_not(), x))
        assert checked.errors == [None] * 2
