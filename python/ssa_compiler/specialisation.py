"""One specialisation of a program: compiled for arguments of certain shapes, dtypes, nesting and constants.

`compile_one` puts the layers together: front end (TorchScript to the torch dialect), pipeline (ssa-opt), backend
(iree-compile), runtime (IREE).
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, is_dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from .errors import ArgumentValueError, UnsupportedOpError
from .explanation import CallbackUse, Explanation
from .frontend import Source
from .options import ImportOptions, Options
from .pipeline import STAGES, dump_stage, import_and_run
from .process.forks import new_lock
from .process.garbage import collections_paused
from .process.interrupts import InterruptGuard
from .process.logs import LOGS
from .process.tracebacks import for_user
from .semantics.ignored_functions import is_message, shown_name

if TYPE_CHECKING:
    import torch

    from .abi import ImportedProgram, Signature
    from .abi.callback_sites import CallbackSite
    from .backend import Artifact, CopyCount, Target
    from .program_cache import CachedProgram
    from .report import Report
    from .runtime import Program

__all__ = ["Specialisation", "compile_one"]


@dataclass(eq=False, repr=False)
class Specialisation:
    """A program compiled for arguments like one example. Call it like the model; other arguments are rejected.

    Attributes:
        imported: the importer's result with the calling convention.
        stages: textual IR by stage.
        artifact: the compiled code and how it was made.
        signature: what the compiled `@main` takes and returns.
        driver: the IREE driver that runs it.
        seconds: compile time by step, from "modules", which loads what the compiler consists of, to "load";
            `pipeline/...` and `backend/...` are parts of `pipeline` and `backend`. One that comes from the cache has
            "modules" and "cache".
        reason: why it was made: how a call differed from the specialisation nearest to it, the one from which it
            differed in the fewest places; "" for the first.
        detach: whether results are detached where eager records gradients.
    """

    imported: ImportedProgram
    stages: dict[str, str]
    artifact: Artifact
    signature: Signature
    driver: str
    seconds: dict[str, float] = field(default_factory=dict)
    reason: str = ""
    detach: bool = False

    def __post_init__(self) -> None:
        self._program: Program | None = None
        self._call: Callable[..., Any] | None = None
        self._lock = new_lock()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the program; see `CompiledProgram.__call__`.

        Raises:
            ArgumentError: the arguments do not fit; nothing has run.
        """
        try:
            return self.loaded_call()(args, kwargs)
        except Exception as error:
            raise for_user(error)  # noqa: B904 - SSA_COMPILER_TRACEBACKS=full shows all frames

    def loaded_call(self) -> Callable[[Sequence[Any], Mapping[str, Any]], Any]:
        """Return the function that runs a call, of the positional and the keyword arguments.

        Raises:
            TargetError: there is no device to run on.
        """
        if self._call is None:
            from .runtime.call import make_call

            # Loaded once: threads share the parameters' views and the counts of callbacks.
            with self._lock, InterruptGuard(), collections_paused():
                if self._call is None:
                    self._call = make_call(self.imported, self._loaded(), detach=self.detach)
        return self._call

    def is_called_by(self, call: Callable[..., Any]) -> bool:
        """Return whether `call` is what `loaded_call` returned."""
        return self._call is call

    def _loaded(self) -> Program:
        if self._program is None:
            from .runtime import KernelProgram, Program

            load: Callable[..., Program] = partial(Program, callbacks=self.artifact.callbacks)
            if self.artifact.interface is not None:
                load = partial(KernelProgram, interface=self.artifact.interface)
            self._program = load(self.artifact.path, self.signature, driver=self.driver, detach=self.detach)
        return self._program

    def __str__(self) -> str:
        return f"{self.imported.name}({', '.join(self.imported.describe())})"

    def __repr__(self) -> str:
        return f"<{self}>"

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
        uses = [
            CallbackUse(shown_name(site.op), count, site.location, site.reason)
            for site, count in zip(sites, counts, strict=True)
        ]
        target = self.artifact.target
        return Explanation(
            target.kind + (f":{target.architecture}" if target.architecture else ""),
            self.driver,
            tuple(use for use, site in zip(uses, sites, strict=True) if not site.extern and not is_message(site.op)),
            self.artifact.copies,
            self.artifact.attempts,
            tuple(
                f"{spec.path}={spec.value!r}" + (f": {spec.reason}" if spec.reason else "")
                for spec in self.imported.constant_specs()
            ),
            tuple(self.imported.sizes.describe() if self.imported.sizes is not None else ()),
            native_ops=self.artifact.ops,
            native_time=self._program.native_time if self._program is not None else 1.0,
            cached=self.artifact.cached,
            compile_s=sum(seconds for name, seconds in self.seconds.items() if "/" not in name),
            kernel=self.artifact.is_kernel,
            kernel_reason=self.artifact.kernel_reason,
            kernels=self.artifact.kernels,
            extern_kernels=tuple(use for use, site in zip(uses, sites, strict=True) if site.extern),
        )

    def report(self, *, ssa_opt: str | os.PathLike[str] | None = None) -> Report:
        """Return what became of each write of the program, and which copies it needs and makes (docs/Report.md).

        Args:
            ssa_opt: the ssa-opt executable, which runs the conversion again; searched for if None.
        Raises:
            ToolError: ssa-opt is missing or fails.
        """
        from .backend import count_kernel_copies, count_version_copies
        from .report import report_mutations

        kernels = count_kernel_copies(self.artifact.kernel)
        counts = [kernels]
        if not self.artifact.is_kernel:
            counts.append(count_version_copies(self.artifact.module, self.artifact.stream))
        found = report_mutations(self.stages["scf"], ssa_opt=ssa_opt)
        return replace(
            found,
            copies_made=sum(count.total for count in counts),
            loop_copies_made=sum(count.inside for count in counts),
            kernel_copies_made=kernels.total,
        )

    def copy_count(self) -> CopyCount:
        """Count the copies, dispatches and allocations that IREE schedules, inside and outside loops.

        These are commands: copies of parts of tensors count as well, and what a dispatch or a native kernel copies by
        itself does not. `report()` counts the copies of tensors.
        """
        from .backend import count_copies, stream_ir

        module = self.artifact.module  # scheduled already, if it is one kernel
        return count_copies(module if self.artifact.is_kernel else stream_ir(module, self.artifact.target))


def compile_one(
    source: Source,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    options: Options,
    *,
    reason: str = "",
    further: bool = False,
    seconds: dict[str, float] | None = None,
) -> Specialisation:
    """Compile a program for arguments like these.

    Args:
        source: the user's program, opened by its front end.
        args: positional arguments. They are neither run nor changed, nor kept.
        kwargs: keyword arguments.
        options: how to compile it.
        reason: why this specialisation is made.
        further: whether there are others already, so that `dynamic_shapes` need not be kept to for these arguments.
        seconds: receives the time of each step when it is done.
    Raises:
        SsaCompilerError: as `ssa_compiler.compile`.
    """
    import torch

    seconds = {} if seconds is None else seconds
    lap = _laps(seconds)
    from .backend.toolchain.cache import is_off
    from .backend.toolchain.targets import resolve_target
    from .program_cache import find_entry

    lap("modules")
    kind = _device_target(source, args, kwargs) if options.target == "auto" else options.target
    threads = 0 if options.strict or options.data_tiling else torch.get_num_threads()
    chosen = resolve_target(kind, data_tiling=bool(options.data_tiling), library_threads=threads)
    kernels = options.kernels and not is_off("SSA_COMPILER_KERNELS")
    asked = ImportOptions(options.index_checks, options.dynamic_shapes, further, kernels)
    asked = replace(asked, exact_aliases=options.exact_aliases, most_nodes=options.most_nodes)
    entry = find_entry(source, args, kwargs, asked, chosen, options)
    found = entry.load(chosen) if entry is not None else None
    lap("cache")
    if found is None:
        found = _compiled(source, args, kwargs, options, asked, chosen, seconds)
        if entry is not None:
            lap = _laps(seconds)
            entry.keep(found)
            lap("cache")
    artifact = found.artifact
    if options.strict and (sites := [site for site in artifact.callbacks if not is_message(site.op)]):
        raise _not_native(sites)
    # Not "local-task", with which loops that replace tensors were wrong in 1 of 100 calls (docs/Backend.md).
    driver = "cuda" if chosen.kind == "cuda" else "local-sync"
    detach = options.gradients == "detach"
    return Specialisation(found.imported, found.stages, artifact, found.signature, driver, seconds, reason, detach)


def _compiled(
    source: Source,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    options: Options,
    asked: ImportOptions,
    chosen: Target,
    seconds: dict[str, float],
) -> CachedProgram:
    """Import a program and compile it.

    Args:
        source, args, kwargs, options: as of `compile_one`.
        asked: what the import is asked for.
        chosen: what to compile for.
        seconds: receives the time of each step when it is done.
    """
    lap = _laps(seconds)
    from .backend import compile_module, read_signature
    from .program_cache import CachedProgram

    lap("modules")
    tools: dict[str, Any] = {"timeout_s": options.timeout_s, "dump_dir": options.dump_dir}

    def deliver(unrolls: bool) -> ImportedProgram:
        program = source.deliver(tuple(args), dict(kwargs), replace(asked, unrolls=unrolls))
        lap("import")
        said = f"{program.name}({', '.join(program.describe())}): imported in {seconds['import']:.2f} s"
        logging.getLogger(LOGS["import"]).info(said)
        return program

    program, pipeline = import_and_run(deliver, ssa_opt=options.ssa_opt, **tools)
    lap("pipeline")
    artifact = compile_module(
        pipeline.final, chosen, cache=options.cache, kernels=asked.kernels, ssa_opt=options.ssa_opt, **tools
    )
    made = {"backend": artifact.module, "stream": artifact.stream, "linalg": artifact.linalg, "kernel": artifact.kernel}
    for stage in [stage for stage, text in made.items() if text]:
        dump_stage(options.dump_dir, stage, made[stage])
    lap("backend")
    logging.getLogger(LOGS["backend"]).info(
        "%s: %s in %.2f s: %s",
        program.name,
        "taken from the cache" if artifact.cached else "compiled",
        seconds["backend"],
        "one kernel"
        if artifact.is_kernel
        else f"{artifact.kernels} kernels of loops, {len(artifact.callbacks)} callbacks",
    )
    signature = read_signature(pipeline.final, pipeline.stages["tensorssa"])
    seconds.update({f"pipeline/{name}": value for name, value in pipeline.seconds.items()})
    seconds.update({f"backend/{name}": value for name, value in artifact.seconds.items()})
    lap("load")
    return CachedProgram(program, pipeline.stages, artifact, signature)


def _laps(seconds: dict[str, float]) -> Callable[[str], None]:
    """Return a function that adds the time since its last call, or since now, to that of a step."""
    clock = time.perf_counter()

    def lap(stage: str) -> None:
        nonlocal clock
        now = time.perf_counter()
        seconds[stage] = seconds.get(stage, 0.0) + now - clock
        clock = now

    return lap


def _not_native(sites: Sequence[CallbackSite]) -> UnsupportedOpError:
    """Return the error of `strict` for ops that would run in PyTorch."""
    listed = "".join(f"\n  {site.location or '?'}: {shown_name(site.op)}: {site.reason}" for site in sites)
    return UnsupportedOpError(
        f"strict: {len(sites)} op{'s' * (len(sites) > 1)} would run in PyTorch; without strict=True they do{listed}",
        location=sites[0].location,
    )


def tensors_in(values: Sequence[Any]) -> list[torch.Tensor]:
    """Return the tensors in nested tuples, lists, dicts and dataclasses."""
    import torch

    tensors: list[torch.Tensor] = []
    pending = list(values)
    while pending:
        item = pending.pop()
        if isinstance(item, torch.Tensor):
            tensors.append(item)
        elif isinstance(item, (list, tuple)):
            pending += item
        elif isinstance(item, dict):
            pending += item.values()
        elif is_dataclass(item) and not isinstance(item, type):
            pending += vars(item).values()
    return tensors


def _device_target(source: Source, args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
    """Return the target for the device that the arguments and the model's parameters lie on."""
    import torch

    tensors = [*tensors_in([*args, *kwargs.values()]), *source.tensors()]
    kinds = sorted({tensor.device.type for tensor in tensors if tensor.dim() or tensor.device.type != "cpu"})
    kinds = kinds or ["cuda" if torch.get_default_device().type == "cuda" else "cpu"]
    if len(kinds) > 1:
        raise ArgumentValueError(
            f"the example inputs and parameters lie on several devices ({', '.join(kinds)}): move them to one"
        )
    if kinds[0] not in ("cpu", "cuda"):
        raise ArgumentValueError(f"the example inputs lie on '{kinds[0]}': only cpu and cuda tensors are supported")
    return kinds[0]
