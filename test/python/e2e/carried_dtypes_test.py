"""Tensors of dtypes that IREE does not compute with: ops on them run in PyTorch, the rest of the program is
compiled.
"""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

import ssa_compiler
from ssa_compiler.errors import UnsupportedOpError
from ssa_compiler.testing import check

UNSIGNED = [torch.uint16, torch.uint32, torch.uint64]
FLOAT8 = [torch.float8_e5m2, torch.float8_e4m3fn, torch.float8_e5m2fnuz, torch.float8_e8m0fnu]


def rows(x: Tensor, n: int) -> tuple[Tensor, Tensor, Tensor]:
    y = x.clone()
    for i in range(n):
        y[i] = x[i] * 2 | 3
    if n > 1:
        y[0] = 7
    x[1] = y[0]
    return y, x * y, y.to(torch.float32) * 2


@pytest.mark.parametrize("dtype", UNSIGNED)
def test_unsigned_integers_in_a_loop(dtype: torch.dtype) -> None:
    largest = torch.iinfo(dtype).max
    x = torch.tensor([largest, largest - 1, 5, 0, largest // 2 + 1], dtype=dtype)
    assert check(rows, *[(x, n) for n in (0, 1, 2, 5)]).compiled.explain().callbacks != ()


def doubled(x: Tensor, n: int) -> Tensor:
    i = 0
    while i < n:
        x = torch.cat([x, x])
        i += 1
    return x


@pytest.mark.parametrize("dtype", [torch.uint64, torch.complex32, torch.float8_e4m3fn])
def test_a_loop_that_changes_the_size(dtype: torch.dtype) -> None:
    check(doubled, *[(torch.ones(2).to(dtype), n) for n in (0, 1, 2, 3)])


class Scaled(nn.Module):
    """A linear layer whose weights are kept in eight bits."""

    def __init__(self, dtype: torch.dtype) -> None:
        super().__init__()
        self.register_buffer("weight", torch.linspace(-1, 1, 16).view(4, 4).to(dtype))
        self.register_buffer("scale", torch.tensor(0.5))
        self.register_buffer("count", torch.tensor([1, 2**63 + 1], dtype=torch.uint64))

    def forward(self, x: Tensor, n: int) -> tuple[Tensor, Tensor]:
        for _ in range(n):
            x = x @ (self.weight.to(torch.float32) * self.scale)
        self.count[0] = 3
        return x, x.to(self.weight.dtype)


@pytest.mark.parametrize("dtype", FLOAT8)
def test_parameters_of_eight_bits(dtype: torch.dtype) -> None:
    checked = check(Scaled(dtype), *[(torch.linspace(0, 1, 8).view(2, 4), n) for n in (0, 1, 2, 5)])
    callbacks = {callback.op for callback in checked.compiled.explain().callbacks}
    assert not any("matmul" in op or "mm" in op for op in callbacks)


def halves(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    z = torch.complex(a, b)
    return z * 2, torch.view_as_real(z), z.clone()


def test_complex_numbers_of_half_precision() -> None:
    check(halves, (torch.tensor([1.0, -2.0, 0.5]).half(), torch.tensor([0.25, 4.0, -1.0]).half()))


def constants(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    table = torch.tensor([1, 70000]).to(torch.uint32)
    return table, torch.full([2], 5, dtype=torch.uint16), x + table.to(torch.int64)


def test_constants() -> None:
    check(constants, (torch.tensor([3, 4]),))


class Table(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.table = torch.tensor([2**64 - 1, 2**63], dtype=torch.uint64)

    def forward(self, at: Tensor) -> Tensor:
        return self.table[at]


def test_tables() -> None:
    check(Table(), (torch.tensor([1, 0, 1]),))


def parts(x: Tensor, on: bool) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    y = x[1:]
    if on:
        y.copy_(x[:-1].clone())
    return y, x.t().contiguous(), x[x.to(torch.int64) > 2], x.sum()


@pytest.mark.parametrize("dtype", UNSIGNED)
@pytest.mark.parametrize("size", [0, 1, 3])
def test_views_and_sizes_known_at_run_time(dtype: torch.dtype, size: int) -> None:
    x = torch.arange(3 * size).view(size, 3).to(dtype)
    check(parts, (x, True), (x.flip(0), False))


def test_strict_rejects_them() -> None:
    with pytest.raises(UnsupportedOpError, match="IREE has no such dtype"):
        ssa_compiler.compile(constants, (torch.tensor([3, 4]),), strict=True)
