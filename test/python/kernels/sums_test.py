"""Sums, products and large tensors in kernels: as exact as eager's, whatever the sizes, layouts and neighbours in
memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor
from torch.export import Dim

from ssa_compiler import compile
from ssa_compiler.testing import check


def reduced(x: Tensor, y: Tensor) -> list[Tensor]:
    where = torch.where(x > y, x.exp(), y.abs().sqrt())
    sums = [where.sum(), (x * y).sum(-1), ((x > y) | (y > 0.9)).sum(), x.tanh().sum(0), x.mean(), x.var(-1)]
    return sums + [(x - x.amax(-1, keepdim=True)).exp().sum(-1), x.double().sum(), (x.int() * 3).sum(), x.sum(0)]  # noqa: RUF005 - TorchScript


def rows(x: Tensor, w: Tensor, v: Tensor, b: Tensor) -> list[Tensor]:
    h = F.linear(torch.relu(x) * 2, w, b)
    return [h, x @ v, torch.mv(w, x[0]), F.layer_norm(x, [x.size(1)]), torch.softmax(x, 1), F.normalize(x)]


def powers(x: Tensor, i: Tensor) -> list[Tensor]:
    found = [x**2, x**3, x.pow(4.0), torch.linalg.vector_norm(x), torch.norm(x, 2, 0), torch.linalg.norm(x)]
    return found + [torch.linalg.vector_norm(x, 2, 1, True), F.pad(x, [1, 2]), F.normalize(x, dim=0), (i**2 + i**3) % 7]  # noqa: RUF005 - TorchScript


def _numbers(*sizes: int, seed: int = 0) -> Tensor:
    return torch.randn(*sizes, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("n", [1, 3, 4, 15, 33, 100])
def test_sums_of_rows_of_any_length(n: int) -> None:
    x, y = _numbers(5, n), _numbers(5, n, seed=1)
    checked = check(reduced, (x, y), (x * 1e18, y), (x * torch.inf, y))
    assert checked.compiled.explain().kernel


def extremes(x: Tensor) -> list[Tensor]:
    inside = (x < 3).all(-1)
    return [x.amax(-1), x.amin(-1), x.double().amax(-1), x.max(), x.min(), inside, (x == 0).any(-1), inside.all()]


@pytest.mark.parametrize("n", [1, 31, 33, 70])
def test_extremes_of_rows_of_any_length(n: int) -> None:
    """Not a number wherever it is: in each lane, and in what is left over."""
    plain = _numbers(n, n)
    missing = torch.where(torch.eye(n, dtype=torch.bool), torch.nan, plain)
    zeros = torch.zeros(n, n).copysign(plain)
    checked = check(extremes, (plain,), (missing,), (zeros,), (plain * torch.inf,), (torch.eye(n) * 5,))
    assert checked.compiled.explain().kernel


@pytest.mark.parametrize(("m", "k", "n"), [(1, 40, 300), (3, 33, 270), (4, 129, 70)])
def test_few_rows_times_a_matrix(m: int, k: int, n: int) -> None:
    inputs = (_numbers(m, k), _numbers(n, k), _numbers(k, n), _numbers(n))
    checked = check(rows, inputs, tuple(-t for t in inputs))
    assert checked.compiled.explain().kernel


def test_powers_norms_and_paddings_are_part_of_kernels() -> None:
    x, i = _numbers(3, 5), torch.tensor([3, -4, 2**31])
    checked = check(powers, (x, i), (x * 1e20, -i), (x / 0, i), (x * 0, i))
    assert checked.compiled.explain().kernel


def one_sum(x: Tensor, y: Tensor) -> Tensor:
    return torch.where(x > y, x.exp(), y.sqrt()).sum()


def two_sums(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    return one_sum(x, y), (x * y).sum()


def three_sums(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return one_sum(x, y), (x * y).sum(), ((x > y) | (y > 0.9)).sum()


@pytest.mark.parametrize("program", [one_sum, two_sums, three_sums])
def test_sums_are_as_exact_beside_others(program: Callable[..., Any]) -> None:
    """Numbers of one size, added one after the other, lose digits in the same direction."""
    y = torch.rand(4096, generator=torch.Generator().manual_seed(0))
    compiled = compile(program, (y, y))
    for v in (0.07, 0.31, 0.83):
        x = torch.full((4096,), v)
        found, exact = compiled(x, y), program(x.double(), y.double())
        for ours, best in zip(torch.utils._pytree.tree_leaves(found), torch.utils._pytree.tree_leaves(exact)):
            assert abs(float(ours) - float(best)) <= 3e-6 * abs(float(best))


def in_place(x: Tensor, y: Tensor, n: int) -> Tensor:
    y += y.sum()
    for i in range(n):
        y[i] = y[i] + (y * x).sum()
        x[i] /= x[i].sum()
    x -= x.mean(0, keepdim=True)
    return x * y.unsqueeze(-1)


def test_sums_of_what_is_written() -> None:
    check(in_place, *[(_numbers(6, 6).abs(), _numbers(6, seed=s) * 1e-3, n) for s, n in enumerate([0, 1, 2, 6])])


def layouts(x: Tensor, y: Tensor) -> list[Tensor]:
    return [x.exp() + y, (x * y).sum(-1), (x * y).sum(0), (x - y).abs().amax(), torch.cat([x, y], 1) * 2]


def test_layouts_of_arguments_and_dynamic_sizes() -> None:
    base = _numbers(70, 70)
    views = [base[1:34, :66:2], base.t()[:33, 3:36], base[:33, 0:1].expand(33, 33), base.flatten()[1:1090].view(33, 33)]
    compiled = compile(layouts, (base[:4, :5], base[:4, :5]), dynamic_shapes=Dim.AUTO)
    for x in views:
        for y in views:
            for ours, expected in zip(compiled(x, y), layouts(x, y)):
                torch.testing.assert_close(ours, expected)


def test_large_tensors_are_part_of_kernels() -> None:
    x, y = _numbers(1000, 1003), _numbers(1000, 1003, seed=1)
    compiled = compile(layouts, (x, y))
    assert compiled.explain().kernel
    for ours, expected in zip(compiled(y, x), layouts(y, x)):
        torch.testing.assert_close(ours, expected, rtol=1e-5, atol=1e-4)
