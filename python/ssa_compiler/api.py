"""`compile` and what it returns: the layers put together.

importer (TorchScript to the torch dialect), pipeline (ssa-opt), backend (iree-compile), runtime (IREE).
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ._versions import check_versions
from .errors import ArgumentValueError, SourceLocation
from .pipeline import STAGES, dump_stage, run_pipeline

if TYPE_CHECKING:
    import torch

    from .backend import Artifact, CopyCount
    from .importer import ImportedProgram
    from .report import Report
    from .runtime import Program, Signature

__all__ = ["CallbackUse", "CompiledProgram", "Explanation", "compile"]


@dataclass(frozen=True)
class CallbackUse:
    """An op of a program that runs in PyTorch.

    Attributes:
        op: the operator, `aten::index.Tensor`.
        count: how often it ran so far.
        location: the user's line, None if it is not known.
        reason: why it is not compiled.
    """

    op: str
    count: int
    location: SourceLocation | None
    reason: str

    def __str__(self) -> str:
        return f"{self.location or '?'}: {self.op} ran {self.count} times in PyTorch: {self.reason}"


@dataclass(frozen=True)
class Explanation:
    """How a program was compiled.

    Attributes:
        target: "cpu" or "cuda:sm_80" and so on.
        driver: the IREE driver that runs it.
        callbacks: the ops that run in PyTorch.
        copies: copies that were put in so that IREE updates no tensor that is still needed.
        attempts: how often iree-compile ran.
        specialised: the arguments that the program is specialised on, as `name=value`, with why a bool had to be.
    """

    target: str
    driver: str
    callbacks: tuple[CallbackUse, ...]
    copies: int
    attempts: int
    specialised: tuple[str, ...] = ()

    def __str__(self) -> str:
        lines = [f"target {self.target}, driver {self.driver}, {self.copies} protective copies"]
        lines += [f"  {callback}" for callback in self.callbacks]
        lines += [f"  specialised on {argument}" for argument in self.specialised]
        return "\n".join(lines)


def compile(
    model: Callable[..., Any] | torch.nn.Module,
    example_inputs: Sequence[Any],
    *,
    example_kwargs: Mapping[str, Any] | None = None,
    target: str = "auto",
    data_tiling: bool | None = None,
    index_checks: bool = True,
    dump_dir: str | os.PathLike[str] | None = None,
    ssa_opt: str | os.PathLike[str] | None = None,
    timeout_s: float = 300.0,
) -> CompiledProgram:
    """Compile a PyTorch program.

    Args:
        model: function, nn.Module (in its present training or eval mode), ScriptModule or ScriptFunction.
        example_inputs: positional arguments. Tensors give dtypes, shapes and the device; ints and floats stay dynamic, and
            so do bools that the program does not need as constants; strings, None and the other bools are specialised and
            checked at each call (`explain()` lists them). They are neither run nor changed.
        example_kwargs: keyword arguments, likewise.
        target: "cpu", "cuda", "cuda:sm_80" to "cuda:sm_90", or "auto" for the device of the examples and parameters.
        data_tiling: tile matrix operands and use microkernels on the CPU; None leaves the choice to the compiler.
        index_checks: raise, as eager does, when a number in an index tensor is out of range. Without it such a number is
            undefined behaviour: anything may be read or written, and no error is raised.
        dump_dir: folder that receives the IR of every stage, and the input of a tool that fails.
        ssa_opt: the ssa-opt executable; searched for if None.
        timeout_s: wall-clock limit of each tool run in seconds.
    Returns:
        A callable with the model's signature. It takes and returns torch tensors.
    Raises:
        ScriptError: TorchScript refuses the model.
        ArgumentError: the examples do not fit the signature, or lie on several devices.
        UnsupportedOpError, UnsupportedProgramError: the program cannot be compiled; the message has the user's line.
        TargetError: the target is unknown.
        ToolError: a tool is missing, of the wrong version, failed or ran out of time.
        OSError: `dump_dir` cannot be made or written.
    """
    check_versions()
    seconds: dict[str, float] = {}
    clock = time.perf_counter()

    def lap(stage: str) -> None:
        nonlocal clock
        now = time.perf_counter()
        seconds[stage] = seconds.get(stage, 0.0) + now - clock
        clock = now

    from .backend import compile_module, resolve_target
    from .importer import import_program
    from .runtime import read_signature

    kwargs = dict(example_kwargs or {})
    chosen = resolve_target(
        _device_target(model, example_inputs, kwargs) if target == "auto" else target, data_tiling=bool(data_tiling)
    )
    program = import_program(model, tuple(example_inputs), kwargs, index_checks=index_checks)
    lap("import")
    pipeline = run_pipeline(program.module, ssa_opt=ssa_opt, timeout_s=timeout_s, dump_dir=dump_dir)
    lap("pipeline")
    artifact = compile_module(pipeline.final, chosen, timeout_s=timeout_s, dump_dir=dump_dir)
    dump_stage(dump_dir, "backend", artifact.module)
    dump_stage(dump_dir, "stream", artifact.stream)
    lap("backend")
    signature = read_signature(pipeline.final, pipeline.stages["tensorssa"])
    seconds.update({f"pipeline/{name}": value for name, value in pipeline.seconds.items()})
    seconds.update({f"backend/{name}": value for name, value in artifact.seconds.items()})
    # Not "local-task": with it, loops whose tensors are replaced gave wrong results in 1 of 100 calls (docs/Backend.md).
    driver = "cuda" if chosen.kind == "cuda" else "local-sync"
    compiled = CompiledProgram(program, pipeline.stages, artifact, signature, driver, seconds)
    lap("load")
    return compiled


def _device_target(model: Any, example_inputs: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
    """Return the target for the device that the examples and the model's parameters lie on."""
    import torch

    tensors: list[torch.Tensor] = []
    pending: list[Any] = [*example_inputs, *kwargs.values()]
    while pending:
        item = pending.pop()
        if isinstance(item, torch.Tensor):
            tensors.append(item)
        elif isinstance(item, (list, tuple)):
            pending += item
        elif isinstance(item, dict):
            pending += item.values()
    if isinstance(model, torch.nn.Module):
        tensors += [*model.parameters(), *model.buffers()]
    kinds = sorted({tensor.device.type for tensor in tensors if tensor.dim() or tensor.device.type != "cpu"})
    if not kinds:
        return "cpu"
    if len(kinds) > 1:
        raise ArgumentValueError(
            f"the example inputs and parameters lie on several devices ({', '.join(kinds)}): move them to one"
        )
    if kinds[0] not in ("cpu", "cuda"):
        raise ArgumentValueError(f"the example inputs lie on '{kinds[0]}': only cpu and cuda tensors are supported")
    return kinds[0]


@dataclass
class CompiledProgram:
    """A compiled program: call it like the model.

    Attributes:
        imported: the importer's result with the calling convention.
        stages: textual IR by stage.
        artifact: the compiled code and how it was made.
        signature: what the compiled `@main` takes and returns.
        driver: the IREE driver that runs it.
        seconds: compile time by step; `pipeline/...` and `backend/...` are parts of `pipeline` and `backend`.
    """

    imported: ImportedProgram
    stages: dict[str, str]
    artifact: Artifact
    signature: Signature
    driver: str
    seconds: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._program: Program | None = None
        self._call: Callable[..., Any] | None = None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the program.

        Args:
            *args: positional arguments as the model takes them. Tensors that the model writes are written.
            **kwargs: keyword arguments.
        Returns:
            What the model returns. Tensors own their memory, except for results that are arguments of the call.
        Raises:
            ArgumentError: the arguments do not fit what the program was compiled for; the message names the argument.
            ProgramError: the program raised, as eager would.
            TargetError: there is no device to run on.
        """
        call = self._call
        if call is None:
            from ._call import make_call

            call = self._call = make_call(self.imported, self._loaded())
        return call(args, kwargs)

    def _loaded(self) -> Program:
        if self._program is None:
            from .runtime import Program

            self._program = Program(
                self.artifact.path, self.signature, driver=self.driver, callbacks=self.artifact.callbacks
            )
        return self._program

    def mlir(self, stage: str = "tensorssa") -> str:
        """Return the textual IR after a stage, with locations.

        Args:
            stage: "imported", "scf", "tensorssa" or "iree".
        Raises:
            ArgumentValueError: there is no such stage.
        """
        if stage not in self.stages:
            raise ArgumentValueError(f"no stage {stage!r}: expected one of {', '.join(STAGES)}")
        return self.stages[stage]

    def explain(self) -> Explanation:
        """Return how the program was compiled, and which ops run in PyTorch."""
        counts = self._program.callback_counts if self._program is not None else []
        sites = self.artifact.callbacks
        counts = counts or [0] * len(sites)
        target = self.artifact.target
        return Explanation(
            target.kind + (f":{target.architecture}" if target.architecture else ""),
            self.driver,
            tuple(
                CallbackUse(site.op, count, site.location, site.reason)
                for site, count in zip(sites, counts, strict=True)
            ),
            self.artifact.copies,
            self.artifact.attempts,
            tuple(
                f"{spec.path}={spec.value!r}" + (f": {spec.reason}" if spec.reason else "")
                for spec in self.imported.constant_specs()
            ),
        )

    def report(self, *, ssa_opt: str | os.PathLike[str] | None = None) -> Report:
        """Return what became of each write of the program, and which copies it needs and makes (docs/Report.md).

        Args:
            ssa_opt: the ssa-opt executable, which runs the conversion again; searched for if None.
        Raises:
            ToolError: ssa-opt is missing or fails.
        """
        from .backend import count_version_copies
        from .report import report_mutations

        made = count_version_copies(self.artifact.module, self.artifact.stream)
        found = report_mutations(self.stages["scf"], ssa_opt=ssa_opt)
        return replace(found, copies_made=made.total, loop_copies_made=made.inside)

    def copy_count(self) -> CopyCount:
        """Count copies, kernels and allocations in the program's stream IR, inside and outside loops."""
        from .backend import count_copies, stream_ir

        return count_copies(stream_ir(self.artifact.module, self.artifact.target))
