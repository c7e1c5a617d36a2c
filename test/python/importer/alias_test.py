"""What the importer decides about aliasing, and the writes that it rejects or checks."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from _imported import imported, ops
from _rejections import rejection
from ssa_compiler import errors
from ssa_compiler.abi.assumptions import StridesAsExample
from ssa_compiler.importer import import_program
from ssa_compiler.testing import check, interpret

ROWS = torch.arange(12.0).reshape(4, 3)

# --- may-alias ops are resolved ---------------------------------------------------------------------------------------


def reshaped(x: Tensor) -> Tensor:
    return x.reshape(12)


def test_reshape_is_a_view_or_a_clone_and_a_view() -> None:
    program = import_program(reshaped, (ROWS,))
    assert ops(program.module) == ["aten.view"]
    assert [type(a) for a in program.assumptions] == [StridesAsExample]
    assert ops(imported(reshaped, torch.zeros(3, 4).t())) == ["aten.clone", "aten.view"]


def flat(x: Tensor) -> Tensor:
    return x.flatten()


def made_contiguous(x: Tensor) -> Tensor:
    return x.contiguous()


def to_double(x: Tensor) -> Tensor:
    return x.to(torch.float64)


def as_type(x: Tensor) -> Tensor:
    return x.type_as(x)


def expanded(x: Tensor) -> Tensor:
    return x.expand_as(x)


def dropped_out(x: Tensor) -> Tensor:
    return torch.dropout(x, 0.5, False)


def detached(x: Tensor) -> Tensor:
    return x.detach()


def at_least(x: Tensor) -> Tensor:
    return torch.atleast_2d(x)


@pytest.mark.parametrize(
    ("function", "example", "expected"),
    [
        (flat, ROWS, ["aten.view"]),
        (flat, ROWS.t(), ["aten.clone", "aten.view"]),
        (flat, torch.zeros(5), []),
        (made_contiguous, ROWS, []),
        (made_contiguous, ROWS.t(), ["aten.clone"]),
        (to_double, ROWS, ["aten._to_copy"]),
        (to_double, ROWS.double(), []),
        (as_type, ROWS, []),
        (dropped_out, ROWS, []),
        (detached, ROWS, []),
        (at_least, ROWS, []),
        (at_least, torch.zeros(3), ["aten.unsqueeze"]),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_alias_or_copy_is_said_by_the_op(function: Callable[..., Any], example: Tensor, expected: list[str]) -> None:
    assert ops(imported(function, example)) == expected


def pieces(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    first, _ = x.split(2)
    rows = x.unbind(0)
    columns = torch.chunk(x, 3, dim=1)
    return first, rows[1], columns[2]


def test_split_unbind_and_chunk_are_slices_and_selects() -> None:
    names = ops(imported(pieces, ROWS))
    assert names == ["aten.slice.Tensor"] * 2 + ["aten.select.int"] * 4 + ["aten.slice.Tensor"] * 3


def movable(x: Tensor) -> Tensor:
    y = x.movedim(0, 1)
    y += 1
    z = x.swapaxes(0, 1)
    z[0] = 2
    return x


def test_composite_views_are_base_views() -> None:
    names = ops(imported(movable, ROWS))
    assert names[0] == "aten.permute"
    assert "aten.transpose.int" in names


# --- writes that TorchScript lost, should it not compile the source as it was rewritten
# -----------------------------------


def written_through_type_as(x: Tensor) -> Tensor:
    y = x.type_as(x)
    y += 1
    return x


def test_write_that_torchscript_dropped_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ssa_compiler.importer.torchscript.script.script_all", lambda script: script())
    with pytest.raises(errors.UnsupportedProgramError, match=r"drops the write.*type_as") as raised:
        imported(written_through_type_as, ROWS)
    assert raised.value.location is not None


def read_after_write_through_type_as(x: Tensor) -> tuple[Tensor, Tensor]:
    y = x.type_as(x)
    y += 1
    return x, y


def test_write_through_an_unannotated_alias_changes_the_argument() -> None:
    x = ROWS.clone()
    program = import_program(read_after_write_through_type_as, (x,))
    assert program.written == {0}
    interpret(program.module, x)
    assert torch.equal(x, ROWS + 1)


# --- writes that eager rejects ----------------------------------------------------------------------------------------


def overlapping(x: Tensor) -> Tensor:
    y = x.clone()
    y[1:] += y[:-1]
    return y


def overlapping_copy(x: Tensor) -> Tensor:
    y = x.clone()
    y[1:] = y[:-1]
    return y


def into_expanded(x: Tensor) -> Tensor:
    y = x.clone().expand(2, 4, 3)
    y += 1
    return y


def index_put_of_itself(x: Tensor) -> Tensor:
    y = x.clone()
    y[torch.tensor([1, 0, 3, 2])] = y
    return y


@pytest.mark.parametrize("function", [overlapping, overlapping_copy, into_expanded, index_put_of_itself])
def test_write_that_eager_rejects_is_rejected_with_its_words(function: Callable[[Tensor], Tensor]) -> None:
    with pytest.raises(RuntimeError, match="single memory location") as eager:
        function(ROWS)
    with pytest.raises(errors.ProgramError, match="single memory location") as ours:
        imported(function, ROWS)
    assert str(eager.value).splitlines()[0] in str(ours.value)
    assert ours.value.location is not None


def same_view_twice(x: Tensor) -> Tensor:
    y = x.clone()
    y[1:] += y[1:]
    y[:2] = y[2:]
    return y


def masked_expanded(x: Tensor) -> Tensor:
    y = torch.zeros(3).expand(4, 3)
    return y.masked_fill(x > 1, 2.0)


@pytest.mark.parametrize("function", [same_view_twice, masked_expanded])
def test_write_that_eager_allows_is_imported(function: Callable[[Tensor], Tensor]) -> None:
    function(ROWS)
    assert "runtime.assert" not in imported(function, ROWS)


def overlapping_under_a_branch(x: Tensor, i: int) -> Tensor:
    y = x.clone()
    if i > 0:
        y[1:] += y[:-1]
    return y


def test_rejected_write_under_a_branch_is_an_assertion() -> None:
    program = import_program(overlapping_under_a_branch, (ROWS, 0))
    assert re.search(r'torch.runtime.assert %\d+, "RuntimeError: unsupported operation: some', program.module)
    assert torch.equal(interpret(program.module, ROWS, 0)[0], ROWS)
    with pytest.raises(RuntimeError, match="single memory location"):
        interpret(program.module, ROWS, 1)


def rows_at(x: Tensor, i: int, j: int) -> Tensor:
    y = x.clone()
    y[i : i + 2] = y[j : j + 2]
    return y


@pytest.mark.parametrize(("i", "j"), [(0, 2), (2, 0), (1, 1), (0, 1), (2, 1), (-3, 1), (-4, 2)])
def test_overlap_at_run_time_is_checked_as_eager_does(i: int, j: int) -> None:
    program = import_program(rows_at, (ROWS, 0, 0))
    try:
        expected = rows_at(ROWS, i, j)
    except RuntimeError as error:
        with pytest.raises(RuntimeError, match=str(error)[:40]):
            interpret(program.module, ROWS, i, j)
        return
    assert torch.equal(interpret(program.module, ROWS, i, j)[0], expected)


def row_to_row(x: Tensor, i: int, j: int) -> Tensor:
    y = x.clone()
    y[i] = y[j]
    return y


def test_rows_never_overlap_partly() -> None:
    assert "runtime.assert" not in imported(row_to_row, ROWS, 0, 1)


def row_of_either(x: Tensor, i: int) -> Tensor:
    y = x.clone()
    view = y[0:2] if i > 0 else y[2:4]
    view += y[1:3]
    return y


def test_overlap_of_a_view_that_a_branch_chose_is_checked() -> None:
    program = import_program(row_of_either, (ROWS, 1))
    for i in (0, 1):
        with pytest.raises(RuntimeError, match="single memory location"):
            row_of_either(ROWS, i)
        with pytest.raises(RuntimeError, match="single memory location"):
            interpret(program.module, ROWS, i)


def older_and_newer(x: Tensor, n: int) -> Tensor:
    a = x.clone()
    b = x.clone()
    for i in range(n):
        c = a[0:2] * 2
        if i > 0:
            b[0:2] += c
        a = b
        b = x * 3
    return a


def test_storage_of_an_earlier_iteration_is_another_one() -> None:
    program = import_program(older_and_newer, (ROWS, 2))
    for n in (0, 1, 2, 5):
        assert torch.equal(interpret(program.module, ROWS, n)[0], older_and_newer(ROWS, n))


def two_older_ones(x: Tensor, n: int) -> Tensor:
    a = x.clone()
    b = a
    for i in range(n):
        if i > 1:
            b[0:2] += a[1:3]
        b = a
        a = x * 3
        if i % 2 == 0:
            b = a
    return a


def test_storages_that_may_both_be_older_ones_may_overlap() -> None:
    with pytest.raises(RuntimeError, match="single memory location"):
        two_older_ones(ROWS, 4)
    assert "may partly overlap" in rejection(two_older_ones, (ROWS, 3))


def shuffled_in_one_group(x: Tensor) -> tuple[Tensor, Tensor]:
    y, z = torch.channel_shuffle(x, 1), torch.native_channel_shuffle(x, 1)
    y += 1
    x += 2
    return y, z


def test_kernels_that_copy_where_faketensors_alias() -> None:
    check(shuffled_in_one_group, (torch.arange(24.0).reshape(1, 6, 2, 2),), compiled=False)


# --- aliasing that depends on run-time sizes --------------------------------------------------------------------------
