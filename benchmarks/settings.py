"""The settings that all peers share, and what is recorded of the machine."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

__all__ = ["ALLOCATOR", "child_environment", "describe_machine", "describe_versions", "malloc_trim"]

# Freed pages stay with the process for all peers: otherwise glibc maps large blocks anew in every call, and a
# memory-bound program varies by 2 from process to process.
ALLOCATOR = {
    "MALLOC_ARENA_MAX": "1",
    "MALLOC_MMAP_MAX_": "0",
    "MALLOC_TOP_PAD_": str(64 << 20),
    "MALLOC_TRIM_THRESHOLD_": str(16 << 30),
}
_THREAD_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
_PACKAGES = ("torch", "torch-mlir", "iree-base-compiler", "iree-base-runtime", "jax", "jaxlib", "numpy", "triton")


def child_environment(threads: int, cache: str | os.PathLike[str]) -> dict[str, str]:
    """Return the environment of a process that measures.

    Args:
        threads: threads of each peer; 0 leaves the choice to each.
        cache: an empty folder for the caches of torch.compile, JAX and ssa-compiler, so that the first compilation
            finds nothing.
    """
    environment = {**os.environ, **ALLOCATOR, "TOKENIZERS_PARALLELISM": "false"}
    environment["TORCHINDUCTOR_CACHE_DIR"] = str(Path(cache) / "inductor")
    environment["TRITON_CACHE_DIR"] = str(Path(cache) / "triton")
    environment["SSA_COMPILER_CACHE_DIR"] = str(Path(cache) / "ssa-compiler")
    environment["SSA_COMPILER_CACHE"] = "1"
    environment["JAX_COMPILATION_CACHE_DIR"] = str(Path(cache) / "jax")
    environment["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"
    environment["JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES"] = "-1"
    environment["JAX_PLATFORMS"] = "cpu"
    environment["CUDA_MODULE_LOADING"] = "EAGER"
    if threads:
        environment.update(dict.fromkeys(_THREAD_VARIABLES, str(threads)))
    if threads == 1:
        flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_cpu_multi_thread_eigen=false"
        environment["XLA_FLAGS"] = flags.strip()
    return environment


def describe_machine(device: str) -> dict[str, Any]:
    """Return what is known of the machine: processor, cores, memory in GiB, GPU."""
    machine: dict[str, Any] = {
        "system": platform.platform(),
        "processor": _field("/proc/cpuinfo", "model name") or platform.processor(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "load_before": round(os.getloadavg()[0], 2),
    }
    if device == "cuda":
        import torch

        machine["gpu"] = torch.cuda.get_device_name() if torch.cuda.is_available() else "none"
    return machine


def describe_versions() -> dict[str, str]:
    """Return the versions of what takes part, and of this project."""
    versions = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    root = Path(__file__).resolve().parents[1]
    done = subprocess.run(
        ["git", "-C", str(root), "describe", "--always", "--dirty"], capture_output=True, text=True, check=False
    )
    versions["ssa-compiler"] = done.stdout.strip() or "unknown"
    return versions


def _field(path: str, name: str) -> str:
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except OSError:
        return ""
    return next((line.partition(":")[2].strip() for line in lines if line.startswith(name)), "")


def malloc_trim() -> None:
    """Give freed memory back to the system, where the C library can."""
    import ctypes

    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)
