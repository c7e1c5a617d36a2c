"""Ops that are imported as programs of the library: sorting. Values and order are those of eager, compiled without
callbacks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

import ssa_compiler
from ssa_compiler.testing import check


def stable(x: Tensor) -> tuple[Tensor, Tensor]:
    return torch.sort(x, stable=True)


def stable_down(x: Tensor) -> tuple[Tensor, Tensor]:
    return torch.sort(x, dim=0, descending=True, stable=True)


def order(x: Tensor) -> Tensor:
    return torch.argsort(x, dim=-1, stable=True)


def sort_what_is_found(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    y = x[x > 0]
    values, places = y.sort(descending=True, stable=True)
    return values, places, y[places]


def native(function: Callable[..., Any], *inputs: tuple[Any, ...]) -> None:
    """Check a program, and that none of it runs in PyTorch."""
    compiled = check(function, *inputs, compiled=True).compiled
    assert compiled.explain().callbacks == ()


NAN, INF = float("nan"), float("inf")
SPECIAL = torch.tensor([1.0, NAN, -0.0, 0.0, INF, -INF, NAN, 1.0, -1.0e-42, -3.5])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16])
def test_floats(dtype: torch.dtype) -> None:
    native(stable, (SPECIAL.to(dtype),))
    native(stable_down, (SPECIAL.to(dtype),))


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.int8, torch.uint8, torch.bool])
def test_integers(dtype: torch.dtype) -> None:
    x = torch.tensor([[3, 0], [1, 7], [3, 1], [0, 0]]).to(dtype)
    native(stable, (x,))
    native(stable_down, (x,))


def test_extreme_integers() -> None:
    low, high = torch.iinfo(torch.int64).min, torch.iinfo(torch.int64).max
    native(stable_down, (torch.tensor([low, high, 0, -1, low + 1, 2**53 + 1, 2**53]),))


@pytest.mark.parametrize("shape", [(), (1,), (0,), (3, 0), (2, 3, 4)])
def test_shapes(shape: tuple[int, ...]) -> None:
    native(order, (torch.randn(shape),))


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64])
def test_many_elements(dtype: torch.dtype) -> None:
    """More than are compared each with each; with equal ones, whose order must stay."""
    torch.manual_seed(0)
    native(stable, ((torch.randn(2, 1500) * 300).to(dtype),))


def test_sizes_known_at_run_time_only() -> None:
    x = torch.linspace(-1.0, 2.0, 9)
    native(sort_what_is_found, (x,), (-x.abs(),), (x.abs() + 1.0,))


def largest(x: Tensor) -> tuple[Tensor, Tensor]:
    return torch.topk(x, 3)


def smallest(x: Tensor) -> tuple[Tensor, Tensor]:
    return torch.topk(x, 3, dim=0, largest=False)


def best(x: Tensor) -> tuple[Tensor, Tensor]:
    return torch.topk(x, 1)


def best_of_chosen(x: Tensor, k: int) -> tuple[Tensor, Tensor]:
    y = x[x > 0]
    return y.topk(min(k, y.shape[0]))


def test_topk() -> None:
    """No two elements are equal: eager takes any of equal ones."""
    x = torch.randperm(60).view(6, 10)
    native(largest, (x.float() - 30,))
    native(smallest, (x,))
    native(best, (x.double(),))
    native(largest, (torch.tensor([1.0, NAN, -INF, INF, 2.0]),))


def largest_of_many(x: Tensor) -> tuple[Tensor, Tensor]:
    return torch.topk(x, 20)


@pytest.mark.parametrize("program", [largest, largest_of_many])
@pytest.mark.parametrize("dtype", [torch.float32, torch.int64])
def test_topk_of_many(program: Callable[[Tensor], tuple[Tensor, Tensor]], dtype: torch.dtype) -> None:
    native(program, ((torch.randperm(4000) - 2000).view(2, 2000).to(dtype),))


def values_of_few(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    values, places = torch.topk(x, 3)
    least, last = torch.topk(y, 3, dim=0, largest=False)
    return values, x.gather(1, places) - values, y.gather(0, last) - least


def test_few_of_many_equal_elements() -> None:
    """No place is taken twice: eager takes any of equal elements, so that only values are compared."""
    x = torch.stack([torch.full([70], -INF), torch.full([70], NAN), torch.arange(70.0) // 2])
    x[0, 7] = 1.0
    y = torch.full([70, 2], torch.iinfo(torch.int64).max)
    y[3:5, 0] = torch.iinfo(torch.int64).min
    checked = check(values_of_few, (x, y), compiled=True)
    assert checked.compiled.explain().callbacks == ()
    places = ssa_compiler.compile(largest, (x,))(x)[1]
    assert all(len(set(row.tolist())) == 3 for row in places)


def largest_k(x: Tensor, k: int) -> tuple[Tensor, Tensor]:
    return torch.topk(x, k, dim=1)


def test_topk_takes_the_first_of_equal_elements_however_many_are_asked_for() -> None:
    """From 63 of 2,000 on, the places are found another way: by one sum over all instead of block by block."""
    x = torch.arange(6000).view(3, 2000) % 7 - 3.0
    x[0] = 1.0
    x[1, :-1] = -INF
    compiled = ssa_compiler.compile(largest_k, (x, 20))
    for k in (0, 1, 2, 17, 62, 63, 1999, 2000):
        values, places = compiled(x, k)
        assert torch.equal(values, x.topk(k, dim=1)[0])
        assert torch.equal(places, x.sort(dim=1, descending=True, stable=True)[1][:, :k])
    assert len(compiled.specialisations) == 1


@pytest.mark.slow
def test_topk_of_unknown_size() -> None:
    x = torch.randperm(2000).float() - 500
    inputs = [(x, 20), (x, 0), (-x.abs(), 5), (x[:].clamp(max=0.5) + x / 1e6, 5)]
    checked = check(best_of_chosen, *inputs, compiled=True)
    assert checked.compiled.explain().callbacks == ()


def topk_of_columns(x: Tensor) -> tuple[Tensor, Tensor]:
    return x[:, :-1].t().topk(20, dim=1)


def test_topk_of_many_in_a_transposed_tensor() -> None:
    check(topk_of_columns, (torch.rand(1100, 4),), compiled=False)
