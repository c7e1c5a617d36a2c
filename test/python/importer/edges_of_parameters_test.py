"""Ops whose parameters are at the edges of their domain: masks, slopes, boundaries, steps, factors."""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor
from torch.export import Dim

from ssa_compiler import compile
from ssa_compiler.errors import UnsupportedProgramError
from ssa_compiler.testing import check

NAN, INF = math.nan, math.inf
generator = torch.Generator().manual_seed(0)
A, B = torch.randn(3, 3, generator=generator), torch.randn(3, 3, generator=generator)
INFINITE = torch.full((3, 3), INF)


def stepped(x: Tensor, k: int) -> Tensor:
    y = x
    if k == 0:
        y = x[::0]
    elif k < 0:
        y = x[1:3:-1]
    return y.sum()


def test_steps_that_slices_reject() -> None:
    x = torch.arange(6.0)
    checked = check(stepped, (x, 1), (x, 0), (x, -1), compiled=False)
    assert [type(error) for error in checked.errors] == [type(None), ValueError, ValueError]


def counted(x: Tensor, w: Tensor) -> tuple[Tensor, Tensor]:
    return torch.bincount(x, w), torch.pixel_unshuffle(w.reshape(1, 1, 0, 6), 3)


def test_results_of_no_elements_that_look_another_way() -> None:
    check(counted, (torch.zeros(0, dtype=torch.int64), torch.zeros(0)), compiled=False)


def attention(q: Tensor, k: Tensor, v: Tensor, m: Tensor) -> list[Tensor]:
    sdpa = [
        F.scaled_dot_product_attention(q, k, v, attn_mask=m),
        F.scaled_dot_product_attention(q, k, v, is_causal=True),
    ]
    sdpa += [F.scaled_dot_product_attention(q, k, v[..., :2], is_causal=True)]
    sdpa += [F.scaled_dot_product_attention(q[0], k[0], v[0], is_causal=True)]
    return sdpa


@pytest.mark.slow
def test_masks_of_infinite_scores() -> None:
    """Eager adds masks; its fused kernel for causal attention chooses."""
    q, k, v = torch.ones(1, 1, 3, 4), torch.randn(1, 1, 3, 4, generator=generator), torch.randn(1, 1, 3, 4)
    holed, infinite = k.clone(), k.clone()
    holed[..., 2, :], infinite[..., 2, :] = NAN, INF
    seen = torch.tensor([[True, True, False], [False, False, False], [True, True, True]])
    for mask in (seen, torch.where(seen, 0.0, -INF)):
        inputs = [(q, key, v, mask) for key in (k, holed, infinite, -infinite)]
        check(attention, *inputs, compiled=mask.dtype == torch.bool)


def substituted(a: Tensor, b: Tensor) -> list[Tensor]:
    lower = torch.linalg.solve_triangular(a, b, upper=False)
    return [lower, torch.linalg.solve_triangular(a, b, upper=True), torch.cholesky_solve(b, a)]


def test_rows_solved_before_a_singular_one() -> None:
    singular, holed = A.clone(), A.clone()
    singular[2, 2], holed[1, 1] = 0.0, INF
    check(substituted, (A, B), (singular, B), (holed, B), (A, INFINITE), compiled=False)


EDGES = torch.tensor([0.0, -0.0, 1.0, -1.0, 2.5, -2.5, INF, -INF, NAN])


def activations(x: Tensor, slope: float) -> list[Tensor]:
    return [F.leaky_relu(x, slope), F.elu(x, slope), torch.logit(x, slope)]


def celu(x: Tensor, alpha: float) -> Tensor:
    return F.celu(x, alpha)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_slopes_that_are_no_numbers(dtype: torch.dtype) -> None:
    """An activation is one or the other of two functions: what the other one is does not count."""
    x = EDGES.to(dtype)
    checked = check(activations, *[(x, slope) for slope in (0.3, 0.0, -1.0, INF, -INF, NAN)])
    assert checked.compiled.explain().callbacks == ()
    check(celu, *[(x, alpha) for alpha in (0.3, 0.0, -1.0, INF, NAN)])


def prelu(x: Tensor, weight: Tensor) -> Tensor:
    return F.prelu(x, weight)


def test_weights_that_are_no_numbers() -> None:
    check(prelu, (EDGES, torch.tensor([0.25])), (EDGES, torch.tensor([INF])), (EDGES, torch.tensor([NAN])))
    x = torch.zeros(2, 3, 2)
    check(prelu, (x - 1, torch.tensor([0.5, 1.0, 2.0])), (x, torch.tensor([INF, NAN, 1.0])))


def buckets(x: Tensor, boundaries: Tensor) -> tuple[Tensor, Tensor]:
    return torch.bucketize(x, boundaries), torch.searchsorted(boundaries, x, right=True)


def test_boundaries_that_are_no_numbers() -> None:
    x = torch.tensor([-1.0, 9.0, 0.0, 2.0, NAN])
    check(buckets, *[(x, torch.tensor(row)) for row in ([0.0, 2.0, 4.0], [0.0, 2.0, NAN], [NAN, NAN, NAN])])


def rounded_divisors(x: Tensor, number: float) -> list[Tensor]:
    y = x.clone()
    y %= number
    return [x % number, y, x.fmod(number), torch.div(x, number, rounding_mode="trunc"), x // number, x % 0.1]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_numbers_that_divide_halves(dtype: torch.dtype) -> None:
    """Eager rounds a divisor to the dtype for a remainder, and not for a quotient."""
    x = (torch.arange(-40, 40) / 8).to(dtype)
    check(rounded_divisors, (x, 0.1), (x, 0.7), (x, -3.0), (x, INF), (x, 0.0))


def scaled_differences(x: Tensor, y: Tensor, factor: float) -> list[Tensor]:
    return [x.sub(y, alpha=factor), torch.rsub(x, y, alpha=factor), torch.rsub(x, 2, alpha=factor)]


def test_dynamic_factors_of_differences() -> None:
    checked = check(scaled_differences, *[(A, B, factor) for factor in (0.5, 0.0, -3.0, 1e30)])
    assert len(checked.compiled.specialisations) == 1


def wrapped(x: Tensor) -> Tensor:
    return F.pad(x, [2, 1], mode="circular")


def test_padding_wraps_around_once() -> None:
    for size in (3, 2):
        check(wrapped, (torch.arange(float(size)).reshape(1, 1, size),), compiled=False)
    for shapes in (None, Dim.AUTO):
        compiled = compile(wrapped, (torch.zeros(1, 1, 3),), dynamic_shapes=shapes, cache=False)
        with pytest.raises(RuntimeError, match="wrapping around more than once"):
            compiled(torch.zeros(1, 1, 1))


def unshuffled(x: Tensor) -> Tensor:
    return F.pixel_unshuffle(x, 2)


def test_pixels_of_no_image_are_rejected_where_sizes_are_dynamic() -> None:
    """Eager returns a tensor without elements as it is, with its own sizes."""
    check(unshuffled, (torch.zeros(0, 1, 4, 4),), compiled=False)
    compiled = compile(unshuffled, (torch.rand(1, 1, 4, 4),), dynamic_shapes={"x": {0: Dim("n")}}, cache=False)
    x = torch.rand(2, 1, 4, 4)
    assert torch.equal(compiled(x), unshuffled(x))
    with pytest.raises(UnsupportedProgramError, match="pixel_unshuffle"):
        compiled(torch.zeros(0, 1, 4, 4))


def weighted_counts(x: Tensor, weights: Tensor) -> Tensor:
    return torch.bincount(x, weights)


def test_weighted_counts_of_nothing_are_rejected_where_sizes_are_dynamic() -> None:
    """Eager returns integers then, and floats otherwise."""
    sizes = {"x": {0: Dim("n")}, "weights": {0: Dim("n")}}
    x, weights = torch.tensor([1, 3, 1]), torch.rand(3)
    compiled = compile(weighted_counts, (x, weights), dynamic_shapes=sizes, cache=False)
    assert torch.equal(compiled(x[:2], weights[:2]), weighted_counts(x[:2], weights[:2]))
    with pytest.raises(UnsupportedProgramError, match="bincount"):
        compiled(x[:0], weights[:0])


def convolved(x: Tensor, weight: Tensor) -> Tensor:
    return F.conv2d(x, weight, padding=1)


def test_convolutions_of_nothing_are_rejected_where_sizes_are_dynamic() -> None:
    """Eager raises for some, and returns other shapes for others; no batch is none of them."""
    x, weight = torch.rand(2, 2, 4, 4), torch.rand(3, 2, 3, 3)
    compiled = compile(convolved, (x, weight), dynamic_shapes=Dim.AUTO, cache=False)
    for batch, size in ((0, 4), (1, 5)):
        x = torch.rand(batch, 2, size, size)
        torch.testing.assert_close(compiled(x, weight), convolved(x, weight))
    for shape, kernel in (((2, 0, 4, 4), (3, 0, 3, 3)), ((2, 2, 4, 4), (0, 2, 3, 3))):
        with pytest.raises(UnsupportedProgramError, match="a convolution with a dynamic number of channels"):
            compiled(torch.rand(shape), torch.rand(kernel))
    for shape, kernel in (((2, 2, 0, 4), (3, 2, 3, 3)), ((2, 2, 4, 4), (3, 2, 3, 0))):
        with pytest.raises(RuntimeError):
            convolved(torch.rand(shape), torch.rand(kernel))
        with pytest.raises(RuntimeError):
            compiled(torch.rand(shape), torch.rand(kernel))


def broadcast(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    return torch.heaviside(x, y), torch.linalg.cross(x, y, dim=-1)


def test_rows_that_are_broadcast_to_none() -> None:
    y = torch.tensor([[1.0, -2.0, 0.0]])
    compiled = compile(broadcast, (torch.rand(4, 3) - 0.5, y), dynamic_shapes=Dim.AUTO, cache=False)
    for rows in (0, 1, 4, 5):
        x = torch.rand(rows, 3) - 0.5
        torch.testing.assert_close(compiled(x, y), broadcast(x, y))
