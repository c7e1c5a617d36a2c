"""The commands of iree-compile, which runs in two halves, and what they print and write."""

from __future__ import annotations

import functools
import re
import tempfile
from pathlib import Path

from iree.compiler import ir

from ...process.child_processes import run_tool, tool_error
from ..toolchain.targets import Target

__all__ = [
    "FIRST_HALF",
    "FROM_COMMANDS",
    "MACHINE",
    "PRINT_FLAGS",
    "PRINT_MACHINE",
    "SECOND_HALF",
    "TO_COMMANDS",
    "compiler_path",
    "device_module",
    "stream_ir",
    "write_bytecode",
]

_CHECKED_PASS = "iree-stream-propagate-timepoints"
PRINT_FLAGS = (
    f"--mlir-print-ir-after={_CHECKED_PASS}",
    "--mlir-print-debuginfo",
    "--mlir-print-op-generic",
)
# iree-compile runs in two halves, so that no kernel is compiled for a program that is not verified.
FIRST_HALF = ("--compile-to=stream", "--emit-mlir-bytecode")
SECOND_HALF = ("--compile-from=stream",)
# For CUDA the second half stops where the kernels are compiled and the host's commands are still those of the HAL.
TO_COMMANDS = ("--compile-to=hal", "--emit-mlir-bytecode")
FROM_COMMANDS = ("--compile-from=hal",)
# What the register allocation of IREE's virtual machine gets.
MACHINE = re.compile(r"^// -----// IR Dump After MaterializeRefDiscardsPass[^\n]*\n(.*?^\})$", re.MULTILINE | re.DOTALL)
# Whole, so that it can be compiled again with other moves.
PRINT_MACHINE = ("--mlir-print-ir-after=iree-vm-materialize-ref-discards",)


def write_bytecode(module: ir.Module, path: Path) -> None:
    with path.open("wb") as file:
        module.operation.write_bytecode(file)


def compiler_path() -> str:
    """Return the path of iree-compile in the iree.compiler package."""
    from iree.compiler import _mlir_libs

    return str(Path(_mlir_libs.__path__[0]) / "iree-compile")


@functools.lru_cache(maxsize=16)
def device_module(flags: tuple[str, ...], *, timeout_s: float = 300.0) -> str:
    """Return a module in which iree-compile has resolved the target, up to its closing brace, as text.

    Args:
        flags: iree-compile flags that name the target.
        timeout_s: wall-clock limit in seconds.
    Raises:
        ToolError: iree-compile fails.
    """
    source = "module {\n}\n"
    command = [compiler_path(), "-", *flags, "--compile-to=preprocessing", "-o", "-"]
    completed = run_tool(command, stdin=source, timeout_s=timeout_s)
    if completed.returncode != 0:
        raise tool_error("iree-compile", command, completed, source=source)
    return completed.stdout[: completed.stdout.rindex("}")]


def stream_ir(text: str, target: Target, *, timeout_s: float = 300.0) -> str:
    """Return the scheduled stream IR (`--compile-to=stream`) of a module that `compile_module` compiled.

    The module of a program that is one kernel is scheduled already.

    Args:
        text: `Artifact.module`.
        target: what it is compiled for.
        timeout_s: wall-clock limit in seconds.
    """
    with tempfile.TemporaryDirectory(prefix="ssa-compiler-") as folder:
        source = Path(folder) / "module.mlir"
        source.write_text(text, encoding="utf-8")
        command = [compiler_path(), str(source), *target.flags, "--compile-to=stream", "-o", "-"]
        completed = run_tool(command, timeout_s=timeout_s)
        if completed.returncode != 0:
            raise tool_error("iree-compile", command, completed, source=text)
        return completed.stdout
