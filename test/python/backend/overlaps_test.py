"""Parts of a tensor that are written with what other parts of it hold: IREE makes one kernel of reading and writing."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from ssa_compiler.backend.verify import in_place
from ssa_compiler.testing import check


def shifted_right(m: Tensor, k: int) -> Tensor:
    m[:, 1:] = m[:, :-1].clone()
    return m


def shifted_mask(m: Tensor, k: int) -> Tensor:
    """What top-p sampling does with the tokens to remove."""
    mask = m > 2
    mask[:, 1:] = mask[:, :-1].clone()
    mask[:, 0] = False
    return mask


def shifted_by_any(m: Tensor, k: int) -> Tensor:
    m[:, k:] = m[:, : 4 - k].clone()
    return m


def shifted_in_a_loop(m: Tensor, k: int) -> Tensor:
    y = m * 1
    for _ in range(k):
        y[:, 1:] = y[:, :-1].clone() * 2
        y[1:] = y[:-1].clone()
    return y


def rows_and_columns(m: Tensor, k: int) -> Tensor:
    m[k] = m[1].flip(0)
    m[:, k] = m[:, 1].flip(0)
    m[k, 1:] = m[1, :-1].clone()
    m[1:] = m[1:].flip(0).clone()
    m[:, 1:] = m[:, 1:].cumsum(1)
    return m


PROGRAMS = [shifted_right, shifted_mask, shifted_by_any, shifted_in_a_loop, rows_and_columns]


@pytest.mark.parametrize("program", PROGRAMS)
def test_equals_eager(program: Callable[[Tensor, int], Tensor]) -> None:
    check(program, *[(torch.arange(16.0).view(4, 4), k) for k in (1, 0, 2, 3)])


def test_iree_reads_what_it_has_overwritten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where this fails, `reads_beside_what_it_writes` can go."""
    monkeypatch.setattr(in_place, "reads_beside_what_it_writes", lambda dispatch, module: False)
    with pytest.raises(AssertionError, match="elements differ"):
        check(shifted_right, (torch.arange(16.0).view(4, 4), 1))
