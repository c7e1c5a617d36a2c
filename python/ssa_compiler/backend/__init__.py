"""From a module of the `iree` stage to a compiled program (docs/Backend.md)."""

from __future__ import annotations

from ._callbacks import CallbackSite
from ._copy_count import CopyCount, count_copies
from ._driver import Artifact, compile_module, compiler_path, stream_ir
from ._targets import CUDA_ARCHITECTURES, Target, resolve_target

__all__ = [
    "CUDA_ARCHITECTURES",
    "Artifact",
    "CallbackSite",
    "CopyCount",
    "Target",
    "compile_module",
    "compiler_path",
    "count_copies",
    "resolve_target",
    "stream_ir",
]
