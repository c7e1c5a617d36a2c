"""`x[...] = v` where v is a part of x: eager broadcasts v before it asks whether the two overlap, and `x[t]` is a
view.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from _rejections import rejection
from ssa_compiler.testing import check


def first_everywhere(x: Tensor) -> Tensor:
    x[:] = x[0]
    return x


def second_in_front(x: Tensor, n: int) -> Tensor:
    x[:n] = x[1]
    return x


def second_somewhere(x: Tensor, t: Tensor) -> Tensor:
    x[t] = x[1]
    return x


def moved(x: Tensor, t: Tensor, n: int) -> Tensor:
    for i in range(n):
        x[t[i]] = x[i]
    for i in range(n):
        x[i] = x[t[i]]
    return x


def added(x: Tensor, t: Tensor) -> Tensor:
    return x.add_(x[t])


def copied(x: Tensor, t: Tensor) -> Tensor:
    return x.copy_(x[t])


def part_of_a_row(x: Tensor, t: Tensor) -> Tensor:
    x[0][1:] = x[t][:3]
    return x


def column(x: Tensor, t: Tensor) -> Tensor:
    x[..., -1] = x[t]
    return x


V, A = torch.arange(4.0) + 1, torch.arange(16.0).view(4, 4) + 1
ORDER = torch.tensor([1, 2, 3, 0])


@pytest.mark.parametrize("x", [V, A], ids=["numbers", "rows"])
@pytest.mark.parametrize(
    ("function", "rest"),
    [
        (first_everywhere, [()]),
        (second_in_front, [(n,) for n in (2, 0, 1, 3, 4, -1)]),
        (second_somewhere, [(torch.tensor(n),) for n in (0, 1, -1, 3, 4)]),
        (moved, [(ORDER, n) for n in (4, 0, 1, 2)]),
    ],
)
def test_broadcast_before_it_is_stored(function: Callable[..., Any], rest: list[tuple[Any, ...]], x: Tensor) -> None:
    check(function, *((x, *values) for values in rest))


@pytest.mark.parametrize("function", [added, copied, part_of_a_row])
def test_an_element_at_a_tensor_is_a_view(function: Callable[..., Any]) -> None:
    """Eager raises where it overlaps what is written in part."""
    check(function, *((A, torch.tensor(n)) for n in (2, 0, 3)))


def test_orders_of_elements_are_rejected_at_tensors_as_at_numbers() -> None:
    assert "clone" in rejection(column, (A, torch.tensor(2)))
