"""What eager rejects of the sizes and dtypes of indices, masks and values, in reading and in writing.

Kernels for FakeTensors take much of it, and compiled code would read or write outside of the tensors.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.export import Dim

import ssa_compiler
from ssa_compiler import errors
from ssa_compiler.importer import import_program
from ssa_compiler.testing import check, check_auto_sizes

I = torch.tensor  # noqa: E741
X = torch.linspace(-1.5, 2.0, 9).reshape(3, 3)
MASK = I([True, False, True])


def write(x: Tensor, i: Tensor, v: Tensor) -> Tensor:
    y = x.clone()
    y[i] = v
    return y


def write_number(x: Tensor, i: Tensor) -> Tensor:
    y = x.clone()
    y[i] = 1.0
    return y


def write_two(x: Tensor, i: Tensor, j: Tensor, v: Tensor) -> Tensor:
    y = x.clone()
    y[i, j] = v
    return y


def put(x: Tensor, i: Tensor, v: Tensor) -> Tensor:
    return x.put(i, v)


def put_in_place(x: Tensor, i: Tensor, v: Tensor) -> Tensor:
    return x.clone().put_(i, v)


def fill(x: Tensor, i: Tensor) -> Tensor:
    return x.index_fill(0, i, 1.0)


def gather(x: Tensor, i: Tensor) -> Tensor:
    return x.gather(0, i)


def scatter(x: Tensor, i: Tensor, v: Tensor) -> Tensor:
    return x.scatter(0, i, v)


def scatter_mask(x: Tensor, m: Tensor, v: Tensor) -> Tensor:
    return x.masked_scatter(m, v)


def scatter_mask_in_place(x: Tensor, m: Tensor, v: Tensor) -> Tensor:
    y = x.clone()
    y.masked_scatter_(m, v)
    return y


def select_mask(x: Tensor, m: Tensor) -> Tensor:
    return x.masked_select(m)


def scatter_row(x: Tensor, v: Tensor) -> Tensor:
    return x.select_scatter(v, 0, 1)


def scatter_rows(x: Tensor, v: Tensor) -> Tensor:
    return x.slice_scatter(v, 0, 1)


def scatter_diagonal(x: Tensor, v: Tensor) -> Tensor:
    return x.diagonal_scatter(v)


V = torch.arange(3.0)
REJECTED: list[tuple[Callable[..., Any], tuple[Tensor, ...]]] = [
    (write, (X, I([0.0, 1.0]), V)),
    (write, (X, I([True, False]), I([1.0]))),
    (write, (X, torch.ones(3, 2, dtype=torch.bool), I([1.0]))),
    (write, (X, torch.ones(3, 3, 1, dtype=torch.bool), V)),
    (write, (I(1.0), I([0, 0]), I(1.0))),
    (write, (X, I([0, 1]), V[:2])),
    (write_number, (X, I([True, False]))),
    (write_number, (X, torch.ones(3, 3, 1, dtype=torch.bool))),
    (write_two, (X, I([0, 2]), I([1, 1, 1]), V)),
    (write_two, (V, I([0, 2]), I([1]), V)),
    (put, (X, I([0, 2]), V)),
    (put, (X, I([0, 1, 2]), I([1.0]))),
    (put_in_place, (X, I([0, 1, 2]), I([1.0]))),
    (put, (X, I([0, 2]), I([1, 2]))),
    (fill, (X, I([0], dtype=torch.int16))),
    (fill, (X[:, :0], I([True]))),
    (gather, (I(1.0), I([[0]]))),
    (scatter, (I(1.0), I([[0]]), I([[1.0]]))),
    (scatter_mask, (X, X, X)),
    (scatter_mask, (X, X > 0, I([1, 2, 3]))),
    (select_mask, (X, I([1, 0, 1]))),
    (scatter_row, (X, V[:2])),
    (scatter_row, (X[:1], V)),
    (scatter_rows, (X, X)),
    (scatter_diagonal, (X, V[:2])),
]


@pytest.mark.parametrize("number", range(len(REJECTED)))
def test_what_eager_rejects(number: int) -> None:
    function, arguments = REJECTED[number]
    with pytest.raises((IndexError, RuntimeError)) as expected:
        function(*arguments)
    with pytest.raises(errors.ProgramError) as found:
        import_program(function, arguments)
    assert isinstance(found.value, type(expected.value)), found.value


def test_masked_scatter_needs_as_many_elements_as_there_are_places() -> None:
    few = torch.arange(2.0)
    masks = [torch.zeros(3, dtype=torch.bool), MASK, ~MASK, torch.ones(3, dtype=torch.bool)]
    for function in (scatter_mask, scatter_mask_in_place):
        found = check(function, *[(V, mask, few) for mask in masks], compiled=function is scatter_mask)
        assert [error is None for error in found.errors] == [True, True, True, False]
    # A mask that is expanded holds more often.
    check(scatter_mask, (X, MASK, torch.arange(6.0)), (X, MASK | True, torch.arange(6.0)), compiled=False)
    enough = check(scatter_mask, (V, MASK, V), compiled=False)
    assert enough.count_ops("imported", "torch.runtime.assert") == 0


def test_masked_scatter_of_dynamic_sizes() -> None:
    check_auto_sizes(scatter_mask, (V, MASK, V), (torch.arange(4.0), torch.ones(4) > 0, V), (V, MASK, V[:2]))


def test_tensors_without_dimensions() -> None:
    one = I(2.5)
    for index in (I(0), I(1), I([0, 0]), I([0, 2]), I(-1)):
        check(gather, (one, I(0) if index.dim() == 0 else I([0, 0])), (one, index), compiled=False)
    check(scatter, (one, I(0), I(3.0)), (one, I(1), I(3.0)), (one, I(-1), I(3.0)), compiled=False)


def read_two(x: Tensor, m: Tensor, j: Tensor) -> Tensor:
    return x[m, j]


def test_masks_beside_indices() -> None:
    indices = I([1, 2])
    masks = (MASK, torch.ones(3, dtype=torch.bool))
    for found in (
        check(read_two, *[(X, mask, indices) for mask in masks], compiled=False),
        check(write_two, *[(X, mask, indices, V[:2]) for mask in masks], compiled=False),
    ):
        assert [type(error) for error in found.errors] == [type(None), IndexError]


def test_a_number_as_index_converts_the_value() -> None:
    check(write, (X.half(), I(1), V), (X.half(), I(2), V), compiled=False)


def stores(x: Tensor, i: Tensor, m: Tensor, v: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    a, b, c, d = x.clone(), x.clone(), x.clone(), x.clone()
    a[i] = v
    b[1:] = v
    c[m] = v
    d[0] = v[..., :1, :]
    d[1, 1] = v[..., :1, :1]
    return a, b, c, d


def copies(x: Tensor, v: Tensor) -> Tensor:
    y = x.clone()
    y[1:].copy_(v)
    return y


def test_python_drops_leading_ones_of_what_is_stored() -> None:
    value = torch.arange(6.0).reshape(2, 3)
    for stored in (value, value[None], value[None, None]):
        check(stores, (X, I([0, 2]), MASK, stored), compiled=False)
    with pytest.raises(errors.ProgramError):
        import_program(copies, (X, value[None]))


def scattered(x: Tensor, row: Tensor, rows: Tensor, i: int) -> tuple[Tensor, Tensor]:
    return x.select_scatter(row, 0, row.size(0) - 3), x.slice_scatter(rows, 0, i, i + 2)


def test_what_is_stored_into_a_part_has_its_sizes() -> None:
    sizes: dict[str, Any] = {"x": None, "row": {0: Dim.AUTO}, "rows": {0: Dim.AUTO, 1: Dim.AUTO}}
    row, rows = torch.rand(3), torch.rand(2, 3)
    wrong = ((X, row[:1], rows, 0), (X, row, rows, 3), (X, row, rows, -1), (X, row, rows[:, :1], 0))
    found = check(scattered, (X, row, rows, 0), (X, row, rows, -3), *wrong, options={"dynamic_shapes": sizes})
    assert [type(error) for error in found.errors] == [type(None)] * 2 + [RuntimeError] * 4


def order_of_the_rest(x: torch.Tensor, n: int) -> torch.Tensor:
    which: torch.Tensor | None = None
    for k in range(n):
        which = x[k:].argsort()
        if x[k] > 2:
            break
    return x[which]


def cleared(x: torch.Tensor, n: int) -> torch.Tensor:
    which: torch.Tensor | None = None
    for k in range(n):
        which = x > k
    y = x.clone()
    y[which] = 0
    return y


@pytest.mark.parametrize("program", [order_of_the_rest, cleared])
def test_an_index_that_may_be_none(program: Callable[..., torch.Tensor]) -> None:
    """`x[None]` has one more dimension, so that it cannot be the other result."""
    x = torch.tensor([1.0, 0.0, 3.0, 2.0])
    check(program, *[(x, n) for n in (3, 1, 2)], compiled=False)
    compiled = ssa_compiler.compile(program, (x, 3), fullgraph=True)
    with pytest.raises(ssa_compiler.UnsupportedOpError, match="an index that is None in some runs"):
        compiled(x, 0)
