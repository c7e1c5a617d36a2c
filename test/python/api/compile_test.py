"""`compile` and the callable it returns: arguments, defaults, state, sharing, stages, explanations."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import ssa_compiler
from ssa_compiler import ArgumentTypeError, ArgumentValueError, TargetError


def scaled_rows(x: Tensor, n: int, factor: float = 2.0, negate: bool = False) -> tuple[Tensor, int]:
    """Scale the first n rows of a copy."""
    b = x.clone()
    for i in range(n):
        b[i] = b[i] * factor
    if negate:
        b = -b
    return b, n + 1


@pytest.fixture(scope="module")
def rows() -> ssa_compiler.CompiledProgram:
    """`scaled_rows` for float32 [6, 5] and nothing else."""
    return ssa_compiler.compile(scaled_rows, (torch.randn(6, 5), 2), target="cpu", max_specialisations=1)


@pytest.mark.parametrize("n", [0, 1, 2, 6])
@pytest.mark.parametrize("factor", [2.0, -0.5])
def test_ints_and_floats_stay_dynamic(rows: ssa_compiler.CompiledProgram, n: int, factor: float) -> None:
    x = torch.randn(6, 5)
    kept = x.clone()
    actual, expected = rows(x, n, factor=factor), scaled_rows(kept, n, factor)
    assert torch.equal(actual[0], expected[0])
    assert actual[1] == expected[1]
    assert torch.equal(x, kept)


def test_defaults_and_keywords(rows: ssa_compiler.CompiledProgram) -> None:
    x = torch.randn(6, 5)
    assert torch.equal(rows(n=3, x=x)[0], scaled_rows(x, 3)[0])


@pytest.mark.parametrize(
    ("args", "kwargs", "error", "message"),
    [
        ((torch.zeros(6, 5),), {}, ArgumentTypeError, "missing required argument 'n'"),
        ((torch.zeros(6, 5), 1, 2.0, False, 3), {}, ArgumentTypeError, "positional arguments"),
        ((torch.zeros(6, 5), 1), {"speed": 3}, ArgumentTypeError, "unexpected keyword argument 'speed'"),
        ((torch.zeros(6, 5), 1.5), {}, ArgumentTypeError, "'n': expected an int"),
        (([1.0], 1), {}, ArgumentTypeError, "'x': expected a tensor"),
        ((torch.zeros(6, 5), 1), {"negate": 1}, ArgumentTypeError, "'negate': expected a bool, got int"),
        ((torch.zeros(5, 6), 1), {}, ArgumentValueError, r"'x': expected shape \(6, 5\), got \(5, 6\)"),
        ((torch.zeros(6, 5).int(), 1), {}, ArgumentTypeError, "'x': expected dtype"),
        ((torch.zeros(6, 5), 2**70), {}, ArgumentValueError, "'n': the number does not fit into a 64-bit int"),
        ((torch.zeros(6, 5), -(2**63) - 1), {}, ArgumentValueError, "'n': the number does not fit into a 64-bit int"),
        ((torch.zeros(6, 5), 1, 2**2000), {}, ArgumentValueError, "'factor': the number does not fit"),
    ],
)
def test_wrong_arguments(
    rows: ssa_compiler.CompiledProgram, args: tuple[object, ...], kwargs: dict[str, object], error: type, message: str
) -> None:
    with pytest.raises(error, match=message):
        rows(*args, **kwargs)


@pytest.mark.parametrize(("number", "factor", "name"), [(2**70, 1.0, "n"), ("a", 1.0, "n"), (1, "a", "factor")])
def test_wrong_numbers_for_the_loaded_program(
    rows: ssa_compiler.CompiledProgram, number: object, factor: object, name: str
) -> None:
    with pytest.raises(ArgumentTypeError, match=f"'{name}': expected a 64-bit"):
        rows._loaded()((torch.zeros(6, 5), number, factor, False))  # type: ignore[arg-type]


def test_unknown_stage(rows: ssa_compiler.CompiledProgram) -> None:
    with pytest.raises(ArgumentValueError, match="no stage 'nope': expected one of imported"):
        rows.mlir("nope")


def test_index_error_names_the_users_line(rows: ssa_compiler.CompiledProgram) -> None:
    with pytest.raises(IndexError, match="out of bounds") as caught:
        rows(torch.zeros(6, 5), 7)
    location = caught.value.location  # type: ignore[attr-defined]
    assert Path(location.file).name == "compile_test.py"
    assert "b[i] = b[i] * factor" in Path(location.file).read_text().splitlines()[location.line - 1]


def test_row_loop_copies_nothing(rows: ssa_compiler.CompiledProgram) -> None:
    assert rows.copy_count().dispatches == 1
    assert rows.report().loop_copies_made == 0
    dispatches = ssa_compiler.compile(scaled_rows, (torch.randn(6, 5), 2), target="cpu", kernels=False)
    counts = dispatches.copy_count()
    assert counts.loop_dispatches == 1
    assert (counts.loop_copies, counts.loop_allocations) == (0, 0)


def test_stages(rows: ssa_compiler.CompiledProgram) -> None:
    assert "torch.prim.Loop" in rows.mlir("imported")
    assert "scf.for" in rows.mlir("scf")
    assert "copy_" not in rows.mlir("tensorssa")
    assert "scf.for" in rows.mlir("iree")
    with pytest.raises(ValueError, match="expected one of imported, scf, tensorssa, iree"):
        rows.mlir("vhdl")


class Counter(nn.Module):
    """A linear layer that counts its calls and remembers its last result."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 3)
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))
        self.register_buffer("last", torch.zeros(2, 3))

    def forward(self, x: Tensor) -> Tensor:
        """Return the layer's result; x is float32 [2, 4]."""
        self.calls += 1
        y = self.linear(x)
        self.last.copy_(y)
        return y


def test_module_state() -> None:
    model = Counter().eval()
    x = torch.randn(2, 4)
    compiled = ssa_compiler.compile(model, (x,), target="cpu")
    with torch.no_grad():
        first = compiled(x)
        torch.testing.assert_close(first, model.linear(x))
        assert model.calls.item() == 1
        assert torch.equal(model.last, first)
        # What the user changes is seen by the next call: values in place, tensors, whole submodules.
        model.linear.weight.mul_(2.0)
        torch.testing.assert_close(compiled(x), model.linear(x))
        model.linear.bias = nn.Parameter(torch.ones(3))
        torch.testing.assert_close(compiled(x), model.linear(x))
        model.linear = nn.Linear(4, 3)
        torch.testing.assert_close(compiled(x), model.linear(x))
        model.linear.weight.data = torch.zeros(3, 4)
        torch.testing.assert_close(compiled(x), model.linear(x))
        assert model.calls.item() == 5


def append_row(cache: Tensor, x: Tensor, position: int) -> Tensor:
    """Write a row into the caller's cache and return the cache."""
    cache[position] = x
    return cache


def test_written_argument_is_the_callers_own() -> None:
    compiled = ssa_compiler.compile(append_row, (torch.zeros(4, 3), torch.ones(3), 1), target="cpu")
    cache = torch.zeros(4, 3)
    for position in (2, 0, -1):
        x = torch.randn(3)
        assert compiled(cache, x, position) is cache
        assert torch.equal(cache[position], x)
    with pytest.raises(ArgumentValueError, match="shares memory"):
        compiled(cache, cache[1], 0)
    assert compiled.copy_count().copies <= 1  # the row itself; the cache is updated where it is


def masked(x: Tensor, keep: Tensor) -> Tensor:
    """Return the chosen elements."""
    return x[keep] * 2.0


def incomplete_gamma(x: Tensor) -> Tensor:
    """An op that IREE has no code for."""
    return torch.igamma(x, x + 1.0) * 2.0


def test_explain_lists_callbacks() -> None:
    x = torch.rand(5)
    compiled = ssa_compiler.compile(incomplete_gamma, (x,), target="cpu")
    assert torch.equal(compiled(x), incomplete_gamma(x))
    assert torch.equal(compiled(x + 2.0), incomplete_gamma(x + 2.0))
    (use,) = compiled.explain().callbacks
    assert use.op == "aten::igamma"
    assert use.count == 2
    assert use.reason
    assert use.location is not None
    assert "igamma(x, x + 1.0)" in Path(use.location.file).read_text().splitlines()[use.location.line - 1]
    assert "aten::igamma" in str(compiled.explain())


def test_dump_dir(tmp_path: Path) -> None:
    ssa_compiler.compile(masked, (torch.randn(5), torch.ones(5, dtype=torch.bool)), target="cpu", dump_dir=tmp_path)
    names = {path.name for path in tmp_path.iterdir()}
    assert {"0-imported.mlir", "1-scf.mlir", "2-tensorssa.mlir", "3-iree.mlir", "4-backend.mlir"} <= names


def test_compiled_for_cuda_without_a_gpu() -> None:
    compiled = ssa_compiler.compile(scaled_rows, (torch.randn(6, 5), 2), target="cuda:sm_90")
    assert b".target sm_90" in Path(compiled.artifact.path).read_bytes()
    if not torch.cuda.is_available():
        with pytest.raises(TargetError, match="no device"):
            compiled(torch.randn(6, 5), 2)


def test_import_is_light() -> None:
    code = "import sys, ssa_compiler; print([m for m in ('torch', 'iree', 'torch_mlir', 'numpy') if m in sys.modules])"
    path = str(Path(ssa_compiler.__file__).resolve().parents[1])
    run = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, env={"PYTHONPATH": path}
    )
    assert run.stdout.strip() == "[]"


@pytest.mark.parametrize("timeout_s", [-1, 0, math.nan, math.inf, True, "1"])
def test_a_time_limit_is_a_number_above_0(timeout_s: Any) -> None:
    with pytest.raises(ArgumentValueError, match="timeout_s: expected a number of seconds above 0"):
        ssa_compiler.compile(scaled_rows, (torch.randn(6, 5), 2), timeout_s=timeout_s)
