"""Ops on half precision that are more than one step are computed in single precision, and rounded once, as in eager."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

import ssa_compiler
from ssa_compiler.testing import check

HALVES = [torch.float16, torch.bfloat16]


def functions(x: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:
    return torch.asin(x), torch.acos(x), torch.erf(x), F.silu(x), torch.atan2(x, x + 0.5), F.softplus(x)


def in_place(x: Tensor) -> Tensor:
    y = x.clone()
    y.asin_()
    y.addcmul_(x, x, value=0.3)
    return y


def products(x: Tensor) -> tuple[Tensor, Tensor]:
    return torch.addmm(x, x, x.t()), torch.baddbmm(x[None], x[None], x.t()[None], beta=0.6, alpha=0.2)


@pytest.mark.parametrize("program", [functions, in_place, products])
@pytest.mark.parametrize("dtype", HALVES)
def test_rounded_once(program: object, dtype: torch.dtype) -> None:
    x = torch.linspace(-1, 1, 400).reshape(20, 20).to(dtype)
    step = torch.finfo(dtype).eps
    checked = check(program, (x,), (x.flip(0),), rtol=step, atol=step / 64, compiled=True)  # type: ignore[arg-type]
    assert checked.compiled.explain().callbacks == ()


def arcsine(x: Tensor) -> Tensor:
    return torch.asin(x)


def test_iree_rounds_after_each_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where this fails, `_halves` can go."""
    monkeypatch.setattr("ssa_compiler.backend._mended.widen_halves", lambda op: 0)
    x = torch.linspace(-1, 1, 400).to(torch.float16)
    compiled = ssa_compiler.compile(arcsine, (x,), cache=False)
    wrong = (compiled(x).float() - arcsine(x).float()).abs() / arcsine(x).float().abs().clamp(min=1e-3)
    assert wrong.max() > 1e-3
