"""Sizes that go on changing from call to call: dynamic from the third on."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.export import Dim

import ssa_compiler
from ssa_compiler import ProgramError


def summed(x: Tensor, rows: list[Tensor], table: dict[str, Tensor]) -> Tensor:
    """`x` and what the containers hold have one number of columns."""
    y = x.clone()
    for i in range(x.size(0)):
        y[i] += rows[0] * i + rows[1]
    return y * table["scale"]


def _call(count: int, columns: int) -> tuple[Any, ...]:
    rows = [torch.randn(columns), torch.randn(columns)]
    return torch.randn(count, columns), rows, {"scale": torch.randn(columns), "": torch.ones(2)}


def _agree(compiled: Any, function: Any, *args: Any) -> None:
    torch.testing.assert_close(compiled(*args), function(*args))


def _texts(compiled: Any) -> list[str]:
    return [str(made) for made in compiled.specialisations]


def test_the_third_size_is_dynamic() -> None:
    compiled = ssa_compiler.compile(summed, _call(4, 3))
    for count in (4, 5, 4, 6, 7, 2, 1, 0, 5):
        _agree(compiled, summed, *_call(count, 3))
    texts = _texts(compiled)
    assert [text[: text.index(", rows")] for text in texts] == [
        "summed(x: float32[4, 3]",
        "summed(x: float32[5, 3]",
        "summed(x: float32[x.size(0), 3]",
    ]


@pytest.mark.slow
def test_sizes_that_change_together() -> None:
    compiled = ssa_compiler.compile(summed, _call(4, 3))
    for count, columns in ((4, 5), (4, 6), (4, 8), (4, 2), (3, 9), (7, 7)):
        _agree(compiled, summed, *_call(count, columns))
    assert len(compiled.specialisations) == 4, "one more for the number of rows"
    assert _texts(compiled)[2].startswith("summed(x: float32[4, ")
    assert compiled.specialisations[3].mlir("imported").count("?") > 2
    with pytest.raises(ProgramError):
        compiled(torch.ones(4, 5), [torch.ones(3)] * 2, {"scale": torch.ones(5), "": torch.ones(2)})
    made = len(compiled.specialisations)
    _agree(compiled, summed, *_call(4, 11))
    assert len(compiled.specialisations) == made, "the call that raises changes nothing"


def by_columns(x: Tensor) -> list[Tensor]:
    """How many tensors there are is a size, which cannot be dynamic here."""
    return [column * 2 for column in x.unbind(1)]


@pytest.mark.slow
def test_a_size_that_has_to_be_static_is_asked_once() -> None:
    compiled = ssa_compiler.compile(by_columns, (torch.randn(2, 3),))
    for rows, columns in ((3, 4), (4, 5), (5, 6), (9, 6), (8, 5)):
        _agree(compiled, by_columns, torch.randn(rows, columns))
    assert _texts(compiled)[2:] == [f"by_columns(x: float32[x.size(0), {columns}])" for columns in (5, 6)]
    assert compiled._static == {("x", 1)}


@dataclasses.dataclass
class State:
    x: Tensor
    n: int


def advanced(state: State) -> Tensor:
    return state.x.cumsum(0) * state.n


@pytest.mark.slow
def test_sizes_in_objects() -> None:
    compiled = ssa_compiler.compile(advanced, (State(torch.ones(3), 2),))
    for size in (4, 5, 6, 7):
        _agree(compiled, advanced, State(torch.randn(size), size))
    assert len(compiled.specialisations) == 3


def test_what_differs_in_something_else_does_not_count() -> None:
    compiled = ssa_compiler.compile(by_columns, (torch.randn(2, 3),))
    for x in (torch.ones(2, 3, dtype=torch.int64), torch.ones(3, 3, dtype=torch.float64), torch.ones(4, 3)):
        _agree(compiled, by_columns, x)
    assert not any("size" in text for text in _texts(compiled))


@pytest.mark.parametrize("shapes", [Dim.STATIC, {"x": {1: Dim.AUTO}}])
def test_the_user_may_say_which(shapes: Any) -> None:
    compiled = ssa_compiler.compile(by_columns, (torch.randn(2, 3),), dynamic_shapes=shapes)
    for rows in (3, 4, 5):
        _agree(compiled, by_columns, torch.randn(rows, 3))
    assert _texts(compiled) == [f"by_columns(x: float32[{rows}, 3])" for rows in (2, 3, 4, 5)]
