"""Scatters and boolean masks: what IREE places side by side in one tensor is verified, masks become positions."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from iree.compiler import ir
from torch import Tensor

import ssa_compiler
from ssa_compiler.backend import compiler_path, resolve_target
from ssa_compiler.backend.driver import compilation
from ssa_compiler.backend.ir.bindings import walk
from ssa_compiler.backend.toolchain import compile_attempt, op_bisect
from ssa_compiler.backend.verify import in_place
from ssa_compiler.testing import check

TARGET = resolve_target("cpu")
ROW = torch.tensor([True, False, True])
MATRIX = torch.arange(-5.0, 7.0).view(3, 4)
DIAGONAL = torch.eye(3, dtype=torch.bool)


def _masked(x: Tensor) -> Tensor:
    return x[x > 0] * 2


def _masked_rows(x: Tensor, rows: Tensor) -> Tensor:
    return x[rows, 1:] * 2


def _set_masked(x: Tensor, mask: Tensor, values: Tensor) -> Tensor:
    x = x.clone()
    x[mask] = values
    return x


def _add_masked(x: Tensor, mask: Tensor, values: Tensor) -> Tensor:
    return torch.index_put(x, [mask], values, True)


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (_masked, (torch.tensor([1.0, -1.0, 2.0]),)),
        (_masked, (MATRIX,)),
        (_masked_rows, (MATRIX, ROW)),
        (_add_masked, (MATRIX, MATRIX > 0, torch.arange(6.0))),
        (_add_masked, (torch.ones(3, 3), DIAGONAL, torch.tensor([5.0]))),
    ],
)
def test_boolean_mask_becomes_positions(function: Callable[..., Tensor], arguments: tuple[Tensor, ...]) -> None:
    """None of the masks that iree-compile fails on reaches it, and nothing runs in PyTorch."""
    compiled = check(function, arguments).compiled
    assert compiled.explain().callbacks == ()


@pytest.mark.parametrize(
    ("mask", "values"),
    [
        (MATRIX > 0, torch.tensor(1.0)),
        (MATRIX > 0, torch.arange(6.0)),
        (ROW, torch.arange(4.0)),
        (ROW, torch.arange(8.0).view(2, 4)),
    ],
)
def test_assignment_to_a_mask(mask: Tensor, values: Tensor) -> None:
    compiled = check(_set_masked, (MATRIX, mask, values)).compiled
    assert compiled.explain().callbacks == ()


_MASKED = """module {
  func.func @main(%x: tensor<3x4xf32>, %m: tensor<3xi1>) -> tensor<?x4xf32> {
    %0 = torch_c.from_builtin_tensor %x : tensor<3x4xf32> -> !torch.vtensor<[3,4],f32>
    %1 = torch_c.from_builtin_tensor %m : tensor<3xi1> -> !torch.vtensor<[3],i1>
    %2 = torch.prim.ListConstruct %1 : (!torch.vtensor<[3],i1>) -> !torch.list<vtensor>
    %3 = torch.aten.index.Tensor_hacked_twin %0, %2 : !torch.vtensor<[3,4],f32>, !torch.list<vtensor> -> !torch.vtensor<[?,4],f32>
    %4 = torch_c.to_builtin_tensor %3 : !torch.vtensor<[?,4],f32> -> tensor<?x4xf32>
    return %4 : tensor<?x4xf32>
  }
}
"""


def test_iree_fails_on_a_mask() -> None:
    """Where this fails, IREE has learnt it, and the entry in `unsupported_ops` can go."""
    with ir.Context() as context:
        module = ir.Module.parse(_MASKED, context)
        command = (compiler_path(), *TARGET.flags)
        assert op_bisect.failing_ops(list(walk(module.operation)), command, timeout_s=300.0)


_ADDED = """module {
  func.func @main(%x: tensor<3x3xf32>, %m: tensor<3x3xi1>, %v: tensor<1xf32>) -> tensor<3x3xf32> {
    %0 = torch_c.from_builtin_tensor %x : tensor<3x3xf32> -> !torch.vtensor<[3,3],f32>
    %1 = torch_c.from_builtin_tensor %m : tensor<3x3xi1> -> !torch.vtensor<[3,3],i1>
    %2 = torch_c.from_builtin_tensor %v : tensor<1xf32> -> !torch.vtensor<[1],f32>
    %true = torch.constant.bool true
    %3 = torch.prim.ListConstruct %1 : (!torch.vtensor<[3,3],i1>) -> !torch.list<vtensor>
    %4 = torch.aten.index_put.hacked_twin %0, %3, %2, %true : !torch.vtensor<[3,3],f32>, !torch.list<vtensor>, !torch.vtensor<[1],f32>, !torch.bool -> !torch.vtensor<[3,3],f32>
    %5 = torch_c.to_builtin_tensor %4 : !torch.vtensor<[3,3],f32> -> tensor<3x3xf32>
    return %5 : tensor<3x3xf32>
  }
}
"""


def test_iree_takes_a_mask_for_indices(tmp_path: Path) -> None:
    """The compiled program is not run: it may write outside its tensors."""
    source = tmp_path / "added.mlir"
    source.write_text(_ADDED)
    command = [compiler_path(), str(source), *TARGET.flags, "--compile-to=input", "-o", "-"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert re.search(r"linalg_ext\.scatter.*ins\(.*xi1>\) outs", text)


def test_what_is_printed_after_the_stream_ir_is_left_out() -> None:
    """iree-compile prints the scatter of a mask after the module, and does not fail."""
    module = '"builtin.module"() ({\n  "util.func"() ({\n  }) : () -> () loc(#loc1)\n}) : () -> () loc(#loc)\n'
    aliases = "#loc = loc(unknown)\n#loc1 = loc(unknown)\n"
    marker = "// -----// IR Dump After PropagateTimepointsPass (iree-stream-propagate-timepoints) //----- //\n"
    after = '\n%8 = "iree_linalg_ext.scatter"(%4) ({\n^bb0:\n}) : () -> ()\n'
    assert compile_attempt.last_dump("x\n" + marker + module + aliases + after).strip() == (module + aliases).strip()


def _scatter_number(w: Tensor, i: Tensor) -> Tensor:
    return w.scatter(0, i.view(-1, 1), 1.0)


def _scatter_rows(a: Tensor, i: Tensor) -> Tensor:
    return a.scatter(0, i, 3.0)


def _scatter_add(a: Tensor, i: Tensor, s: Tensor) -> Tensor:
    a = a.clone()
    a.scatter_add_(0, i, s)
    return a


def _scatter_in_place(a: Tensor, i: Tensor, s: Tensor) -> Tensor:
    a.scatter_(1, i, s)
    return a * 2


ONE = (torch.rand(4, 3), torch.tensor([1]))
THREE = torch.tensor([[1, 2, 0]])


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (_scatter_number, ONE),
        (_scatter_number, (torch.rand(4, 3), torch.tensor([3, 0]))),
        (_scatter_rows, (torch.rand(4, 3), THREE)),
        (_scatter_add, (torch.rand(4, 3), THREE, torch.rand(1, 3))),
        (_scatter_add, (torch.rand(4, 3), torch.zeros(4, 3, dtype=torch.int64), torch.rand(4, 3))),
        (_scatter_in_place, (torch.rand(4, 3), THREE.view(3, 1), torch.rand(3, 1))),
    ],
)
def test_scatter_is_compiled(function: Callable[..., Tensor], arguments: tuple[Tensor, ...]) -> None:
    compiled = check(function, arguments).compiled
    assert compiled.explain().callbacks == ()
    assert compiled.artifact.attempts <= 3


def test_results_that_overlap_in_one_tensor_are_found() -> None:
    """The scatter's kernel writes two halves of one tensor; moved over each other they are a violation."""
    stream = ssa_compiler.compile(_scatter_number, ONE, target="cpu").artifact.stream
    with ir.Context() as context:
        module = ir.Module.parse(stream, context)
        assert in_place.find_violations(module) == []
        (dispatch,) = [
            op for op in walk(module.operation) if op.name == "stream.async.dispatch" and len(op.results) == 3
        ]
        sizes = [int(size) for size in ir.DenseI32ArrayAttr(dispatch.attributes["operandSegmentSizes"])]
        for segment in (3, 4):  # offsets and ends of the operands: one that is read, two halves, one more
            start = sum(sizes[:segment])
            dispatch.operands[start + 2] = dispatch.operands[start + 1]
        assert [found.kind for found in in_place.find_violations(module)] == ["live"]


def test_what_cannot_be_proved_runs_in_pytorch(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without the proof above no repair helps; the attempts are in the folder for dumps."""
    monkeypatch.setattr(in_place, "writes_apart", lambda dispatch, module: False)
    monkeypatch.setattr(compilation, "_PATIENCE", 3)
    compiled = ssa_compiler.compile(_scatter_number, ONE, target="cpu", dump_dir=tmp_path)
    torch.testing.assert_close(compiled(*ONE), _scatter_number(*ONE))
    (callback,) = compiled.explain().callbacks
    assert callback.op == "aten::scatter.value"
    assert callback.reason == "what IREE does in place for it could not be verified"
    attempts = sorted(path.name for path in tmp_path.glob("attempt-*.mlir"))
    assert attempts == [f"attempt-{number}.mlir" for number in range(1, compiled.artifact.attempts)]
    text = (tmp_path / "attempt-1.mlir").read_text()
    assert "torch.aten.scatter.value" in text
    assert "\n// live, lines [" in text


def _from_the_back(x: Tensor, y: Tensor, i: Tensor) -> list[Tensor]:
    mask = x > 0
    return [
        x.scatter(-1, i, y),
        x.scatter(-2, i.clamp(max=2), 2.0),
        x.scatter_add(-2, i.clamp(max=2), y),
        x.scatter_reduce(-1, i, y, "amax"),
        mask.scatter(-1, i, mask),
        x.clone().scatter_(-1, i, y),
        x[0].scatter(-1, i[1], y[2]),
    ]


@pytest.mark.parametrize("kernels", ["on", "off"])
def test_dimensions_are_counted_from_the_back(kernels: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """torch-mlir's own lowering of them takes memory without end, so that they were left to PyTorch."""
    monkeypatch.setenv("SSA_COMPILER_KERNELS", kernels)
    indices = torch.stack([torch.randperm(5) for _ in range(3)])
    made = check(_from_the_back, (torch.randn(3, 5), torch.randn(3, 5), indices))
    assert not made.compiled.explain().callbacks
