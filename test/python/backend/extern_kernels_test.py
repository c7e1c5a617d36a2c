"""Large products are left to PyTorch's libraries; what they return may be updated in place, what they are given not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from iree.compiler import ir
from torch import Tensor

import ssa_compiler
from ssa_compiler.backend.callbacks.extern_kernels import find_extern_kernels
from ssa_compiler.backend.ir.bindings import DIALECTS
from ssa_compiler.process.forks import new_context
from ssa_compiler.testing import check


def linear(x: Tensor, w: Tensor, b: Tensor) -> Tensor:
    return torch.relu(F.linear(x, w, b))


def product(x: Tensor, w: Tensor) -> Tensor:
    return x @ w + 1


def convolution(x: Tensor, w: Tensor) -> Tensor:
    y = F.conv2d(x, w, padding=1)
    y[:, 0] = y[:, 1] * 2  # in the memory that the library returned
    y += 1
    return y


def deconvolution(x: Tensor, w: Tensor) -> Tensor:
    return F.conv_transpose2d(x, w, stride=2)


def powers(x: Tensor, n: int) -> Tensor:
    """[i] of the result is x to the power of i + 1."""
    kept = torch.zeros(4, x.size(0), x.size(1))
    y = x.clone()
    for i in range(n):
        kept[i] = y
        y = y @ x
        y[0] += 1
    return kept


def _random(*shape: int) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(len(shape))) / 16


CASES: dict[str, tuple[Callable[..., Any], list[tuple[Any, ...]], str]] = {
    "linear": (linear, [(_random(320, 350), _random(330, 350), _random(330))], "aten::linear"),
    "product": (product, [(_random(331, 333), _random(333, 337))], "aten::matmul"),
    "batch": (product, [(_random(3, 229, 240), _random(3, 240, 231))], "aten::matmul"),
    "convolution": (convolution, [(_random(1, 32, 48, 48), _random(32, 32, 3, 3))], "aten::conv2d"),
    "deconvolution": (deconvolution, [(_random(1, 48, 32, 32), _random(48, 48, 3, 3))], "aten::conv_transpose2d.input"),
    "loop": (powers, [(_random(330, 330), n) for n in (0, 1, 2, 4)], "aten::matmul"),
}


@pytest.mark.parametrize("case", sorted(CASES))
def test_a_large_product_is_left_to_the_libraries(case: str) -> None:
    program, calls, op = CASES[case]
    compiled = check(program, *calls).compiled
    explained = compiled.explain()
    assert {use.op for use in explained.extern_kernels} == {op}
    assert explained.callbacks == ()
    assert "1 " + op in str(explained)
    for arguments in calls:
        first, again, eager = compiled(*arguments), compiled(*arguments), program(*arguments)
        torch.testing.assert_close(first, eager, rtol=1e-6, atol=1e-6)
        assert torch.equal(first, again)


@pytest.mark.parametrize(
    "arguments",
    [
        (_random(64, 64), _random(64, 64), _random(64)),  # small
        (_random(2, 2048), _random(2048, 2048), _random(2048)),  # the weights are read once: memory decides
    ],
)
def test_other_products_are_compiled(arguments: tuple[Tensor, ...]) -> None:
    assert ssa_compiler.compile(linear, arguments).explain().extern_kernels == ()


def test_integers_are_compiled_as_the_libraries_have_none() -> None:
    x = torch.ones(330, 330, dtype=torch.int32)
    assert check(product, (x, x)).compiled.explain().extern_kernels == ()


def test_strict_compiles_everything() -> None:
    program, (arguments,), _ = CASES["product"]
    compiled = ssa_compiler.compile(program, arguments, strict=True)
    assert compiled.explain().extern_kernels == ()
    torch.testing.assert_close(compiled(*arguments), program(*arguments), rtol=1e-5, atol=1e-5)


LINEAR = """
func.func @main(%x: !torch.vtensor<[{rows},768],f32>, %w: !torch.vtensor<[3072,768],f32>) -> !torch.vtensor<[{rows},3072],f32> {{
  %none = torch.constant.none
  %0 = torch.aten.linear %x, %w, %none : !torch.vtensor<[{rows},768],f32>, !torch.vtensor<[3072,768],f32>, !torch.none -> !torch.vtensor<[{rows},3072],f32>
  return %0 : !torch.vtensor<[{rows},3072],f32>
}}
"""


@pytest.mark.parametrize(
    ("rows", "threads", "expected"),
    [("32", 1, 0), ("32", 2, 0), ("32", 4, 1), ("64", 1, 1), ("7", 64, 0), ("8", 64, 1), ("?", 1, 0), ("?", 16, 1)],
)
def test_threads_of_the_libraries_decide_where_memory_would(rows: str, threads: int, expected: int) -> None:
    with new_context(ir, *DIALECTS):
        module = ir.Module.parse(LINEAR.format(rows=rows))
        assert len(find_extern_kernels(module, threads)) == expected


CONVOLUTION = """
func.func @main(%x: !torch.vtensor<[1,32,{size},{size}],f32>, %w: !torch.vtensor<[32,32,1,1],f32>) -> !torch.vtensor<[1,32,{size},{size}],f32> {{
  %none = torch.constant.none
  %c0 = torch.constant.int 0
  %c1 = torch.constant.int 1
  %ones = torch.prim.ListConstruct %c1, %c1 : (!torch.int, !torch.int) -> !torch.list<int>
  %zeros = torch.prim.ListConstruct %c0, %c0 : (!torch.int, !torch.int) -> !torch.list<int>
  %0 = torch.aten.conv2d %x, %w, %none, %ones, %zeros, %ones, %c1 : !torch.vtensor<[1,32,{size},{size}],f32>, !torch.vtensor<[32,32,1,1],f32>, !torch.none, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.int -> !torch.vtensor<[1,32,{size},{size}],f32>
  return %0 : !torch.vtensor<[1,32,{size},{size}],f32>
}}
"""  # one op is one line


@pytest.mark.parametrize(
    ("size", "threads", "expected"), [(120, 1, 0), (128, 1, 1), (60, 4, 0), (64, 4, 1), (64, 3, 0)]
)
def test_convolutions_have_limits_of_their_own(size: int, threads: int, expected: int) -> None:
    """A window of one element: a product of 32 channels for each of 32 results of each of size x size places."""
    with new_context(ir, *DIALECTS):
        module = ir.Module.parse(CONVOLUTION.format(size=size))
        assert len(find_extern_kernels(module, threads)) == expected
