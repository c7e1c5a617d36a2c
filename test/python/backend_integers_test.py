"""Integers that no 32-bit float holds: what IREE computes through floating point is spelled differently."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

import ssa_compiler
from ssa_compiler.backend import _driver
from ssa_compiler.testing import check


def negated(x: Tensor) -> Tensor:
    return -x


def subtracted_from(x: Tensor) -> Tensor:
    return 7 - x


def subtracted_twice(x: Tensor) -> Tensor:
    return torch.rsub(x, 7, alpha=2)


LARGE = torch.tensor([-(2**24) - 1, 2**24 + 1, -1234567891, 1234567891, 0, -1])


@pytest.mark.parametrize("program", [negated, subtracted_from, subtracted_twice])
@pytest.mark.parametrize("dtype", [torch.int32, torch.int64])
def test_large_integers(program: Callable[[Tensor], Tensor], dtype: torch.dtype) -> None:
    x = LARGE.to(dtype)
    assert check(program, (x,), compiled=True).compiled.explain().callbacks == ()


@pytest.mark.parametrize("program", [negated, subtracted_from])
def test_iree_rounds_them(program: Callable[[Tensor], Tensor], monkeypatch: pytest.MonkeyPatch) -> None:
    """Where this fails, the entry in `_mended` can go."""
    monkeypatch.setattr(_driver, "mend_ops", lambda module: 0)
    compiled = ssa_compiler.compile(program, (LARGE,))
    assert not torch.equal(compiled(LARGE), program(LARGE))
