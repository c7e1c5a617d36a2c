"""What the interpreter checks, and literals, tensor and tssa ops."""

from __future__ import annotations

import math

import pytest
import torch

from ssa_compiler import errors
from ssa_compiler.testing import Interpreter, InterpreterError, interpret


def test_write_to_a_value_is_rejected() -> None:
    module = """
    func.func @main(%a: !torch.vtensor<[3],f32>) -> !torch.vtensor<[3],f32> {
      %r = torch.operator "torch.aten.relu_"(%a) : (!torch.vtensor<[3],f32>) -> !torch.vtensor<[3],f32> loc("u.py":4:1)
      return %r : !torch.vtensor<[3],f32>
    }"""
    with pytest.raises(InterpreterError, match=r"u\.py:4: 'torch\.operator' writes an operand"):
        interpret(module, torch.ones(3))


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        (torch.ones(4), r"expected !torch\.vtensor<\[3\],f32>, got torch\.float32 \[4\]"),
        (torch.ones(3, dtype=torch.float64), r"got torch\.float64"),
        (3.0, "got float"),
    ],
)
def test_values_must_fit_their_types(argument: object, message: str) -> None:
    module = "func.func @main(%a: !torch.vtensor<[3],f32>) { return }"
    with pytest.raises(InterpreterError, match=message):
        interpret(module, argument)
    assert Interpreter(module, check_types=False).run(argument) == []


def test_wrong_result_type_is_found() -> None:
    module = """
    func.func @main(%a: !torch.vtensor<[3],f32>) -> !torch.vtensor<[4],f32> {
      %c0 = torch.constant.int 0
      %r = torch.aten.unsqueeze %a, %c0 : !torch.vtensor<[3],f32>, !torch.int -> !torch.vtensor<[4],f32> loc("u.py":2:1)
      return %r : !torch.vtensor<[4],f32>
    }"""
    with pytest.raises(InterpreterError, match=r"u\.py:2: result of 'torch\.aten\.unsqueeze'"):
        interpret(module, torch.ones(3))


def test_wrong_number_of_arguments() -> None:
    with pytest.raises(InterpreterError, match="expected 1 arguments of block 'main', got 2"):
        interpret("func.func @main(%a: i64) { return }", 1, 2)
    with pytest.raises(InterpreterError, match="no function 'main'"):
        interpret("func.func @other() { return }")


def test_text_that_is_no_mlir() -> None:
    with pytest.raises(InterpreterError, match="cannot parse the IR"):
        interpret("func.func @main( {")


@pytest.mark.parametrize(
    "assertion",
    [
        'torch.runtime.assert %b, "IndexError: index 9" loc("u.py":12:1)',
        'cf.assert %c, "IndexError: index 9 [u.py:12]"',
    ],
)
def test_assertions_raise_the_error_they_name(assertion: str) -> None:
    module = f"func.func @main(%b: !torch.bool, %c: i1) {{ {assertion}\nreturn }}"
    assert interpret(module, True, True) == []
    with pytest.raises(errors.ProgramIndexError, match=r"u\.py:12: index 9") as raised:
        interpret(module, False, False)
    assert raised.value.location == errors.SourceLocation("u.py", 12)


def test_location_is_the_last_caller() -> None:
    module = """func.func @main(%b: !torch.bool) {
      torch.runtime.assert %b, "ValueError: no" loc(callsite("lib.py":1:1 at callsite("mid.py":2:1 at "u.py":3:1)))
      return
    }"""
    with pytest.raises(errors.ProgramValueError, match=r"^u\.py:3: no$"):
        interpret(module, False)


# --- literals, tensor and tssa ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "kind", "expected"),
    [
        ("dense<[[1, 2], [3, 4]]>", "2x2xsi64", torch.tensor([[1, 2], [3, 4]])),
        ("dense<[true, false]>", "2xi1", torch.tensor([True, False])),
        ("dense<1.5>", "3xf32", torch.full((3,), 1.5)),
        ("dense<[1.5, -2.0, 0x7F80]>", "3xbf16", torch.tensor([1.5, -2.0, math.inf], dtype=torch.bfloat16)),
        ("dense<2.0>", "2xbf16", torch.full((2,), 2.0, dtype=torch.bfloat16)),
        ("dense<[200, 1]>", "2xui8", torch.tensor([200, 1], dtype=torch.uint8)),
        ("dense<7>", "si32", torch.tensor(7, dtype=torch.int32)),
        ("dense<>", "0x3xf32", torch.empty(0, 3)),
        ("dense_resource<blob>", "2xf32", torch.tensor([1.0, 2.0])),
    ],
)
def test_literals(text: str, kind: str, expected: torch.Tensor) -> None:
    *sizes, dtype = kind.split("x")
    of = f"!torch.vtensor<[{','.join(sizes)}],{dtype}>"
    module = f"""
    module {{ func.func @main() -> {of} {{
      %l = torch.vtensor.literal({text} : tensor<{kind}>) : {of}
      return %l : {of}
    }} }}
    {{-# dialect_resources: {{ builtin: {{ blob: "0x040000000000803F00000040" }} }} #-}}
    """
    (result,) = interpret(module)
    assert result.dtype == expected.dtype
    assert torch.equal(result, expected)
    assert result.stride() == expected.stride()


def test_complex_literals_are_rejected() -> None:
    module = """func.func @main() {
      %l = torch.vtensor.literal(dense<(1.0,2.0)> : tensor<1xcomplex<f32>>) : !torch.vtensor<[1],complex<f32>>
      return
    }"""
    with pytest.raises(InterpreterError, match=r"unsupported: attribute of 'torch\.vtensor\.literal'"):
        Interpreter(module)


def test_mutable_literal_is_fresh_in_every_iteration() -> None:
    module = """
    func.func @main(%n: !torch.int) -> !torch.tensor<[1],f32> {
      %c1 = torch.constant.int 1
      %true = torch.constant.bool true
      %s = torch.tensor.literal(dense<0.0> : tensor<1xf32>) : !torch.tensor<[1],f32>
      torch.prim.Loop %n, %true, init() {
      ^bb0(%i: !torch.int):
        %l = torch.tensor.literal(dense<1.0> : tensor<1xf32>) : !torch.tensor<[1],f32>
        %w = torch.aten.add_.Scalar %l, %c1, %c1 :
          !torch.tensor<[1],f32>, !torch.int, !torch.int -> !torch.tensor<[1],f32>
        %v = torch.aten.add_.Tensor %s, %l, %c1 :
          !torch.tensor<[1],f32>, !torch.tensor<[1],f32>, !torch.int -> !torch.tensor<[1],f32>
        torch.prim.Loop.condition %true, iter()
      } : (!torch.int, !torch.bool) -> ()
      return %s : !torch.tensor<[1],f32>
    }"""
    assert torch.equal(interpret(module, 3)[0], torch.tensor([6.0]))


def test_builtin_tensor_operations() -> None:
    module = """
    func.func @main(%i: index, %x: f32) -> (tensor<2x?xf32>, f32, index) {
      %c1 = arith.constant 1 : index
      %k = arith.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
      %c = tensor.cast %k : tensor<2x3xf32> to tensor<2x?xf32>
      %d = tensor.dim %c, %c1 : tensor<2x?xf32>
      %e = tensor.extract %c[%c1, %i] : tensor<2x?xf32>
      %n = tensor.insert %x into %c[%c1, %i] : tensor<2x?xf32>
      return %n, %e, %d : tensor<2x?xf32>, f32, index
    }"""
    n, e, d = interpret(module, 2, 9.0)
    assert torch.equal(n, torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 9.0]]))
    assert (e, d) == (6.0, 3)


def test_builtin_slices() -> None:
    module = """
    func.func @main(%x: tensor<4x6xf32>, %o: index) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<4x6xf32>) {
      %a = tensor.extract_slice %x[1, %o] [2, 3] [1, 2] : tensor<4x6xf32> to tensor<2x3xf32>
      %b = tensor.extract_slice %x[%o, 0] [1, 3] [1, 1] : tensor<4x6xf32> to tensor<3xf32>
      %c = tensor.insert_slice %a into %x[0, 0] [2, 3] [2, 1] : tensor<2x3xf32> into tensor<4x6xf32>
      return %a, %b, %c : tensor<2x3xf32>, tensor<3xf32>, tensor<4x6xf32>
    }"""
    x = torch.rand(4, 6)
    a, b, c = interpret(module, x.clone(), 1)
    expected = x.clone()
    expected[0:4:2, 0:3] = x[1:3, 1:6:2]
    assert torch.equal(a, x[1:3, 1:6:2])
    assert torch.equal(b, x[1, :3])
    assert torch.equal(c, expected)


TSSA = """
func.func @main(%a: !torch.vtensor<[4,3],f32>, %s: !torch.vtensor<[3],f32>, %i: !torch.int)
    -> (!torch.vtensor<[3],f32>, !torch.vtensor<[4,3],f32>) {
  %c0 = torch.constant.int 0
  %r = "tssa.access"(%a, %c0, %i) {view = "torch.aten.select.int"} :
    (!torch.vtensor<[4,3],f32>, !torch.int, !torch.int) -> !torch.vtensor<[3],f32>
  %b = "tssa.assign"(%a, %s, %c0, %i) {view = "torch.aten.select.int"} :
    (!torch.vtensor<[4,3],f32>, !torch.vtensor<[3],f32>, !torch.int, !torch.int) -> !torch.vtensor<[4,3],f32>
  "tssa.update"(%b, %a) : (!torch.vtensor<[4,3],f32>, !torch.vtensor<[4,3],f32>) -> ()
  return %r, %b : !torch.vtensor<[3],f32>, !torch.vtensor<[4,3],f32>
}"""


@pytest.mark.parametrize("i", [0, 3, -1])
def test_access_and_assign(i: int) -> None:
    a, s = torch.rand(4, 3), torch.rand(3)
    before = a.clone()
    row, assigned = interpret(TSSA, a, s, i)
    expected = a.clone()
    expected[i] = s
    assert torch.equal(row, a[i])
    assert torch.equal(assigned, expected)
    assert torch.equal(a, before)


def test_access_through_a_transposed_value() -> None:
    row, assigned = interpret(TSSA, torch.arange(12.0).view(3, 4).t(), torch.zeros(3), 1)
    assert torch.equal(row, torch.tensor([1.0, 5.0, 9.0]))
    assert assigned.stride() == (3, 1)


def test_update_gives_a_name_a_new_value_until_the_end_of_its_block() -> None:
    module = """
    func.func @main(%c: i1, %a: !torch.vtensor<[2],f32>, %b: !torch.vtensor<[2],f32>)
        -> (!torch.vtensor<[2],f32>, !torch.vtensor<[2],f32>, !torch.vtensor<[2],f32>) {
      %inner = scf.if %c -> !torch.vtensor<[2],f32> {
        "tssa.update"(%b, %a) : (!torch.vtensor<[2],f32>, !torch.vtensor<[2],f32>) -> ()
        %x = scf.if %c -> !torch.vtensor<[2],f32> {
          scf.yield %a : !torch.vtensor<[2],f32>
        } else {
          scf.yield %b : !torch.vtensor<[2],f32>
        }
        scf.yield %x : !torch.vtensor<[2],f32>
      } else {
        scf.yield %a : !torch.vtensor<[2],f32>
      }
      %after = torch.tensor_static_info_cast %a : !torch.vtensor<[2],f32> to !torch.vtensor<[2],f32>
      "tssa.update"(%b, %a) : (!torch.vtensor<[2],f32>, !torch.vtensor<[2],f32>) -> ()
      return %inner, %after, %a : !torch.vtensor<[2],f32>, !torch.vtensor<[2],f32>, !torch.vtensor<[2],f32>
    }"""
    a, b = torch.zeros(2), torch.ones(2)
    inner, after, end = interpret(module, True, a, b)
    assert inner is b
    assert after is a
    assert end is b
    assert interpret(module, False, a, b)[0] is a


def test_access_without_a_view_is_rejected() -> None:
    with pytest.raises(InterpreterError, match="expected a string attribute 'view'"):
        Interpreter(TSSA.replace("view =", "other ="))
