"""What `explain()` says of a compiled program."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from .errors import SourceLocation

__all__ = ["CallbackUse", "Explanation"]


@dataclass(frozen=True)
class CallbackUse:
    """An op of a program that runs in PyTorch, or a function that stays Python.

    Attributes:
        op: the operator, `aten::index.Tensor`; of Python the function's name, `Model.log`.
        count: how often it ran so far.
        location: the user's line, None if it is not known.
        reason: why it is not compiled.
    """

    op: str
    count: int
    location: SourceLocation | None
    reason: str

    def __str__(self) -> str:
        times = "once" if self.count == 1 else f"{self.count} times"
        where = "PyTorch" if "::" in self.op else "Python"
        return f"{self.location or '?'}: {self.op} ran {times} in {where}: {self.reason}"


@dataclass(frozen=True)
class Explanation:
    """How a program was compiled: its first specialisation, unless that of another is asked.

    Attributes:
        target: "cpu" or "cuda:sm_80" and so on.
        driver: the IREE driver that runs it.
        callbacks: the ops that run in PyTorch as they cannot be compiled.
        extern_kernels: the large products that PyTorch's libraries compute, which IREE would, more slowly.
        copies: copies that were put in so that IREE updates no tensor that is still needed.
        attempts: how often iree-compile ran.
        specialised: the arguments that the program is specialised on, as `name=value`, with why a number or bool had to
            be.
        sizes: the sizes that `dynamic_shapes` asked for: dynamic, or static and why, and what was taken for granted of
            them.
        others: one line for each further specialisation, with why it was made; see `Specialisation`.
        native_ops: how many ops of PyTorch's IREE compiles, as they stand in the program that it is given, ops on
            numbers and those of decompositions and library programs included; each once, however often it runs.
            `callbacks` are the others, beside `extern_kernels`.
        native_time: the part of the time of all calls, from 0 to 1, that was not spent in PyTorch, in extern kernels or
            callbacks; what IREE needs to get there and back counts as native. 1 before the first call. CPU kernels run
            on one thread, the caller's.
        cached: whether the compiled code comes from the cache on disk.
        compile_s: seconds that `compile` took, of the first specialisation.
        kernel: whether the whole program is one native kernel (docs/Kernels.md).
        kernel_reason: why it is none; "" if it is one, or `kernels=False`.
        kernels: how many native kernels it has: 1 for the whole program, or one for each part that is one.
    """

    target: str
    driver: str
    callbacks: tuple[CallbackUse, ...]
    copies: int
    attempts: int
    specialised: tuple[str, ...] = ()
    sizes: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    native_ops: int = 0
    native_time: float = 1.0
    cached: bool = False
    compile_s: float = 0.0
    kernel: bool = False
    kernel_reason: str = ""
    kernels: int = 0
    extern_kernels: tuple[CallbackUse, ...] = ()

    @property
    def native_share(self) -> float:
        """The part of the program's ops, from 0 to 1, that IREE compiles."""
        total = self.native_ops + len(self.callbacks)
        return self.native_ops / total if total else 1.0

    def __str__(self) -> str:
        lines = [
            f"target {self.target}, driver {self.driver}, {self.copies} protective copies, native: {self.native_ops} of "
            f"{self.native_ops + len(self.callbacks)} ops, {self.native_time:.0%} of the run time, "
            + ("from the compile cache" if self.cached else "compiled")
            + f" in {self.compile_s:.2f} s"
        ]
        if self.kernel or self.kernel_reason:
            parts = f"{self.kernels} {'part is a kernel' if self.kernels == 1 else 'parts are kernels'}"
            lines.append(
                "  one kernel"
                if self.kernel
                else f"  {parts if self.kernels else 'no kernel'}; not the whole program: {self.kernel_reason}"
            )
        if self.extern_kernels:
            ops = Counter(use.op for use in self.extern_kernels)
            listed = ", ".join(f"{count} {op}" for op, count in ops.items())
            lines.append(f"  large products by PyTorch's libraries, as in eager: {listed}")
        lines += [f"  {callback}" for callback in self.callbacks]
        lines += [f"  specialised on {argument}" for argument in self.specialised]
        lines += [f"  {line}" for line in (*self.sizes, *self.others)]
        return "\n".join(lines)
