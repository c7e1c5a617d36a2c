"""Ops on tensors of several floating dtypes, whose results have the dtypes that eager gives them: FakeTensors
promote.
"""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from ssa_compiler import compile
from ssa_compiler.testing import check


def losses(x: Tensor, y: Tensor) -> list[Tensor]:
    return [
        F.huber_loss(x, y),
        F.huber_loss(x, y, reduction="sum", delta=0.5),
        F.binary_cross_entropy_with_logits(x, y),
        F.mse_loss(x, y),
        F.smooth_l1_loss(x, y),
    ]


def of_parts(x: Tensor, y: Tensor, n: int) -> Tensor:
    for _ in range(n):
        x = F.huber_loss(x, y, reduction="none")
    return x


def promoted(x: Tensor, y: Tensor) -> list[Tensor]:
    return [x + y, torch.cat([x, y]), torch.where(x > y, x, y), torch.maximum(x, y), x.clamp(y), x * y.sum()]


PAIRS = [
    (torch.float64, torch.float32),
    (torch.float16, torch.float32),
    (torch.float32, torch.float16),
    (torch.float32, torch.float64),
]


@pytest.mark.parametrize("dtypes", PAIRS)
def test_results_have_eagers_dtypes(dtypes: tuple[torch.dtype, torch.dtype]) -> None:
    x, y = (torch.tensor(numbers).to(dtype) for numbers, dtype in zip(([0.5, -3.0, 2.0], [0.25, 1.0, 0.0]), dtypes))
    compiled = dtypes[0] is torch.float16
    for function in (losses, promoted):
        check(function, (x, y), (y.to(dtypes[0]), x.to(dtypes[1])), compiled=compiled)


def bounded(x: Tensor, y: Tensor, n: Tensor) -> list[Tensor]:
    found = [torch.maximum(x, y), torch.minimum(y, x), torch.max(x, n), torch.min(n, y), torch.clamp_max(y, n)]
    found += [x.clamp(y), x.clamp(max=n), x.clamp(n, y), torch.clamp_min(n, x), n.clamp(0.5, 3.5)]
    found += [x.clone().clamp_(n), y.clone().clamp_max_(x), x.clone().clamp_min_(n)]
    return found


@pytest.mark.parametrize("kernels", [True, False])
def test_bounds_of_other_dtypes_keep_nan(kernels: bool) -> None:
    """torch-mlir compares in the result's dtype, and loses NaN: so it did where the operands are of several dtypes."""
    nan, inf = float("nan"), float("inf")
    x, y = torch.tensor([nan, 1.0, inf, -2.0]), torch.tensor([2.0, nan, -inf, 3.0], dtype=torch.float64)
    checked = check(bounded, (x, y, torch.tensor([4, 3, 2, 1])), options={"kernels": kernels})
    assert checked.compiled.explain().callbacks == ()


def test_results_of_a_loop() -> None:
    x, y = torch.tensor([0.5, -3.0, 2.0]).half(), torch.tensor([0.25, 1.0, 0.0])
    check(of_parts, (x, y, 2), (x, y, 0), (x, y, 1), compiled=True)


def dropped(x: Tensor, n: int) -> Tensor:
    return F.dropout(x[:n], 0.5, True).sum(1) * 0.0


def test_dropout_of_no_elements() -> None:
    """Eager's mask has another dtype then, which nobody sees."""
    compiled = compile(dropped, (torch.ones(2, 3), 1))
    for n in (0, 1, 2):
        result, eager = compiled(torch.ones(2, 3), n), dropped(torch.ones(2, 3), n)
        assert torch.equal(result, eager)
        assert result.dtype == eager.dtype
