"""Other systems on the same programs: TorchScript, torch.compile, and torch-mlir's value-semantics passes.

Each is compared with eager as this compiler is, so that the scores stand side by side. What a system only converts, and
nothing here can run, is recorded as not executed.
"""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from ...errors import SsaCompilerError, ToolError, UnsupportedProgramError
from .._interpreted import Interpreted
from ..harness import check_other
from ..interpreter import InterpreterError
from .program import Loaded
from .record import Record

__all__ = ["BACKEND_VARIABLE", "choose_backend", "run_peer"]

# Environment variable with torch.compile's backend, for the workers.
BACKEND_VARIABLE = "SSA_COMPILER_FUZZ_BACKEND"
_PASSES = (
    "torch-recompose-complex-ops,torch-reduce-op-variants,canonicalize,torch-maximize-value-semantics,canonicalize,cse"
)


def run_peer(loaded: Loaded, record: Record, timeout_s: float) -> None:
    """Run a program on another system and compare it with eager.

    Args:
        loaded: the program.
        record: says which system; its `executed` is cleared where the result could not be run.
        timeout_s: wall-clock limit of a tool in seconds.
    Raises:
        StageMismatch: the system's results differ from eager's.
        UnsupportedProgramError: the system rejects the program.
        ToolError: a tool of the system crashed.
    """
    runners: dict[str, Callable[[Loaded, Record, float], None]] = {
        "torchscript": _torchscript,
        "torch.compile": _torch_compile,
        "torch-mlir": _torch_mlir,
    }
    runners[record.system](loaded, record, timeout_s)


def _torchscript(loaded: Loaded, record: Record, timeout_s: float) -> None:
    """TorchScript's own interpreter, without its optimizing executor's fusers."""

    def script(model: Any) -> Any:
        try:
            return torch.jit.script(model)
        except Exception as error:
            lines = [line.strip() for line in str(error).splitlines() if line.strip()]
            raise UnsupportedProgramError(f"torch.jit.script: {lines[0] if lines else error}") from error

    errors = check_other(loaded.model, script, loaded.calls, record.system)
    record.raised = sum(error is not None for error in errors)


def choose_backend(timeout_s: float = 180.0) -> str:
    """Find out which backend torch.compile can use: inductor needs a C++ compiler.

    Args:
        timeout_s: wall-clock limit in seconds of one small program.
    Returns:
        "inductor", or "aot_eager", which traces and functionalizes alike but generates no code.
    """
    program = "import torch; torch.compile(lambda x: x + 1, fullgraph=True)(torch.ones(3))"
    try:
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=timeout_s, check=False)
    except subprocess.TimeoutExpired:
        return "aot_eager"
    return "inductor" if done.returncode == 0 else "aot_eager"


def _torch_compile(loaded: Loaded, record: Record, timeout_s: float) -> None:
    """torch.compile with fullgraph=True; ints may be specialised, each value may compile again."""
    import torch._dynamo

    backend = os.environ.get(BACKEND_VARIABLE, "aot_eager")
    reset: Callable[[], None] = torch._dynamo.reset
    reset()
    torch._dynamo.config.recompile_limit = 64

    def build(model: Any) -> Any:
        compiled: Any = torch.compile(model, fullgraph=True, backend=backend)

        def call(*args: Any) -> Any:
            try:
                return compiled(*args)
            except torch._dynamo.exc.TorchDynamoException as error:
                raise _Rejected(error) from error

        return call

    try:
        errors = check_other(loaded.model, build, loaded.calls, record.system, rejections=_Rejected)
    except _Rejected as rejected:
        error = rejected.args[0]
        text = str(error).strip()
        line = f"{type(error).__name__}: {text.splitlines()[0] if text else ''}"
        if isinstance(error, (torch._dynamo.exc.InternalTorchDynamoError, torch._dynamo.exc.BackendCompilerFailed)):
            raise ToolError(f"torch.compile ({backend}): {line}") from rejected
        raise UnsupportedProgramError(f"torch.compile ({backend}): {line}") from rejected
    record.raised = sum(error is not None for error in errors)


class _Rejected(Exception):
    """What torch.compile rejects; carries its exception. Not an error of the program."""


@functools.lru_cache(maxsize=1)
def _torch_mlir_opt() -> str | None:
    beside = Path(sys.executable).parent / "torch-mlir-opt"
    return str(beside) if os.access(beside, os.X_OK) else shutil.which("torch-mlir-opt")


def _torch_mlir(loaded: Loaded, record: Record, timeout_s: float) -> None:
    """torch-mlir's passes on what this project imports, as torch-mlir has no importer for TorchScript any more.

    The program is converted if no mutable tensor is left; the interpreter of this project then runs it.
    """
    from ...importer import import_program

    tool = _torch_mlir_opt()
    if tool is None:
        raise ToolError("torch-mlir-opt was not found")
    try:
        program = import_program(loaded.model, loaded.calls[0])
    except SsaCompilerError as error:
        raise UnsupportedProgramError(f"not tried, as this project's importer rejects it: {error}") from error
    command = [tool, f"--pass-pipeline=builtin.module(func.func({_PASSES}))", "--mlir-print-debuginfo"]
    try:
        done = subprocess.run(
            command, input=program.module, capture_output=True, text=True, timeout=timeout_s, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise ToolError(f"torch-mlir-opt ran out of time after {timeout_s:g} s") from error
    if done.returncode != 0:
        message = next((line for line in done.stderr.splitlines() if "error:" in line), f"status {done.returncode}")
        message = message.partition("error:")[2].strip() or message
        if done.returncode < 0:
            raise ToolError(f"torch-mlir-opt crashed: {message}")
        raise UnsupportedProgramError(f"torch-mlir-opt: {message}")
    left = sorted(set(re.findall(r"torch\.(?:overwrite\.tensor\.contents|aten\.(?!_)\w+_(?=[. ]))", done.stdout)))
    if left:
        raise UnsupportedProgramError(f"torch-mlir leaves writes to mutable tensors: {left[0]}")
    try:
        interpreted = Interpreted(program, done.stdout, record.system)
    except (InterpreterError, AssertionError):
        record.executed = False
        return

    def build(model: Any) -> Any:
        return interpreted

    errors = check_other(loaded.model, build, loaded.calls, record.system, identity=False)
    record.raised = sum(error is not None for error in errors)
