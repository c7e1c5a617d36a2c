"""Constant tensors, on which torch-mlir computes while it compiles, partly wrongly."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

import ssa_compiler
from ssa_compiler.backend.driver import compilation
from ssa_compiler.testing import check


def remainder(x: Tensor) -> tuple[Tensor, Tensor]:
    y = torch.full_like(x, -3)
    return y % 5, x.new_full([2], -3) % 5


def remainder_of_what_a_mask_fills(x: Tensor) -> Tensor:
    x[torch.full([4], True, dtype=torch.bool)] = -3
    return x % 5


def floor_division(x: Tensor) -> Tensor:
    return torch.full_like(x, -3) // torch.full_like(x, 5)


def floor_division_by_a_number(x: Tensor) -> Tensor:
    return torch.full_like(x, -3) // 5


def literal(x: Tensor) -> tuple[Tensor, Tensor]:
    y = torch.tensor([-3, 4, -8], dtype=torch.int32)
    return y % 5, torch.tensor(-3) % 5


def filled(x: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Numbers that an element type rounds, cuts or has a bit pattern for."""
    inf = torch.full([2], float("inf")) * torch.ones([2])
    byte = torch.full([2], 200, dtype=torch.uint8) + torch.ones([2], dtype=torch.uint8)
    return inf, byte, torch.full([2], 0.1, dtype=torch.float16) * 2, torch.zeros([0, 3]) + 1


INPUT = torch.tensor([-3, 4, -8, 7])
PROGRAMS = [remainder, remainder_of_what_a_mask_fills, floor_division, floor_division_by_a_number, literal, filled]


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.int8, torch.float32])
def test_equals_eager(program: Callable[[Tensor], object], dtype: torch.dtype) -> None:
    check(program, (INPUT.to(dtype),), compiled=True)


@pytest.mark.parametrize(("program", "dtype"), [(remainder, torch.int64), (remainder, torch.int32)])
def test_torch_mlir_folds_wrongly(
    program: Callable[[Tensor], object], dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where this fails, `constants` can go."""
    monkeypatch.setattr(compilation, "hide_constants", lambda module: 0)
    with pytest.raises(AssertionError, match="elements differ"):
        check(program, (INPUT.to(dtype),), compiled=True)


def test_a_fill_is_no_kernel_of_its_own() -> None:
    def dispatches(program: Callable[[Tensor], Tensor]) -> int:
        return ssa_compiler.compile(program, (torch.rand(4),)).artifact.stream.count('"stream.async.dispatch"')

    assert dispatches(scaled_by_ones) == dispatches(scaled)


def scaled(x: Tensor) -> Tensor:
    return x * 2


def scaled_by_ones(x: Tensor) -> Tensor:
    return x * (torch.ones([4]) + torch.ones_like(x))
