"""Tensors that the host waits for, and that branches and loops hand on: IREE takes one for another without barriers."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from ssa_compiler.backend import _driver
from ssa_compiler.testing import check


def view_of_a_choice(x: Tensor, y: Tensor, n: int, k: int) -> tuple[Tensor, Tensor]:
    v1 = x[None] if n <= 2 else y[None]
    x.detach()[torch.full([3, 3], True, dtype=torch.bool)] = 3.5
    v1.add_(torch.full([1, 3, 3], 1.5, dtype=torch.float32)).mul_(0.5)
    v1.narrow(2, k % 2, 2).add_(3.5).mul_(0.5)
    return v1, y


def callback_before_a_branch(x: Tensor, y: Tensor, n: int, k: int) -> tuple[Tensor, Tensor]:
    z = x * 2.0
    rows = z[y[:, 0] > 0.0].sum()
    if n > 2:
        z = z + rows
    w = z * 3.0
    for _ in range(k):
        w = w + z
    return w, rows


CALLS = [(torch.randn(3, 3), torch.randn(3, 3), n, k) for n, k in ((2, 1), (0, 0), (1, -3), (5, 4), (3, 2))]


@pytest.mark.parametrize("program", [view_of_a_choice, callback_before_a_branch])
def test_compiled_equals_eager(program: Callable[..., tuple[Tensor, ...]]) -> None:
    check(program, *CALLS, compiled=True)


def test_iree_takes_one_for_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_driver, "hide_awaited", lambda module: 0)
    with pytest.raises(AssertionError, match="elements differ"):
        check(view_of_a_choice, *CALLS, compiled=True)
