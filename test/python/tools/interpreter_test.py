"""Tests of the interpreter on hand-written modules of every stage."""

from __future__ import annotations

import math

import pytest
import torch

from ssa_compiler.testing import Interpreter, InterpreterError, interpret
from ssa_compiler.testing._schema_ops import DTYPE_NUMBERS, find_overload, is_view

MUTABLE_LOOP = """
module {
func.func @main(%a: !torch.tensor<[4,3],f32> {tssa.name = "a"}, %n: !torch.int) -> !torch.tensor<[4,3],f32> {
  %c0 = torch.constant.int 0
  %c1 = torch.constant.int 1
  %true = torch.constant.bool true
  torch.prim.Loop %n, %true, init() {
  ^bb0(%i: !torch.int):
    %v = torch.aten.select.int %a, %c0, %i : !torch.tensor<[4,3],f32>, !torch.int, !torch.int -> !torch.tensor<[3],f32>
    %w = torch.aten.add_.Scalar %v, %c1, %c1 : !torch.tensor<[3],f32>, !torch.int, !torch.int -> !torch.tensor<[3],f32>
    torch.prim.Loop.condition %true, iter()
  } : (!torch.int, !torch.bool) -> () loc("prog.py":7:3)
  return %a : !torch.tensor<[4,3],f32>
}
}
"""


@pytest.mark.parametrize("trips", [0, 1, 2, 4])
def test_mutable_tensors_alias_as_in_eager(trips: int) -> None:
    a = torch.zeros(4, 3)
    interpreter = Interpreter(MUTABLE_LOOP)
    (result,) = interpreter.run(a, trips)
    expected = torch.cat([torch.ones(trips, 3), torch.zeros(4 - trips, 3)])
    assert result is a
    assert torch.equal(a, expected)
    assert interpreter.block_counts == {"main": 1, **({"main/loop@prog.py:7": trips} if trips else {})}


def test_argument_and_result_attributes_are_kept() -> None:
    function = Interpreter(
        'func.func @main(%a: !torch.vtensor<[2],f32> {tssa.name = "a"}) -> '
        "(!torch.vtensor<[2],f32> {tssa.writeback = 0 : i64}) { return %a : !torch.vtensor<[2],f32> }"
    ).functions["main"]
    assert function.argument_attributes == ({"tssa.name": "a"},)
    assert function.result_attributes == ({"tssa.writeback": 0},)


def test_out_of_range_select_raises_as_eager() -> None:
    with pytest.raises(IndexError):
        interpret(MUTABLE_LOOP, torch.zeros(4, 3), 5)


def test_torch_loop_carries_values_and_stops_on_its_condition() -> None:
    module = """
    func.func @main(%n: !torch.int) -> (!torch.int, !torch.int) {
      %c0 = torch.constant.int 0
      %max = torch.constant.int 9223372036854775807
      %c3 = torch.constant.int 3
      %true = torch.constant.bool true
      %r:2 = torch.prim.Loop %max, %true, init(%c0, %n) {
      ^bb0(%i: !torch.int, %s: !torch.int, %x: !torch.int):
        %t = torch.aten.add.int %s, %x : !torch.int, !torch.int -> !torch.int
        %y = torch.aten.floordiv.int %x, %c3 : !torch.int, !torch.int -> !torch.int
        %more = torch.aten.gt.int %y, %c0 : !torch.int, !torch.int -> !torch.bool
        torch.prim.Loop.condition %more, iter(%t, %y : !torch.int, !torch.int)
      } : (!torch.int, !torch.bool, !torch.int, !torch.int) -> (!torch.int, !torch.int)
      return %r#0, %r#1 : !torch.int, !torch.int
    }"""
    assert interpret(module, 20) == [20 + 6 + 2, 0]


def test_nested_branches_count_each_side() -> None:
    module = """
    func.func @main(%c: i1, %x: !torch.vtensor<[2],f32>) -> tensor<2xf32> {
      %r = scf.if %c -> (tensor<2xf32>) {
        %b = "torch_c.to_builtin_tensor"(%x) : (!torch.vtensor<[2],f32>) -> tensor<2xf32>
        scf.yield %b : tensor<2xf32>
      } else {
        %e = tensor.empty() : tensor<2xf32>
        scf.yield %e : tensor<2xf32>
      } loc("p.py":3:1)
      return %r : tensor<2xf32>
    }"""
    interpreter = Interpreter(module)
    x = torch.tensor([1.0, 2.0])
    assert torch.equal(interpreter.run(True, x)[0], x)
    assert interpreter.block_counts == {"main": 1, "main/then@p.py:3": 1}
    assert torch.equal(interpreter.run(False, x)[0], torch.zeros(2))
    assert interpreter.block_counts == {"main": 1, "main/else@p.py:3": 1}


@pytest.mark.parametrize(("lower", "upper", "step", "expected"), [(0, 5, 2, 6), (3, 3, 1, 0), (5, 0, 1, 0)])
def test_scf_for(lower: int, upper: int, step: int, expected: int) -> None:
    module = """
    func.func @main(%l: i64, %u: i64, %s: i64) -> i64 {
      %c0 = arith.constant 0 : i64
      %r = scf.for %i = %l to %u step %s iter_args(%acc = %c0) -> (i64) : i64 {
        %n = arith.addi %acc, %i : i64
        scf.yield %n : i64
      }
      return %r : i64
    }"""
    assert interpret(module, lower, upper, step) == [expected]


def test_scf_while_counts_its_test_and_its_body() -> None:
    module = """
    func.func @main(%n: i64) -> i64 {
      %c1 = arith.constant 1 : i64
      %r = scf.while (%x = %n) : (i64) -> i64 {
        %more = arith.cmpi sgt, %x, %c1 : i64
        scf.condition(%more) %x : i64
      } do {
      ^bb0(%y: i64):
        %z = arith.shrsi %y, %c1 : i64
        scf.yield %z : i64
      } loc("p.py":9:1)
      return %r : i64
    }"""
    interpreter = Interpreter(module)
    assert interpreter.run(20) == [1]
    assert interpreter.block_counts == {"main": 1, "main/before@p.py:9": 5, "main/loop@p.py:9": 4}


def test_execute_region_with_branches() -> None:
    module = """
    func.func @main(%c: i1, %a: i64, %b: i64) -> i64 {
      %r = scf.execute_region -> i64 {
        cf.cond_br %c, ^x(%a : i64), ^y(%b : i64)
      ^x(%p: i64):
        cf.br ^y(%p : i64)
      ^y(%q: i64):
        scf.yield %q : i64
      }
      return %r : i64
    }"""
    assert interpret(module, True, 1, 2) == [1]
    assert interpret(module, False, 1, 2) == [2]


def test_endless_loop_is_stopped() -> None:
    module = """
    func.func @main(%c: i1) {
      scf.while : () -> () {
        scf.condition(%c)
      } do {
        scf.yield
      }
      return
    }"""
    with pytest.raises(InterpreterError, match="more than 50 blocks"):
        Interpreter(module, max_block_runs=50).run(True)
    assert interpret(module, False) == []


def test_calls() -> None:
    module = """
    func.func private @twice(%a: i64) -> i64 {
      %r = arith.addi %a, %a : i64
      return %r : i64
    }
    func.func @main(%a: i64) -> i64 {
      %b = call @twice(%a) : (i64) -> i64
      %c = call @twice(%b) : (i64) -> i64
      return %c : i64
    }"""
    interpreter = Interpreter(module)
    assert interpreter.run(3) == [12]
    assert interpreter.block_counts == {"main": 1, "twice": 2}


# --- scalars ----------------------------------------------------------------------------------------------------------


def scalar(body: str, *values: object, result: str = "i64", arguments: str = "i64") -> object:
    names = ", ".join(f"%{name}: {arguments}" for name, _ in zip("abc", values, strict=False))
    module = f"func.func @main({names}) -> {result} {{\n%r = {body}\nreturn %r : {result}\n}}"
    return interpret(module, *values)[0]


@pytest.mark.parametrize(
    ("op", "a", "b", "expected"),
    [
        ("addi", 2**63 - 1, 1, -(2**63)),
        ("muli", 2**62, 4, 0),
        ("subi", -(2**63), 1, 2**63 - 1),
        ("divsi", -7, 2, -3),
        ("remsi", -7, 2, -1),
        ("floordivsi", -7, 2, -4),
        ("ceildivsi", -7, 2, -3),
        ("divui", -1, 2, 2**63 - 1),
        ("shli", 1, 63, -(2**63)),
        ("shrsi", -8, 1, -4),
        ("shrui", -8, 1, 2**63 - 4),
        ("xori", 5, 3, 6),
        ("maxsi", -1, 1, 1),
        ("maxui", -1, 1, -1),
    ],
)
def test_integer_arithmetic_wraps_and_rounds_as_mlir(op: str, a: int, b: int, expected: int) -> None:
    assert scalar(f"arith.{op} %a, %b : i64", a, b) == expected


@pytest.mark.parametrize(
    ("predicate", "expected"), [("slt", True), ("ult", False), ("sge", False), ("ugt", True), ("ne", True)]
)
def test_integer_comparison_knows_signedness(predicate: str, expected: bool) -> None:
    assert scalar(f"arith.cmpi {predicate}, %a, %b : i64", -1, 1, result="i1") is expected


@pytest.mark.parametrize(
    ("predicate", "a", "b", "expected"),
    [
        ("oeq", 1.0, 1.0, True),
        ("olt", 1.0, 2.0, True),
        ("oge", 2.0, 2.0, True),
        ("one", 1.0, math.nan, False),
        ("une", 1.0, math.nan, True),
        ("ult", 3.0, math.nan, True),
        ("ule", 3.0, 2.0, False),
        ("ord", 1.0, math.nan, False),
        ("uno", 1.0, math.nan, True),
        ("false", 1.0, 1.0, False),
        ("true", math.nan, 1.0, True),
    ],
)
def test_float_comparison_knows_nan(predicate: str, a: float, b: float, expected: bool) -> None:
    assert scalar(f"arith.cmpf {predicate}, %a, %b : f64", a, b, result="i1", arguments="f64") is expected


def test_float_arithmetic_is_ieee() -> None:
    assert scalar("arith.divf %a, %b : f64", 1.0, 0.0, result="f64", arguments="f64") == math.inf
    assert scalar("arith.addf %a, %b : f32", 1.0, 2.0**-40, result="f32", arguments="f32") == 1.0
    assert scalar("math.sqrt %a : f64", 2.0, result="f64", arguments="f64") == math.sqrt(2.0)
    assert math.isnan(scalar("math.log %a : f64", -1.0, result="f64", arguments="f64"))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("body", "value", "source", "target", "expected"),
    [
        ("arith.fptosi %a : f64 to i64", -2.7, "f64", "i64", -2),
        ("arith.sitofp %a : i64 to f64", -2, "i64", "f64", -2.0),
        ("arith.extui %a : i1 to i64", True, "i1", "i64", 1),
        ("arith.extsi %a : i1 to i64", True, "i1", "i64", -1),
        ("arith.trunci %a : i64 to i32", 2**31, "i64", "i32", -(2**31)),
        ("arith.trunci %a : i64 to i1", 3, "i64", "i1", True),
        ("arith.uitofp %a : i1 to f64", True, "i1", "f64", 1.0),
        ("arith.index_cast %a : i64 to index", -5, "i64", "index", -5),
        ("arith.fptosi %a : f64 to i64", math.nan, "f64", "i64", -(2**63)),
    ],
)
def test_conversions(body: str, value: object, source: str, target: str, expected: object) -> None:
    result = scalar(body, value, result=target, arguments=source)
    assert result == expected
    assert type(result) is type(expected)


def test_division_by_zero_is_a_mistake_of_the_ir() -> None:
    with pytest.raises(InterpreterError, match="undefined for right operand 0"):
        scalar("arith.divsi %a, %b : i64", 1, 0)


# --- operators --------------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore")  # some dtypes are experimental
def test_dtype_numbers_are_pytorchs() -> None:
    for number, dtype in DTYPE_NUMBERS.items():
        try:
            tensor = torch.empty(1, dtype=dtype)
        except (RuntimeError, TypeError):
            continue  # quantised and bit types cannot be made this way
        assert torch.ops.prim.dtype(tensor) == number


def test_enumerations_and_keyword_arguments_follow_the_schema() -> None:
    module = """
    func.func @main(%a: !torch.vtensor<[2],f32>) -> (!torch.vtensor<[2],f64>, !torch.vtensor<[2,2],si64>) {
      %c4 = torch.constant.int 4
      %c7 = torch.constant.int 7
      %c2 = torch.constant.int 2
      %none = torch.constant.none
      %false = torch.constant.bool false
      %cpu = torch.constant.device "cpu"
      %s = torch.prim.ListConstruct %c2, %c2 : (!torch.int, !torch.int) -> !torch.list<int>
      %d = torch.aten.to.dtype %a, %c7, %false, %false, %none : !torch.vtensor<[2],f32>, !torch.int, !torch.bool,
        !torch.bool, !torch.none -> !torch.vtensor<[2],f64>
      %f = torch.aten.full %s, %c7, %c4, %none, %cpu, %false : !torch.list<int>, !torch.int, !torch.int, !torch.none,
        !torch.Device, !torch.bool -> !torch.vtensor<[2,2],si64>
      return %d, %f : !torch.vtensor<[2],f64>, !torch.vtensor<[2,2],si64>
    }"""
    d, f = interpret(module, torch.ones(2))
    assert torch.equal(d, torch.ones(2, dtype=torch.float64))
    assert torch.equal(f, torch.full((2, 2), 7))


def test_torch_operator_runs_the_named_operator() -> None:
    module = """
    func.func @main(%a: !torch.vtensor<[3],f32>) -> !torch.vtensor<[3],f32> {
      %r = torch.operator "torch.aten.special_entr"(%a)
        {tssa.schema = "aten::special_entr(Tensor self) -> Tensor"} :
        (!torch.vtensor<[3],f32>) -> !torch.vtensor<[3],f32>
      return %r : !torch.vtensor<[3],f32>
    }"""
    a = torch.rand(3)
    assert torch.equal(interpret(module, a)[0], torch.special.entr(a))


def test_several_results() -> None:
    module = """
    func.func @main(%a: !torch.vtensor<[2,3],f32>) -> (!torch.vtensor<[2],f32>, !torch.vtensor<[2],si64>) {
      %c1 = torch.constant.int 1
      %false = torch.constant.bool false
      %v, %i = torch.aten.max.dim %a, %c1, %false :
        !torch.vtensor<[2,3],f32>, !torch.int, !torch.bool -> !torch.vtensor<[2],f32>, !torch.vtensor<[2],si64>
      return %v, %i : !torch.vtensor<[2],f32>, !torch.vtensor<[2],si64>
    }"""
    a = torch.rand(2, 3)
    values, indices = interpret(module, a)
    assert torch.equal(values, a.max(1).values)
    assert torch.equal(indices, a.max(1).indices)


def test_unknown_operators_are_named() -> None:
    module = """
    func.func @main(%a: !torch.vtensor<[3],f32>) -> !torch.vtensor<[3],f32> {
      %r = torch.operator "torch.aten.no_such_op"(%a) : (!torch.vtensor<[3],f32>) -> !torch.vtensor<[3],f32>
      return %r : !torch.vtensor<[3],f32>
    }"""
    with pytest.raises(InterpreterError, match="no_such_op"):
        Interpreter(module)
    with pytest.raises(InterpreterError, match=r"does not know 'foo\.bar'"):
        Interpreter('func.func @main() { "foo.bar"() : () -> () return }')


@pytest.mark.parametrize(
    ("name", "expected"),
    [("aten.select.int", True), ("aten.view", True), ("aten.add_.Tensor", False), ("aten.add.Tensor", False)],
)
def test_views_are_known_from_schemas(name: str, expected: bool) -> None:
    assert is_view(find_overload(name)) is expected


def test_view_of_a_value_does_not_depend_on_strides() -> None:
    module = """
    func.func @main(%a: !torch.vtensor<[2,3],f32>) -> !torch.vtensor<[6],f32> {
      %c0 = torch.constant.int 0
      %c1 = torch.constant.int 1
      %c6 = torch.constant.int 6
      %s = torch.prim.ListConstruct %c6 : (!torch.int) -> !torch.list<int>
      %t = torch.aten.transpose.int %a, %c0, %c1 :
        !torch.vtensor<[2,3],f32>, !torch.int, !torch.int -> !torch.vtensor<[3,2],f32>
      %v = torch.aten.view %t, %s : !torch.vtensor<[3,2],f32>, !torch.list<int> -> !torch.vtensor<[6],f32>
      return %v : !torch.vtensor<[6],f32>
    }"""
    a = torch.rand(2, 3)
    assert torch.equal(interpret(module, a)[0], a.t().reshape(6))


# --- what the interpreter checks --------------------------------------------------------------------------------------
