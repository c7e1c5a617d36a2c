"""Ops on half precision that are more than one step are computed in single precision, and rounded once, as in eager."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

import ssa_compiler
from _nightly import with_nightly
from ssa_compiler.testing import check

LOW_PRECISION = [torch.float16, torch.bfloat16]


def functions(x: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:
    return torch.asin(x), torch.acos(x), torch.erf(x), F.silu(x), torch.atan2(x, x + 0.5), F.softplus(x)


def in_place(x: Tensor) -> Tensor:
    y = x.clone()
    y.asin_()
    y.addcmul_(x, x, value=0.3)
    return y


def products(x: Tensor) -> tuple[Tensor, Tensor]:
    return torch.addmm(x, x, x.t()), torch.baddbmm(x[None], x[None], x.t()[None], beta=0.6, alpha=0.2)


def with_numbers(x: Tensor, f: float) -> list[Tensor]:
    return [x * 0.1, x + 1e-3, x / 3, 0.1 - x, x * f, x * torch.tensor(0.1), torch.tensor(0.1) * x]


@pytest.mark.parametrize("dtype", LOW_PRECISION)
def test_numbers_are_not_rounded_first(dtype: torch.dtype) -> None:
    x = torch.linspace(-3, 3, 400).to(dtype)
    check(with_numbers, (x, 0.1), (x, 1.0), (x, 1e-3), rtol=0.0, atol=0.0, compiled=True)


def equal_to_numbers(x: Tensor, f: float) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    return x == 0.1, x <= 0.1, x == f, x > f


@pytest.mark.parametrize("dtype", [*LOW_PRECISION, torch.float32])
def test_numbers_are_rounded_to_be_compared(dtype: torch.dtype) -> None:
    x = torch.tensor([0.1, 0.3, 0.5, 0.7]).to(dtype)
    check(equal_to_numbers, (x, 0.1), (x, 0.3), (x, 0.7), (x, 0.5), compiled=True)


def replaced(x: Tensor) -> list[Tensor]:
    return [torch.nan_to_num(x), torch.nan_to_num(x, 0.1, neginf=-2.0), x.nan_to_num_(posinf=0.1)]


@pytest.mark.parametrize("dtype", LOW_PRECISION)
def test_infinity_is_replaced_by_the_largest_number_of_the_dtype(dtype: torch.dtype) -> None:
    x = torch.tensor([1.0, float("nan"), float("inf"), -float("inf")]).to(dtype)
    check(replaced, (x,), rtol=0.0, atol=0.0)


@pytest.mark.parametrize("program", [functions, in_place, products])
@pytest.mark.parametrize("dtype", LOW_PRECISION)
def test_rounded_once(program: object, dtype: torch.dtype) -> None:
    x = torch.linspace(-1, 1, 400).reshape(20, 20).to(dtype)
    step = torch.finfo(dtype).eps
    checked = check(program, (x,), (x.flip(0),), rtol=step, atol=step / 64, compiled=True)  # type: ignore[arg-type]
    assert checked.compiled.explain().callbacks == ()


def sums(x: Tensor) -> list[Tensor]:
    return [x.sum(), x.mean(), x.nansum(), x.sum(0, dtype=x.dtype), (x * x).sum(), x.int().sum(dtype=x.dtype)]


def norms(x: Tensor) -> list[Tensor]:
    y = x.reshape(1, 1, -1)
    normal = (
        F.layer_norm(x, [x.size(0)]),
        F.rms_norm(x, [x.size(0)]),
        F.group_norm(y, 1),
        F.batch_norm(y, None, None, training=True),
    )
    return [x.norm(), x.norm(1), x.var(), x.std(0), torch.cosine_similarity(x, x * 0.5, 0), *normal]


def prefixes(x: Tensor) -> list[Tensor]:
    return [x.cumsum(0), x.logcumsumexp(0), (x * 1.001).cumprod(0), torch.trapz(x), torch.cumulative_trapezoid(x)]


def exponentials(x: Tensor) -> list[Tensor]:
    return [torch.logsumexp(x, 0), torch.softmax(x, 0), torch.log_softmax(x, 0), F.softmin(x, 0)]


def sums_of_products(x: Tensor) -> list[Tensor]:
    square = torch.diag(x[:300])
    return [
        x @ x,
        torch.einsum("i,i->", x, x),
        square.trace(),
        square @ x[:300],
        F.conv1d(x[None, None], x[None, None]),
    ]


def averages(x: Tensor) -> list[Tensor]:
    y = x.reshape(1, 1, 50, 100)
    return [
        F.avg_pool1d(x[None], x.size(0)),
        F.adaptive_avg_pool1d(x[None], 1),
        F.adaptive_avg_pool2d(y, 1),
        F.avg_pool2d(y, 40),
    ]


def losses(x: Tensor) -> list[Tensor]:
    y = x * 0
    return [
        F.mse_loss(x, y, reduction="sum"),
        F.l1_loss(x, y, reduction="sum"),
        F.triplet_margin_loss(x[None], y[None], y[None]),
    ]


def sums_at_places(x: Tensor) -> list[Tensor]:
    """index_add and index_put round each sum in eager too."""
    zero, places = x[:1] * 0, torch.zeros_like(x, dtype=torch.long)
    placed = (
        zero.scatter_add(0, places, x),
        zero.scatter_reduce(0, places, x, "sum"),
        zero.scatter_reduce(0, places, x, "mean"),
    )
    return [*placed, zero.index_add(0, places, x), zero.index_put((places,), x, accumulate=True)]


SUMS = [sums, norms, prefixes, exponentials, sums_of_products, averages, losses, sums_at_places]


@pytest.mark.slow
@pytest.mark.parametrize("program", with_nightly(SUMS[::2], SUMS[1::2]))
@pytest.mark.parametrize("dtype", with_nightly(LOW_PRECISION[1:], LOW_PRECISION[:1]))
def test_sums_of_many_numbers(program: object, dtype: torch.dtype) -> None:
    """Added in half precision itself, 1 is lost beyond 2,048 (bfloat16: 256)."""
    x = torch.ones(5000, dtype=dtype)
    step = torch.finfo(dtype).eps
    y = torch.rand(5000, generator=torch.Generator().manual_seed(0)).to(dtype)
    check(program, (x,), (y,), rtol=2 * step, atol=step, compiled=True)  # type: ignore[arg-type]


def sampled(x: Tensor) -> Tensor:
    image = x[:200].reshape(2, 4, 5, 5)
    grid = torch.stack([x[200:230] * 3.0 - 1.5, x[230:260] * 3.0 - 1.5], 1).reshape(2, 3, 5, 2)
    return F.grid_sample(image, grid, align_corners=False)


@pytest.mark.parametrize("dtype", LOW_PRECISION)
def test_sampled_at_a_grid(dtype: torch.dtype) -> None:
    x = torch.rand(260, generator=torch.Generator().manual_seed(0)).to(dtype)
    compiled = ssa_compiler.compile(sampled, (x,))
    exact = sampled(x.double())
    wrong = [(result.double() - exact).abs().max() for result in (compiled(x), sampled(x))]
    assert wrong[0] <= 2 * wrong[1]  # eager rounds the places, too


def with_places(x: Tensor) -> list[Tensor]:
    largest, smallest, moments = x.max(1), torch.aminmax(x), torch.var_mean(x, 1)
    return [largest[0], largest[1], x.amax(0), smallest[0], smallest[1], moments[0], moments[1]]


@pytest.mark.parametrize("dtype", LOW_PRECISION)
def test_several_results(dtype: torch.dtype) -> None:
    check(with_places, (torch.tensor([[1, 3, 2], [5, 4, 5]], dtype=dtype),), compiled=True)


def log_odds(x: Tensor) -> Tensor:
    return torch.logit(x * 0.4 + 0.5)


def test_iree_rounds_after_each_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where this fails, `low_precision` can go."""
    monkeypatch.setattr("ssa_compiler.backend.workarounds.op_rewrites.widen_low_precision", lambda op: 0)
    x = torch.linspace(-1, 1, 400).to(torch.float16)
    compiled = ssa_compiler.compile(log_odds, (x,), cache=False)
    wrong = (compiled(x).float() - log_odds(x).float()).abs() / log_odds(x).float().abs().clamp(min=1e-3)
    assert wrong.max() > 1e-3
