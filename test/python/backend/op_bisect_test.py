"""Ops that iree-compile crashes on, fails on without a location, or fails on only together: programs with them
compile.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from iree.compiler import ir
from torch import Tensor

from ssa_compiler.backend import compile_module, compiler_path, read_signature, resolve_target
from ssa_compiler.backend.driver import module_at_work
from ssa_compiler.backend.ir.bindings import walk
from ssa_compiler.backend.toolchain import op_bisect
from ssa_compiler.errors import ToolError
from ssa_compiler.process.child_processes import Completed
from ssa_compiler.runtime import Program
from ssa_compiler.testing import check

TARGET = resolve_target("cpu")
COMMAND = (compiler_path(), *TARGET.flags)


def _sine_of_doubles(x: Tensor) -> Tensor:
    return torch.sin(x.double())


def _empty_product(x: Tensor, y: Tensor) -> Tensor:
    return x @ y


def _scatter_from_a_count(x: Tensor) -> Tensor:
    x = x.clone()
    v = x[:, ::2]
    v.diagonal(0, 0, 1).masked_fill_(v.diagonal(0, 0, 1) > 1.0, -1.0)
    return x + 0.0


CASES: dict[str, tuple[Callable[..., Tensor], tuple[Tensor, ...], tuple[str, str]]] = {
    "sine_of_doubles": (
        _sine_of_doubles,
        (torch.randn(4),),
        ("aten::sin", "iree-compile rejected it: failed to link executable and generate target dylib"),
    ),
    "empty_product": (
        _empty_product,
        (torch.zeros(3, 0), torch.zeros(0, 2)),
        ("aten::matmul", "iree-compile crashed on it (SIGFPE)"),
    ),
}


@pytest.mark.parametrize("name", sorted(CASES))
def test_op_that_fails_alone_runs_in_pytorch(name: str) -> None:
    function, arguments, expected = CASES[name]
    compiled = check(function, arguments).compiled
    assert [(use.op, use.reason) for use in compiled.explain().callbacks] == [expected]


def test_what_was_learnt_is_used_again() -> None:
    function, arguments, _ = CASES["empty_product"]
    check(function, arguments)
    assert check(function, arguments).compiled.artifact.attempts == 1


_INDEX_WITHOUT_DIMENSIONS = """module {
  func.func @main(%a: tensor<5xf32>, %i: tensor<i64>, %v: tensor<f32>) -> tensor<5xf32> {
    %t = torch_c.from_builtin_tensor %a : tensor<5xf32> -> !torch.vtensor<[5],f32>
    %j = torch_c.from_builtin_tensor %i : tensor<i64> -> !torch.vtensor<[],si64>
    %w = torch_c.from_builtin_tensor %v : tensor<f32> -> !torch.vtensor<[],f32>
    %false = torch.constant.bool false
    %l = torch.prim.ListConstruct %j : (!torch.vtensor<[],si64>) -> !torch.list<vtensor>
    %r = torch.aten.index_put.hacked_twin %t, %l, %w, %false : !torch.vtensor<[5],f32>, !torch.list<vtensor>, !torch.vtensor<[],f32>, !torch.bool -> !torch.vtensor<[5],f32>
    %b = torch_c.to_builtin_tensor %r : !torch.vtensor<[5],f32> -> tensor<5xf32>
    return %b : tensor<5xf32>
  }
}
"""


def test_index_without_dimensions() -> None:
    """The importer gives such an index a dimension; a module from elsewhere may have one without."""
    text = _INDEX_WITHOUT_DIMENSIONS
    artifact = compile_module(text, TARGET)
    assert [site.reason for site in artifact.callbacks] == ["iree-compile crashed on it (SIGSEGV)"]
    program = Program(artifact.path, read_signature(text), callbacks=artifact.callbacks)
    result = program([torch.zeros(5), torch.tensor(2), torch.tensor(3.0)])[0]
    assert torch.equal(result, torch.tensor([0.0, 0.0, 3.0, 0.0, 0.0]))


_TWO_OPS = """module {{
  func.func @main(%a: tensor<4xf64>) -> tensor<4xf64> {{
    %t = torch_c.from_builtin_tensor %a : tensor<4xf64> -> !torch.vtensor<[4],f64>
    %n = torch.aten.neg %t : !torch.vtensor<[4],f64> -> !torch.vtensor<[4],f64>
    %s = torch.aten.{name} %n : !torch.vtensor<[4],f64> -> !torch.vtensor<[4],f64>
    %b = torch_c.to_builtin_tensor %s : !torch.vtensor<[4],f64> -> tensor<4xf64>
    return %b : tensor<4xf64>
  }}
}}
"""


def test_only_the_op_that_fails_is_found() -> None:
    with ir.Context() as context:
        module = ir.Module.parse(_TWO_OPS.format(name="sin"), context)
        failing = op_bisect.failing_ops(list(walk(module.operation)), COMMAND, timeout_s=300.0)
        assert [op.name for op, _ in failing] == ["torch.aten.sin"]
        module = ir.Module.parse(_TWO_OPS.format(name="neg"), context)
        assert op_bisect.failing_ops(list(walk(module.operation)), COMMAND, timeout_s=300.0) == []


@pytest.mark.parametrize(
    ("stderr", "returncode", "reason"),
    [
        (
            'a.mlir:1:1: error: failed to legalize: %5 = "torch.aten.sin"(%3) : () -> ()\n',
            1,
            "rejected it: failed to legalize",
        ),
        ("", None, "ran out of time on it"),
        ("LLVM ERROR: out of memory\n", -6, "ran out of memory on it"),
        ("terminate called after throwing an instance of 'std::bad_alloc'\n", -6, "ran out of memory on it"),
        ("PLEASE submit a bug report\n", -6, "crashed on it (SIGABRT)"),
        ("", 3, "failed on it (exit status 3)"),
    ],
)
def test_reason(stderr: str, returncode: int | None, reason: str) -> None:
    assert op_bisect.failure_reason("iree-compile", Completed("", stderr, returncode)) == f"iree-compile {reason}"


def _stub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, condition: str, fails: str = "kill -ABRT $$") -> None:
    """Put a script before iree-compile that fails when it gets a whole program that fulfils a shell condition."""
    path = tmp_path / "iree-compile"
    path.write_text(
        f'#!/bin/sh\ncase "$1" in *module*.mlir) if {condition}; then {fails}; fi;; esac\nexec {compiler_path()} "$@"\n'
    )
    path.chmod(0o755)
    for module in ("compilation", "module_at_work"):
        monkeypatch.setattr(f"ssa_compiler.backend.driver.{module}.compiler_path", lambda: str(path))


def _run(text: str, argument: Tensor) -> tuple[Any, Tensor]:
    artifact = compile_module(text, TARGET)
    program = Program(artifact.path, read_signature(text), callbacks=artifact.callbacks)
    return artifact, program([argument])[0]


def test_ops_that_fail_only_together_are_kept_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A compiler that crashes on the whole program, unless its ops are separated by barriers."""
    _stub(tmp_path, monkeypatch, '! grep -q optimization_barrier "$1"')
    artifact, result = _run(_TWO_OPS.format(name="abs"), torch.arange(-2.0, 2.0, dtype=torch.float64))
    assert torch.equal(result, torch.arange(-2.0, 2.0, dtype=torch.float64).abs())
    assert artifact.callbacks == ()
    assert artifact.attempts == 3  # as it is, with more memory, with barriers


def test_an_op_that_fails_only_where_it_is_fused_is_kept_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A compiler that names one op, which fails with others only: the others are not tried alone."""
    says = 'sed -n "s,.*torch.aten.abs.*,x,;/^x$/=" "$1" | sed "s,.*,$1:&:5: error: it is fused," >&2; exit 1'
    _stub(tmp_path, monkeypatch, '! grep -q optimization_barrier "$1"', says)
    tried: list[int] = []
    alone = module_at_work.failing_ops
    monkeypatch.setattr(
        module_at_work,
        "failing_ops",
        lambda ops, *args, **kwargs: tried.append(len(ops)) or alone(ops, *args, **kwargs),
    )
    artifact, result = _run(_TWO_OPS.format(name="abs"), torch.arange(-2.0, 2.0, dtype=torch.float64))
    assert torch.equal(result, torch.arange(-2.0, 2.0, dtype=torch.float64).abs())
    assert (artifact.callbacks, artifact.attempts, tried) == ((), 2, [1])


def test_crash_that_nothing_cures_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _stub(tmp_path, monkeypatch, "true")
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    with pytest.raises(ToolError, match="killed by SIGABRT") as caught:
        compile_module(_TWO_OPS.format(name="abs"), TARGET, dump_dir=tmp_path)
    assert "torch.aten.abs" in Path(str(caught.value.reproducer)).read_text()
    assert list(temporary.iterdir()) == []
    assert "program1.vmfb" not in str(caught.value)


def test_scatter_from_a_count() -> None:
    """Seen with IREE 3.13.0: no op fails alone, the kernel that they are fused into does."""
    compiled = check(_scatter_from_a_count, (torch.randn(4, 3),)).compiled
    assert compiled.explain().callbacks == ()


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("no such dtype (check above for more)", "iree-compile rejected it: no such dtype"),
        ("", "iree-compile rejected it without a message"),
    ],
)
def test_a_rejection_is_a_reason(said: str, reason: str) -> None:
    assert op_bisect.rejection(said) == reason
