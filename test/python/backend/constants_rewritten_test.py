"""Constants and comparisons that IREE compiles wrongly: right through the backend."""

from __future__ import annotations

import math
import os
import subprocess
from pathlib import Path

import pytest
import torch
from torch import Tensor

from _backend_runs import TARGET, call_compiled, run_plain, unary
from ssa_compiler.backend import compile_module, compiler_path, read_signature
from ssa_compiler.runtime import Program
from ssa_compiler.testing import check


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
    text = unary("[5],f32", "[5],f32", body)
    plain = Program(run_plain(text, tmp_path), read_signature(text))
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
    text = unary("[5],f32", "[5],f32", ones + body)
    plain = Program(run_plain(text, tmp_path), read_signature(text))
    assert not plain([torch.full([5], math.nan)])[0].isnan().any()  # the other one, where eager has NaN


def test_place_of_nan_is_lost(tmp_path: Path) -> None:
    """What the library's `argmax` is for; the other ops are compiled in extremes_test.py."""
    body = (
        "%none = torch.constant.none\n%false = torch.constant.bool false\n"
        "%s = torch.aten.argmax %t, %none, %false : !torch.vtensor<[5],f32>, !torch.none, !torch.bool -> !torch.vtensor<[],si64>\n"
    )
    text = unary("[5],f32", "[],si64", body)
    x = torch.tensor([1.0, math.nan, 3.0, math.nan, 2.0])
    assert x.argmax() == 1
    assert call_compiled(run_plain(text, tmp_path), text, [x]) != 1


def test_itself_is_not_equal_to_nan(tmp_path: Path) -> None:
    x = torch.tensor([math.nan, 1.0, -3.0, math.inf, -math.inf])
    body = "%s = torch.aten.eq.Tensor %t, %t : !torch.vtensor<[5],f32>, !torch.vtensor<[5],f32> -> !torch.vtensor<[5],i1>\n"
    text = unary("[5],f32", "[5],i1", body)
    assert call_compiled(run_plain(text, tmp_path), text, [x]).all()
    assert torch.equal(call_compiled(compile_module(text, TARGET).path, text, [x]), x == x)


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


@pytest.mark.slow
def test_powers_of_what_has_no_logarithm(tmp_path: Path) -> None:
    numbers = [-math.inf, -5.0, -3.0, -2.5, -1.0, -0.5, -0.0, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 7.0, math.inf, math.nan]
    x, y = torch.tensor(numbers)[:, None], torch.tensor(numbers)
    checked = check(_powers, (x, y, 3.0), (x, y, -2.0), (x, y, 0.0), compiled=True)
    assert checked.compiled.explain().callbacks == ()
    got, expected = checked.compiled(x, y, 3.0)[0], x**y
    assert torch.equal(torch.signbit(got) & ~got.isnan(), torch.signbit(expected) & ~expected.isnan())
    body = "%s = torch.aten.pow.Tensor_Tensor %t, %t : !torch.vtensor<[5],f32>, !torch.vtensor<[5],f32> -> !torch.vtensor<[5],f32>\n"
    text = unary("[5],f32", "[5],f32", body)
    assert call_compiled(run_plain(text, tmp_path), text, [torch.tensor([-1.0, -2.0, -3.0, -4.0, 0.0])]).isnan().all()


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
    """IREE takes the other part for the result, which is of another type, where a part does not say that it is
    empty.
    """
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
