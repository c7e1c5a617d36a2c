"""Ops of the library whose results have dynamic sizes: natively, with results that are empty as well."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.export import Dim

from ssa_compiler.testing import check


def select(x: Tensor, m: Tensor) -> Tensor:
    return torch.masked_select(x, m)


def distinct(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return torch.unique(x, sorted=True, return_inverse=True, return_counts=True)


def distinct_of_chosen(x: Tensor) -> Tensor:
    return torch.unique(x[x > 1])


def runs(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return torch.unique_consecutive(x, return_inverse=True, return_counts=True)


def rows(x: Tensor, repeats: Tensor) -> Tensor:
    return torch.repeat_interleave(x, repeats, dim=0)


def elements(x: Tensor, n: int) -> tuple[Tensor, Tensor]:
    return torch.repeat_interleave(x, n), torch.repeat_interleave(x, n, dim=1)


def _native(checked: Any) -> None:
    assert checked.compiled.explain().callbacks == ()


def test_masked_select() -> None:
    x = torch.arange(24.0).reshape(6, 4) - 10
    row = torch.tensor([True, False, False, True, False, True])[:, None]
    _native(check(select, (x, row), (x, row.logical_not()), (x, torch.zeros_like(row)), compiled=True))


def test_unique() -> None:
    inputs = [(torch.tensor([3, 1, 2, 3, 1]),), (torch.full([5], 3),), (torch.tensor([-1, 2**40, 2**40 + 1, 0, 0]),)]
    _native(check(distinct, *inputs, compiled=True))


def test_unique_of_not_a_number() -> None:
    _native(check(distinct, (torch.tensor([[3.0, float("nan")], [-0.0, 0.0], [float("nan"), 3.0]]),), compiled=True))


def test_unique_of_chosen_elements() -> None:
    x = torch.tensor([3, 1, 2, 3, 1])
    _native(check(distinct_of_chosen, (x,), (x - 3,), (x + 3,), compiled=True))


def test_unique_consecutive() -> None:
    _native(check(runs, (torch.tensor([3, 3, 2, 3, 1, 1]),), (torch.zeros(6).long(),), compiled=True))


def test_repeat_rows() -> None:
    x = torch.arange(12.0).reshape(4, 3)
    repeats = [torch.tensor(numbers) for numbers in ([1, 0, 2, 3], [0, 0, 0, 0], [0, 5, 0, 0])]
    checked = check(rows, *[(x, numbers) for numbers in repeats], compiled=True)
    _native(checked)
    with pytest.raises(RuntimeError, match="negative"):
        checked.compiled(x, torch.tensor([1, -1, 2, 1]))


def test_repeat_elements() -> None:
    x = torch.arange(6.0).reshape(2, 3)
    _native(check(elements, (x, 2), (x, 0), (x, 1), compiled=True))


def weighed_bags(x: Tensor, places: Tensor, offsets: Tensor, weights: Tensor) -> list[Tensor]:
    found = [torch.embedding_bag(x, places, offsets, False, 0, False, weights)[0]]
    found += [torch.nn.functional.embedding_bag(places, x, offsets, mode="sum", per_sample_weights=weights)]
    found += [torch.nn.functional.embedding_bag(places[None], x, mode="sum", per_sample_weights=weights[None])]
    return found


def test_rows_of_bags_have_weights() -> None:
    """torch-mlir leaves them out."""
    x, places = torch.randn(5, 3), torch.tensor([1, 3, 3, 0, 4, 1])
    calls = [(x, places, torch.tensor([0, n]), torch.randn(6)) for n in (2, 6)]
    checked = check(weighed_bags, *calls, (x, places + 9, *calls[0][2:]))
    assert checked.compiled.explain().callbacks == ()


def summed_bags(x: Tensor, places: Tensor, offsets: Tensor) -> Tensor:
    return torch.nn.functional.embedding_bag(places, x, offsets, mode="sum")


def weighed_bags_only(x: Tensor, places: Tensor, offsets: Tensor) -> Tensor:
    weights = torch.ones(places.shape)
    return torch.nn.functional.embedding_bag(places, x, offsets, mode="sum", per_sample_weights=weights)


@pytest.mark.parametrize("sizes", [None, Dim.AUTO])
@pytest.mark.parametrize("function", [summed_bags, weighed_bags_only])
def test_offsets_that_eager_rejects(function: Callable[..., Tensor], sizes: Any) -> None:
    x, places = torch.randn(5, 3), torch.tensor([1, 3, 3, 0, 4, 1])
    offsets = [torch.tensor(numbers) for numbers in ([0, 2, 6], [0, 0, 0], [0, 9, 9], [0, 2, 7], [1, 2, 3], [0, 4, 2])]
    checked = check(
        function, *[(x, places, each) for each in offsets], compiled=False, options={"dynamic_shapes": sizes}
    )
    assert [type(error) for error in checked.errors] == [type(None)] * 2 + [RuntimeError] * 4


def bags_without_a_row(x: Tensor, places: Tensor, offsets: Tensor) -> Tensor:
    return torch.nn.functional.embedding_bag(places, x, offsets, mode="sum", padding_idx=3)


def test_bags_leave_a_row_out() -> None:
    """torch-mlir does not, if sizes are dynamic."""
    calls = [(torch.randn(5, 3), torch.tensor([1, 3, 3, 0, 4, 1]), torch.tensor([0, n])) for n in (2, 6)]
    check(bags_without_a_row, *calls, options={"dynamic_shapes": Dim.AUTO})
