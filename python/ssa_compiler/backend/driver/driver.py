"""From an `iree`-stage module to a program: compiled, or taken from the cache on disk."""

from __future__ import annotations

import logging
import os
import shutil
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from iree.compiler import ir

from ..._opt import find_ssa_opt
from ...process.child_processes import remove_with
from ...process.forks import new_context
from ...process.logs import LOGS
from ..ir.bindings import DIALECTS
from ..toolchain.artifact import Artifact, take_artifact, to_files
from ..toolchain.cache import digest_of, open_cache
from ..toolchain.targets import Target
from .compilation import Compilation

__all__ = ["compile_module"]


def compile_module(
    text: str,
    target: Target,
    *,
    timeout_s: float = 300.0,
    dump_dir: str | os.PathLike[str] | None = None,
    extra_flags: tuple[str, ...] = (),
    cache: bool = False,
    kernels: bool = False,
    ssa_opt: str | os.PathLike[str] | None = None,
) -> Artifact:
    """Compile an `iree`-stage module, or take the program from the cache on disk.

    Args:
        text: the module with locations.
        target: what to compile for.
        timeout_s: wall-clock limit of each run of iree-compile in seconds.
        dump_dir: folder that receives the inputs of failing runs.
        extra_flags: further flags for iree-compile.
        cache: look the program up, and keep it when it is compiled. Neither happens with `dump_dir` or `extra_flags`,
            which ask to see how iree-compile runs.
        kernels: make a kernel of a program that can be one, or of its parts that can (`kernels`, `region_kernels`).
        ssa_opt: the executable that makes it; searched for if None.
    Returns:
        The artifact. Its file is removed when the artifact dies or the process exits; a loaded program goes on without
        it.
    Raises:
        ToolError: iree-compile fails for a reason that no callback cures, or its result cannot be verified.
    """
    kept = open_cache() if cache and dump_dir is None and not extra_flags else None
    start = time.perf_counter()
    maker = find_ssa_opt(ssa_opt) if kernels else None
    name = digest_of(text, target, timeout_s, maker) if kept is not None else ""
    artifact = take_artifact(kept, name, target) if kept is not None else None
    seconds = time.perf_counter() - start
    if kept is not None:
        logging.getLogger(LOGS["cache"]).info("%s: %s", name[:16], "found" if artifact is not None else "not found")
    if artifact is None:
        folder = Path(tempfile.mkdtemp(prefix="ssa-compiler-"))
        try:
            with new_context(ir, *DIALECTS) as context:
                compilation = Compilation(text, target, context, folder, timeout_s, dump_dir, extra_flags, maker, kept)
                artifact = compilation.run()
            start = time.perf_counter()
            if kept is not None and compilation.repeatable:
                kept.store(name, to_files(artifact, Path(artifact.path).read_bytes()))
                artifact = replace(artifact, entry=name)
            seconds += time.perf_counter() - start
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        if kept is not None:
            artifact = replace(artifact, seconds={**artifact.seconds, "cache": seconds})
        remove_with(artifact, folder)
    else:
        artifact.seconds["cache"] = seconds
    return artifact
