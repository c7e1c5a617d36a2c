"""Targets: which device a program is compiled for, and the flags of iree-compile that say so.

CPU code is for the machine at hand. CUDA code is compiled without a GPU. IREE's own flag knows architectures up to
sm_89; for sm_90 the executable target is written out, with `iree_codegen.target_info` for the architecture.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...errors import TargetError

__all__ = ["CUDA_ARCHITECTURES", "Target", "resolve_target"]

CUDA_ARCHITECTURES = ("sm_80", "sm_86", "sm_89", "sm_90")

# Powers of two below the multiprocessors of the smallest GPUs for servers: A30, A10, L4, H20. A smaller GPU rejects the
# program when it is loaded.
_WORKGROUPS = {"sm_80": 32, "sm_86": 64, "sm_89": 32, "sm_90": 64}
_MOST_WORKGROUPS = 128
"""More wait longer for each other."""

# What IREE has no entry for: sm_90 with the matrix instructions that it knows of sm_80, which sm_90 has as well. Limits
# are those of the CUDA programming guide, "technical specifications per compute capability".
_EXPLICIT = {
    "sm_90": (
        '#iree_gpu.target<arch = "sm_90", features = "+ptx84", '
        "wgp = <compute = fp64|fp32|fp16|int64|int32|int16|int8, storage = b64|b32|b16|b8, "
        "subgroup = shuffle|arithmetic, dot = dp4xi8toi32, "
        "mma = [<NV_MMA_SYNC_F32_16x8x16_F16>, <NV_MMA_SYNC_F16_16x8x16_F16>, <NV_MMA_SYNC_F32_16x8x16_BF16>, "
        "<NV_WMMA_F32_16x16x16_F16>, <NV_WMMA_F16_16x16x16_F16>], "
        "subgroup_size_choices = [32], max_workgroup_sizes = [1024, 1024, 1024], "
        "max_thread_count_per_workgroup = 1024, max_workgroup_memory_bytes = 232448, "
        "max_workgroup_counts = [2147483647, 65535, 65535]>>"
    )
}


@dataclass(frozen=True)
class Target:
    """What to compile for.

    Attributes:
        kind: "cpu" or "cuda".
        architecture: CUDA architecture such as "sm_80"; "" on the CPU.
        flags: iree-compile flags.
        workgroups: how many workgroups run a large kernel on a GPU together: a power of two, and no more than there are
            multiprocessors, so that all are there at once; 0 on the CPU.
        library_threads: how many threads PyTorch's libraries have, to which large products are left on the CPU
            (`callbacks/extern_kernels.py`); 0 to leave none to them.
    """

    kind: str
    architecture: str
    flags: tuple[str, ...]
    workgroups: int = 0
    library_threads: int = 0


# Constants are computed in the program, not by iree-compile, whose computations cannot be checked, and not when the
# program is loaded: IREE makes one of two constants that one kernel computes.
_COMMON = (
    "--iree-input-type=torch",
    "--iree-input-demote-f64-to-f32=false",
    "--iree-opt-const-eval=false",
    "--iree-opt-const-expr-hoisting=false",
)


def resolve_target(
    target: str, *, architecture: str | None = None, data_tiling: bool = False, library_threads: int = 0
) -> Target:
    """Resolve a target name.

    Args:
        target: "cpu", "cuda", or "cuda:sm_80" to "cuda:sm_90".
        architecture: CUDA architecture where the name has none; that of the GPU present, else sm_80, if None.
        data_tiling: lay out matrix operands in tiles and use microkernels on the CPU.
        library_threads: see `Target`; of no meaning on a GPU.
    Returns:
        The target.
    Raises:
        TargetError: the name or the architecture is unknown.
    """
    kind, _, named = target.partition(":")
    if kind == "cpu":
        flags = [
            *_COMMON,
            "--iree-hal-target-backends=llvm-cpu",
            "--iree-llvmcpu-target-cpu=host",
            "--iree-llvmcpu-debug-symbols=false",  # a fifth of the time to compile kernels
        ]
        if data_tiling:
            flags += ["--iree-opt-data-tiling", "--iree-llvmcpu-enable-ukernels=all"]
        return Target("cpu", "", tuple(flags), library_threads=library_threads)
    if kind != "cuda":
        raise TargetError(f"unknown target {target!r}: expected 'auto', 'cpu', 'cuda' or 'cuda:sm_80' to 'cuda:sm_90'")
    chosen = named or architecture or _present_architecture() or "sm_80"
    if chosen not in CUDA_ARCHITECTURES:
        raise TargetError(
            f"unknown CUDA architecture {chosen!r}: expected one of {', '.join(sorted(CUDA_ARCHITECTURES))}"
        )
    if chosen in _EXPLICIT:
        executable = (
            f'#hal.executable.target<"cuda", "cuda-nvptx-fb", {{iree_codegen.target_info = {_EXPLICIT[chosen]}}}>'
        )
        device = f'__device_0=#hal.device.target<"cuda", [{executable}]> : !hal.device'
        flags = [*_COMMON, f"--iree-hal-target-device={device}"]
    else:
        flags = [*_COMMON, "--iree-hal-target-backends=cuda", f"--iree-cuda-target={chosen}"]
    return Target("cuda", chosen, tuple(flags), _workgroups(chosen))


def _workgroups(architecture: str) -> int:
    """How many workgroups are there at once: on the GPU at hand if it runs the code, else on most GPUs that do."""
    import torch

    if not torch.cuda.is_available() or _present_architecture() != architecture:
        return _WORKGROUPS[architecture]
    count: int = torch.cuda.get_device_properties(0).multi_processor_count
    return min(1 << (count.bit_length() - 1), _MOST_WORKGROUPS)


def _present_architecture() -> str | None:
    """Return the best known architecture that the GPU at hand runs, None without one."""
    import torch

    if not torch.cuda.is_available():
        return None
    major, minor = torch.cuda.get_device_capability()
    number = major * 10 + minor
    fitting = [name for name in CUDA_ARCHITECTURES if int(name[3:]) <= number]
    return max(fitting, key=lambda name: int(name[3:])) if fitting else None
