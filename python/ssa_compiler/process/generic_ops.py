"""MLIR's Python bindings without their Python classes for ops.

The bindings import the Python module of an op's dialect when they first show an op of it. The generated modules of
torch, hal, vm, llvm and others take 0.3 s to load, and this package treats every op as a generic `ir.Operation`. An
empty module for each of these dialects, searched first, stands for the generated one. Where the wheel has no module for
a dialect, it also spares a failing import for every op that is shown.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

__all__ = ["leave_out_op_classes"]

_EMPTY = f"{__name__}.dialects"
_DIALECTS = (
    *("arith", "cf", "flow", "hal", "iree_codegen", "linalg", "llvm", "math", "memref", "scf", "stream"),
    *("tensor", "tm_tensor", "torch", "torch_c", "util", "vector", "vm"),
)
for _name in (_EMPTY, *(f"{_EMPTY}.{dialect}" for dialect in _DIALECTS)):
    sys.modules[_name] = ModuleType(_name, "No Python classes for ops.")


def leave_out_op_classes(mlir: Any) -> None:
    """Make ops of the dialects above generic in the Python bindings of an MLIR.

    A module of classes that somebody imports by name (`from torch_mlir.dialects import torch`) works as ever.

    Args:
        mlir: the extension module of the bindings: `torch_mlir._mlir_libs._mlir` or `iree.compiler._mlir_libs._mlir`.
    """
    searched = mlir.globals.dialect_search_modules
    if _EMPTY not in searched:
        mlir.globals.dialect_search_modules = [_EMPTY, *searched]
