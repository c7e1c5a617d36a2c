"""From a module of the `iree` stage to a compiled program (docs/Backend.md).

A program that comes from the cache needs none of the compiler: what is named here is imported when it is asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .driver.commands import compiler_path, stream_ir
    from .driver.driver import compile_module
    from .ir.signature import read_signature
    from .kernels.kernels import count_kernel_copies
    from .report.copy_count import CopyCount, count_copies
    from .report.version_copies import VersionCopies, count_version_copies
    from .toolchain.artifact import Artifact
    from .toolchain.op_bisect import forget_ops
    from .toolchain.targets import CUDA_ARCHITECTURES, Target, resolve_target

__all__ = [
    "CUDA_ARCHITECTURES",
    "Artifact",
    "CopyCount",
    "Target",
    "VersionCopies",
    "compile_module",
    "compiler_path",
    "count_copies",
    "count_kernel_copies",
    "count_version_copies",
    "forget_ops",
    "read_signature",
    "resolve_target",
    "stream_ir",
]

_MODULES = {
    "Artifact": "toolchain.artifact",
    "CUDA_ARCHITECTURES": "toolchain.targets",
    "CopyCount": "report.copy_count",
    "Target": "toolchain.targets",
    "VersionCopies": "report.version_copies",
    "compile_module": "driver.driver",
    "compiler_path": "driver.commands",
    "count_copies": "report.copy_count",
    "count_kernel_copies": "kernels.kernels",
    "count_version_copies": "report.version_copies",
    "forget_ops": "toolchain.op_bisect",
    "read_signature": "ir.signature",
    "resolve_target": "toolchain.targets",
    "stream_ir": "driver.commands",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    globals()[name] = found  # from now on it is looked up as any other
    return found
