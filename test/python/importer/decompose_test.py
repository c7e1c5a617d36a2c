"""Ops that IREE does not compile, or wrongly, and that PyTorch's tables decompose."""

from __future__ import annotations

from typing import Any, List, Optional  # noqa: UP035

import pytest
import torch
from torch import Tensor

from ssa_compiler.importer.fake import fake_run, trace_memo
from ssa_compiler.importer.fake.fake_run import decomposition
from ssa_compiler.testing import check


def gelu_tanh(x: Tensor) -> Tensor:
    return torch.nn.functional.gelu(x, approximate="tanh")


def copies(x: Tensor) -> Tensor:
    y = torch.diagonal_copy(x)
    y.add_(1)  # x stays
    return torch.t_copy(x) + y


def shrinks(x: Tensor) -> tuple[Tensor, Tensor]:
    y = torch.where(x > 4.5, float("nan"), x)
    return torch.nn.functional.softshrink(y), torch.nn.functional.hardshrink(y)


def enlarged(x: Tensor) -> Tensor:
    return torch.nn.functional.interpolate(x, scale_factor=2.0, mode="bilinear", align_corners=False)


def test_bytes_are_interpolated_in_fixed_point() -> None:
    """Eager rounds 4.5 up."""
    small = torch.arange(32, dtype=torch.uint8).reshape(1, 2, 4, 4) % 9
    check(enlarged, (small,), (255 - small * 7,))


@pytest.mark.parametrize("program", [gelu_tanh, copies, shrinks])
def test_native_and_right(program: Any) -> None:
    x = torch.linspace(-5, 5, 64).reshape(8, 8)
    checked = check(program, (x,), rtol=2e-6, atol=2e-6)
    assert checked.compiled.explain().callbacks == ()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_shrinking_halves(dtype: torch.dtype) -> None:
    def shrink(x: Tensor, bound: float) -> tuple[Tensor, Tensor]:
        return torch.nn.functional.softshrink(x, 0.1), torch.nn.functional.softshrink(x, bound)

    x = torch.tensor([-2.25, -0.25, -0.0, 0.0, 0.25, 2.25, float("inf"), float("nan")], dtype=dtype)
    check(shrink, (x, 0.1), (x, 0.5), (x, 0.0))


def accumulates(x: Tensor, a: Tensor, b: Tensor) -> Tensor:
    return x.addmv_(a, b, beta=2, alpha=3)


def test_conversions_inside_are_copies() -> None:
    half = [torch.randn(*sizes).to(torch.bfloat16) for sizes in ((3,), (3, 4), (4,))]
    check(accumulates, tuple(half), compiled=False)


def sampled(x: Tensor, at: Tensor) -> Tensor:
    return torch.grid_sampler_2d(x, at, 0, 0, False)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_what_rounds_after_each_step_is_not_taken_apart(dtype: torch.dtype) -> None:
    x, at = torch.randn(1, 2, 8, 8).to(dtype), (torch.rand(1, 5, 5, 2) * 2 - 1).to(dtype)
    rounding = torch.finfo(dtype).eps
    checked = check(sampled, (x, at), compiled=False, rtol=2 * rounding, atol=1e-4)
    assert "grid_sampler" in checked.stages["iree"]
    single = check(sampled, (x.float(), at.float()), compiled=False)
    assert "grid_sampler" not in single.stages["iree"]


def overflows(x: Tensor, y: Tensor) -> Tensor:
    return torch.nn.functional.soft_margin_loss(x, y, reduction="none")


def test_what_overflows_in_half_precision_does_so_compiled() -> None:
    x = torch.tensor([-7.0, 2.0, 5.0], dtype=torch.float16)
    assert overflows(x, -x)[1].isfinite()
    assert overflows(x, -x)[2].isinf()
    check(overflows, (x, -x), compiled=False)


def adds_bools(x: Tensor, at: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return x.index_add(0, at, y), x.scatter_add(0, at, y), x.scatter_reduce(0, at, y, "amax")


@pytest.mark.parametrize("y", [[True, True], [False, True], [False, False]])
def test_bools_add_up_to_true(y: list[bool]) -> None:
    args = (torch.tensor([True, False, True]), torch.tensor([1, 2]), torch.tensor(y))
    check(adds_bools, args, rtol=0, atol=0)


def masked_index(x: Tensor, mask: Tensor, i: Tensor, j: Tensor):
    places = torch.jit.annotate(List[Optional[Tensor]], [i, j])  # noqa: UP006, UP045
    return torch._unsafe_masked_index(x, mask, places, -8.5)


def test_negative_places_count_from_the_end() -> None:
    i, j = torch.tensor([0, -1, 4, -9, 7]), torch.tensor([-2, -5, 0, 3, 3])
    mask = torch.tensor([True, True, False, True, True])
    x = torch.arange(25.0).reshape(5, 5)
    check(masked_index, (x, mask, i, j), (x, ~mask, i, j), compiled=False)


def incomplete_gamma(x: Tensor) -> Tensor:
    return torch.igamma(x, x + 1.0)


def test_an_op_that_its_parts_lead_back_to_is_decomposed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """It was repeated until Python's stack was exhausted, where modes of PyTorch stay active, for good."""
    looked_up: list[Any] = []

    def counted(emitter: Any, op: Any, leaves: Any) -> Any:
        looked_up.append(op)
        return decomposition(emitter, op, leaves)

    monkeypatch.setattr(fake_run, "decomposition", counted)
    monkeypatch.setattr(trace_memo, "_traces", {})  # what other tests have found out
    check(incomplete_gamma, (torch.rand(5),), (torch.rand(5) + 2.0,))
    assert 1 <= looked_up.count(torch.ops.aten.igamma.default) <= 2
