"""Ops that IREE compiles wrongly: right through the backend, and still wrong without it, so that a fix is noticed."""

from __future__ import annotations

import math
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor
from torch.export import Dim

from _backend_runs import TARGET, call_compiled, run_plain, unary
from ssa_compiler.backend import compile_module, compiler_path, read_signature
from ssa_compiler.backend.driver import compilation
from ssa_compiler.runtime import Program
from ssa_compiler.testing import check

_FILL = "%seven = torch.constant.float 7.0\n%none = torch.constant.none\n%x = torch.aten.fill.Scalar %t, %seven : !torch.vtensor<[9],f32>, !torch.float -> !torch.vtensor<[9],f32>\n"
_SLICE_TYPES = "!torch.vtensor<[4],f32>, !torch.int, !torch.int, !torch.int, !torch.int -> !torch.vtensor<[2],f32>"
CASES: dict[str, tuple[str, Tensor, Tensor]] = {
    "sum_of_a_constant": (
        unary(
            "[9],f32",
            "[],f32",
            _FILL + "%s = torch.aten.sum %x, %none : !torch.vtensor<[9],f32>, !torch.none -> !torch.vtensor<[],f32>\n",
        ),
        torch.zeros(9),
        torch.tensor(63.0),
    ),
    "product_of_a_constant": (
        unary(
            "[9],f32",
            "[],f32",
            _FILL + "%s = torch.aten.prod %x, %none : !torch.vtensor<[9],f32>, !torch.none -> !torch.vtensor<[],f32>\n",
        ),
        torch.zeros(9),
        torch.tensor(7.0**9),
    ),
    "select_scatter_at_minus_one": (
        unary(
            "[5],f32",
            "[5],f32",
            "%zero = torch.constant.int 0\n%last = torch.constant.int -1\n"
            "%r = torch.aten.select.int %t, %zero, %zero : !torch.vtensor<[5],f32>, !torch.int, !torch.int -> !torch.vtensor<[],f32>\n"
            "%s = torch.aten.select_scatter %t, %r, %zero, %last : !torch.vtensor<[5],f32>, !torch.vtensor<[],f32>, !torch.int, !torch.int -> !torch.vtensor<[5],f32>\n",
        ),
        torch.arange(1.0, 6.0),
        torch.tensor([1.0, 2.0, 3.0, 4.0, 1.0]),
    ),
    "computing_with_nan": (
        unary(
            "[5],f32",
            "[5],f32",
            "%nan = torch.constant.float 0x7FF8000000000000\n"
            "%p = torch.aten.mul.Scalar %t, %nan : !torch.vtensor<[5],f32>, !torch.float -> !torch.vtensor<[5],f32>\n"
            "%s = torch.aten.sigmoid %p : !torch.vtensor<[5],f32> -> !torch.vtensor<[5],f32>\n",
        ),
        torch.arange(1.0, 6.0),
        torch.full([5], math.nan),
    ),
    "infinities_for_nan": (
        unary(
            "[4],f32",
            "[4],f32",
            "%inf = torch.constant.float 0x7FF0000000000000\n%three = torch.constant.float 3.0\n%none = torch.constant.none\n"
            "%s = torch.aten.nan_to_num %t, %inf, %three, %none : !torch.vtensor<[4],f32>, !torch.float, !torch.float, !torch.none -> !torch.vtensor<[4],f32>\n",
        ),
        torch.tensor([math.nan, math.inf, 1.0, -2.0]),
        torch.tensor([math.inf, 3.0, 1.0, -2.0]),
    ),
    "adding_bools": (
        unary(
            "[5],i1",
            "[5],i1",
            "%zero = torch.constant.int 0\n%five = torch.constant.int 5\n"
            "%false = torch.constant.bool false\n%none = torch.constant.none\n"
            "%i = torch.aten.arange %five, %none, %none, %none, %false : !torch.int, !torch.none, !torch.none, !torch.none, !torch.bool -> !torch.vtensor<[5],si64>\n"
            "%s = torch.aten.scatter_add %t, %zero, %i, %t : !torch.vtensor<[5],i1>, !torch.int, !torch.vtensor<[5],si64>, !torch.vtensor<[5],i1> -> !torch.vtensor<[5],i1>\n",
        ),
        torch.tensor([True, False, True, True, False]),
        torch.tensor([True, False, True, True, False]),
    ),
    "sum_as_bool": (
        unary(
            "[5],i1",
            "[],i1",
            "%eleven = torch.constant.int 11\n"
            "%s = torch.aten.sum %t, %eleven : !torch.vtensor<[5],i1>, !torch.int -> !torch.vtensor<[],i1>\n",
        ),
        torch.tensor([True, False, True, False, False]),
        torch.tensor(True),
    ),
    "int64_floor_division": (
        unary(
            "[4],si64",
            "[4],si64",
            "%three = torch.constant.int 3\n"
            "%s = torch.aten.floor_divide.Scalar %t, %three : !torch.vtensor<[4],si64>, !torch.int -> !torch.vtensor<[4],si64>\n",
        ),
        torch.tensor([-7, 2**33 + 1, -(2**53) - 5, 2**60 + 1]),
        torch.tensor([-7, 2**33 + 1, -(2**53) - 5, 2**60 + 1]) // 3,
    ),
    "parts_that_are_no_halves": (
        unary(
            "[4],f32",
            "[4],f32",
            "%zero = torch.constant.int 0\n%one = torch.constant.int 1\n%two = torch.constant.int 2\n%four = torch.constant.int 4\n"
            f"%p = torch.aten.slice.Tensor %t, %zero, %zero, %two, %one : {_SLICE_TYPES}\n"
            f"%q = torch.aten.slice.Tensor %t, %zero, %two, %four, %one : {_SLICE_TYPES}\n"
            "%n = torch.aten.neg %p : !torch.vtensor<[2],f32> -> !torch.vtensor<[2],f32>\n"
            "%l = torch.prim.ListConstruct %n, %q : (!torch.vtensor<[2],f32>, !torch.vtensor<[2],f32>) -> !torch.list<vtensor>\n"
            "%s = torch.aten.cat %l, %zero : !torch.list<vtensor>, !torch.int -> !torch.vtensor<[4],f32>\n",
        ),
        torch.arange(1.0, 5.0),
        torch.tensor([-1.0, -2.0, 3.0, 4.0]),
    ),
}


@pytest.mark.parametrize("name", sorted(CASES))
def test_right_through_the_backend(name: str) -> None:
    text, argument, expected = CASES[name]
    artifact = compile_module(text, TARGET)
    torch.testing.assert_close(
        call_compiled(artifact.path, text, [argument], artifact.callbacks), expected, equal_nan=True
    )


@pytest.mark.parametrize("name", sorted(CASES))
def test_wrong_without_it(name: str, tmp_path: Path) -> None:
    text, argument, expected = CASES[name]
    assert not torch.allclose(
        call_compiled(run_plain(text, tmp_path), text, [argument]), expected, rtol=0, atol=0, equal_nan=True
    )


def _two_constants(x: Tensor) -> Tensor:
    x.scatter_reduce_(0, torch.tensor([2]), torch.full([1], -3, dtype=torch.int64), "amin", include_self=False)
    return x


def _constants_of_two_dtypes(x: Tensor) -> Tensor:
    x.scatter_(1, torch.tensor([[2], [5], [2]])[:2], torch.full([2, 1], 3.5))
    return x


@pytest.mark.parametrize(
    ("function", "argument"),
    [(_two_constants, torch.arange(5)), (_constants_of_two_dtypes, torch.arange(12.0).view(2, 6))],
)
def test_constants_are_kept_apart(
    function: Callable[[Tensor], Tensor], argument: Tensor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """IREE computes them in one kernel, where they are computed when the program is loaded, and keeps only one."""
    monkeypatch.setattr(compilation, "hide_constants", lambda module: 0)  # it would keep some of them apart
    artifact = check(function, (argument,), compiled=True).compiled.artifact
    flags = [flag for flag in TARGET.flags if "hoisting" not in flag]
    hoisted = call_compiled(run_plain(artifact.module, tmp_path, flags), artifact.module, [argument.clone()])
    assert not torch.equal(hoisted, function(argument.clone()))


def _numbers_of_flags(x: Tensor, s: float, flag: bool) -> tuple[Tensor, float, float, float, int]:
    total = 0.0
    for i in range(3):
        total += float(flag) * float(x[i] > 0.5) + float(i)
    return x * (2.5 * flag) + flag, s + flag, (s > 1.0) * s, total, flag + flag


def test_flags_are_numbers() -> None:
    """IREE 3.13 converts a bool to a float of 64 bits by an op that only makes 32."""
    check(_numbers_of_flags, (torch.randn(3), 3.7, True), (torch.randn(3), -2.25, False), compiled=True)
    text = """module {
  func.func @main(%flag: i1) -> f64 {
    %number = arith.extui %flag : i1 to i64
    %result = arith.sitofp %number : i64 to f64
    return %result : f64
  }
}
"""
    completed = subprocess.run(
        [compiler_path(), "-", *TARGET.flags, "-o", os.devnull], input=text, text=True, capture_output=True, check=False
    )
    assert "vm.cast.ui32.f32" in completed.stderr
    artifact = compile_module(text, TARGET)
    assert [Program(artifact.path, read_signature(text))([flag])[0] for flag in (0, 1)] == [0.0, 1.0]


def _replaced(x: Tensor, nan: float, above: float, below: float) -> tuple[Tensor, Tensor]:
    return x.nan_to_num(nan, above, below), x.nan_to_num(1e9, -1e9, 1e9)


@pytest.mark.parametrize("dtype", [torch.float16, torch.float64])
def test_infinities_that_replace(dtype: torch.dtype) -> None:
    x = torch.tensor([math.nan, math.inf, -math.inf, 1.0], dtype=dtype)
    inf, nan = math.inf, math.nan
    numbers = [(1.0, 2.0, 3.0), (inf, -inf, inf), (-inf, inf, 3.0), (nan, nan, -inf), (1e300, -1e300, 1e300)]
    check(_replaced, *((x, *each) for each in numbers))


def _remainders(x: Tensor, s: float, k: int) -> tuple[Tensor, Tensor, Tensor, float, float]:
    one = float(k - k + 1)  # a 1.0 that is a constant to IREE only
    return x % 1.0, torch.fmod(x, one), x % torch.ones_like(x), s % one, s % 1.0


def test_remainder_of_one() -> None:
    check(_remainders, (torch.randn(3) * 9, 3.7, 2), (torch.randn(3) * 9, -3.7, 2), compiled=True)


def test_while_that_passes_on_what_it_computes() -> None:
    """Of two numbers computed in the first region, one takes the place of an unused argument and one gets a new
    place.
    """
    text = """module {
  func.func @main(%a: tensor<4xf32>, %n: i64) -> (tensor<4xf32>, i64, i64) {
    %zero = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %true = arith.constant true
    %r:4 = scf.while (%i = %zero, %go = %true, %x = %a, %j = %zero) : (i64, i1, tensor<4xf32>, i64) -> (i64, tensor<4xf32>, i64, i64) {
      %less = arith.cmpi slt, %i, %n : i64
      %both = arith.andi %less, %go : i1
      %more = arith.addi %j, %i : i64
      %twice = arith.addi %i, %i : i64
      scf.condition(%both) %more, %x, %i, %twice : i64, tensor<4xf32>, i64, i64
    } do {
    ^bb0(%more: i64, %x: tensor<4xf32>, %i: i64, %twice: i64):
      %k = arith.addi %i, %one : i64
      %five = arith.constant 5 : i64
      %flag = arith.cmpi slt, %k, %five : i64
      %t = torch_c.from_builtin_tensor %x : tensor<4xf32> -> !torch.vtensor<[4],f32>
      %u = torch.aten.neg %t : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
      %b = torch_c.to_builtin_tensor %u : !torch.vtensor<[4],f32> -> tensor<4xf32>
      scf.yield %k, %flag, %b, %more : i64, i1, tensor<4xf32>, i64
    }
    return %r#1, %r#0, %r#3 : tensor<4xf32>, i64, i64
  }
}
"""
    artifact = compile_module(text, TARGET)
    program = Program(artifact.path, read_signature(text))
    a = torch.arange(4.0)
    for n in (0, 1, 2, 3, 9):
        trips = min(n, 5)
        x, total, twice = program([a, n])
        torch.testing.assert_close(x, a * (-1) ** trips)
        assert total == sum(range(trips + 1))
        assert twice == 2 * trips


def test_while_with_a_flag_for_its_condition() -> None:
    text = """module {
  func.func @main(%a: tensor<4xf32>, %n: i64) -> tensor<4xf32> {
    %zero = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %true = arith.constant true
    %r:2 = scf.while (%i = %zero, %go = %true, %x = %a) : (i64, i1, tensor<4xf32>) -> (i64, tensor<4xf32>) {
      %less = arith.cmpi slt, %i, %n : i64
      %both = arith.andi %less, %go : i1
      scf.condition(%both) %i, %x : i64, tensor<4xf32>
    } do {
    ^bb0(%i: i64, %x: tensor<4xf32>):
      %t = torch_c.from_builtin_tensor %x : tensor<4xf32> -> !torch.vtensor<[4],f32>
      %u = torch.aten.neg %t : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
      %b = torch_c.to_builtin_tensor %u : !torch.vtensor<[4],f32> -> tensor<4xf32>
      %j = arith.addi %i, %one : i64
      %three = arith.constant 3 : i64
      %flag = arith.cmpi slt, %j, %three : i64
      scf.yield %j, %flag, %b : i64, i1, tensor<4xf32>
    }
    return %r#1 : tensor<4xf32>
  }
}
"""
    artifact = compile_module(text, TARGET)
    program = Program(artifact.path, read_signature(text))
    a = torch.arange(4.0)
    for n, sign in ((0, 1), (1, -1), (2, 1), (9, -1)):
        torch.testing.assert_close(program([a, n])[0], a * sign)


def _products(x: Tensor, y: Tensor) -> Tensor:
    return torch.tanh(x @ y)


@pytest.mark.parametrize(
    ("first", "second"),
    [([3, 5, 4], [4]), ([2, 3, 5, 4], [4]), ([4], [3, 4, 5]), ([4], [2, 1, 4, 5]), ([3, 0, 4], [4])],
)
@pytest.mark.parametrize("dynamic", [False, True])
def test_products_of_matrices_and_a_vector(first: list[int], second: list[int], dynamic: bool) -> None:
    """torch-mlir rejects `matmul` of a vector and more than two dimensions."""
    shapes = {"x": dict.fromkeys(range(len(first)), Dim.AUTO), "y": dict.fromkeys(range(len(second)), Dim.AUTO)}
    inputs = torch.randn(first), torch.randn(second)
    checked = check(_products, inputs, options={"dynamic_shapes": shapes} if dynamic else {}, compiled=True)
    assert checked.compiled.explain().callbacks == ()
