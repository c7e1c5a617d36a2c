"""Aliasing that depends on dynamic sizes, on arguments or on which way a run took."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from _rejections import rejection
from ssa_compiler.abi.assumptions import DistinctStorage
from ssa_compiler.importer import import_program
from ssa_compiler.testing import check, interpret

ROWS = torch.arange(12.0).reshape(4, 3)


def flat(x: Tensor) -> Tensor:
    return x.flatten()


def maybe_contiguous(x: Tensor, k: int) -> Tensor:
    y = x[:, :k].contiguous()
    return y * 2


def written_maybe(x: Tensor, k: int) -> Tensor:
    y = x[:, :k].contiguous()
    y += 1
    return x


def source_written(x: Tensor, k: int) -> Tensor:
    y = x[:, :k].contiguous()
    x[0] = 1
    return y


def source_written_in_the_next_trip(x: Tensor, k: int) -> Tensor:
    y = x[:, :k].contiguous()
    z = torch.zeros(3)
    for i in range(k):
        z = z + y.sum()
        x[i] = 1
    return z


def test_copy_or_alias_at_run_time_is_fine_if_nothing_is_written() -> None:
    program = import_program(maybe_contiguous, (ROWS, 2))
    for k in (2, 1, 0, 3):
        assert torch.equal(interpret(program.module, ROWS, k)[0], maybe_contiguous(ROWS, k))


@pytest.mark.parametrize("function", [written_maybe, source_written, source_written_in_the_next_trip])
def test_copy_or_alias_at_run_time_is_rejected_if_it_matters(function: Callable[..., Any]) -> None:
    assert "aliases or copies depending on a run-time size" in rejection(function, (ROWS, 2))


def squeezed(x: Tensor, k: int) -> Tensor:
    return x[:k].squeeze(0)


def test_squeeze_of_an_unknown_size_is_rejected() -> None:
    assert "squeeze" in rejection(squeezed, (ROWS, 2))


def added(x: Tensor, y: Tensor, k: int) -> Tensor:
    return x[:k] + y


def test_size_that_has_to_fit_is_checked_at_run_time() -> None:
    program = import_program(added, (ROWS, ROWS[:2], 2))
    assert torch.equal(interpret(program.module, ROWS, ROWS[:2], 2)[0], ROWS[:2] * 2)
    with pytest.raises(RuntimeError, match="sizes do not fit"):
        interpret(program.module, ROWS, ROWS[:2], 3)


def used_after_the_check(x: Tensor, y: Tensor, k: int, flag: int) -> Tensor:
    z = x[:k]
    if flag > 0:
        z = z + y
    return z


def test_what_a_branch_requires_is_not_believed_outside() -> None:
    program = import_program(used_after_the_check, (ROWS, ROWS[:2], 2, 1))
    assert torch.equal(interpret(program.module, ROWS, ROWS[:2], 3, 0)[0], ROWS[:3])


# --- assumptions about arguments --------------------------------------------------------------------------------------


def write_one_read_other(x: Tensor, y: Tensor) -> Tensor:
    x += 1
    return x + y


def test_written_argument_must_not_share_memory() -> None:
    program = import_program(write_one_read_other, (torch.zeros(3), torch.zeros(3)))
    assert [a.index for a in program.assumptions if isinstance(a, DistinctStorage)] == [0]
    assert program.written == {0}


def write_in_a_branch(x: Tensor, i: int) -> Tensor:
    view = x[0]
    if i > 0:
        view.zero_()
    return x


def test_write_through_a_view_in_a_branch_is_a_write_to_the_argument() -> None:
    assert import_program(write_in_a_branch, (ROWS, 0)).written == {0}


# --- control flow decides on the layout -------------------------------------------------------------------------------


def _turned(y: Tensor, n: int) -> Tensor:
    return y if n <= 2 else y.movedim(1, 0)


def flat_product(y: Tensor, n: int) -> Tensor:
    product = _turned(y, n) * 2.0
    return product.flatten() + 1.0


def chosen_at_mask(y: Tensor, n: int) -> Tensor:
    v = _turned(y, n)
    return v[v > 0.0]


def changed_at_mask(y: Tensor, n: int) -> None:
    v = _turned(y, n)
    mask = v > 0.0
    v[mask] += 2.0


def flat_in_a_loop(y: Tensor, n: int) -> Tensor:
    product = y * 2.0
    for _ in range(n):
        product = _turned(y, n) + product.sum()
    return (product - 1.0).reshape(-1)


@pytest.mark.parametrize("function", [flat_product, chosen_at_mask, changed_at_mask, flat_in_a_loop])
@pytest.mark.parametrize("example", [torch.arange(9.0).reshape(3, 3) - 4.0, torch.arange(15.0).reshape(5, 3) - 7.0])
def test_what_an_op_makes_of_one_of_several_layouts_is_flattened(function: Callable[..., Any], example: Tensor) -> None:
    """The comparison has the layout of what it compares; the example's was taken for that of all runs, and viewed."""
    check(function, (example.clone(), 3), (example.clone(), 1), (example.clone(), 0))


def exchanged_and_masked(x: Tensor, y: Tensor, n: int) -> tuple[Tensor, Tensor]:
    v = x.t()
    for _ in range(n):
        v, y = y, v
        mask = v > 0.0
        v[mask] += 2.0
    return v, y


def test_layouts_are_asked_again_in_each_pass_over_a_loop() -> None:
    """The first pass knows the strides of what the loop carries, the next one does not."""
    x, y = torch.arange(9.0).reshape(3, 3) - 4.0, 5.0 - torch.arange(9.0).reshape(3, 3)
    check(exchanged_and_masked, *[(x.clone(), y.clone(), n) for n in (2, 0, 1, 3)])


def written_when_flat(y: Tensor, n: int) -> tuple[Tensor, Tensor]:
    product = _turned(y, n) * 2.0
    flat = product.flatten()
    flat += 1.0
    return flat, product


def read_when_written(y: Tensor, n: int) -> Tensor:
    product = _turned(y, n) * 2.0
    flat = product.flatten()
    product += 1.0
    return flat


@pytest.mark.parametrize("function", [written_when_flat, read_when_written])
def test_alias_or_copy_that_control_flow_decides_is_rejected_if_it_matters(function: Callable[..., Any]) -> None:
    assert "aliases or copies depending on a run-time size" in rejection(function, (torch.zeros(3, 3), 3))


def viewed(y: Tensor, n: int) -> Tensor:
    return (_turned(y, n) * 2.0).view(-1)


def asked(y: Tensor, n: int) -> bool:
    return (_turned(y, n) * 2.0).is_contiguous()


@pytest.mark.parametrize("function", [viewed, asked])
def test_question_whose_answer_control_flow_decides_is_rejected(function: Callable[..., Any]) -> None:
    assert "whose layout depends on control flow" in rejection(function, (torch.zeros(3, 3), 2))


# --- Rows at 0-d tensors, which are views in eager --------------------------------------------------------------------

CUBE = torch.arange(24.0).reshape(2, 3, 4)


def row_of_a_row(x: Tensor, k: int) -> Tensor:
    element = x[torch.tensor(k)][torch.tensor(k)]
    x.zero_()
    return element


def storage_behind_a_row(x: Tensor, k: int) -> tuple[Tensor, int]:
    return x[torch.tensor(k)].as_strided([2, 2], [4, 1], 0), x[torch.tensor(k)].storage_offset()


def layout_of_a_row(x: Tensor, k: int):  # type: ignore[no-untyped-def]
    row = x.permute(2, 0, 1)[torch.tensor(k)]
    return row.stride(), row.is_contiguous()


def row_with_gaps(x: Tensor, k: int) -> Tensor:
    return x[:, :, :2][torch.tensor(k)].view(6)


@pytest.mark.parametrize("function", [row_of_a_row, storage_behind_a_row, layout_of_a_row, row_with_gaps])
def test_rows_at_tensors_are_views_to_whoever_asks(function: Callable[..., Any]) -> None:
    check(function, (CUBE, 1), (CUBE, 0), compiled=False)


def changed_by_a_part(x: Tensor, i: Tensor, j: Tensor) -> Tensor:
    x[i, 1:] += x[j][:3]
    return x


def changed_by_an_element(x: Tensor, i: Tensor, n: Tensor) -> Tensor:
    x[i] *= x[int(n), 0]
    return x


def changed_by_a_row(x: Tensor, i: Tensor, j: Tensor) -> Tensor:
    x[i] += x[j]
    return x


@pytest.mark.parametrize("function", [changed_by_a_part, changed_by_an_element, changed_by_a_row])
def test_what_changes_a_row_at_a_tensor_may_overlap_it(function: Callable[..., Any]) -> None:
    x, calls = CUBE.reshape(6, 4), [(0, 1), (1, 1), (-1, 5), (-1, 2)]
    checked = check(function, *((x, torch.tensor(i), torch.tensor(j)) for i, j in calls), compiled=False)
    assert [error is not None for error in checked.errors] == [
        function is not changed_by_a_row and i % 6 == j for i, j in calls
    ]
    if function is changed_by_a_row:
        assert "aten.select.int" not in checked.stages["imported"]
