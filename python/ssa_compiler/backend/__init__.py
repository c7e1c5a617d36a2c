"""From a module of the `iree` stage to a compiled program (docs/Backend.md)."""

from __future__ import annotations

from ._artifact import Artifact
from ._cache import is_off
from ._callbacks import CallbackSite
from ._copy_count import CopyCount, count_copies
from ._driver import compile_module, compiler_path, stream_ir
from ._kernel_interface import KernelInterface
from ._kernels import count_kernel_copies
from ._probe import forget_ops
from ._targets import CUDA_ARCHITECTURES, Target, resolve_target
from ._version_copies import VersionCopies, count_version_copies

__all__ = [
    "CUDA_ARCHITECTURES",
    "Artifact",
    "CallbackSite",
    "CopyCount",
    "KernelInterface",
    "Target",
    "VersionCopies",
    "compile_module",
    "compiler_path",
    "count_copies",
    "count_kernel_copies",
    "count_version_copies",
    "forget_ops",
    "is_off",
    "resolve_target",
    "stream_ir",
]
