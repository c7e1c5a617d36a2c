"""Indices that count from the end, index one tensor several times, or stand for no element.

Compiled code writes somewhere else in memory at an index that is not counted from the front.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

import ssa_compiler
from ssa_compiler.errors import UnsupportedOpError
from ssa_compiler.importer import import_program
from ssa_compiler.testing import check, check_auto_sizes

X = torch.linspace(-1.5, 2.0, 12).reshape(3, 4)
LAST = torch.tensor([0, -1])


def fills(x: Tensor, i: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    y, z, w = x.clone(), x.clone(), x.clone()
    for k in range(2):
        y.index_fill_(0, i - k, 2.0 + k)
        z = z.index_fill(1, i, float(k))
    w[i, i] += 1.0  # one tensor of indices, two sizes
    w[i] -= 0.5
    return y, z, w.put(i, torch.zeros(2))


def test_indices_that_count_from_the_end() -> None:
    check(fills, (X, LAST), (X, torch.tensor([-2, 2])), (X, torch.tensor([0, 1])), (X, torch.tensor([-3, 2])))


def fill_rows(x: Tensor, i: Tensor) -> Tensor:
    return x.index_fill(0, i, 2.0)


def fill_columns(x: Tensor, i: Tensor) -> Tensor:
    y = x.clone()
    y.index_fill_(1, i, 2.0)
    return y


def copy_rows(x: Tensor, i: Tensor) -> Tensor:
    return x.index_copy(0, i, torch.ones(2, x.shape[1]))


def add_rows(x: Tensor, i: Tensor) -> Tensor:
    return x.index_add(0, i, torch.ones(2, x.shape[1]))


def read_columns(x: Tensor, i: Tensor) -> Tensor:
    return x[:, i]


def read_twice(x: Tensor, i: Tensor) -> Tensor:
    return x[i[:1], i[:0]]


def write_rows(x: Tensor, i: Tensor) -> Tensor:
    y = x.clone()
    y[i] = 1.0
    return y


_FUNCTIONS = [fill_rows, fill_columns, copy_rows, add_rows, read_columns, read_twice, write_rows]
_SHAPES = [(3, 4), (0, 0), (0, 4), (3, 0)]


@pytest.mark.parametrize("function", _FUNCTIONS)
def test_indices_of_no_elements(function) -> None:  # type: ignore[no-untyped-def]
    """Eager looks at an index only if it stands for elements, or if there is nothing at all to index."""
    for shape in _SHAPES[1:]:
        arguments = torch.ones(shape), torch.tensor([7, 3])
        surely = _raised(lambda: import_program(function, arguments))  # noqa: B023 - called here
        if surely is None:
            check(function, arguments, compiled=False)
        else:
            assert isinstance(surely, type(_raised(lambda: function(*arguments))))  # noqa: B023


def _raised(call: Callable[[], object]) -> Exception | None:
    try:
        call()
    except (RuntimeError, IndexError) as error:
        return error
    return None


_WEAKER = pytest.mark.xfail(
    torch.__version__ < "2.12", reason="to PyTorch 2.11 the length of i[:1] may be any, not only 0 or 1", strict=True
)


@pytest.mark.parametrize("function", [*_FUNCTIONS[:-2], pytest.param(read_twice, marks=_WEAKER), write_rows])
def test_indices_of_dynamic_sizes(function) -> None:  # type: ignore[no-untyped-def]
    indices = (torch.tensor([0, 1]), torch.tensor([7, 3]))
    check_auto_sizes(function, *[(torch.ones(2, columns), index) for columns in (4, 2) for index in indices])


def all_of_nothing(x: Tensor, i: Tensor):  # type: ignore[no-untyped-def]
    return fill_rows(x, i), fill_columns(x, i), copy_rows(x, i), add_rows(x, i)


def test_indices_of_no_elements_compiled() -> None:
    """Kernels for dynamic sizes would write at indices that eager does not look at."""
    check(all_of_nothing, (torch.ones(0, 0), torch.tensor([7, 3])))
    compiled = ssa_compiler.compile(all_of_nothing, (X, LAST.abs()), dynamic_shapes=torch.export.Dim.AUTO)
    with pytest.raises(UnsupportedOpError, match="out of range, of a dynamic tensor without elements"):
        compiled(torch.ones(0, 0), torch.tensor([7, 3]))
    assert [result.shape for result in compiled(torch.ones(3, 3), torch.tensor([1, 2]))] == [(3, 3)] * 4
    with pytest.raises(IndexError):
        compiled(X, torch.tensor([7, 3]))
