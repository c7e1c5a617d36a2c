"""Ops that IREE compiles wrongly: right through the backend, and still wrong without it, so that a fix is noticed."""

from __future__ import annotations

import math
import os
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import torch
from torch import Tensor

from ssa_compiler.backend import compile_module, compiler_path, read_signature, resolve_target
from ssa_compiler.backend.driver import compilation
from ssa_compiler.runtime import Program
from ssa_compiler.testing import check

TARGET = resolve_target("cpu")


def _plain(text: str, tmp_path: Path, flags: Sequence[str] = TARGET.flags) -> str:
    """Compile with iree-compile and nothing else; returns the artefact."""
    source, output = tmp_path / "plain.mlir", tmp_path / "plain.vmfb"
    source.write_text(text)
    subprocess.run([compiler_path(), str(source), *flags, "-o", str(output)], check=True)
    return str(output)


def _unary(type_in: str, type_out: str, body: str) -> str:
    tensor = {
        "[9],f32": "tensor<9xf32>",
        "[],f32": "tensor<f32>",
        "[5],f32": "tensor<5xf32>",
        "[4],f32": "tensor<4xf32>",
        "[4],si64": "tensor<4xi64>",
        "[],si64": "tensor<i64>",
        "[5],i1": "tensor<5xi1>",
        "[],i1": "tensor<i1>",
    }
    return (
        f"module {{\nfunc.func @main(%a: {tensor[type_in]}) -> {tensor[type_out]} {{\n"
        f"%t = torch_c.from_builtin_tensor %a : {tensor[type_in]} -> !torch.vtensor<{type_in}>\n{body}"
        f"%b = torch_c.to_builtin_tensor %s : !torch.vtensor<{type_out}> -> {tensor[type_out]}\n"
        f"return %b : {tensor[type_out]}\n}}\n}}\n"
    )


_FILL = "%seven = torch.constant.float 7.0\n%none = torch.constant.none\n%x = torch.aten.fill.Scalar %t, %seven : !torch.vtensor<[9],f32>, !torch.float -> !torch.vtensor<[9],f32>\n"
_SLICE_TYPES = "!torch.vtensor<[4],f32>, !torch.int, !torch.int, !torch.int, !torch.int -> !torch.vtensor<[2],f32>"
CASES: dict[str, tuple[str, Tensor, Tensor]] = {
    "sum_of_a_constant": (
        _unary(
            "[9],f32",
            "[],f32",
            _FILL + "%s = torch.aten.sum %x, %none : !torch.vtensor<[9],f32>, !torch.none -> !torch.vtensor<[],f32>\n",
        ),
        torch.zeros(9),
        torch.tensor(63.0),
    ),
    "product_of_a_constant": (
        _unary(
            "[9],f32",
            "[],f32",
            _FILL + "%s = torch.aten.prod %x, %none : !torch.vtensor<[9],f32>, !torch.none -> !torch.vtensor<[],f32>\n",
        ),
        torch.zeros(9),
        torch.tensor(7.0**9),
    ),
    "select_scatter_at_minus_one": (
        _unary(
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
        _unary(
            "[5],f32",
            "[5],f32",
            "%nan = torch.constant.float 0x7FF8000000000000\n"
            "%p = torch.aten.mul.Scalar %t, %nan : !torch.vtensor<[5],f32>, !torch.float -> !torch.vtensor<[5],f32>\n"
            "%s = torch.aten.sigmoid %p : !torch.vtensor<[5],f32> -> !torch.vtensor<[5],f32>\n",
        ),
        torch.arange(1.0, 6.0),
        torch.full([5], math.nan),
    ),
    "adding_bools": (
        _unary(
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
        _unary(
            "[5],i1",
            "[],i1",
            "%eleven = torch.constant.int 11\n"
            "%s = torch.aten.sum %t, %eleven : !torch.vtensor<[5],i1>, !torch.int -> !torch.vtensor<[],i1>\n",
        ),
        torch.tensor([True, False, True, False, False]),
        torch.tensor(True),
    ),
    "int64_floor_division": (
        _unary(
            "[4],si64",
            "[4],si64",
            "%three = torch.constant.int 3\n"
            "%s = torch.aten.floor_divide.Scalar %t, %three : !torch.vtensor<[4],si64>, !torch.int -> !torch.vtensor<[4],si64>\n",
        ),
        torch.tensor([-7, 2**33 + 1, -(2**53) - 5, 2**60 + 1]),
        torch.tensor([-7, 2**33 + 1, -(2**53) - 5, 2**60 + 1]) // 3,
    ),
    "parts_that_are_no_halves": (
        _unary(
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


def _call(path: str, text: str, arguments: Sequence[Tensor], callbacks: Sequence[object] = ()) -> Tensor:
    program = Program(path, read_signature(text), callbacks=callbacks)  # type: ignore[arg-type]
    return program(list(arguments))[0]


@pytest.mark.parametrize("name", sorted(CASES))
def test_right_through_the_backend(name: str) -> None:
    text, argument, expected = CASES[name]
    artifact = compile_module(text, TARGET)
    torch.testing.assert_close(_call(artifact.path, text, [argument], artifact.callbacks), expected, equal_nan=True)


@pytest.mark.parametrize("name", sorted(CASES))
def test_wrong_without_it(name: str, tmp_path: Path) -> None:
    text, argument, expected = CASES[name]
    assert not torch.allclose(_call(_plain(text, tmp_path), text, [argument]), expected, rtol=0, atol=0, equal_nan=True)


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
    hoisted = _call(_plain(artifact.module, tmp_path, flags), artifact.module, [argument.clone()])
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


def _remainders(x: Tensor, s: float, k: int) -> tuple[Tensor, Tensor, Tensor, float, float]:
    one = float(k - k + 1)  # a 1.0 that is a constant to IREE only
    return x % 1.0, torch.fmod(x, one), x % torch.ones_like(x), s % one, s % 1.0


def test_remainder_of_one() -> None:
    check(_remainders, (torch.randn(3) * 9, 3.7, 2), (torch.randn(3) * 9, -3.7, 2), compiled=True)


def test_while_that_passes_on_what_it_computes() -> None:
    """Of two numbers computed in the first region, one takes the place of an unused argument and one gets a new place."""
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


def _bounds(x: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:
    functional = torch.nn.functional
    below, above = torch.clamp_max(x, 0.5), torch.clamp_min(x, 0.5)
    hard, six, from_zero = functional.hardtanh(x), functional.relu6(x), functional.threshold(x, 0.1, 20.0)
    return x.clamp(max=2.0), x.clamp(-1.0, 2.0), below, above, hard, six, from_zero


def test_bounds_keep_nan(tmp_path: Path) -> None:
    x = torch.tensor([math.nan, 1.0, -3.0, math.inf, -math.inf])
    checked = check(_bounds, (x,), (x.flip(0),))
    assert checked.compiled.explain().callbacks == ()
    body = (
        "%c = torch.constant.float 2.0\n"
        "%s = torch.aten.clamp_max %t, %c : !torch.vtensor<[5],f32>, !torch.float -> !torch.vtensor<[5],f32>\n"
    )
    text = _unary("[5],f32", "[5],f32", body)
    plain = Program(_plain(text, tmp_path), read_signature(text))
    assert not plain([x])[0].isnan().any()  # a bound, where eager has NaN


def _larger_and_smaller(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    return torch.maximum(x, y), torch.minimum(x, y), torch.max(y, x), torch.minimum(y[0], x).sum(-1)


def test_larger_and_smaller_are_nan(tmp_path: Path) -> None:
    x, y = torch.tensor([[math.nan, 1.0, math.inf, -2.0]] * 3), torch.tensor([[2.0, math.nan, 1.0, 3.0]] * 3)
    checked = check(_larger_and_smaller, (x, y), (y, x))
    assert checked.compiled.explain().callbacks == ()
    body = (
        "%s = torch.aten.maximum %t, %o : !torch.vtensor<[5],f32>, !torch.vtensor<[5],f32> -> !torch.vtensor<[5],f32>\n"
    )
    ones = (
        "%f = torch.constant.float 1.0\n"
        "%o = torch.aten.clamp_min %t, %f : !torch.vtensor<[5],f32>, !torch.float -> !torch.vtensor<[5],f32>\n"
    )
    text = _unary("[5],f32", "[5],f32", ones + body)
    plain = Program(_plain(text, tmp_path), read_signature(text))
    assert not plain([torch.full([5], math.nan)])[0].isnan().any()  # the other one, where eager has NaN


def test_place_of_nan_is_lost(tmp_path: Path) -> None:
    """What the library's `argmax` is for; the other ops are compiled in extremes_test.py."""
    body = (
        "%none = torch.constant.none\n%false = torch.constant.bool false\n"
        "%s = torch.aten.argmax %t, %none, %false : !torch.vtensor<[5],f32>, !torch.none, !torch.bool -> !torch.vtensor<[],si64>\n"
    )
    text = _unary("[5],f32", "[],si64", body)
    x = torch.tensor([1.0, math.nan, 3.0, math.nan, 2.0])
    assert x.argmax() == 1
    assert _call(_plain(text, tmp_path), text, [x]) != 1


def test_itself_is_not_equal_to_nan(tmp_path: Path) -> None:
    x = torch.tensor([math.nan, 1.0, -3.0, math.inf, -math.inf])
    body = "%s = torch.aten.eq.Tensor %t, %t : !torch.vtensor<[5],f32>, !torch.vtensor<[5],f32> -> !torch.vtensor<[5],i1>\n"
    text = _unary("[5],f32", "[5],i1", body)
    assert _call(_plain(text, tmp_path), text, [x]).all()
    assert torch.equal(_call(compile_module(text, TARGET).path, text, [x]), x == x)


def _remainders_of_items(x: Tensor) -> list[Tensor]:
    x = x + 1
    a, b = float(x[0]), float(x[1])
    return [x * (a % 2), x + (a % b), x * (b % a), x * math.fmod(a, 0.7), x + (a // b)]


def test_remainders_of_items_of_numbers_stay_out_of_kernels() -> None:
    """IREE moves scalar ops into the kernels that use them, where the remainder is a function that there is not."""
    check(_remainders_of_items, *[(torch.tensor(pair),) for pair in ([3.7, 0.3], [-13.7, 10.3], [13.7, -10.3])])


def _equals(x: Tensor, z: Tensor) -> list[Tensor]:
    return [z == z, z != z, z.clone().eq(z), torch.isclose(x, x), torch.isclose(x, x, equal_nan=True), x == x, x <= x]


def test_complex_and_half_nan_is_not_equal_to_itself() -> None:
    x = torch.tensor([math.nan, 1.0, 0.0, math.inf, -math.inf], dtype=torch.float16)
    z = torch.complex(x.float(), x.float().roll(1))
    checked = check(_equals, (x, z), (-x, z.conj().resolve_conj()))
    assert {use.op for use in checked.compiled.explain().callbacks} == {"aten::ne.Tensor"}


def _powers(x: Tensor, y: Tensor, e: float) -> list[Tensor]:
    found = [x**y, y**x, x.double() ** y, x**e, e**x, x**-1, x**-3.0, x**1.5, x**33, (-2.0) ** x, 1.0**x, 0.0**x]
    found += [torch.isclose(x, y), torch.isclose(x, y, equal_nan=True)]
    return found


def test_powers_of_what_has_no_logarithm(tmp_path: Path) -> None:
    numbers = [-math.inf, -5.0, -3.0, -2.5, -1.0, -0.5, -0.0, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 7.0, math.inf, math.nan]
    x, y = torch.tensor(numbers)[:, None], torch.tensor(numbers)
    checked = check(_powers, (x, y, 3.0), (x, y, -2.0), (x, y, 0.0), compiled=True)
    assert checked.compiled.explain().callbacks == ()
    got, expected = checked.compiled(x, y, 3.0)[0], x**y
    assert torch.equal(torch.signbit(got) & ~got.isnan(), torch.signbit(expected) & ~expected.isnan())
    body = "%s = torch.aten.pow.Tensor_Tensor %t, %t : !torch.vtensor<[5],f32>, !torch.vtensor<[5],f32> -> !torch.vtensor<[5],f32>\n"
    text = _unary("[5],f32", "[5],f32", body)
    assert _call(_plain(text, tmp_path), text, [torch.tensor([-1.0, -2.0, -3.0, -4.0, 0.0])]).isnan().all()


def _not_a_number(x: Tensor) -> list[Tensor]:
    nan = float("nan")
    bounded = [x.clamp(nan, 1.0), torch.nn.functional.leaky_relu(x, nan), torch.nn.functional.threshold(x, nan, 2.0)]
    return bounded + [torch.pow(nan, x), torch.sigmoid(x * nan), torch.logaddexp(x, x * nan)]  # noqa: RUF005 - TorchScript


def _number_in_places(x: Tensor) -> list[Tensor]:
    nan = float("nan")
    filled = [x.masked_fill(x > 0, nan), torch.where(x > 0, x, nan), torch.nn.functional.pad(x, [1, 1], value=nan)]
    return filled + [torch.full([2], nan).exp(), torch.full_like(x, nan)]  # noqa: RUF005 - TorchScript


def test_constants_that_are_no_numbers() -> None:
    x = torch.tensor([1.5, -0.5, 0.0])
    assert check(_not_a_number, (x,)).compiled.explain().callbacks
    assert check(_number_in_places, (x,)).compiled.explain().callbacks == ()  # put somewhere, they are like others


def _products_with_constants(b: Tensor, w: Tensor) -> list[Tensor]:
    zeros, rows = torch.zeros(5, 16), torch.zeros(16).expand(5, 16)
    products = [torch.addmm(b, zeros, w), rows @ w + b, torch.nn.functional.linear(zeros, w.t(), b)]
    batches = torch.baddbmm(b, torch.zeros(2, 5, 16), w.expand(2, 16, 64))
    convolved = torch.nn.functional.conv1d(torch.zeros(1, 16, 5), w.t()[:, :, None], b)
    return products + [batches, convolved, w.t() @ torch.zeros(16) + b]  # noqa: RUF005 - TorchScript


def test_products_with_a_matrix_of_zeros() -> None:
    """IREE adds the bias several times: recurrent layers that start from zero were wrong."""
    check(_products_with_constants, (torch.randn(64), torch.randn(16, 64)))


def _written_in_either_shape(x: Tensor, k: int) -> tuple[Tensor, Tensor]:
    z = x.view(2, 3)
    if k > 0:
        z = z.t()
    z[0, 1:] += k
    z[:, 0] = 7
    return z.sum(1), x


def test_sizes_that_a_cast_forgets_stay_forgotten() -> None:
    """torch-mlir decomposes `select_scatter` to a tensor of the sizes known before the cast, which does not verify."""
    check(_written_in_either_shape, *((torch.arange(6.0), k) for k in (1, 0, -1)), compiled=True)
    text = """module {
  func.func @main(%a: tensor<2x3xf32>, %b: tensor<?xf32>) -> tensor<?x?xf32> {
    %zero = torch.constant.int 0
    %x = torch_c.from_builtin_tensor %a : tensor<2x3xf32> -> !torch.vtensor<[2,3],f32>
    %row = torch_c.from_builtin_tensor %b : tensor<?xf32> -> !torch.vtensor<[?],f32>
    %y = torch.tensor_static_info_cast %x : !torch.vtensor<[2,3],f32> to !torch.vtensor<[?,?],f32>
    %z = torch.aten.select_scatter %y, %row, %zero, %zero : !torch.vtensor<[?,?],f32>, !torch.vtensor<[?],f32>, !torch.int, !torch.int -> !torch.vtensor<[?,?],f32>
    %r = torch_c.to_builtin_tensor %z : !torch.vtensor<[?,?],f32> -> tensor<?x?xf32>
    return %r : tensor<?x?xf32>
  }
}
"""
    completed = subprocess.run(
        [compiler_path(), "-", *TARGET.flags, "-o", os.devnull], input=text, text=True, capture_output=True, check=False
    )
    assert "operand and result must have the same size and dtype" in completed.stderr
    artifact = compile_module(text, TARGET)
    program = Program(artifact.path, read_signature(text))
    a, b = torch.zeros(2, 3), torch.arange(3.0)
    torch.testing.assert_close(program([a, b])[0], torch.stack([b, a[1]]))


def test_parts_without_elements_have_their_sizes() -> None:
    """IREE takes the other part for the result, which is of another type, where a part does not say that it is empty."""
    text = """module {
  func.func @main(%a: tensor<1xf32>, %b: tensor<0xf32>) -> tensor<?xf32> {
    %zero = torch.constant.int 0
    %x = torch_c.from_builtin_tensor %a : tensor<1xf32> -> !torch.vtensor<[1],f32>
    %e = torch_c.from_builtin_tensor %b : tensor<0xf32> -> !torch.vtensor<[0],f32>
    %y = torch.tensor_static_info_cast %e : !torch.vtensor<[0],f32> to !torch.vtensor<[?],f32>
    %l = torch.prim.ListConstruct %x, %y : (!torch.vtensor<[1],f32>, !torch.vtensor<[?],f32>) -> !torch.list<vtensor>
    %z = torch.aten.cat %l, %zero : !torch.list<vtensor>, !torch.int -> !torch.vtensor<[?],f32>
    %r = torch_c.to_builtin_tensor %z : !torch.vtensor<[?],f32> -> tensor<?xf32>
    return %r : tensor<?xf32>
  }
}
"""
    cast = "torch_c.to_builtin_tensor %e : !torch.vtensor<[0],f32> -> tensor<0xf32>\n%d = tensor.cast %t : tensor<0xf32> to tensor<?xf32>\n"
    written = text.replace(
        "%y = torch.tensor_static_info_cast %e : !torch.vtensor<[0],f32> to !torch.vtensor<[?],f32>",
        f"%t = {cast}%y = torch_c.from_builtin_tensor %d : tensor<?xf32> -> !torch.vtensor<[?],f32>",
    )
    completed = subprocess.run(
        [compiler_path(), "-", *TARGET.flags, "-o", os.devnull],
        input=written,
        text=True,
        capture_output=True,
        check=False,
    )
    assert "have same type" in completed.stderr
    artifact = compile_module(text, TARGET)
    program = Program(artifact.path, read_signature(text))
    a = torch.tensor([3.0])
    torch.testing.assert_close(program([a, torch.zeros(0)])[0], a)
