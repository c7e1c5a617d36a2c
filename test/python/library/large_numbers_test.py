"""Functions that overflow on the way to a finite result: they take numbers of any size, and of either sign."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from _nightly import with_nightly
from ssa_compiler.testing import check

NUMBERS = (0.0, 1e-20, 1e-4, 0.7, 1.0, 1.5, 30.0, 104.0, 1e4, 3e7, 1e19, 1e30)
X = torch.tensor([sign * number for number in NUMBERS for sign in (1.0, -1.0)])
ROWS = torch.stack([X[:12], X[12:]])


def inverse_hyperbolic(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return torch.asinh(x), torch.acosh(x), x.sign().asinh()


def exponentials(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return x.logsumexp(1), x.logsumexp([0, 1], keepdim=True), F.logsigmoid(x)


def running(x: Tensor) -> tuple[Tensor, Tensor]:
    return x.logcumsumexp(1), x.t().logcumsumexp(-1)


def losses(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return (
        F.binary_cross_entropy_with_logits(x, x.clamp(0.0, 1.0), reduction="none"),
        F.binary_cross_entropy_with_logits(x.clamp(-1e4, 1e4), x.clamp(0.0, 1.0), pos_weight=torch.tensor(0.5)),
        F.binary_cross_entropy_with_logits(x.clamp(-1e4, 1e4), x.clamp(0.0, 1.0), weight=x.clamp(1.0, 2.0)),
    )


@pytest.mark.parametrize("program", [inverse_hyperbolic, exponentials, running, losses])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_numbers_of_any_size(program: Callable[..., Any], dtype: torch.dtype) -> None:
    checked = check(program, (ROWS.to(dtype),), (-ROWS.to(dtype),), (ROWS.to(dtype) * 1e-3,), compiled=True)
    assert checked.compiled.explain().callbacks == ()


def test_infinities() -> None:
    infinite = torch.tensor([[torch.inf, 1.0, -torch.inf], [-torch.inf, -torch.inf, -torch.inf], [0.0, torch.nan, 1.0]])
    check(exponentials, (infinite,), compiled=True)
    check(running, (infinite,), compiled=True)


def hyperbolic(x: Tensor) -> list[Tensor]:
    near = x.clamp(-1.0, 1.0)
    found = [torch.sinh(x), torch.cosh(x), torch.atanh(near), torch.log1p(near), torch.expm1(x)]
    return found + [y.clamp(-1.0, 1.0).reciprocal() < 0.0 for y in found]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_hyperbolic_functions_near_zero_and_near_infinity(dtype: torch.dtype) -> None:
    # From 88.73 to 89.42 sinh and cosh of a float32 are infinite in eager's vector code and finite in its scalar code.
    sizes = torch.tensor(
        [0.0, 1e-30, 1e-8, 1e-5, 1e-3, 0.3, 0.99, 1.0, 5.0, 88.7, 89.43, 711.0, torch.inf], dtype=dtype
    )
    x = torch.cat([sizes, -sizes, torch.tensor([torch.nan], dtype=dtype)])
    limits = {"rtol": 2e-6 if dtype == torch.float32 else 1e-14, "atol": 0.0}
    for kernels in (True, False):
        checked = check(hyperbolic, (x,), (x * 7.99,), options={"kernels": kernels}, **limits)
        assert checked.compiled.explain().callbacks == ()
    check(hyperbolic, (torch.tensor([0, 1, -3, 89]),), compiled=False)


def powers(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return torch.float_power(x, y), torch.float_power(x, 3), torch.float_power(-2, y)


def test_double_powers_of_negative_numbers() -> None:
    numbers = torch.tensor([-2.0, 3.0, 0.0, -1e-30, 1e30, -0.5, 0.0])
    whole = torch.tensor([3.0, 2.0, 0.0, 7.0, -7.0, 2.0, -1.0])
    checked = check(powers, (numbers, whole), (numbers.abs(), whole + 0.5), (numbers, whole + 0.5), compiled=True)
    assert checked.compiled.explain().callbacks == ()


def polar(size: Tensor, angle: Tensor) -> Tensor:
    return torch.polar(size, angle)


def test_polar_of_large_angles() -> None:
    check(polar, (torch.tensor([1.0, -2.0, 0.5]), torch.tensor([1e4, -3e5, 0.1])), compiled=True)


def differences(x: Tensor) -> list[Tensor]:
    rows = torch.exp(x.expand(2, 4)).t()[None]
    return [torch.exp(x) - x, x - torch.exp2(x), rows + x[:, None].neg(), torch.exp(x).mean() - torch.exp(x.mean())]


def test_exponentials_that_overflow_in_a_difference() -> None:
    """A product and a sum are one step to LLVM, in which the product is not infinite."""
    inf = torch.inf
    for kernels in (True, False):
        inputs = [(torch.tensor(row),) for row in ([1.0, 2.0, -3.0, 4.0], [inf, 3e38, 88.7, -inf], [128.0] * 4)]
        check(differences, *inputs, options={"kernels": kernels})


def whole(x: Tensor) -> list[Tensor]:
    y = torch.trunc(x)
    return [y, 1 / y, 1 / torch.fix(x)]


def test_whole_parts_keep_the_sign_of_zero() -> None:
    check(whole, (torch.tensor([0.0, -0.0, -0.5, 0.5, -3.7, 2.0, torch.inf, torch.nan]),), compiled=True)


def norms_of_one(x: Tensor) -> list[Tensor]:
    one, number = x[:1], x[0, 0]
    found = [torch.linalg.vector_norm(x, 2, [1]), torch.linalg.vector_norm(x.unsqueeze(0), -2.5, [0, -1], True)]
    found += [torch.linalg.vector_norm(one, 2, []), torch.linalg.vector_norm(x, 3, [1], dtype=x.dtype)]
    found += [torch.linalg.vector_norm(x, 0, [1]), x.norm(None, 1), x.norm(3, 1, True), one.norm(), number.norm(3)]
    found += [torch.linalg.norm(x, None, 1), torch.linalg.norm(one, None, [0, 1]), torch.linalg.matrix_norm(one)]
    found += [number.norm(2, [0]), F.normalize(x, dim=1), torch.renorm(x, 2, 0, 1.0), torch.dist(one, one * 0)]
    found += [F.pairwise_distance(x, x * 0), torch.frobenius_norm(x, [1]), torch.norm_except_dim(x, 3, 0)]
    return found


def norms_of_one_or_more(x: Tensor) -> list[Tensor]:
    found = [torch.linalg.vector_norm(x, 2, [1]), torch.linalg.vector_norm(x, 2.5, [0], True), x.norm(), x.norm(3)]
    found += [F.normalize(x, dim=1), torch.linalg.norm(x, None, 1), torch.linalg.vector_norm(x, 0, [1])]
    return found


@pytest.mark.slow
@pytest.mark.parametrize("dtype", with_nightly([torch.float64], [torch.bfloat16, torch.complex64]))
def test_norms_of_one_element_neither_overflow_nor_underflow(dtype: torch.dtype) -> None:
    large = 1e200 if dtype == torch.float64 else 1e30
    calls = [(torch.full((3, 1), x, dtype=dtype),) for x in (large, 1.0 / large, -3.0, torch.nan, -torch.inf)]
    checked = check(norms_of_one, *calls)
    assert checked.compiled.explain().callbacks == () or dtype.is_complex
    calls += [(call[0][:1],) for call in calls] + [(torch.full((2, 2), large, dtype=dtype),)]
    calls = [(torch.tensor([[1.0, -2.0, 0.0], [3.0, 4.0, 1e-3]], dtype=dtype),), *calls]
    checked = check(norms_of_one_or_more, *calls, options={"dynamic_shapes": torch.export.Dim.AUTO})
    assert checked.compiled.explain().callbacks == () or dtype.is_complex


def weights_normalised(v: Tensor, g: Tensor) -> Tensor:
    return torch._weight_norm(v, g, 0)


def test_weights_of_half_precision_are_normalised_in_single_precision() -> None:
    weights = torch.tensor([[6e4], [3e2], [1e-7]], dtype=torch.float16)
    check(weights_normalised, (weights, torch.ones(3, 1, dtype=torch.float16)))


def statistics(x: Tensor, mean: Tensor, var: Tensor) -> list[Tensor]:
    rows = x.t().contiguous()
    found = [F.batch_norm(x, mean, var, None, None, True, 0.1), F.instance_norm(rows.unsqueeze(0), mean, var)]
    found += list(torch.native_batch_norm(x, None, None, None, None, True, 0.1, 1e-5))
    found += list(torch._native_batch_norm_legit(x, None, None, True, 0.1, 1e-5))
    found += list(torch.native_layer_norm(rows, [5], None, None, 1e-5))
    found += list(torch.native_group_norm(rows.unsqueeze(0), None, None, 1, 2, 5, 2, 1e-5))
    return found + list(torch.var_mean(x, 0)) + list(torch.std_mean(rows, 1))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16])
def test_infinities_in_statistics(dtype: torch.dtype) -> None:
    calls = []
    for places in ([], [(1, 0, torch.inf)], [(0, 1, -torch.inf)], [(1, 1, torch.inf), (2, 1, -torch.inf)]):
        x = torch.arange(10.0).reshape(5, 2).to(dtype)
        for row, column, number in places:
            x[row, column] = number
        calls.append((x, torch.zeros(2, dtype=dtype), torch.ones(2, dtype=dtype)))
    check(statistics, *calls)
