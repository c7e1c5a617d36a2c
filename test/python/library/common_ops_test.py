"""Ops that torch-mlir lacks or does not lower, as programs of the library or by PyTorch's decompositions."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from torch.nn import functional

import ssa_compiler
from _nightly import with_nightly
from ssa_compiler.testing import check


def rolled(x: Tensor) -> Tensor:
    return torch.roll(x, 3) + torch.roll(x, -1)


def circular(x: Tensor) -> Tensor:
    return functional.pad(x, [2, 1, 0, 3], "circular")


def circular_and_cut(x: Tensor) -> Tensor:
    return functional.pad(x, [-1, 2], "circular")


def replicated_and_cut(x: Tensor) -> Tensor:
    return functional.pad(x, [-1, 2, 1, -2], "replicate")


def replicated_beyond_what_is_left(x: Tensor) -> Tensor:
    return functional.pad(x[None], [0, 0, 2, -4], "replicate")


def decimal_digits(x: Tensor) -> Tensor:
    return torch.log10(x.abs() * 1000.0 + 1.0).floor()


def limited(x: Tensor) -> Tensor:
    return torch.clamp(x, max=x.mT.contiguous().mT.flip(-1))


def renormed(x: Tensor) -> Tensor:
    return torch.renorm(x, 2.0, -1, 0.5)


def finite(x: Tensor) -> Tensor:
    return torch.isfinite(1.0 / x) & ~torch.isfinite(x / 0.0)


def extremes(x: Tensor) -> tuple[Tensor, Tensor]:
    return torch.aminmax(x, dim=1)


def windows(x: Tensor) -> Tensor:
    return functional.unfold(x[:, None], [2, 3], stride=2, padding=1)


PROGRAMS = (
    rolled,
    circular,
    circular_and_cut,
    replicated_and_cut,
    replicated_beyond_what_is_left,
    decimal_digits,
    limited,
    renormed,
    finite,
    extremes,
    windows,
)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_compiles_right(program: Callable[[Tensor], object]) -> None:
    x = torch.linspace(-3.0, 4.0, 2 * 4 * 4).reshape(2, 4, 4)
    assert check(program, (x,)).compiled.explain().callbacks == ()


def logarithm(x: Tensor) -> Tensor:
    return torch.log10(x)


def test_powers_of_ten_have_whole_logarithms() -> None:
    x = torch.tensor([10.0**n for n in range(-30, 31)])
    checked = check(logarithm, (x,))
    assert torch.equal(checked.compiled(x), torch.arange(-30.0, 31.0))
    special = torch.tensor([0.0, -0.0, -1.0, math.inf, math.nan] * 12 + [1.0])
    assert torch.equal(checked.compiled(special).nan_to_num(7.0), logarithm(special).nan_to_num(7.0))


def attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    return functional.scaled_dot_product_attention(query, key, value)


def causal(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    return functional.scaled_dot_product_attention(query, key, value, is_causal=True, scale=0.3)


def masked(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """The last query sees nothing."""
    seen = torch.ones(query.size(-2), key.size(-2), dtype=torch.bool).tril()
    seen[-1] = False
    return functional.scaled_dot_product_attention(query, key, value, attn_mask=seen)


def biased(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    bias = torch.arange(key.size(-2)).to(query.dtype) * -0.5
    return functional.scaled_dot_product_attention(query, key, value, attn_mask=bias.expand(query.size(-2), -1))


@pytest.mark.parametrize("program", [attention, causal, masked, biased], ids=lambda program: program.__name__)
@pytest.mark.parametrize("dtype", with_nightly([torch.float32, torch.bfloat16], [torch.float64]), ids=str)
def test_attention(program: Callable[[Tensor, Tensor, Tensor], Tensor], dtype: torch.dtype) -> None:
    for batch in ((2, 3), (3,)):
        inputs = tuple(torch.randn(*batch, length, 8, dtype=dtype) for length in (5, 6, 6))
        tolerance = 2e-2 if dtype == torch.bfloat16 else 1e-5
        assert check(program, inputs, rtol=tolerance, atol=tolerance).compiled.explain().callbacks == ()


def grouped(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    return functional.scaled_dot_product_attention(query, key, value, enable_gqa=True)


def test_grouped_attention() -> None:
    inputs = (torch.randn(2, 6, 4, 8), torch.randn(2, 3, 5, 8), torch.randn(2, 3, 5, 8))
    assert check(grouped, inputs).compiled.explain().callbacks == ()


def dropping(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    return functional.scaled_dot_product_attention(query, key, value, dropout_p=0.5)


def test_attention_that_drops_draws_from_the_stream_of_eager() -> None:
    inputs = tuple(torch.randn(2, 3, 5, 8) for _ in range(3))
    assert len(check(dropping, inputs).compiled.explain().callbacks) == 1


def of_one_element(x: Tensor) -> list[Tensor]:
    index, other = torch.tensor(0), torch.tensor(5.0)
    found = [x.scatter_reduce(0, index, other, "sum"), x.scatter_reduce(0, index, other, "amin", include_self=False)]
    found += [x.scatter_add(0, index, other), x.scatter(0, index, other), x.scatter(0, index, 2.5)]
    found += [x.gather(0, index), x.gather(0, torch.tensor([0, 0])), x.amax(0), x.amin(-1, keepdim=True)]
    found.append(x.logsumexp(0))
    return found


def test_tensors_without_dimensions() -> None:
    checked = check(of_one_element, (torch.tensor(3.0),), (torch.tensor(-7.0),))
    assert checked.compiled.explain().callbacks == ()


def until_nothing_changes(x: Tensor) -> tuple[Tensor, int, bool]:
    steps = 0
    y = x.clone()
    while not torch.equal(y, torch.clamp(y - 1.0, min=0.0)):
        y = torch.clamp(y - 1.0, min=0.0)
        steps += 1
    return y, steps, torch.allclose(x, y, atol=0.5)


def test_equality_of_tensors() -> None:
    calls = [(torch.full((3,), number),) for number in (2.5, 0.0, 0.25, -1.0)]
    checked = check(until_nothing_changes, *calls)
    assert checked.compiled.explain().callbacks == ()


def same(x: Tensor, y: Tensor) -> tuple[bool, bool, bool]:
    return torch.equal(x, y), torch.allclose(x, y), torch.allclose(x, y, equal_nan=True)


def test_equality_of_what_is_not_a_number() -> None:
    nan, infinite = torch.tensor([1.0, math.nan]), torch.tensor([1.0, math.inf])
    check(same, (nan, nan), (infinite, infinite), (nan, infinite), (infinite, -infinite))
    check(same, (torch.zeros(0), torch.zeros(0)))
    check(same, (torch.zeros(2), torch.zeros(2, 1)))


def classes(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    return functional.one_hot(x), functional.one_hot(y, 5)


def test_classes_are_counted() -> None:
    check(classes, (torch.tensor([0, 3, 1]), torch.tensor([4, 0])), (torch.tensor([0, 0, 2]), torch.tensor([1, 2])))
    check(classes, (torch.tensor([0, 3, -1]), torch.tensor([4, 0])), compiled=False)
    check(classes, (torch.tensor([0, 3, 1]), torch.tensor([5, 0])), compiled=False)


def norms_of_all(x: Tensor) -> list[Tensor]:
    y = x.flip(0)
    orders = [x.norm(0), x.norm(1), x.norm(), x.norm(-1.5), x.norm(math.inf), x.norm(-math.inf)]
    return orders + [torch.dist(x, y, math.inf), torch.dist(x, y, 0), torch.dist(x, y[0], 3)]  # noqa: RUF005 - TorchScript


def test_norms_of_any_order() -> None:
    x = torch.tensor([[1.5, -0.5, 0.0], [0.25, -2.0, 3.0]])
    assert check(norms_of_all, (x,)).compiled.explain().callbacks == ()


def order_of_a_norm(x: Tensor, p: float) -> Tensor:
    return x.norm(p) + torch.dist(x, x.flip(0), p)


@pytest.mark.slow
def test_the_order_of_a_norm_may_be_an_argument() -> None:
    x = torch.tensor([[1.5, -0.5, 0.0], [0.25, -2.0, 3.0]])
    compiled = ssa_compiler.compile(order_of_a_norm, (x, 2.0))
    for p in (math.inf, 0.0, -math.inf, 1.0, 0.5):
        torch.testing.assert_close(compiled(x, p), order_of_a_norm(x, p))


def instances(x: Tensor, mean: Tensor, var: Tensor, weight: Tensor, bias: Tensor) -> list[Tensor]:
    found = [functional.instance_norm(x), functional.instance_norm(x, None, None, weight, bias)]
    found += [functional.instance_norm(x, mean, var, None, bias, False, eps=1e-3)]
    found += [functional.instance_norm(x, mean, var, weight, bias, False)]
    found += [functional.instance_norm(x, mean, var, weight, None, True, 0.3)]
    found += [functional.instance_norm(x, mean, var, use_input_stats=False)]
    return found


def test_instances_are_normalized_by_running_statistics() -> None:
    """torch-mlir takes those of the input, whatever is given."""
    torch.manual_seed(0)
    mean, var, weight, bias = torch.randn(3), torch.rand(3) + 0.5, torch.randn(3), torch.randn(3)
    checked = check(instances, *((torch.randn(2, 3, 4, 5), mean, var, weight, bias) for _ in range(2)))
    assert checked.compiled.explain().callbacks == ()


def instances_of_input(x: Tensor, weight: Tensor, bias: Tensor) -> list[Tensor]:
    return [functional.instance_norm(x), functional.instance_norm(x, None, None, weight, bias)]


def test_instances_of_dynamic_sizes() -> None:
    """torch-mlir's own lowering gives NaN."""
    weights = [torch.randn(3) for _ in range(2)]
    shapes = {"x": {0: torch.export.Dim("n"), 2: torch.export.Dim("h")}, "weight": None, "bias": None}
    calls = [(torch.randn(n, 3, h, 5), *weights) for n, h in ((2, 4), (1, 1), (3, 7))]
    checked = check(instances_of_input, *calls, options={"dynamic_shapes": shapes})
    assert checked.compiled.explain().callbacks == ()


def constant_channels(x: Tensor, mean: Tensor, variance: Tensor, eps: float) -> list[Tensor]:
    found = [functional.instance_norm(x, eps=0.0), functional.instance_norm(x, eps=eps)]
    found += [functional.instance_norm(x, weight=mean, bias=variance, eps=0.0)]
    found += [functional.instance_norm(x, mean, variance, eps=0.0), mean, variance]
    found += [torch.batch_norm(x, mean, variance, None, None, True, 0.1, 0.0, False)]
    return found


def test_normalization_of_constant_channels() -> None:
    x = torch.tensor([[[4.0, 4.0, 4.0], [1.0, 2.0, 3.0]], [[4.0, 4.0, 4.0], [1.0, 2.0, 5.0]]])
    mean, variance = torch.tensor([2.0, 3.0]), torch.tensor([1.0, 0.5])
    check(constant_channels, (x, mean, variance, 0.5), (x, mean, variance, 0.0))


def equal_in_size(x: Tensor, y: Tensor, n: int):
    """Tensors whose sizes are dynamic."""
    a = torch.full((n,), 2.0)
    return torch.equal(x[x > 0], y[y > 0]), torch.equal(x, y), torch.equal(a, y), torch.equal(a[:1], a)


def test_equal_in_size() -> None:
    x, y = torch.tensor([1.0, 2.0, 0.0]), torch.tensor([2.0, 2.0])
    others = [(x * 0, y * 0, 0), (x, y - 1, 2), (x, torch.tensor([2.0, math.nan]), 1)]
    check(equal_in_size, (x, y, 2), (x, y, 3), *others, compiled=False)


def _signs(x: Tensor, y: Tensor) -> list[Tensor]:
    return [torch.sign(x), torch.sign(y) * 2, torch.sgn(x)]


@pytest.mark.parametrize("dtype", [torch.int64, torch.uint8, torch.float64, torch.bool])
def test_signs_are_made_in_kernels(dtype: torch.dtype) -> None:
    x = torch.tensor([math.nan, -0.0, 0.0, math.inf, -2.0])
    made = check(_signs, (x, torch.tensor([0, 1, 3, 100, 7]).to(dtype)))
    assert made.compiled.explain().kernels == 1


def _searched(rows: Tensor, x: Tensor, n: int) -> list[Tensor]:
    rows, x = torch.sort(rows)[0][:, :n], x[:, :n]
    return [
        torch.searchsorted(rows, x, right=True),
        torch.searchsorted(rows[0], x),
        torch.bucketize(x, rows[1], out_int32=True),
        torch.searchsorted(rows[2], 0.3),
    ]


@pytest.mark.parametrize("n", [0, 1, 3, 7])
def test_sorted_rows_of_dynamic_sizes_are_searched(n: int) -> None:
    made = check(_searched, (torch.randn(3, 7), torch.randn(3, 7), n))
    assert not made.compiled.explain().callbacks
