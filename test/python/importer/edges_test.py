"""Ops at the edges of their domain: NaN, infinities, zeros, factors of 0, no elements, numbers that eager rejects."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor
from torch.export import Dim

from ssa_compiler import compile
from ssa_compiler.errors import ProgramError
from ssa_compiler.testing import check
from ssa_compiler.testing.harness import run_eager

NAN, INF = math.nan, math.inf
generator = torch.Generator().manual_seed(0)
A, B = torch.randn(3, 3, generator=generator), torch.randn(3, 3, generator=generator)
NANS, INFINITE = torch.full((3, 3), NAN), torch.full((3, 3), INF)


def products(x: Tensor, a: Tensor, b: Tensor) -> list[Tensor]:
    found = [torch.addmm(x, a, b, beta=0), torch.addmm(x[0], a, b, beta=0, alpha=2), torch.addmm(x, a, b, alpha=0)]
    found += [torch.addmv(x[0], a, b[0], beta=0), torch.addmv(x[0], a, b[0], alpha=0)]
    found += [torch.addr(x, a[0], b[0], beta=0), torch.addr(x, a[0], b[0], alpha=0)]
    found += [torch.baddbmm(x[None], a[None], b[None], beta=0), torch.baddbmm(x[None], a[None], b[None], alpha=0)]
    found += [torch.addbmm(x, a[None], b[None], beta=0), torch.addbmm(x, a[None], b[None], alpha=0)]
    found += [x.clone().addmm_(a, b, beta=0)]
    return found


def products_with_dynamic_factors(x: Tensor, a: Tensor, b: Tensor, beta: float, alpha: float) -> list[Tensor]:
    return [
        torch.addmm(x, a, b, beta=beta, alpha=alpha),
        torch.addmv(x[0], a, b[0], beta=beta, alpha=alpha),
        torch.addbmm(x, a[None], b[None], beta=beta, alpha=alpha),
        torch.baddbmm(x[None], a[None], b[None], beta=beta, alpha=alpha),
        torch.addr(x, a[0], b[0], beta=beta, alpha=alpha),
    ]


def test_dynamic_factors_of_zero() -> None:
    inputs = [(A, A, B), (NANS, A, B), (A, NANS, B), (NANS, NANS, NANS)]
    factors = [(0.5, 2.0), (0.0, 2.0), (0.5, 0.0), (0.0, 0.0)]
    calls = [(*tensors, *numbers) for tensors in inputs for numbers in factors]
    check(products_with_dynamic_factors, *calls)
    halves = [tuple(x.to(torch.float16) if isinstance(x, Tensor) else x for x in call) for call in calls]
    check(products_with_dynamic_factors, *halves, compiled=False)


def batches_with_dynamic_factors(x: Tensor, a: Tensor, b: Tensor, beta: float, alpha: float) -> Tensor:
    return torch.baddbmm(x, a, b, beta=beta, alpha=alpha)


def test_dynamic_factors_of_large_batches() -> None:
    a, nan = torch.ones(2, 8, 8), torch.full((2, 8, 8), NAN)
    factors = [(0.5, 2.0), (0.0, 2.0), (0.5, 0.0), (0.0, 0.0)]
    check(
        batches_with_dynamic_factors,
        *[(*tensors, *f) for tensors in ((a, a, a), (a, nan, a), (nan, a, a)) for f in factors],
    )


@pytest.mark.slow
def test_factors_of_zero() -> None:
    """What is multiplied by 0 is not read, where BLAS does not."""
    inputs = [(A, A, B), (NANS, A, B), (INFINITE, A, B), (A, NANS, B), (A, A, INFINITE), (NANS, NANS, NANS)]
    checked = check(products, *inputs)
    assert checked.compiled.explain().callbacks == ()
    check(products, *[tuple(x.to(torch.float16) for x in call) for call in inputs], compiled=False)


def batches(x: Tensor, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    return torch.baddbmm(x, a, b, alpha=0), torch.baddbmm(x, a, b, beta=0)


def test_factors_of_zero_of_large_batches() -> None:
    """Batches of large products are left to BLAS in eager, small ones are not."""
    a, nan = torch.ones(2, 8, 8), torch.full((2, 8, 8), NAN)
    check(batches, (a, a, a), (a, nan, a), (nan, a, a), compiled=False)


ROWS = torch.tensor([[0.0, 0, 0, 0], [1e-20, 1e-21, 0, 0], [1, 2, NAN, 0], [3e19, 1, 0, 0], [1e-4, 0, 0, 0]])


def norms(x: Tensor, y: Tensor) -> list[Tensor]:
    found = [F.rms_norm(x, [4]), torch.rms_norm(x, [4], torch.ones(4, dtype=x.dtype))]
    found += [F.cosine_similarity(x, y, dim=1), F.cosine_similarity(x, y, dim=0, eps=1e-3)]
    return found


def test_norms_without_epsilon() -> None:
    inputs = [(torch.ones(5, 4), torch.ones(5, 4)), (ROWS, ROWS.flip(0)), (ROWS * 1e-5, ROWS), (ROWS, ROWS)]
    check(norms, *inputs)
    for dtype in (torch.float64, torch.float16, torch.bfloat16):
        check(norms, *[(x.to(dtype), y.to(dtype)) for x, y in inputs], compiled=False)


def moments(x: Tensor) -> list[Tensor]:
    both, of_all = torch.std_mean(x, dim=1), torch.var_mean(x)
    found = [both[0], both[1], of_all[0], of_all[1], x.std(), x.var()]
    found += [x.var(dim=0), x.std(dim=1, unbiased=False)]
    return found


def test_variances_of_large_and_small_numbers() -> None:
    close = torch.tensor([[1e8, 1e8 + 8, 1e8], [1e8, 1e8 - 8, 1e8], [1, 2, 3]])
    check(moments, *[(x,) for x in (A, A * 1e25, A * 1e-25, A.abs() * 1e38, NANS, INFINITE, close)])


def between(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return torch.lerp(x, y, 0.5), torch.lerp(x, y, 0.25), torch.lerp(x, y, x.abs())


def test_numbers_between_infinities() -> None:
    check(between, (A, B), (INFINITE, B), (A, -INFINITE), (INFINITE, INFINITE), (NANS, B))


def shifted(x: Tensor, y: Tensor) -> list[Tensor]:
    found = [x << 64, x >> 70, x >> 64, x >> -1, x << -1, x >> 63, x << 63, x << y, x >> y, x.to(torch.int32) >> 40]
    found += [x.to(torch.int32) >> 32, x.to(torch.int32) << 32, x.to(torch.uint8) >> 8, x.to(torch.int8) >> 9]
    return found


def test_shifts_by_more_bits_than_there_are() -> None:
    x = torch.tensor([2**63 - 1, -(2**63), -1, 0, 1, 2**31, -(2**31), 200, -128])
    check(shifted, (x, torch.arange(9)), (x.flip(0), torch.tensor([63, 64, 65, -1, 0, 1, 32, 100, -64])))


def running(x: Tensor) -> tuple[Tensor, Tensor]:
    return x.cumsum(1), x.cumprod(1)


def test_running_sums_and_products_on_the_way_beyond_single_precision() -> None:
    check(running, (A,), (torch.tensor([[1e30, 1e30, 0.0], [1e30, 1.0, -1e30], [1e38, 3e38, -3e38]]),), (INFINITE,))


def losses(x: Tensor, p: Tensor, at: Tensor, several: Tensor) -> list[Tensor]:
    found = [F.kl_div(x, p, reduction="sum"), F.kl_div(x, p, log_target=True, reduction="none")]
    found += [F.multi_margin_loss(x, at), F.multi_margin_loss(x, at, 2, 0.5, reduction="none")]
    found += [F.multilabel_margin_loss(x, several), F.multilabel_margin_loss(x, several, reduction="none")]
    return found


def test_losses_of_nan_and_zeros() -> None:
    at, several = torch.tensor([0, 2, 1]), torch.tensor([[1, -1, 0], [2, 0, 1], [-1, 0, 0]])
    some = torch.where(torch.eye(3) > 0, NANS, A)
    inputs = [(A, A.abs()), (A, torch.zeros(3, 3)), (A, -A), (NANS, torch.zeros(3, 3)), (some, -INFINITE), (A, NANS)]
    check(losses, *[(x, p, at, several) for x, p in inputs], (A, B, at + 1, several), (A, B, at, several * 3))


def entropy(x: Tensor, p: Tensor, w: Tensor) -> tuple[Tensor, Tensor]:
    return F.binary_cross_entropy(x, p), F.binary_cross_entropy(x, p, w, reduction="none")


def test_what_is_no_probability() -> None:
    x, p = A.sigmoid(), B.sigmoid()
    wrong = [(A * 3, p), (NANS, p), (x, B * 5), (x, NANS), (INFINITE, p)]
    checked = check(entropy, (x, p, A), (p.round(), x.round(), A), *[(*pair, A) for pair in wrong])
    assert [error is not None for error in checked.errors] == [False, False, *[True] * len(wrong)]
    halves = [tuple(t.to(torch.bfloat16) for t in (*pair, A)) for pair in ((x, p), wrong[0])]
    check(entropy, *halves, compiled=False)


IMAGE = torch.randn(2, 2, 4, 4, generator=generator)
HOLED = IMAGE.clone()
HOLED[0, 0, 0, 0], HOLED[0, 1, 0, 0], HOLED[1, 0, 2, 2], HOLED[1, 1] = INF, NAN, -INF, INF
GRID = torch.rand(2, 5, 4, 2, generator=generator) * 3 - 1.5
ODD = GRID.clone()
ODD[0, 0, 0, 0], ODD[0, 1, 1], ODD[0, 2, 2, 1], ODD[1, 1], ODD[1, 2], ODD[1, 0], ODD[0, 3] = (
    NAN,
    INF,
    -INF,
    NAN,
    1e30,
    1,
    -1,
)


def enlarged(x: Tensor) -> list[Tensor]:
    found = [F.interpolate(x, [3, 5], mode="bilinear", align_corners=True)]
    found += [F.interpolate(x, scale_factor=1.7, mode="bilinear"), F.interpolate(x[0], [3], mode="linear")]
    found += [F.interpolate(x[:, :, None], [2, 3, 5], mode="trilinear", align_corners=True)]
    return found


def sampled(x: Tensor, g: Tensor) -> list[Tensor]:
    found = [F.grid_sample(x, g, align_corners=False), F.grid_sample(x, g, "nearest", "border", True)]
    found += [F.grid_sample(x, g, "bilinear", "reflection", False), F.grid_sample(x, g, "nearest", "reflection", True)]
    found += [F.grid_sample(x, g, "nearest", "zeros", True), F.grid_sample(x, g, "bicubic", "border", True)]
    return found


def both(x: Tensor, g: Tensor) -> tuple[Tensor, Tensor]:
    return F.interpolate(x, [3, 5], mode="bilinear"), F.grid_sample(x, g, align_corners=False)


@pytest.mark.slow
def test_images_with_infinities_and_places_that_are_none() -> None:
    images = [(IMAGE, GRID), (IMAGE, ODD), (HOLED, GRID), (HOLED, ODD)]
    check(both, *images)
    check(enlarged, (IMAGE,), (HOLED,), compiled=False)
    check(sampled, *images, compiled=False)


def roots(x: Tensor, h: Tensor, e: float, n: int) -> list[Tensor]:
    y = x.clone()
    for _ in range(n):
        y = y**e
        e -= 0.25
    found = [y, x**e, x.float_power(e), h**e, h**0.5, h**-0.5, x**0.5, x**-0.5]
    return found + [power.reciprocal() for power in found]


def test_powers_that_are_roots_of_infinities_and_zeros() -> None:
    """Eager takes roots for exponents of 0.5 and -0.5, but not of float16; reciprocals tell zeros of two signs
    apart.
    """
    x = torch.tensor([-INF, -0.0, 0.0, 4.0, -2.0, INF, math.nan])
    check(roots, *[(x, x.half(), e, n) for e, n in ((0.5, 0), (-0.5, 0), (1.5, 0), (0.5, 1), (1.0, 3))])


def of_some(x: Tensor, n: Tensor, op: int) -> tuple[Tensor, int]:
    """Ops on as many elements as are positive, places and numbers that eager rejects."""
    y = x[x > 0]
    z = y[0:0].clone()
    if op == 0:
        z = y.max()
    elif op == 1:
        z = (y * 2).to(torch.int64).min().to(torch.float32)
    elif op == 2:
        z = y.argmax().to(torch.float32)
    elif op == 3:
        z = y.amin(0)
    elif op == 4:
        z = torch.max(y, 0)[0]
    elif op == 5:
        z = torch.aminmax(y)[1]
    elif op == 6:
        z = y.view(-1, 1).amax(1).sum()
    elif op == 7:
        z = torch.bincount(n).sum().to(torch.float32)
    elif op == 8:
        z = F.max_unpool1d(x[None, :2], n[None, :2].abs() * 3, 2).sum()
    elif op == 9:
        z = x.index_add(0, n, x).sum()
    elif op == 10:
        z = x.view(2, 2).index_add(0, n[:2] * 2 - 3, x.view(2, 2)).sum()
    else:
        z = y.median()
    return z.sum(), y.size(0)


def test_no_elements_and_numbers_that_eager_rejects() -> None:
    some, none = torch.tensor([1.0, -1, 2, 0.5]), -torch.ones(4)
    right, wrong = torch.tensor([2, 1, 3, 0]), torch.tensor([0, -7, 2, 3])
    calls = [(x, n, op) for op in range(12) for x, n in ((some, right), (none, wrong))]
    checked = check(of_some, *calls)
    raised = [error is not None for error in checked.errors]
    assert sum(raised) >= 10
    assert not all(raised)


def largest(x: Tensor) -> Tensor:
    return x.max()


def places(x: Tensor) -> Tensor:
    return x.argmax(1)


def _same_or_raises(program: Callable[..., Any], *arguments: Tensor) -> None:
    expected = run_eager(program, arguments)
    if expected is None:
        check(program, arguments, compiled=False)
        return
    with pytest.raises(ProgramError) as raised:
        compile(program, arguments)
    assert isinstance(raised.value, IndexError) == isinstance(expected, IndexError)


def test_parts_of_complex_numbers_of_two_dtypes() -> None:
    _same_or_raises(torch_complex, torch.ones(2), torch.ones(2))
    _same_or_raises(torch_complex, torch.ones(2), torch.ones(2, dtype=torch.float64))


def torch_complex(x: Tensor, y: Tensor) -> Tensor:
    return torch.complex(x, y)


def test_no_elements_known_at_import() -> None:
    for shape in ((0,), (2, 0), (0, 2)):
        _same_or_raises(largest, torch.zeros(shape))
        _same_or_raises(places, torch.zeros(shape))
    _same_or_raises(enlarged, torch.zeros(2, 0, 4, 4))
    _same_or_raises(sampled, torch.zeros(2, 3, 0, 4), torch.zeros(2, 1, 1, 2))


def without_right_sides(a: Tensor, b: Tensor) -> list[Tensor]:
    x, info = torch.linalg.solve_ex(a, b)
    return [torch.linalg.solve(a, b), torch.linalg.solve(a, b.mT, left=False), x, info, torch.linalg.inv(a[:0, :0])]


def test_a_matrix_is_not_singular_for_want_of_right_sides() -> None:
    a, b = torch.eye(3) * 2, torch.zeros(3, 0)
    checked = check(without_right_sides, (a, b), (-a, b), (a * 0, b), compiled=False)
    assert [error is not None for error in checked.errors] == [False, False, True]


def test_no_elements_of_dynamic_sizes() -> None:
    options = {"dynamic_shapes": Dim.AUTO}
    x = torch.randn(3, 4, generator=generator)
    for program in (largest, places):
        check(program, (x,), (x[:0],), (x[:, :0],), (x[:2],), compiled=False, options=options, rejections=True)
