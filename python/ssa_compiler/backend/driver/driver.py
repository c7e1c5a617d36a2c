"""Drive iree-compile over an `iree`-stage module until the result is both compiled and verified.

One attempt compiles the module and, in the same run, prints the stream IR on which `in_place` checks what IREE does in
place. An op that does not compile becomes a callback (`op_bisect`); an update that is not verified gets a copy or a barrier at the
op it comes from. Then the module is compiled again. Ops are recognised by line: the module is printed without locations, and
iree-compile's own locations then are lines of that text.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
import signal
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from iree.compiler import ir

from ..._opt import find_ssa_opt
from ...abi.callback_sites import CallbackSite
from ...errors import SsaCompilerError, ToolError
from ...process.child_processes import (
    Completed,
    keep_reproducer,
    memory_limit,
    parse_diagnostics,
    remove_with,
    run_tool,
    tool_error,
)
from ...process.forks import new_context
from ...process.logs import LOGS
from ..buffers.branch_captures import reuse_captures
from ..buffers.copy_insertion import (
    consume_written_arguments,
    copy_all_forwarded,
    copy_forwarded,
    cut_chains,
    own_updates,
)
from ..buffers.read_hoisting import cloned_lines
from ..callbacks.callbacks import to_callback, torch_operator
from ..callbacks.dtype_emulation import carry_as_integers
from ..ir.bindings import walk
from ..kernels.kernels import KERNEL_FLAGS, Kernel, NoKernelError, count_ops, form_kernel
from ..kernels.library_calls import is_kernel_op
from ..kernels.linalg_ready import make_lowerable
from ..kernels.loop_kernels import form_regions
from ..kernels.stubs import insert_bodies
from ..legalize.await_barriers import hide_awaited
from ..legalize.dynamic_carries import branch_to_tensors, carry_sizes, hide_places, loosen_loops
from ..legalize.effect_order import keep_order, order_assertions
from ..legalize.opaque_ranges import hide_joined_integers
from ..legalize.while_arguments import align_whiles
from ..toolchain.artifact import Artifact, take_artifact, to_files
from ..toolchain.cache import ProgramCache, digest_of, open_cache
from ..toolchain.compile_attempt import Attempt, last_dump, torch_users, user_location, without_dump
from ..toolchain.op_bisect import failing_ops, is_lasting, known_to_fail, probe_memory, rejection
from ..toolchain.targets import Target
from ..verify.in_place import find_violations
from ..verify.kernel_limits import find_overloaded, find_untranslated
from ..verify.offset_alignment import correct_alignments
from ..verify.register_moves import find_bad_moves
from ..verify.register_rewrite import find_shared_registers, rewrite_moves
from ..verify.workgroup_ordinals import restore_ordinals
from ..workarounds.constants import hide_constants
from ..workarounds.indices import rewrite_indices
from ..workarounds.masks import choose_at_masks
from ..workarounds.op_rewrites import rewrite_ops
from ..workarounds.scalar_floats import keep_floats
from ..workarounds.stores import clamp_stores
from ..workarounds.unsupported_ops import must_call_back
from .repairs import Repairs

__all__ = ["compile_module", "compiler_path", "stream_ir"]

_logger = logging.getLogger(__name__)

# iree-compile ends without a word on a text in which torch_c.from_f64 is the first thing of the torch dialect; here a type is.
_TYPES = "!torch.float"
_TOPOLOGY = (
    "#hal.device.topology<links = [(@__device_0 -> @__device_0 = {transparent_access = true, unified_memory = true})]>"
)
_CHECKED_PASS = "iree-stream-propagate-timepoints"
_PRINT_FLAGS = (
    f"--mlir-print-ir-after={_CHECKED_PASS}",
    "--mlir-print-debuginfo",
    "--mlir-print-op-generic",
)
# iree-compile runs in two halves, so that no kernel is compiled for a program that is not verified.
_FIRST_HALF = ("--compile-to=stream", "--emit-mlir-bytecode")
_SECOND_HALF = ("--compile-from=stream",)
# What the register allocation of IREE's virtual machine gets.
_MACHINE = re.compile(
    r"^// -----// IR Dump After MaterializeRefDiscardsPass[^\n]*\n(.*?^\})$", re.MULTILINE | re.DOTALL
)
_PRINT_MACHINE = ("--mlir-print-ir-after=iree-vm-materialize-ref-discards", "--mlir-elide-elementsattrs-if-larger=4")
_MAX_ATTEMPTS = 40
# A kernel that takes longer to compile is not worth it.
_KERNEL_TIMEOUT_S = 60.0
# After so many attempts, repairs that still find something to do are not trusted to come to an end.
_PATIENCE = 16
_NO_FIXED_POINT = "failed to solve for"
# Failures of the program's structure: the op at the location is not to blame.
_NOT_OF_AN_OP = ("unresolved target materialization", _NO_FIXED_POINT, "does not dominate")
# IREE's analyses take 32 steps; how many handovers are one is not known for all of them.
_REACH = 16
_NO_END = "maximum iteration count exceeded in fixed point pipeline"


def _write_bytecode(module: ir.Module, path: Path) -> None:
    with path.open("wb") as file:
        module.operation.write_bytecode(file)


def compiler_path() -> str:
    """Return the path of iree-compile in the iree.compiler package."""
    from iree.compiler import _mlir_libs

    return str(Path(_mlir_libs.__path__[0]) / "iree-compile")


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
        cache: look the program up, and keep it when it is compiled. Neither happens with `dump_dir` or `extra_flags`, which
            ask to see how iree-compile runs.
        kernels: make a kernel of a program that can be one, or of its loops that can, on the CPU (`kernels`, `loop_kernels`).
        ssa_opt: the executable that makes it; searched for if None.
    Returns:
        The artifact. Its file is removed when the artifact dies or the process exits; a loaded program goes on without it.
    Raises:
        ToolError: iree-compile fails for a reason that no callback cures, or its result cannot be verified.
    """
    kept = open_cache() if cache and dump_dir is None and not extra_flags else None
    start = time.perf_counter()
    kernels &= target.kind == "cpu"
    maker = find_ssa_opt(ssa_opt) if kernels else None
    name = digest_of(text, target, timeout_s, maker) if kept is not None else ""
    artifact = take_artifact(kept, name, target) if kept is not None else None
    seconds = time.perf_counter() - start
    if kept is not None:
        logging.getLogger(LOGS["cache"]).info("%s: %s", name[:16], "found" if artifact is not None else "not found")
    if artifact is None:
        folder = Path(tempfile.mkdtemp(prefix="ssa-compiler-"))
        try:
            with new_context(ir) as context:
                compilation = _Compilation(text, target, context, folder, timeout_s, dump_dir, extra_flags, maker, kept)
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


class _Compilation:
    """Compiles one module.

    Attributes:
        repeatable: whether the result would be the same another time: no run was stopped by the clock or from outside.
    """

    def __init__(
        self,
        text: str,
        target: Target,
        context: ir.Context,
        folder: Path,
        timeout_s: float,
        dump_dir: str | os.PathLike[str] | None,
        extra_flags: tuple[str, ...],
        kernel_maker: str | None,
        cache: ProgramCache | None,
    ) -> None:
        self.repeatable = True
        self._cache = cache
        self._kernel_maker = kernel_maker
        self._kernel_reason = ""
        self._kernels: list[Kernel] = []  # of parts of the program
        self._context = context
        self._target = target
        self._timeout_s = timeout_s
        self._dump_dir = dump_dir
        self._flags = (*target.flags, *extra_flags)
        self._memory = probe_memory()  # an op that takes all memory is found sooner so; then all that is allowed
        self._callbacks: list[CallbackSite] = []
        self._suspect: ir.Operation | None = None  # fails alone, and cannot be a callback
        self._seconds = {"prepare": 0.0, "iree-compile": 0.0, "verify": 0.0}
        self._folder = folder
        start = time.perf_counter()
        self._module = ir.Module.parse(text, context)
        self._mark(self._module)
        rewrite_indices(self._module)
        # All are found before the first is replaced: replacing one erases the constants that only it used.
        rejected = [
            (op, reason)
            for op in walk(self._module.operation)
            if (reason := must_call_back(op)) is not None and not (kernel_maker is not None and is_kernel_op(op))
        ]
        known = known_to_fail(self._module, (compiler_path(), *self._flags), timeout_s=timeout_s, cache=cache)
        rejected += [(op, reason) for op, reason in known if all(op != other for other, _ in rejected)]
        for op, reason in rejected:
            self._call_back(op, reason)
        keep_order(self._module)
        carry_as_integers(self._module)
        choose_at_masks(self._module)
        rewrite_ops(self._module)
        self._seconds["prepare"] += time.perf_counter() - start

    def _mark(self, module: ir.Module) -> None:
        """Give a module the attributes that all have."""
        given = {**self._target.module_attributes, "stream.topology": _TOPOLOGY, "tssa.types": _TYPES}
        for name, value in given.items():
            module.operation.attributes[name] = ir.Attribute.parse(value, self._context)

    def run(self) -> Artifact:
        if self._kernel_maker is None:
            return self._dispatch()
        artifact = self._run_kernel()
        if artifact is not None:
            return artifact
        whole, callbacks, flags = self._module, list(self._callbacks), self._flags
        start = time.perf_counter()
        self._module = ir.Module.parse(whole.operation.get_asm(enable_debug_info=True), self._context)
        self._kernels, _ = form_regions(
            self._module, ssa_opt=self._kernel_maker, timeout_s=min(self._timeout_s, _KERNEL_TIMEOUT_S)
        )
        self._seconds["kernels"] += time.perf_counter() - start
        if self._kernels:
            self._flags = (*flags, *KERNEL_FLAGS)
            try:
                return self._dispatch()
            except ToolError as error:
                _logger.debug("without kernels, as with them: %s", error)
        self._module, self._callbacks, self._flags, self._kernels = whole, callbacks, flags, []
        return self._dispatch()

    def _dispatch(self) -> Artifact:
        for op in [op for op in walk(self._module.operation) if is_kernel_op(op)]:
            self._call_back(op, "it could not be made a kernel")
        self._prepare_dispatches()
        return self._run_dispatches()

    def _prepare_dispatches(self) -> None:
        """Rewrite what IREE's scheduling gets wrong, and copy what it must not update in place."""
        start = time.perf_counter()
        order_assertions(self._module)
        clamp_stores(self._module)
        loosen_loops(self._module)
        align_whiles(self._module)
        branch_to_tensors(self._module)
        carry_sizes(self._module)
        consume_written_arguments(self._module)
        self._copies = copy_forwarded(self._module) + own_updates(self._module)
        reuse_captures(self._module)
        keep_floats(self._module)
        hide_constants(self._module)  # last: the passes above know what makes a tensor of nothing
        self._repairs = Repairs(self._module)
        self._reach = _REACH
        self._seconds["prepare"] += time.perf_counter() - start

    def _run_kernel(self) -> Artifact | None:
        """Compile the program as one kernel; None if it cannot be one, with `_kernel_reason` saying why."""
        start = time.perf_counter()
        try:
            formed = self._form_kernel()
            self._seconds["kernels"] = time.perf_counter() - start
            return self._compile_kernel(formed)
        except NoKernelError as error:
            self._kernel_reason = str(error)
            self.repeatable &= error.lasting
            self._seconds["kernels"] = time.perf_counter() - start
            return None

    def _form_kernel(self) -> Kernel:
        if self._callbacks:
            raise NoKernelError(f"{self._callbacks[0].op} runs in PyTorch")
        text = self._module.operation.get_asm(enable_debug_info=True)
        module = ir.Module.parse(text, self._context)
        hide_constants(module)
        make_lowerable(module)
        for name in list(module.operation.attributes):
            del module.operation.attributes[name]  # they are IREE's
        text = module.operation.get_asm(enable_debug_info=True)
        return form_kernel(text, self._context, whole=True, ssa_opt=self._kernel_maker, timeout_s=self._timeout_s)

    def _compile_kernel(self, kernel: Kernel) -> Artifact:
        """Compile a program that dispatches one kernel. What IREE schedules around it is checked like any program."""
        module = kernel.dispatch(self._context)
        self._mark(module)
        attempt = Attempt(module, kernel.executable, kernel.stub)
        source, scheduled, output = (self._folder / f"kernel.{kind}" for kind in ("mlir", "mlirbc", "vmfb"))
        source.write_text(attempt.source, encoding="utf-8")
        flags = (*self._flags, *KERNEL_FLAGS)
        seconds = dict(self._seconds)

        def run(given: Path, made: Path, *more: str) -> Completed:
            start = time.perf_counter()
            command = [compiler_path(), str(given), *flags, *more, "-o", str(made)]
            completed = run_tool(command, timeout_s=min(self._timeout_s, _KERNEL_TIMEOUT_S), memory=self._memory)
            seconds["iree-compile"] += time.perf_counter() - start
            if completed.returncode != 0:
                self._dump(0, attempt, without_dump(completed.stderr).splitlines())
                lasting = completed.returncode not in (None, -signal.SIGKILL)
                raise NoKernelError("iree-compile failed on its kernel", lasting=lasting)
            return completed

        completed = run(source, scheduled, *_FIRST_HALF, *_PRINT_FLAGS)
        start = time.perf_counter()
        stream = last_dump(completed.stderr)
        checked = ir.Module.parse(stream, self._context)
        if self._examine(checked)[0]:
            raise NoKernelError("what IREE does in place around its kernel could not be verified")
        scheduled_module = ir.Module.parse(scheduled.read_bytes(), self._context)
        restore_ordinals(checked, scheduled_module)
        correct_alignments(scheduled_module)
        insert_bodies(scheduled_module, [kernel.executable])
        _write_bytecode(scheduled_module, scheduled)
        seconds["verify"] += time.perf_counter() - start
        completed = run(scheduled, output, *_SECOND_HALF, *_PRINT_MACHINE)
        printed = _MACHINE.findall(completed.stderr)
        wrong = [found for text in printed for found in find_shared_registers(text, self._context)]
        if not printed or wrong or find_bad_moves(str(output), in_order=True):
            raise NoKernelError("IREE's virtual machine would move values around its kernel wrongly")
        return Artifact(
            str(output),
            self._target,
            (),
            0,
            1,
            attempt.text,
            stream,
            seconds,
            kernel=kernel.lowered,
            kernels=1,
            ops=kernel.ops,
            interface=kernel.interface,
        )

    def _run_dispatches(self) -> Artifact:
        all_copied = False
        for number in range(1, _MAX_ATTEMPTS + 1):
            start = time.perf_counter()
            hide_places(self._module)
            hide_awaited(self._module)
            executables = [kernel.executable for kernel in self._kernels]
            attempt = Attempt(self._module, "".join(executables), "".join(kernel.stub for kernel in self._kernels))
            source = self._folder / f"module{number}.mlir"
            source.write_text(attempt.source, encoding="utf-8")
            scheduled = self._folder / f"scheduled{number}.mlirbc"
            output = self._folder / f"program{number}.vmfb"
            self._seconds["prepare"] += time.perf_counter() - start
            completed = self._compile(attempt, number, source, scheduled, (*_FIRST_HALF, *_PRINT_FLAGS))
            if completed is None:
                continue
            start = time.perf_counter()
            stream = last_dump(completed.stderr)
            checked = ir.Module.parse(stream, self._context)
            violations, copied = self._examine(checked)
            self._seconds["verify"] += time.perf_counter() - start
            if not violations and number < _PATIENCE and self._repairs.read_before_updates(self._ops(attempt, copied)):
                continue
            if not violations:
                start = time.perf_counter()
                module = ir.Module.parse(scheduled.read_bytes(), self._context)
                workloads, alignments = restore_ordinals(checked, module), correct_alignments(module)
                _logger.debug("attempt %d: repaired %d workloads, %d alignments", number, workloads, alignments)
                overloaded = find_overloaded(checked, module)
                hide_joined_integers(module)
                insert_bodies(module, executables)
                _write_bytecode(module, scheduled)
                self._seconds["verify"] += time.perf_counter() - start
                if overloaded:
                    self._unload(attempt, overloaded)
                    continue
                flags = (*_SECOND_HALF, *_PRINT_MACHINE)
                completed = self._compile(attempt, number, scheduled, output, flags, checked)
                if completed is None:
                    continue
                start = time.perf_counter()
                output = self._with_right_moves(scheduled, output, completed)
                self._seconds["verify"] += time.perf_counter() - start
                return Artifact(
                    str(output),
                    self._target,
                    tuple(self._callbacks),
                    self._copies + self._repairs.copies,
                    number,
                    attempt.text,
                    stream,
                    self._seconds,
                    kernel="\n// -----\n".join(kernel.lowered for kernel in self._kernels),
                    kernel_reason=self._kernel_reason,
                    kernels=len(self._kernels),
                    ops=count_ops(attempt.text) + sum(kernel.ops for kernel in self._kernels),
                )
            self._dump(number, attempt, [f"{kind}, lines {lines}" for kind, _, lines in violations])
            made = sum(
                self._repairs.repair(kind, emplaced, self._ops(attempt, lines)) for kind, emplaced, lines in violations
            )
            _logger.debug("attempt %d: %d violations, %d repairs", number, len(violations), made)
            if not made or number >= _PATIENCE:
                if not all_copied:
                    all_copied = True
                    self._copies += copy_all_forwarded(self._module)
                elif not self._call_back_unverified(attempt, violations):
                    break
        raise ToolError(
            "IREE's in-place updates of this program could not be verified; please report it",
            command=[compiler_path(), "{input}", *self._flags, "-o", os.devnull],
            reproducer=keep_reproducer("iree-compile", attempt.text, self._dump_dir),
        )

    def _unload(self, attempt: Attempt, kernels: list[list[int]]) -> None:
        """Split kernels that have too many operands, given by the lines they come from."""
        whole = [ops for lines in kernels if not self._repairs.split(ops := self._ops(attempt, lines))]
        if len(whole) == len(kernels) and not self._call_back_last(whole, "it has more operands than IREE takes"):
            raise ToolError(
                "a kernel of this program has more operands than IREE takes, and cannot be split; please report it",
                reproducer=keep_reproducer("iree-compile", attempt.text, self._dump_dir),
            )

    def _compile(
        self,
        attempt: Attempt,
        number: int,
        source: Path,
        output: Path,
        flags: tuple[str, ...],
        stream: ir.Module | None = None,
    ) -> Completed | None:
        """Run one half of iree-compile; returns None if it failed and the module has been changed for another attempt.

        Args:
            stream: for the second half, the stream IR of the first.
        """
        command = [compiler_path(), str(source), *self._flags, *flags, "-o", str(output)]
        start = time.perf_counter()
        completed = run_tool(command, timeout_s=self._timeout_s, memory=self._memory)
        self._seconds["iree-compile"] += time.perf_counter() - start
        if completed.returncode == 0:
            return completed
        if completed.returncode in (None, -signal.SIGKILL):
            self.repeatable = False
        self._dump(number, attempt, without_dump(completed.stderr).splitlines())
        untranslated = find_untranslated(stream, completed.stderr) if stream is not None else []
        if sum(self._repairs.split(self._ops(attempt, lines)) for lines in untranslated):
            return None
        if not self._cure_failure(attempt, completed):
            raise self._failure(attempt, command, completed)
        return None

    def _with_right_moves(self, scheduled: Path, output: Path, completed: Completed) -> Path:
        """Return the compiled program, or another one where IREE's virtual machine would move values wrongly."""
        # local-sync, which runs CPU programs, does one thing after the other.
        in_order = self._target.kind == "cpu"
        printed = _MACHINE.findall(completed.stderr)
        if not printed:
            raise ToolError("iree-compile printed no IR of its virtual machine; please report it")
        wrong = [found for text in printed for found in find_shared_registers(text, self._context)]
        wrong += find_bad_moves(str(output), in_order=in_order)
        if not wrong:
            return output
        _logger.debug("%d wrong moves: %s", len(wrong), wrong)
        machine, repaired, again = (self._folder / name for name in ("machine.mlir", "repaired.mlir", "repaired.vmfb"))
        command = [compiler_path(), str(scheduled), *self._flags, *_SECOND_HALF, "--compile-to=vm", "-o", str(machine)]
        self._run(command, scheduled)
        text = rewrite_moves(machine.read_text(encoding="utf-8"))
        repaired.write_text(text, encoding="utf-8")
        command = [compiler_path(), str(repaired), *self._flags, "--compile-from=vm", "-o", str(again)]
        self._run(command, repaired)
        wrong = [*find_shared_registers(text, self._context), *find_bad_moves(str(again), in_order=in_order)]
        if wrong:
            raise ToolError(
                f"IREE's virtual machine would move values wrongly; please report it\n{wrong[0]}",
                command=command,
                reproducer=keep_reproducer("iree-compile", text, self._dump_dir),
            )
        return again

    def _run(self, command: list[str], source: Path) -> None:
        completed = run_tool(command, timeout_s=self._timeout_s)
        if completed.returncode != 0:
            shown = self._shown(command)
            text = "" if source.suffix == ".mlirbc" else source.read_text(encoding="utf-8")
            raise tool_error("iree-compile", shown, completed, source=text, dump_dir=self._dump_dir)

    def _ops(self, attempt: Attempt, lines: list[int]) -> list[ir.Operation]:
        found = [attempt.op_at(line) for line in lines]
        return [op for op in found if op is not None]

    def _examine(self, module: ir.Module) -> tuple[list[tuple[str, bool, list[int]]], list[int]]:
        """Check the stream IR.

        Returns:
            Kind, emplaced and the source lines of each violation, and the source lines of IREE's copies.
        """
        violations = find_violations(module, fills_arguments=self._target.kind == "cpu")
        found = [(found.kind, found.emplaced, found.source_lines(module)) for found in violations]
        return found, cloned_lines(module)

    def _dump(self, number: int, attempt: Attempt, messages: list[str]) -> None:
        """Write a module that did not compile or was not verified, followed by why, to the folder for dumps if there is one."""
        if self._dump_dir is None:
            return
        folder = Path(self._dump_dir)
        folder.mkdir(parents=True, exist_ok=True)
        why = "".join(f"// {message}\n" for message in messages)
        (folder / f"attempt-{number}.mlir").write_text(attempt.text + why, encoding="utf-8")

    def _call_back_unverified(self, attempt: Attempt, violations: list[tuple[str, bool, list[int]]]) -> bool:
        """Turn the last torch op that each violation comes from into a callback; returns whether there was one."""
        groups = [self._ops(attempt, lines) for _, _, lines in violations]
        return self._call_back_last(groups, "what IREE does in place for it could not be verified")

    def _call_back_last(self, groups: list[list[ir.Operation]], reason: str) -> bool:
        """Turn the last torch op of each group into a callback; returns whether there was one."""
        chosen: list[ir.Operation] = []
        for group in groups:
            torch_ops = [op for op in group if torch_operator(op) is not None]
            if torch_ops and torch_ops[-1] not in chosen:
                chosen.append(torch_ops[-1])
        made = [self._call_back(op, reason) for op in chosen]
        return any(made)

    def _call_back(self, op: ir.Operation, reason: str) -> bool:
        site = to_callback(self._module, op, len(self._callbacks), location=user_location(op), reason=reason)
        if site is not None:
            self._callbacks.append(site)
            self.repeatable &= is_lasting(reason)
        return site is not None

    def _cure_failure(self, attempt: Attempt, completed: Completed) -> bool:
        """Change the module so that iree-compile may get further; returns whether there was something to change.

        Ops that fail alone become callbacks: those that iree-compile names, else any other. Where none does, the run may
        have needed more memory, or the failure is of ops that were fused, and barriers keep all of them apart. What
        iree-compile names after that becomes a callback. A run that comes to no end gets barriers in front of its loops, and
        one with an analysis that gives up gets copies between them, and between branches.
        """
        if _NO_FIXED_POINT in completed.stderr and self._cut_chains():
            return True
        if _NO_END in completed.stderr and self._repairs.hide_starts():
            return True
        named = self._named_ops(attempt, completed)
        if self._call_back_failing([op for op, _ in named]) or self._call_back_failing(
            list(walk(self._module.operation))
        ):
            return True
        if completed.returncode != 1 and self._memory != memory_limit():
            self._memory = memory_limit()
            return True
        if self._repairs.separate_all():
            return True
        made = [self._call_back(op, rejection(text)) for op, text in named]
        return any(made)

    def _cut_chains(self) -> bool:
        """Copy what is forwarded most often; returns whether there was such a tensor."""
        copies = 0
        while not copies and self._reach:
            copies = cut_chains(self._module, self._reach)
            self._reach //= 2
        self._copies += copies
        return copies > 0

    def _named_ops(self, attempt: Attempt, completed: Completed) -> list[tuple[ir.Operation, str]]:
        """The ops to blame for the first message that names one, each with the message."""
        for diagnostic in parse_diagnostics(completed.stderr):
            if diagnostic.kind not in ("error", "note") or not diagnostic.file.endswith(".mlir"):
                continue
            op = attempt.op_at(diagnostic.line)
            if op is None or any(text in diagnostic.text for text in _NOT_OF_AN_OP):
                continue
            # A constant that is left over belongs to the ops that could not be converted.
            blamed = [op] if torch_operator(op) is not None else torch_users(op)
            if blamed:
                return [(found, diagnostic.text) for found in blamed]
        return []

    def _call_back_failing(self, ops: list[ir.Operation]) -> bool:
        """Turn the ops that do not compile alone into callbacks; returns whether there was one."""
        command = (compiler_path(), *self._flags)
        failing = failing_ops(ops, command, timeout_s=self._timeout_s, cache=self._cache)
        made = False
        for op, reason in failing:
            if self._call_back(op, reason):
                made = True
            else:
                self._suspect = op
        return made

    def _shown(self, command: list[str]) -> list[str]:
        """A command to repeat: the folder that input and output lie in is about to be removed."""
        inside = [command.index("-o") + 1] if "-o" in command else []
        return [
            "{input}" if number == 1 else os.devnull if number in inside else part
            for number, part in enumerate(command)
        ]

    def _failure(self, attempt: Attempt, command: list[str], completed: Completed) -> SsaCompilerError:
        location = None
        for diagnostic in parse_diagnostics(completed.stderr):
            op = attempt.op_at(diagnostic.line)
            if diagnostic.kind == "error" and op is not None:
                location = user_location(op)
                break
        if self._suspect is not None:
            location = user_location(self._suspect)
        # The whole of it, for whoever repeats it has the module and not the file between the halves.
        without_print = [
            part for part in command if part not in (*_PRINT_FLAGS, *_FIRST_HALF, *_SECOND_HALF, *_PRINT_MACHINE)
        ]
        shown = self._shown(without_print)
        trimmed = Completed(completed.stdout, without_dump(completed.stderr), completed.returncode)
        return tool_error(
            "iree-compile", shown, trimmed, source=attempt.text, dump_dir=self._dump_dir, location=location
        )


def stream_ir(text: str, target: Target, *, timeout_s: float = 300.0) -> str:
    """Return the scheduled stream IR (`--compile-to=stream`) of a module that `compile_module` compiled.

    Args:
        text: `Artifact.module`.
        target: what it is compiled for.
        timeout_s: wall-clock limit in seconds.
    """
    with tempfile.TemporaryDirectory(prefix="ssa-compiler-") as folder:
        source = Path(folder) / "module.mlir"
        source.write_text(text, encoding="utf-8")
        command = [compiler_path(), str(source), *target.flags, "--compile-to=stream", "-o", "-"]
        completed = run_tool(command, timeout_s=timeout_s)
        if completed.returncode != 0:
            raise tool_error("iree-compile", command, completed, source=text)
        return completed.stdout
