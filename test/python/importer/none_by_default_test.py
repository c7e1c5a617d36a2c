"""`mask: Tensor = None` says that a mask may be left out, though its annotation does not; TorchScript takes it for a
tensor always. And attributes that a module sets to such an argument.
"""

from __future__ import annotations

from typing import Optional

import pytest
import torch
from torch import Tensor, nn

import ssa_compiler
from ssa_compiler.testing import check

X = torch.tensor([[1.0, -2.0, 3.0], [0.5, 4.0, -1.0]])
MASKS = (None, X > 0.6, X > 5.0)


def masked(x: Tensor, mask: Tensor = None, scale: float = None, times: int = None) -> Tensor:  # type: ignore[assignment]  # noqa: RUF013
    for row in range(x.size(0)):
        if mask is not None:
            x = torch.where(mask, x, x[row] * 0.5)
        if scale is not None:
            x = x * scale
    return x if times is None else x + times


class Masked(nn.Module):
    def forward(self, x: Tensor, mask: Tensor = None, *, scale: float = None) -> Tensor:  # type: ignore[assignment]  # noqa: RUF013
        return masked(x, mask, scale) + masked(x, scale=scale) + masked(x)


@pytest.mark.parametrize("first", range(3))
def test_arguments_may_be_left_out(first: int) -> None:
    calls = [(X,), (X, MASKS[1]), (X, None, 3.0), (X, MASKS[2], 0.5, 2), (X, None, None, 0)]
    compiled = ssa_compiler.compile(masked, calls[first])
    for call in calls:
        torch.testing.assert_close(compiled(*call), masked(*call))


def test_of_a_module() -> None:
    model = Masked()
    compiled = ssa_compiler.compile(model, (X,))
    for mask in MASKS:
        for keywords in ({}, {"scale": 0.5}, {"scale": None}):
            torch.testing.assert_close(compiled(X, mask, **keywords), model(X, mask, **keywords))


MaybeTensor = Optional[Tensor]  # noqa: UP045


def by_another_name(x: Tensor, mask: MaybeTensor = None, other: Tensor | None = None) -> Tensor:
    if mask is not None:
        x = torch.where(mask, x, -x)
    return x if other is None else x + other


def test_annotations_that_say_so_are_left_as_they_are() -> None:
    check(by_another_name, (X, MASKS[1]), (X, MASKS[2]))
    check(by_another_name, (X,), (X + 1.0,))
    check(by_another_name, (X, None, X), (X + 1.0, None, -X))


class Refines(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.tolerance = None
        self.steps = 3

    def forward(self, x: Tensor) -> Tensor:
        for _ in range(self.steps):
            y = x * 0.5
            if self.tolerance is not None and (x - y).abs().max() < self.tolerance:
                break
            x = y
        return x


class Outer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = Refines()

    def forward(self, x, steps=None, tolerance=None):  # type: ignore[no-untyped-def]
        self.inner.steps = steps or 3
        self.inner.tolerance = tolerance
        return self.inner(x)


def test_attributes_of_a_part_that_are_none_or_a_number() -> None:
    model, eager = Outer(), Outer()
    compiled = ssa_compiler.compile(model, (X,))
    for call in [(X,), (X, 5), (X, 0), (X, 8), (X,)]:
        torch.testing.assert_close(compiled(*call), eager(*call))
        assert (model.inner.steps, model.inner.tolerance) == (eager.inner.steps, eager.inner.tolerance)


def test_the_number_is_dynamic_where_the_example_has_one() -> None:
    model, eager = Outer(), Outer()
    compiled = ssa_compiler.compile(model, (X, 5, 0.4))
    for call in [(X, 5, 0.4), (X, 5, 0.9), (X, 8, 0.0), (X, 1, 0.7)]:
        torch.testing.assert_close(compiled(*call), eager(*call))
        assert (model.inner.steps, model.inner.tolerance) == (eager.inner.steps, eager.inner.tolerance)


def without_annotation(x, most=None, names=()):  # type: ignore[no-untyped-def]
    k = 0
    while x.sum() > 1 and (most is None or k < most):
        x = x * 0.5
        k += 1
    for name in names:
        x = x + len(name)
    return x, k


@pytest.mark.parametrize("first", range(3))
def test_arguments_of_other_types_than_the_example(first: int) -> None:
    """An argument without an annotation that is None, or an empty tuple, may be something else in another call."""
    x = torch.full((3,), 4.0)
    calls = [(x,), (x, 2), (x, None, ("ab", "c")), (x, 0, ()), (x, 5, ("d",))]
    compiled = ssa_compiler.compile(without_annotation, calls[first], fullgraph=True)
    for call in calls:
        torch.testing.assert_close(compiled(*call), without_annotation(*call))
