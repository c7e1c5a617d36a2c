"""From a module of the `iree` stage to a compiled program (docs/Backend.md).

A program that comes from the cache needs none of the compiler: what is named here is imported when it is asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._artifact import Artifact
    from ._copy_count import CopyCount, count_copies
    from ._driver import compile_module, compiler_path, stream_ir
    from ._kernels import count_kernel_copies
    from ._probe import forget_ops
    from ._signature import read_signature
    from ._targets import CUDA_ARCHITECTURES, Target, resolve_target
    from ._version_copies import VersionCopies, count_version_copies

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
    "Artifact": "_artifact",
    "CUDA_ARCHITECTURES": "_targets",
    "CopyCount": "_copy_count",
    "Target": "_targets",
    "VersionCopies": "_version_copies",
    "compile_module": "_driver",
    "compiler_path": "_driver",
    "count_copies": "_copy_count",
    "count_kernel_copies": "_kernels",
    "count_version_copies": "_version_copies",
    "forget_ops": "_probe",
    "read_signature": "_signature",
    "resolve_target": "_targets",
    "stream_ir": "_driver",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    globals()[name] = found  # from now on it is looked up as any other
    return found
