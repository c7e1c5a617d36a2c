"""Programs, and parts of programs, that are one native kernel: lowered by torch-mlir and ssa-opt, called once.

torch-mlir lowers a function to upstream dialects, `--form-kernels` decides whether it can be a kernel, and
`--lower-kernels` makes of it a function on buffers that returns nothing (docs/Kernels.md), which gets the shape in
which IREE takes foreign code (`executable`).
"""

from __future__ import annotations

import os
import re
import signal
from dataclasses import dataclass
from pathlib import Path

from iree.compiler import ir
from torch_mlir import _mlir_libs

from ..._opt import find_ssa_opt
from ...abi.kernel_interface import KernelInterface
from ...process.child_processes import run_tool
from ..report.version_copies import VersionCopies
from ..toolchain.op_bisect import failure_reason
from .executable import OperandLimitError, assemble
from .stubs import without_body

__all__ = [
    "KERNEL_FLAGS",
    "Kernel",
    "NoKernelError",
    "count_kernel_copies",
    "count_ops",
    "form_kernel",
    "run_stage",
]

# IREE's own kernels are vectorised before LLVM sees them; ours are plain loops.
KERNEL_FLAGS = ("--iree-llvmcpu-loop-vectorization", "--iree-llvmcpu-slp-vectorization")

# The threads of a workgroup that runs a kernel alone, and of one of several. More wait longer for each other.
_ALONE, _TOGETHER = 256, 512
# One of MLIR's patterns gives a carried tensor the static size with which the loop begins, though it may yield another
# size. It has the name that the compiler which built torch-mlir gives its class.
_CANONICALIZE = (
    'canonicalize{disable-patterns="{anonymous}::ForOpTensorCastFolder,(anonymous namespace)::ForOpTensorCastFolder"}'
)
# torch-backend-to-linalg-on-tensors-backend-pipeline, without the check at its end, which takes no calls:
# `--form-kernels` checks.
_TO_LINALG = (
    "builtin.module(func.func(torch-reduce-op-variants,"
    f"torch-decompose-complex-ops{{legal-ops=aten.flatten.using_ints}}),{_CANONICALIZE},cse,"
    f"func.func(torch-restructure-non-constant-axes,torch-fuse-quantized-ops,convert-torch-to-tmtensor,{_CANONICALIZE},"
    f"convert-torch-to-linalg,{_CANONICALIZE},convert-torch-to-scf,convert-torch-to-arith,convert-torch-to-tensor),"
    f"convert-torch-conversion-to-mlprogram,func.func(memref-expand,{_CANONICALIZE},resolve-shaped-type-result-dims,cse),"
    f"torch-func-backend-type-conversion,func.func({_CANONICALIZE},torch-finalizing-backend-type-conversion))"
)
# Ops of torch-mlir's own dialects are there in generic form.
_TO_KERNELS = ("--allow-unregistered-dialect", "--lower-tm-tensor")
_NATIVE_OP = re.compile(r"^[^/\n]*?\btorch\.(?:aten|prims|torchvision|operator)\b", re.MULTILINE)
_REASON = re.compile(r'kernel\.reason = "((?:[^"\\]|\\.)*)"')
_COPIES = re.compile(r"kernel\.((?:loop_)?cop(?:ies|ied_bytes)) = (\d+)")
_COPIED_IN_LOOPS = 1 << 16
"""Bytes of whole tensors that a kernel may copy in its loops: more take longer than the launches that it saves."""


@dataclass(frozen=True)
class Kernel:
    """A function that is one kernel.

    Attributes:
        name: the name of the executable.
        executable: the kernel in the form in which IREE takes foreign code, as text.
        call: a function `@main`, as text: for a whole program what calls the kernel, scheduled (`program_call`); for a
            part what dispatches it and reports its status (`kernel_call`).
        formed: the linalg stage, as `--form-kernels` left it.
        lowered: what `--lower-kernels` made.
        ops: how many ops of PyTorch's are in it.
        interface: how it is called, if it is a whole program.
    """

    name: str
    executable: str
    call: str
    formed: str
    lowered: str
    ops: int
    interface: KernelInterface | None

    @property
    def stub(self) -> str:
        """The executable without the kernel."""
        return without_body(self.executable, self.name)

    def dispatch(self, context: ir.Context) -> ir.Module:
        """Return a module of the function that dispatches it; it is a part of a program."""
        return ir.Module.parse(f"module {{\n{self.call}}}\n", context)


class NoKernelError(Exception):
    """A program that cannot be one kernel; says why.

    Attributes:
        lasting: whether it would be the same another time: no tool was stopped by the clock or from outside.
        crashed: the tool that crashed without a message, and its flags; empty if none did.
    """

    def __init__(self, reason: str, *, lasting: bool = True, crashed: tuple[str, ...] = ()) -> None:
        super().__init__(reason)
        self.lasting = lasting
        self.crashed = crashed


def form_kernel(
    text: str,
    context: ir.Context,
    *,
    name: str = "kernels",
    whole: bool,
    workgroups: int,
    ssa_opt: str | os.PathLike[str] | None,
    timeout_s: float,
) -> Kernel:
    """Make a kernel of a function, if it can be one.

    Args:
        text: an `iree`-stage module with the function, `@main`, without callbacks, after `make_lowerable`.
        context: for parsing what ssa-opt prints.
        name: the name of the executable.
        whole: whether the function is the whole program.
        workgroups: how many workgroups of a GPU may run it together; 0 on the CPU.
        ssa_opt: the executable; searched for if None.
        timeout_s: wall-clock limit of each tool in seconds.
    Raises:
        NoKernelError: it cannot be one.
    """
    lower = str(Path(_mlir_libs.__path__[0]) / "torch-mlir-opt")
    linalg = run_stage([lower, "-", f"--pass-pipeline={_TO_LINALG}", "--mlir-print-op-generic"], text, timeout_s)
    maker = find_ssa_opt(ssa_opt)
    # The workgroups of a part would have nothing in which to count.
    limits = [
        f"--link-kernel-library=parallel={str(workgroups > 0).lower()}",
        # Of a part of a program IREE makes the status buffer, in which the caller passes addresses.
        f"--form-kernels=workgroups={workgroups if whole else min(workgroups, 1)} "
        f"c-library={str(whole and not workgroups).lower()}",
    ]
    formed = run_stage([maker, "-", *_TO_KERNELS, *limits], linalg, timeout_s)
    if (found := _REASON.search(formed)) is not None:
        raise NoKernelError(found[1])
    threads = 0 if not workgroups else _TOGETHER if "kernel.workgroups" in formed else _ALONE
    pipeline = f"--lower-kernels=threads={threads} host-buffers={str(whole).lower()}"
    lowered = run_stage([maker, "-", pipeline], formed, timeout_s)
    copied, ops = dict(_COPIES.findall(lowered)), count_ops(text)
    if int(copied["loop_copied_bytes"]) > _COPIED_IN_LOOPS:
        raise NoKernelError(f"it would copy {copied['loop_copied_bytes']} bytes in a loop")
    program = ir.Module.parse(formed, context)
    try:
        assembled = assemble(_main(program), ir.Module.parse(lowered, context), name, whole=whole, threads=threads)
    except OperandLimitError as error:
        raise NoKernelError(str(error)) from error
    executable, call, interface = assembled
    return Kernel(name, executable, call, formed, lowered, ops, interface)


def count_ops(text: str) -> int:
    """How many ops of PyTorch's a module has.

    Args:
        text: the module.
    """
    return len(_NATIVE_OP.findall(text))


def count_kernel_copies(lowered: str) -> VersionCopies:
    """Count the copies of whole tensors in kernels.

    Args:
        lowered: `Artifact.kernel`.
    """
    found = _COPIES.findall(lowered)
    outside, inside = (sum(int(count) for name, count in found if name == kind) for kind in ("copies", "loop_copies"))
    return VersionCopies(outside, inside)


def run_stage(command: list[str], text: str, timeout_s: float) -> str:
    """Run a tool of the path to a kernel over a module.

    Args:
        command: the tool and its flags; `-` stands for the module.
        text: the module.
        timeout_s: wall-clock limit in seconds.
    Returns:
        What it prints, with locations.
    Raises:
        NoKernelError: it fails.
    """
    completed = run_tool([*command, "--mlir-print-debuginfo"], stdin=text, timeout_s=timeout_s)
    if completed.returncode == 0:
        return completed.stdout
    reason = failure_reason(Path(command[0]).name, completed)
    flags = tuple(part for part in command if part != "-") if "crashed on it" in reason else ()
    raise NoKernelError(reason, lasting=completed.returncode not in (None, -signal.SIGKILL), crashed=flags)


def _main(module: ir.Module) -> ir.Operation:
    return ir.SymbolTable(module.operation)["main"].operation
