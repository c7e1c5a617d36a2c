"""What a program reads before it updates a tensor is read before it (backend/buffers/read_hoisting.py,
backend/verify/kernel_access.py).
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

import ssa_compiler
from ssa_compiler.backend.driver.repairs import Repairs
from ssa_compiler.testing import check


def swapped_rows(x: Tensor, n: int) -> Tensor:
    y = x * 2.0
    for i in range(n):
        first = y[0].clone()
        y[0] = y[i]
        y[i] = first
    return y


def row_used_after_its_update(x: Tensor, n: int) -> Tensor:
    y = x * 2.0
    for i in range(n):
        part = y[i] + 1.0
        y[i] = 0.0
        y[0] = y[0] + part * 3.0
    return y


def sum_used_after_the_update(x: Tensor, n: int) -> Tensor:
    y = x * 2.0
    total = torch.zeros(())
    for i in range(n):
        before = y[i].sum()
        y[i, 0] = 7.0
        total = total + before * y[i, 1]
    return y + total


def row_used_after_a_branch(x: Tensor, n: int) -> Tensor:
    y = x * 2.0
    part = y[1] * 3.0
    if n > 1:
        y[1] = -1.0
    return y + part


def column_used_after_a_branch(x: Tensor, n: int) -> Tensor:
    y = x * 2.0
    for i in range(n):
        before = y[:, 0].clone()
        if i != 1:
            y[i] = 1.0
        y[:, 1] += before
    return y


def updated_again_in_a_branch(x: Tensor, n: int) -> Tensor:
    y = x * 2.0
    for i in range(n):
        y[i] += 1.0
        if i != 1:
            y[i] *= 2.0
    return y


PROGRAMS = (
    swapped_rows,
    row_used_after_its_update,
    sum_used_after_the_update,
    row_used_after_a_branch,
    column_used_after_a_branch,
    updated_again_in_a_branch,
)


def calls() -> list[tuple[Tensor, int]]:
    return [(torch.arange(20.0).reshape(4, 5), n) for n in (2, 0, 1, 4)]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
@pytest.mark.slow
def test_no_whole_tensor_is_copied(program: Callable[[Tensor, int], Tensor]) -> None:
    check(program, *calls())
    report = ssa_compiler.compile(program, calls()[0]).report()
    assert not report.copies
    assert report.copies_made == 0


@pytest.mark.parametrize("program", [swapped_rows, row_used_after_its_update], ids=lambda program: program.__name__)
def test_iree_reads_the_version_before_in_a_later_kernel(
    program: Callable[[Tensor, int], Tensor], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the barriers it copies, and the results are right all the same."""
    monkeypatch.setattr(Repairs, "read_before_updates", lambda self, ops: 0)
    check(program, *calls())
    made = ssa_compiler.compile(program, calls()[0]).report().copies_made
    assert made is not None
    assert made > 0


def part_of_a_row(x: Tensor, n: int) -> Tensor:
    y = x * 2.0
    for i in range(n):
        y[i][1:3] += float(i)
    return y


def test_a_part_of_a_row_is_changed_by_one_kernel() -> None:
    """The kernel reads the place that it writes, which is computed from a dynamic scalar
    (backend/ir/affine_offsets.py).
    """
    check(part_of_a_row, *calls())
    compiled = ssa_compiler.compile(part_of_a_row, calls()[0])
    assert compiled.explain().attempts == 1
    counts = compiled.copy_count()
    assert counts.loop_dispatches == 1
    assert counts.loop_copies == 0


def row_onto_another(x: Tensor, n: int) -> Tensor:
    y = x * 2.0
    for i in range(n):
        y[i] = y[n - i - 1]
    return y


def test_a_row_is_copied_onto_another_not_the_tensor() -> None:
    """Both may be one row, which IREE's runtime does not copy onto itself: the row is read first."""
    check(row_onto_another, *calls())
    report = ssa_compiler.compile(row_onto_another, calls()[0]).report()
    assert report.copies_made == 0
