"""Kernels with more operands than IREE's runtime passes to one: 32 buffers, 64 numbers of 32 bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from ssa_compiler.testing import check


def many_tensors(tensors: list[Tensor]) -> Tensor:
    total = tensors[0].clone()
    for tensor in tensors:
        total = total * 0.5 + tensor
    return total


def many_numbers(x: Tensor, numbers: list[float]) -> Tensor:
    for number in numbers:
        x = x * number + 1
    return x


def a_tensor_of_many_numbers(numbers: list[float]) -> Tensor:
    return torch.tensor(numbers) * 2


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (many_tensors, ([torch.randn(5) for _ in range(70)],)),
        (many_numbers, (torch.randn(5), [0.5 + n / 100 for n in range(70)])),
        (a_tensor_of_many_numbers, ([n / 7 for n in range(40)],)),
    ],
    ids=lambda given: given.__name__ if callable(given) else "",
)
def test_more_operands_than_a_kernel_may_have(function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    assert check(function, arguments, compiled=True).compiled.explain().callbacks == ()
