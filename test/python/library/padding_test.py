"""Padding with a constant by amounts that are dynamic."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch.nn.functional import pad

from ssa_compiler.errors import ProgramError
from ssa_compiler.importer import import_program
from ssa_compiler.testing import check


def to_a_length(x: Tensor, n: int) -> Tensor:
    return pad(x, (0, n - x.shape[0]), value=2.5)


def at_both_ends(x: Tensor, n: int) -> Tensor:
    first = int(x[0, 0]) + n
    return pad(x, [first, 1, -1, n])


def with_number(x: Tensor, n: int, s: float) -> Tensor:
    return pad(x, [n, 0, -1, 1 - n], value=s)


def around(x: Tensor, s: float) -> Tensor:
    return pad(x, [1, 1], value=s)


def sequences(x: Tensor, s: float) -> Tensor:
    return torch.nn.utils.rnn.pad_sequence([x[0], x[1, 1:]], True, s)


@pytest.mark.parametrize("dtype", [torch.int64, torch.int8, torch.uint8, torch.float16, torch.float32])
def test_numbers_that_do_not_fit(dtype: torch.dtype) -> None:
    x = torch.arange(12).view(2, 6).to(dtype)
    infinite, missing = float("inf"), float("nan")
    numbers = [3.0, -0.5, 127.5, 255.5, -300.0, 9.3e18, 1e39, infinite, missing]
    checked = check(around, *[(x, s) for s in numbers], compiled=False)
    assert any(isinstance(error, RuntimeError) for error in checked.errors)
    with pytest.raises(ProgramError, match="without overflow"):
        import_program(sequences, (x, 1e39))
    # Where nothing is added, nobody looks at the number.
    amounts = [1, 0, -1]
    check(with_number, *[(x, n, s) for n in amounts for s in (2.0, 1e39, missing)], compiled=False)
    check(with_number, (x[:, :0], 0, missing), compiled=False)


def in_a_loop(x: Tensor, n: int) -> Tensor:
    result = torch.zeros(x.shape[0] + n, dtype=x.dtype)
    for i in range(n):
        result = result + pad(x, (i, n - i))
    return result


def of_images(x: Tensor, n: int) -> Tensor:
    return pad(x, [n, 1, 0, n]) + 1


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.bool])
@pytest.mark.slow
def test_amounts_that_are_dynamic(dtype: torch.dtype) -> None:
    x = torch.tensor([0, 1, 2, 3, 4]).to(dtype)
    check(to_a_length, *[(x, n) for n in (7, 5, 3, 0, -1, 20)])
    if dtype != torch.bool:
        check(in_a_loop, *[(x, n) for n in (2, 0, 1, 5)])
        rows = torch.arange(12).view(3, 4).to(dtype)
        check(at_both_ends, *[(rows, n) for n in (2, 0, -1, -2, -3, -4, -5, -7, 9)])
        check(at_both_ends, *[(rows.t(), n) for n in (2, 0, -2)])


def test_images() -> None:
    x = torch.arange(24.0).view(1, 2, 3, 4)
    check(of_images, *[(x, n) for n in (2, 0, -1, -3, -4, -6)])
