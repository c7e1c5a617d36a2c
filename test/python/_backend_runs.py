"""Modules of the `iree` stage, compiled through the backend and without it."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from torch import Tensor

from ssa_compiler.backend import compiler_path, read_signature, resolve_target
from ssa_compiler.runtime import Program

TARGET = resolve_target("cpu")


def run_plain(text: str, tmp_path: Path, flags: Sequence[str] = TARGET.flags) -> str:
    """Compile with iree-compile and nothing else; returns the artefact."""
    source, output = tmp_path / "plain.mlir", tmp_path / "plain.vmfb"
    source.write_text(text)
    subprocess.run([compiler_path(), str(source), *flags, "-o", str(output)], check=True)
    return str(output)


def unary(type_in: str, type_out: str, body: str) -> str:
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


def call_compiled(path: str, text: str, arguments: Sequence[Tensor], callbacks: Sequence[object] = ()) -> Tensor:
    program = Program(path, read_signature(text), callbacks=callbacks)  # type: ignore[arg-type]
    return program(list(arguments))[0]
