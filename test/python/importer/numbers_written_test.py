"""Numbers written into tensors: one that the dtype does not hold raises where eager raises, on one artefact."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from ssa_compiler import ProgramError
from ssa_compiler.testing import check


def set_item(x: Tensor, f: float) -> Tensor:
    x[0] = f
    return x


def set_masked(x: Tensor, f: float) -> Tensor:
    x[x > 0] = f
    return x


def filled(x: Tensor, f: float) -> Tensor:
    return x.fill_(f)


def made(x: Tensor, f: float) -> tuple[Tensor, Tensor]:
    return torch.full_like(x, f), x.new_full([2], f)


def made_of_bytes(x: Tensor, f: float) -> tuple[Tensor, Tensor]:
    return x + 1, torch.full([2], f, dtype=torch.uint8)


def masked(x: Tensor, f: float) -> Tensor:
    return x.masked_fill(x > 0, f)


def scattered(x: Tensor, f: float) -> Tensor:
    return x.scatter(0, torch.zeros(1, dtype=torch.long), f)


def padded(x: Tensor, f: float) -> Tensor:
    return torch.nn.functional.pad(x, [1, 0], value=f)


def literals(x: Tensor, f: float) -> tuple[Tensor, Tensor, Tensor]:
    return torch.tensor(f, dtype=x.dtype), torch.tensor([f, 1.0], dtype=x.dtype), torch.as_tensor(f, dtype=x.dtype)


PROGRAMS = [set_item, set_masked, filled, made, made_of_bytes, masked, scattered, padded, literals]
NUMBERS = [1.0, 200.7, math.nan, -1.0, 255.5, 300.0, 7e4, 3e9, 1e19, -1e300, math.inf]


@pytest.mark.parametrize("program", PROGRAMS)
def test_floats(program: object) -> None:
    for dtype in (torch.uint8, torch.int32, torch.int64, torch.float16, torch.float32):
        x = torch.tensor([0, 1, 0, 1]).to(dtype)
        check(program, *[(x, f) for f in NUMBERS], compiled=False)  # type: ignore[arg-type]


def test_compiled() -> None:
    """The numbers that fit are converted as in eager."""
    x = torch.tensor([0, 1, 0, 1], dtype=torch.uint8)
    check(set_item, *[(x, f) for f in NUMBERS], compiled=True)


def scattered_at(x: Tensor, f: float, places: Tensor) -> Tensor:
    return x.scatter(0, places, f)


def test_nothing_written() -> None:
    x = torch.tensor([1, 2], dtype=torch.uint8)
    none = torch.zeros(0, dtype=torch.long)
    calls = [(x, 300.0, none), (x, 3.0, none), (x, -1.0, none)]
    check(scattered_at, *calls, compiled=False)


def constant(x: Tensor) -> Tensor:
    return x.fill_(-1.0)


def test_constants() -> None:
    for dtype in (torch.int8, torch.float32):
        check(constant, (torch.zeros(2).to(dtype),), compiled=False)
    with pytest.raises(ProgramError, match="cannot be converted to type uint8_t without overflow"):
        check(constant, (torch.zeros(2).to(torch.uint8),), compiled=False)
