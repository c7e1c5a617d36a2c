"""index_add, index_copy and index_reduce: the sizes of the source have to fit, and FakeTensors do not ask."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from ssa_compiler.testing import check, check_auto_sizes


def added(x: Tensor, index: Tensor, source: Tensor) -> Tensor:
    return x.index_add(0, index, source)


def copied(x: Tensor, index: Tensor, source: Tensor) -> Tensor:
    return x.index_copy(-2, index, source)


def reduced(x: Tensor, index: Tensor, source: Tensor) -> Tensor:
    return x.index_reduce(0, index, source, "amax")


INDEX = torch.tensor([4, 0])
SIZES = [
    ((5, 2), INDEX, (2, 2)),
    ((6, 3), INDEX, (2, 3)),
    ((6, 3), INDEX, (2, 2)),
    ((6, 3), INDEX, (2, 1)),
    ((6, 1), INDEX, (2, 2)),
    ((6, 3), INDEX, (1, 3)),
    ((6, 3), INDEX, (3, 2)),
    ((6, 3), INDEX[:1], (2, 3)),
    ((6, 0), INDEX, (2, 2)),
    ((6, 2), INDEX[:0], (0, 2)),
]


@pytest.mark.filterwarnings("ignore:index_reduce.. is in beta")
@pytest.mark.parametrize("program", [added, copied, reduced])
def test_sizes_that_do_not_fit_raise(program: Callable[..., Tensor]) -> None:
    """The compiled program would read beyond the source, or leave some of the tensor as it is."""
    calls = [(torch.rand(size), index, torch.rand(source)) for size, index, source in SIZES]
    assert check_auto_sizes(program, *calls).raised == 7


def from_part(x: Tensor, n: int) -> Tensor:
    return x.index_add(0, torch.tensor([3, 0]), x[:n])


def test_sizes_that_numbers_decide_are_checked_at_run_time() -> None:
    errors = check(from_part, *[(torch.rand(5, 2), n) for n in (2, 3, 1, 0, -3, 9)]).errors
    assert [error is not None for error in errors] == [False, True, True, True, False, True]
