"""Views: by strides, of complex tensors, and all that PyTorch has, read and written in every stage.

Also what eager rejects to write through a view that shows elements several times.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from _mutation_table import (
    DOCUMENT,
    _name,
    fate,
    in_place_schemas,
    is_of_this_version,
    list_schemas,
    listed,
    load,
    view_schemas,
)
from ssa_compiler.errors import ProgramError, UnsupportedOpError, UnsupportedProgramError
from ssa_compiler.testing import check


def _numbers() -> Tensor:
    return torch.arange(12.0).reshape(4, 3)


# as_strided


def strided_write(x: Tensor) -> tuple[Tensor, Tensor]:
    y = x.clone()
    v = y.as_strided([2, 2], [3, 1], 1)
    v += 10
    y[1] *= 2
    return y, v


def strided_of_a_view(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    y = x.clone()
    v = y[1].as_strided([2, 2], [3, 1])
    v.mul_(2)
    w = y[1].as_strided([2, 2], [3, 1], 0)
    w[0] += 1
    return y, v, w


def strided_of_strided(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    y = x.clone()
    v = y.as_strided([6], [2], 0)
    w = v.as_strided([2], [5], 1)
    w += 10
    v[1:].mul_(2)
    return y, v, w


def strided_overlapping_read(x: Tensor) -> tuple[Tensor, Tensor]:
    y = x.clone()
    v = y.as_strided([3, 3], [1, 1])
    y[0] += 5
    return y, v * 2


def strided_interleaved(x: Tensor) -> tuple[Tensor, Tensor]:
    y = x.clone()
    v = y.as_strided([3, 2], [2, 3], 0)
    v += 10
    return y, v


def strided_scalar(x: Tensor) -> tuple[Tensor, Tensor]:
    y = x.clone()
    v = y.as_strided([], [], 5)
    v += 10
    return y, v


def strided_argument(x: Tensor) -> Tensor:
    v = x.as_strided([2, 2], [3, 1])
    v.add_(1)
    return x * 2


@pytest.mark.parametrize(
    "program",
    [
        strided_write,
        strided_of_a_view,
        strided_of_strided,
        strided_overlapping_read,
        strided_interleaved,
        strided_scalar,
        strided_argument,
    ],
)
def test_as_strided(program: Callable[..., Any]) -> None:
    check(program, (_numbers(),), compiled=program in (strided_write, strided_of_a_view))


def strided_rows(x: Tensor, n: int) -> tuple[Tensor, Tensor]:
    y = x.clone()
    v = y.as_strided([n, 2], [3, 1], 1)
    v += 10
    return y, v


def strided_from(x: Tensor, n: int) -> tuple[Tensor, Tensor]:
    y = x.clone()
    v = y.as_strided([2, 2], [3, 1], n)
    v += 10
    return y, v


def strided_by(x: Tensor, n: int) -> Tensor:
    return x.clone().as_strided([2, 2], [n, 1], 0) * 2


@pytest.mark.parametrize(("program", "numbers"), [(strided_rows, (2, 0, 4, 5, -1)), (strided_from, (2, 0, 3, 9, -1))])
def test_as_strided_with_run_time_numbers(program: Callable[..., Any], numbers: tuple[int, ...]) -> None:
    # The last two of each raise: the view would leave the storage.
    checked = check(program, *((_numbers(), number) for number in numbers), compiled=False)
    assert [error is not None for error in checked.errors] == [False, False, False, True, True]


def test_as_strided_with_a_run_time_stride() -> None:
    check(strided_by, (_numbers(), 2), (_numbers(), 0), (_numbers(), 3), compiled=False)


def strided_in_branches(x: Tensor, c: bool, n: int) -> tuple[Tensor, Tensor]:
    y = x.clone()
    v = y.as_strided([3, 2], [4, 1], 1)
    if c:
        v[0] += 1
    for i in range(n):
        v[i] *= 2
        y[i, i] = 7
    return y, v


def test_as_strided_made_outside_and_written_inside() -> None:
    check(strided_in_branches, (_numbers(), True, 3), (_numbers(), False, 0), (_numbers(), True, 1))


def strided_out_of_bounds(x: Tensor) -> Tensor:
    return x.clone().as_strided([3, 3], [3, 2], 3)


def test_as_strided_out_of_bounds_raises() -> None:
    with pytest.raises(RuntimeError, match="out of bounds for storage of size 48"):
        strided_out_of_bounds(_numbers())
    with pytest.raises(ProgramError, match="out of bounds for storage of size 48"):
        check(strided_out_of_bounds, (_numbers(),), compiled=False)


def strided_overlapping_write(x: Tensor) -> Tensor:
    y = x.clone()
    v = y.as_strided([3, 3], [1, 1])
    v += 5
    return y


def strided_of_other_layout(x: Tensor) -> Tensor:
    return x.t().clone().as_strided([2, 2], [3, 1], 5)


def strided_argument_at(x: Tensor) -> Tensor:
    return x.as_strided([2, 2], [3, 1], 2) * 2


def strided_argument_beyond(x: Tensor) -> Tensor:
    return x.as_strided([5, 3], [3, 1]) * 2


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        (strided_overlapping_write, "may show one element several times"),
        (strided_of_other_layout, "whose storage is not known"),
    ],
)
def test_as_strided_is_rejected(program: Callable[..., Any], reason: str) -> None:
    storage = torch.arange(24.0)
    with pytest.raises(UnsupportedOpError, match=reason):
        check(program, (storage[4:16].reshape(4, 3),), compiled=False)


def strided_transposed_argument(x: Tensor) -> Tensor:
    return x.t().as_strided([6], [2]) + x.sum()


@pytest.mark.parametrize("program", [strided_argument_at, strided_argument_beyond, strided_transposed_argument])
def test_as_strided_of_the_storage_of_an_argument(program: Callable[..., Any]) -> None:
    storage = torch.arange(24.0)
    calls = [(whole[4:16].reshape(4, 3),) for whole in (storage, storage * 2)]
    check(program, *calls, compiled=False)


# dtypes


def view_as_ints(x: Tensor) -> Tensor:
    return x.view(torch.int32)


def view_as_the_other(x: Tensor, y: Tensor) -> Tensor:
    kind = y.dtype
    return x.view(kind)


@pytest.mark.parametrize("program", [view_as_ints, view_as_the_other])
def test_view_with_a_dtype_is_rejected(program: Callable[..., Any]) -> None:
    # TorchScript reads it as view([3]), which fits three elements.
    arguments = (torch.arange(3.0), torch.zeros(1, dtype=torch.int32))[: program.__code__.co_argcount]
    with pytest.raises(UnsupportedOpError, match="takes the dtype for a size"):
        check(program, arguments, compiled=False)


class ViewAs(torch.nn.Module):
    def __init__(self, dtype: object) -> None:
        super().__init__()
        self.shape_or_dtype = dtype

    def forward(self, x: Tensor) -> Tensor:
        return x.view(self.shape_or_dtype)


def test_view_with_a_dtype_of_the_module_is_rejected() -> None:
    check(ViewAs(3), (torch.arange(3.0),), compiled=False)
    with pytest.raises(UnsupportedOpError, match="takes the dtype for a size"):
        check(ViewAs(torch.int32), (torch.arange(3.0),), compiled=False)


# complex


def complex_parts(x: Tensor) -> Tensor:
    z = torch.complex(x, x * 2)
    z.real[0] = 9
    z.imag.mul_(2)
    return z


def complex_argument(z: Tensor) -> Tensor:
    z[0] = 2
    z.real.add_(1)
    return z * z


def complex_over_real(x: Tensor) -> tuple[Tensor, Tensor]:
    y = x.clone()
    z = torch.view_as_complex(y)
    z.mul_(2)
    z[0, 0] = 3
    y[1] = 0
    return y, torch.view_as_real(z)


def conjugate(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    z = torch.complex(x, x * 2)
    w = z.conj()
    w[0] = 2
    w.imag.mul_(3)
    a = z.adjoint()
    a[1] = 3
    return z, w.resolve_conj(), a.resolve_conj()


@pytest.mark.parametrize(
    ("program", "argument"),
    [
        (complex_parts, _numbers()),
        (complex_argument, torch.complex(_numbers(), _numbers() + 1)),
        (complex_over_real, _numbers().reshape(2, 3, 2)),
        (conjugate, _numbers()),
    ],
)
def test_complex_views(program: Callable[..., Any], argument: Tensor) -> None:
    check(program, (argument.clone(),))


# Views that show elements several times

_EXPANDED = {
    "copy_": "v.copy_(torch.ones(2, 3))",
    "add_": "v.add_(1)",
    "setitem": "v[:] = 1",
    "fill_": "v.fill_(1)",
    "zero_": "v.zero_()",
    "row": "v[0] = 1",
    "index_put_": "v.index_put_([torch.tensor([0])], torch.ones(3))",
    "masked_fill_": "v.masked_fill_(torch.ones(2, 3, dtype=torch.bool), 1.0)",
    "masked_scatter_": "v.masked_scatter_(torch.ones(2, 3, dtype=torch.bool), torch.ones(6))",
    "scatter_": "v.scatter_(0, torch.zeros(1, 3, dtype=torch.long), 1.0)",
    "scatter_add_": "v.scatter_add_(0, torch.zeros(1, 3, dtype=torch.long), torch.ones(1, 3))",
    "index_add_": "v.index_add_(0, torch.tensor([0]), torch.ones(1, 3))",
    "index_copy_": "v.index_copy_(0, torch.tensor([0]), torch.ones(1, 3))",
    "index_fill_": "v.index_fill_(0, torch.tensor([0]), 1.0)",
    "normal_": "v.normal_()",
    "bernoulli_": "v.bernoulli_(0.5)",
    "cumsum_": "v.cumsum_(0)",
    "triu_": "v.triu_()",
    "fill_diagonal_": "v.fill_diagonal_(1.0)",
    "addmm_": "v.addmm_(torch.ones(2, 2), torch.ones(2, 3))",
    "lerp_": "v.lerp_(torch.ones(2, 3), 0.5)",
    "relu_": "v.relu_()",
    "put_": "v.put_(torch.tensor([0]), torch.ones(1))",
    "renorm_": "v.renorm_(2, 0, 5.0)",
}
_VIEWS = {
    "expand": "y[:1].expand(2, 3)",
    "expand_as": "y[0].expand_as(x[:2])",
    "broadcast_to": "torch.broadcast_to(y[:1], [2, 3])",
    "as_strided": "y.as_strided([2, 3], [0, 1])",
}


def _overlap_is_noticed(program: Callable[..., Any]) -> bool:
    try:
        program(_numbers(), True)
    except RuntimeError as error:
        if "more than one element of the written-to tensor" not in str(error):
            raise
        return True
    return False


@pytest.mark.parametrize("write", _EXPANDED)
@pytest.mark.parametrize("view", _VIEWS)
def test_writes_of_repeated_elements(write: str, view: str, tmp_path: Path) -> None:
    """They raise where eager does, only if they are reached, and are rejected where eager does something all the
    same.
    """
    text = f"""import torch


def program(x: torch.Tensor, c: bool):
    y = x.clone()
    v = {_VIEWS[view]}
    if c:
        {_EXPANDED[write]}
    return y, v * 2
"""
    program = load(text, tmp_path, f"{view}_{write}")
    raises = _overlap_is_noticed(program)
    calls = ((_numbers(), False), (_numbers(), True))
    try:
        checked = check(program, *calls, compiled=False)
    except (UnsupportedOpError, UnsupportedProgramError):
        assert not raises, "rejected, and eager raises"
        return
    assert [error is not None for error in checked.errors] == [False, raises]


def window_write(x: Tensor) -> Tensor:
    y = x.clone()
    y.unfold(0, 2, 1).mul_(2)
    return y


def test_writes_of_overlapping_windows_are_rejected() -> None:
    # Eager does not notice, and its result depends on the order of the elements.
    window_write(_numbers())
    with pytest.raises(UnsupportedOpError, match="windows may overlap"):
        check(window_write, (_numbers(),), compiled=False)


# All views of PyTorch


def test_every_view_and_write_is_documented(tmp_path: Path) -> None:
    """A new operator, or one that is gone, changes docs/Mutation.md: `python test/python/_mutation_table.py` writes
    it. What only another version of PyTorch has is tried, and compared with eager.
    """
    schemas = {_name(schema): schema for schema in (*view_schemas(), *in_place_schemas(), *list_schemas())}
    if is_of_this_version():
        assert schemas.keys() == listed().keys(), f"{DOCUMENT.name} is out of date"
    torch.set_num_threads(1)
    for name in schemas.keys() - listed().keys():
        assert fate(schemas[name], tmp_path)


@pytest.mark.parametrize("schema", [s for s in view_schemas() if _name(s) in listed()], ids=_name)
def test_what_becomes_of_a_view(schema: Any, tmp_path: Path) -> None:
    torch.set_num_threads(1)
    assert fate(schema, tmp_path) == listed()[_name(schema)]
