"""Calls: dtypes, shapes, alignment, sharing between arguments and results, and run-time errors."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import Tensor

from ssa_compiler import ArgumentTypeError, ArgumentValueError, ProgramError, ProgramIndexError
from ssa_compiler.abi import Signature
from ssa_compiler.backend import compile_module, read_signature, resolve_target
from ssa_compiler.runtime import Program
from ssa_compiler.runtime.device import device_for

DTYPES = {
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "f32": torch.float32,
    "f64": torch.float64,
    "si8": torch.int8,
    "ui8": torch.uint8,
    "si16": torch.int16,
    "si32": torch.int32,
    "si64": torch.int64,
    "i1": torch.bool,
}


def _program(text: str, typed: str | None = None) -> Program:
    artifact = compile_module(text, resolve_target("cpu"))
    return Program(artifact.path, read_signature(text, typed), callbacks=artifact.callbacks)


def _flip(sizes: str, element: str) -> tuple[str, str]:
    """A program that reverses its argument along dimension 0; its text and the same with torch types."""
    builtin = f"tensor<{sizes}x{element.replace('si', 'i').replace('ui', 'i')}>"
    torch_type = f"!torch.vtensor<[{sizes.replace('x', ',')}],{element}>"
    body = (
        f"%t = torch_c.from_builtin_tensor %a : {builtin} -> {torch_type}\n"
        "%zero = torch.constant.int 0\n%dims = torch.prim.ListConstruct %zero : (!torch.int) -> !torch.list<int>\n"
        f"%s = torch.aten.flip %t, %dims : {torch_type}, !torch.list<int> -> {torch_type}\n"
        f"%b = torch_c.to_builtin_tensor %s : {torch_type} -> {builtin}\nreturn %b : {builtin}\n"
    )
    text = f'module {{\nfunc.func @main(%a: {builtin} {{tssa.name = "x"}}) -> {builtin} {{\n{body}}}\n}}\n'
    typed = f"module {{\nfunc.func @main(%a: {torch_type}) -> {torch_type} {{\nreturn %a : {torch_type}\n}}\n}}\n"
    return text, typed


@pytest.mark.parametrize("element", sorted(DTYPES))
def test_dtype(element: str) -> None:
    a = torch.tensor([[0, 1], [1, 1], [2, 3]]).to(DTYPES[element])
    (result,) = _program(*_flip("3x2", element))([a])
    assert result.dtype == a.dtype
    assert torch.equal(result, a.flip(0))


@pytest.fixture(scope="module")
def flip() -> Program:
    """Reverses a float32 [4, 6]."""
    return _program(*_flip("4x6", "f32"))


def _unaligned(shape: tuple[int, ...]) -> Tensor:
    flat = torch.randn(1 + torch.Size(shape).numel())
    return flat[1:].view(shape)


@pytest.mark.parametrize(
    "make",
    [
        lambda: torch.randn(4, 6),
        lambda: torch.randn(6, 4).t(),
        lambda: torch.randn(8, 6)[::2],
        lambda: _unaligned((4, 6)),
        lambda: torch.randn(1, 6).expand(4, 6),
        lambda: torch.randn(4, 6, 2)[..., 1],
    ],
    ids=["dense", "transposed", "strided", "unaligned", "expanded", "inner"],
)
def test_layouts(flip: Program, make: object) -> None:
    a = make()  # type: ignore[operator]
    kept = a.clone()
    (result,) = flip([a])
    assert torch.equal(result, kept.flip(0))
    assert torch.equal(a, kept)


def test_empty_tensor() -> None:
    program = _program(*_flip("?x3", "f32"))
    (result,) = program([torch.empty(0, 3)])
    assert result.shape == (0, 3)


def test_results_own_their_memory(flip: Program) -> None:
    a = torch.randn(4, 6)
    first = flip([a])[0]
    expected = first.clone()
    flip([torch.randn(4, 6)])
    del a
    assert torch.equal(first, expected)


IDENTITY = """module {
  func.func @main(%a: tensor<4xf32>, %n: i64, %f: f64) -> (tensor<4xf32>, tensor<4xf32>, i64, f64, i1) {
    %zero = arith.constant 0 : i64
    %positive = arith.cmpi sgt, %n, %zero : i64
    return %a, %a, %n, %f, %positive : tensor<4xf32>, tensor<4xf32>, i64, f64, i1
  }
}
"""


def test_results_never_share_memory_unannounced() -> None:
    a = torch.randn(4)
    first, second, n, f, positive = _program(IDENTITY)([a, -(2**40), 0.1])
    assert torch.equal(first, a)
    assert torch.equal(second, a)
    assert len({tensor.data_ptr() for tensor in (a, first, second)}) == 3
    assert (n, f, positive) == (-(2**40), 0.1, False)
    assert type(positive) is bool


def test_announced_sharing() -> None:
    text = IDENTITY.replace(
        "(tensor<4xf32>, tensor<4xf32>, i64",
        "(tensor<4xf32> {tssa.alias_of = 0 : i64}, tensor<4xf32> {tssa.same_as = 0 : i64}, i64",
    )
    a = torch.randn(4)
    first, second, *_ = _program(text)([a, 1, 0.5])
    assert first is a
    assert second is a


WRITE = """module {
  func.func @main(%a: tensor<4xf32> {tssa.name = "cache"}, %b: tensor<4xf32> {tssa.name = "x"})
      -> (tensor<4xf32>, tensor<4xf32> {tssa.writeback = 0 : i64}) {
    %ta = torch_c.from_builtin_tensor %a : tensor<4xf32> -> !torch.vtensor<[4],f32>
    %tb = torch_c.from_builtin_tensor %b : tensor<4xf32> -> !torch.vtensor<[4],f32>
    %one = torch.constant.int 1
    %s = torch.aten.add.Tensor %ta, %tb, %one : !torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>, !torch.int -> !torch.vtensor<[4],f32>
    %d = torch.aten.sub.Tensor %ta, %tb, %one : !torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>, !torch.int -> !torch.vtensor<[4],f32>
    %sb = torch_c.to_builtin_tensor %s : !torch.vtensor<[4],f32> -> tensor<4xf32>
    %db = torch_c.to_builtin_tensor %d : !torch.vtensor<[4],f32> -> tensor<4xf32>
    return %db, %sb : tensor<4xf32>, tensor<4xf32>
  }
}
"""


@pytest.fixture(scope="module")
def write() -> Program:
    """Adds `x` to `cache` in place and returns their difference before."""
    return _program(WRITE)


@pytest.mark.parametrize("make", [lambda: torch.randn(4), lambda: _unaligned((4,)), lambda: torch.randn(4, 2)[:, 1]])
def test_written_argument(write: Program, make: object) -> None:
    a, b = make(), torch.randn(4)  # type: ignore[operator]
    kept, version = a.clone(), a._version
    results = write([a, b])
    assert len(results) == 1
    torch.testing.assert_close(results[0], kept - b)
    torch.testing.assert_close(a, kept + b)
    assert a._version > version


@pytest.mark.parametrize("dtype", [*DTYPES.values(), torch.complex64])
@pytest.mark.parametrize("shape", [(4, 3), (), (0, 3)])
def test_writable_view(dtype: torch.dtype, shape: tuple[int, ...]) -> None:
    device = device_for("local-sync")
    tensor = torch.zeros(shape, dtype=dtype)
    view, plain = device.writable_view(tensor), device.view(tensor)
    assert view.element_type == plain.element_type
    assert list(view.shape) == list(shape)
    if tensor.numel():
        view.get_buffer().fill_zero(0, tensor.nbytes)
        assert device.tensor(view, dtype).data_ptr() == tensor.data_ptr()
        with pytest.raises(RuntimeError, match="DISCARD_WRITE"):  # why there are two kinds of views
            plain.get_buffer().fill_zero(0, tensor.nbytes)


def test_written_argument_that_shares_memory_is_rejected(write: Program) -> None:
    base = torch.randn(6)
    with pytest.raises(ArgumentValueError, match=r"'cache' is written .* shares memory with argument 'x'"):
        write([base[:4], base[2:]])
    with pytest.raises(ArgumentValueError, match="expanded"):
        write([torch.zeros(1).expand(4), torch.ones(4)])


def test_gradients(flip: Program) -> None:
    a = torch.randn(4, 6, requires_grad=True)
    with pytest.raises(ArgumentValueError, match=r"'x' requires grad.*no_grad"):
        flip([a])
    with torch.no_grad():
        assert torch.equal(flip([a])[0], a.flip(0))


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        (
            torch.zeros(4, 6, dtype=torch.float64),
            ArgumentTypeError,
            "'x': expected dtype torch.float32, got torch.float64",
        ),
        (torch.zeros(4, 5), ArgumentValueError, r"'x': expected shape \(4, 6\), got \(4, 5\)"),
        (torch.zeros(4), ArgumentValueError, "expected shape"),
        (torch.zeros(4, 6, device="meta"), ArgumentValueError, "expected a tensor on cpu"),
        (torch.zeros(4, 6).to_sparse(), ArgumentValueError, "expected a strided tensor"),
        (3, ArgumentTypeError, "expected a tensor, got int"),
    ],
)
def test_argument_checks(flip: Program, value: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        flip([value])  # type: ignore[list-item]


def test_number_of_arguments(flip: Program) -> None:
    with pytest.raises(ArgumentTypeError, match="expected 1 arguments, got 2"):
        flip([torch.zeros(4, 6), 1])


ASSERT = """module {
  func.func @main(%n: i64) -> i64 {
    %zero = arith.constant 0 : i64
    %ok = arith.cmpi sge, %n, %zero : i64
    cf.assert %ok, "IndexError: index -1 is out of range; it has 3 [model.py:12]"
    return %n : i64
  }
}
"""


def test_assertion_becomes_the_exception_it_names() -> None:
    program = _program(ASSERT)
    assert program([4]) == [4]
    with pytest.raises(ProgramIndexError, match="out of range") as caught:
        program([-1])
    assert str(caught.value.location) == "model.py:12"
    assert program([5]) == [5]


MASK = """module {
  func.func @main(%a: tensor<4x3xf32>, %m: tensor<4xi1>, %n: i64) -> tensor<?x3xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %trips = arith.index_cast %n : i64 to index
    %tm = torch_c.from_builtin_tensor %m : tensor<4xi1> -> !torch.vtensor<[4],i1>
    %x = scf.for %i = %c0 to %trips step %c1 iter_args(%y = %a) -> (tensor<4x3xf32>) {
      %ty = torch_c.from_builtin_tensor %y : tensor<4x3xf32> -> !torch.vtensor<[4,3],f32>
      %l = torch.prim.ListConstruct %tm : (!torch.vtensor<[4],i1>) -> !torch.list<vtensor>
      %v = torch.aten.index.Tensor %ty, %l : !torch.vtensor<[4,3],f32>, !torch.list<vtensor> -> !torch.vtensor<[?,3],f32>
      %w = torch.aten.neg %v : !torch.vtensor<[?,3],f32> -> !torch.vtensor<[?,3],f32>
      %false = torch.constant.bool false
      %p = torch.aten.index_put %ty, %l, %w, %false : !torch.vtensor<[4,3],f32>, !torch.list<vtensor>, !torch.vtensor<[?,3],f32>, !torch.bool -> !torch.vtensor<[4,3],f32>
      %b = torch_c.to_builtin_tensor %p : !torch.vtensor<[4,3],f32> -> tensor<4x3xf32>
      scf.yield %b : tensor<4x3xf32>
    }
    %tx = torch_c.from_builtin_tensor %x : tensor<4x3xf32> -> !torch.vtensor<[4,3],f32>
    %l = torch.prim.ListConstruct %tm : (!torch.vtensor<[4],i1>) -> !torch.list<vtensor>
    %r = torch.aten.index.Tensor %tx, %l : !torch.vtensor<[4,3],f32>, !torch.list<vtensor> -> !torch.vtensor<[?,3],f32>
    %rb = torch_c.to_builtin_tensor %r : !torch.vtensor<[?,3],f32> -> tensor<?x3xf32>
    return %rb : tensor<?x3xf32>
  }
}
"""


def test_boolean_masks_run_in_pytorch() -> None:
    program = _program(MASK)
    a = torch.randn(4, 3)
    kept = a.clone()
    for mask in ([True, False, True, True], [False] * 4, [True] * 4):
        chosen = torch.tensor(mask)
        for n in (0, 1, 2):
            (result,) = program([a, chosen, n])
            torch.testing.assert_close(result, kept[chosen] * (-1) ** n)
            assert torch.equal(a, kept)
    assert sum(program.callback_counts) > 0


RANDOM = """module {
  func.func @main(%a: tensor<16xf32>) -> tensor<16xf32> {
    %t = torch_c.from_builtin_tensor %a : tensor<16xf32> -> !torch.vtensor<[16],f32>
    %none = torch.constant.none
    %r = torch.aten.rand_like %t, %none, %none, %none, %none, %none : !torch.vtensor<[16],f32>, !torch.none, !torch.none, !torch.none, !torch.none, !torch.none -> !torch.vtensor<[16],f32>
    %b = torch_c.to_builtin_tensor %r : !torch.vtensor<[16],f32> -> tensor<16xf32>
    return %b : tensor<16xf32>
  }
}
"""


def test_random_numbers_come_from_pytorchs_stream() -> None:
    program = _program(RANDOM)
    a = torch.zeros(16)
    torch.manual_seed(3)
    expected = [torch.rand_like(a), torch.rand_like(a)]
    torch.manual_seed(3)
    for want in expected:
        assert torch.equal(program([a])[0], want)


CHOOSE = """module {
  func.func @main(%a: tensor<4xf32>, %m: tensor<?xi1>) -> tensor<?xf32> {
    %ta = torch_c.from_builtin_tensor %a : tensor<4xf32> -> !torch.vtensor<[4],f32>
    %tm = torch_c.from_builtin_tensor %m : tensor<?xi1> -> !torch.vtensor<[?],i1>
    %l = torch.prim.ListConstruct %tm : (!torch.vtensor<[?],i1>) -> !torch.list<vtensor>
    %r = torch.aten.index.Tensor %ta, %l : !torch.vtensor<[4],f32>, !torch.list<vtensor> -> !torch.vtensor<[?],f32>
    %rb = torch_c.to_builtin_tensor %r : !torch.vtensor<[?],f32> -> tensor<?xf32>
    return %rb : tensor<?xf32>
  }
}
"""


def test_error_in_a_callback_is_raised_as_eager_raises_it() -> None:
    program = _program(CHOOSE)
    a = torch.randn(4)
    assert torch.equal(program([a, torch.tensor([True, False, True, False])])[0], a[::2])
    with pytest.raises(ProgramError, match="mask") as caught:
        program([a, torch.ones(5, dtype=torch.bool)])
    assert isinstance(caught.value, IndexError)
    assert torch.equal(program([a, torch.ones(4, dtype=torch.bool)])[0], a)


RETURNS_ITS_OPERAND = """
func.func @main(%a: tensor<64x64xf32> {tssa.name = "x"})
    -> (tensor<64x64xf32>, tensor<64x64xf32> {tssa.writeback = 0 : i64}) {
  %x = torch_c.from_builtin_tensor %a : tensor<64x64xf32> -> !torch.vtensor<[64,64],f32>
  %y = torch.operator "torch.aten.conj_physical"(%x) : (!torch.vtensor<[64,64],f32>) -> !torch.vtensor<[64,64],f32>
  %b = torch_c.to_builtin_tensor %y : !torch.vtensor<[64,64],f32> -> tensor<64x64xf32>
  %c7 = arith.constant dense<7.0> : tensor<1x64xf32>
  %u = tensor.insert_slice %c7 into %a[3, 0] [1, 64] [1, 1] : tensor<1x64xf32> into tensor<64x64xf32>
  return %b, %u : tensor<64x64xf32>, tensor<64x64xf32>
}
"""


def test_a_result_that_is_an_operand_is_copied() -> None:
    """conj_physical of real numbers returns its argument, which its schema does not say; the argument is updated."""
    type_ = "!torch.vtensor<[64,64],f32>"
    program = _program(
        RETURNS_ITS_OPERAND,
        f"func.func @main(%a: {type_}) -> ({type_}, {type_}) {{ return %a, %a : {type_}, {type_} }}",
    )
    x = torch.zeros(64, 64)
    (result,) = program([x])
    assert x[3].eq(7).all()
    assert not result.any()


def test_temporary_files_live_as_long_as_the_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    text, typed = _flip("4x6", "f32")
    artifact = compile_module(text, resolve_target("cpu"))
    assert Path(artifact.path).exists()
    program = Program(artifact.path, read_signature(text, typed))
    del artifact
    gc.collect()
    assert list(tmp_path.iterdir()) == []
    a = torch.randn(4, 6)
    assert torch.equal(program([a])[0], a.flip(0))


_COMPILE = """
import os, sys, tempfile
tempfile.tempdir = sys.argv[1]
from ssa_compiler.backend import compile_module, resolve_target
kept = compile_module("module { func.func @main(%a: i64) -> i64 { return %a : i64 } }", resolve_target("cpu"))
assert os.path.exists(kept.path)
"""


@pytest.mark.slow
def test_temporary_files_are_gone_when_the_process_exits(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", _COMPILE, str(tmp_path)], check=True, env=environment)
    assert list(tmp_path.iterdir()) == []


def test_signature() -> None:
    signature: Signature = read_signature(WRITE)
    assert [argument.name for argument in signature.arguments] == ["cache", "x"]
    assert [argument.written for argument in signature.arguments] == [True, False]
    assert [result.writeback for result in signature.results] == [None, 0]
