"""Drive iree-compile over an `iree`-stage module until the result is both compiled and verified.

One attempt compiles the module and, in the same run, prints the stream IR on which `in_place` checks what IREE does in
place. An op that does not compile becomes a callback (`op_bisect`); an update that is not verified gets a copy or a
barrier at the op it comes from. Then the module is compiled again. Ops are recognised by line: the module is printed
without locations, and iree-compile's own locations then are lines of that text.
"""

from __future__ import annotations

import logging
import os
import signal
import time
from pathlib import Path
from typing import Any

from iree.compiler import ir

from ...errors import ToolError
from ...process.child_processes import Completed, keep_reproducer, run_tool, tool_error
from ...semantics.ignored_functions import shown_name
from ..buffers.branch_captures import reuse_captures
from ..buffers.copy_insertion import consume_written_arguments, copy_all_forwarded, copy_forwarded, own_updates
from ..buffers.read_hoisting import cloned_lines
from ..callbacks.callbacks import is_assertion, torch_operator
from ..ir.bindings import walk
from ..kernels.kernels import KERNEL_FLAGS, Kernel, NoKernelError, count_ops, form_kernel
from ..kernels.library_calls import is_kernel_op
from ..kernels.linalg_ready import make_lowerable
from ..kernels.region_kernels import form_regions
from ..kernels.stubs import insert_bodies
from ..legalize.await_barriers import hide_awaited
from ..legalize.concatenations import hide_concatenated
from ..legalize.dynamic_carries import branch_to_tensors, carry_sizes, hide_places, loosen_loops
from ..legalize.effect_order import keep_order, order_assertions
from ..legalize.gpu_dispatches import correct_dispatches, decompose_softmax, skip_empty_launches, widen_summands
from ..legalize.gpu_memory import round_allocations
from ..legalize.opaque_ranges import hide_joined_integers
from ..legalize.while_arguments import align_whiles
from ..toolchain.artifact import Artifact
from ..toolchain.compile_attempt import Attempt, last_dump, user_location, without_dump
from ..toolchain.op_bisect import failing_ops, failure_reason
from ..verify.in_place import find_violations
from ..verify.kernel_limits import find_overloaded, find_untranslated
from ..verify.offset_alignment import correct_alignments
from ..verify.register_moves import find_bad_moves
from ..verify.register_rewrite import find_shared_registers, rewrite_moves
from ..verify.shared_memory import find_races
from ..verify.workgroup_ordinals import restore_ordinals
from ..workarounds.constants import hide_constants
from ..workarounds.scalar_floats import keep_floats
from ..workarounds.stores import clamp_stores
from ..workarounds.unsupported_ops import must_call_back
from .commands import (
    FIRST_HALF,
    FROM_COMMANDS,
    MACHINE,
    PRINT_FLAGS,
    PRINT_MACHINE,
    SECOND_HALF,
    TO_COMMANDS,
    compiler_path,
    device_module,
    write_bytecode,
)
from .module_at_work import ModuleAtWork, Violation
from .repairs import Repairs

__all__ = ["Compilation"]

_logger = logging.getLogger(__name__)
_MAX_ATTEMPTS = 40
# A kernel that takes longer to compile is not worth it.
_KERNEL_TIMEOUT_S = 60.0
# Kernels are formed in a few seconds at most, but where One-Shot Bufferize's analysis compares all tensors with all.
_FORMING_TIMEOUT_S = 20.0
# After so many attempts, repairs that still find something to do are not trusted to come to an end.
_PATIENCE = 16
# IREE's analyses take 32 steps; how many forwards are one step is not known for all of them.
_REACH = 16


class Compilation(ModuleAtWork):
    """Compiles one module."""

    @property
    def _for_gpu(self) -> bool:
        """Whether the program gets what is done for GPUs; tests look at it on the CPU, too."""
        return self._target.kind == "cuda"

    def run(self) -> Artifact:
        if self._kernel_maker is None:
            return self._dispatch()
        artifact = self._run_kernel()
        if artifact is not None:
            return artifact
        for op in [op for op in walk(self._module.operation) if is_assertion(op)]:
            self._call_back(op, must_call_back(op) or "its message has numbers of the run")
        whole, callbacks, flags = self._module, list(self._callbacks), self._flags
        start = time.perf_counter()
        self._module = ir.Module.parse(whole.operation.get_asm(enable_debug_info=True), self._context)
        self._kernels, _ = form_regions(
            self._module,
            gpu=self._target.kind == "cuda",
            ssa_opt=self._kernel_maker,
            timeout_s=min(self._timeout_s, _FORMING_TIMEOUT_S),
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
        self._call_back_known()  # not before: what IREE's dispatches fail on may work in a kernel
        keep_order(self._module)
        self._prepare_dispatches()
        return self._run_dispatches()

    def _prepare_dispatches(self) -> None:
        """Rewrite what IREE's scheduling gets wrong, and copy what it must not update in place."""
        start = time.perf_counter()
        if self._for_gpu:
            widen_summands(self._module)
            decompose_softmax(self._module)
        order_assertions(self._module)
        clamp_stores(self._module)
        loosen_loops(self._module)
        align_whiles(self._module)
        branch_to_tensors(self._module)
        carry_sizes(self._module)
        consume_written_arguments(self._module)
        self._copies = copy_forwarded(self._module) + own_updates(self._module)
        reuse_captures(self._module)
        hide_concatenated(self._module)
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
            site = self._callbacks[0]
            name = shown_name(site.op)
            if site.extern:
                raise NoKernelError(f"{name} is left to PyTorch's libraries")
            raise NoKernelError(f"{name} runs in {'PyTorch' if '::' in name else 'Python'}")
        text = self._module.operation.get_asm(enable_debug_info=True)
        module = ir.Module.parse(text, self._context)
        hide_constants(module)
        make_lowerable(module)
        for name in list(module.operation.attributes):
            del module.operation.attributes[name]  # they are IREE's
        text = module.operation.get_asm(enable_debug_info=True)
        timeout_s = min(self._timeout_s, _FORMING_TIMEOUT_S)
        tools: dict[str, Any] = {"ssa_opt": self._kernel_maker, "timeout_s": timeout_s}
        try:
            return form_kernel(text, self._context, whole=True, workgroups=self._target.workgroups, **tools)
        except NoKernelError as error:
            raise self._with_op(error) from None

    def _with_op(self, error: NoKernelError) -> NoKernelError:
        """Name the op that a tool crashed on, if one alone makes it crash."""
        if not error.crashed:
            return error
        for op, reason in failing_ops(list(walk(self._module.operation)), error.crashed, timeout_s=self._timeout_s):
            if reason == str(error):
                named = f"on {shown_name(torch_operator(op) or op.name)} at {user_location(op) or '?'}"
                return NoKernelError(reason.replace("on it", named), lasting=error.lasting)
        return error

    def _compile_kernel(self, kernel: Kernel) -> Artifact:
        """Compile a program that is one kernel. The function that calls it is scheduled already (`program_call`)."""
        # What is read is no program of torch's.
        flags = (*self._flags, "--iree-input-type=none", "--iree-llvmcpu-link-ukernel-bitcode=false", *KERNEL_FLAGS)
        seconds = dict(self._seconds)
        start = time.perf_counter()
        text = f"{device_module(flags, timeout_s=self._timeout_s)}{kernel.call}{kernel.executable}}}\n"
        source, output = (self._folder / f"kernel.{kind}" for kind in ("mlir", "vmfb"))
        if self._for_gpu:
            module = ir.Module.parse(text, self._context)
            round_allocations(module)
            write_bytecode(module, source)
        else:
            source.write_text(text, encoding="utf-8")
        command = [compiler_path(), str(source), *flags, *SECOND_HALF, *PRINT_MACHINE, "-o", str(output)]
        completed = run_tool(command, timeout_s=min(self._timeout_s, _KERNEL_TIMEOUT_S), memory=self._memory)
        seconds["iree-compile"] += time.perf_counter() - start
        if completed.returncode != 0:
            self._dump(0, text, without_dump(completed.stderr).splitlines())
            lasting = completed.returncode not in (None, -signal.SIGKILL)
            reason = failure_reason("iree-compile", completed).replace(" it", " its kernel", 1)
            raise NoKernelError(reason, lasting=lasting)
        start = time.perf_counter()
        printed = MACHINE.findall(completed.stderr)
        wrong = [found for part in printed for found in find_shared_registers(part, self._context)]
        if not printed or wrong or find_bad_moves(str(output), in_order=True):
            raise NoKernelError("IREE's virtual machine would move values around its kernel wrongly")
        seconds["verify"] += time.perf_counter() - start
        return Artifact(
            str(output),
            self._target,
            (),
            0,
            1,
            text,
            "",
            seconds,
            linalg=kernel.formed,
            kernel=kernel.lowered,
            kernels=1,
            ops=kernel.ops,
            interface=kernel.interface,
        )

    def _run_dispatches(self) -> Artifact:
        all_copied = False
        for number in range(1, _MAX_ATTEMPTS + 1):
            attempt, found = self._attempt(number)
            if isinstance(found, Artifact):
                return found
            if not found:
                continue  # the module is another one now
            made = sum(
                self._repairs.repair(kind, emplaced, self._ops(attempt, lines)) for kind, emplaced, lines in found
            )
            _logger.debug("attempt %d: %d violations, %d repairs", number, len(found), made)
            if not made or number >= _PATIENCE:
                if not all_copied:
                    all_copied = True
                    self._copies += copy_all_forwarded(self._module)
                elif not self._call_back_unverified(attempt, found):
                    break
        raise ToolError(
            "IREE's in-place updates of this program could not be verified; please report it",
            command=[compiler_path(), "{input}", *self._flags, "-o", os.devnull],
            reproducer=keep_reproducer("iree-compile", attempt.text, self._dump_dir),
        )

    def _attempt(self, number: int) -> tuple[Attempt, Artifact | list[Violation]]:
        """Compile the module as it is now.

        Returns:
            What was compiled; and the artifact, or what could not be verified. Nothing of either if the module was
            changed, so that another attempt may get further.
        """
        start = time.perf_counter()
        hide_places(self._module)
        hide_awaited(self._module)
        executables = "".join(kernel.executable for kernel in self._kernels)
        attempt = Attempt(self._module, executables, "".join(kernel.stub for kernel in self._kernels))
        source = self._folder / f"module{number}.mlir"
        source.write_text(attempt.source, encoding="utf-8")
        scheduled = self._folder / f"scheduled{number}.mlirbc"
        self._seconds["prepare"] += time.perf_counter() - start
        completed = self._compile(attempt, number, source, scheduled, (*FIRST_HALF, *PRINT_FLAGS))
        if completed is None:
            return attempt, []
        start = time.perf_counter()
        stream = last_dump(completed.stderr)
        checked = ir.Module.parse(stream, self._context)
        violations, copied = self._examine(checked)
        self._seconds["verify"] += time.perf_counter() - start
        if violations:
            self._dump(number, attempt.text, [f"{kind}, lines {lines}" for kind, _, lines in violations])
            return attempt, violations
        if number < _PATIENCE and self._repairs.read_before_updates(self._ops(attempt, copied)):
            return attempt, []
        output = self._translate(attempt, number, scheduled, checked)
        return attempt, [] if output is None else self._artifact(attempt, number, output, stream)

    def _translate(self, attempt: Attempt, number: int, scheduled: Path, checked: ir.Module) -> Path | None:
        """Compile what the first half scheduled; None if the module was changed for another attempt.

        Args:
            attempt: what is compiled.
            number: which attempt it is.
            scheduled: what the first half wrote; repaired here.
            checked: the stream IR that was verified.
        """
        start = time.perf_counter()
        module = ir.Module.parse(scheduled.read_bytes(), self._context)
        workloads, alignments = restore_ordinals(checked, module), correct_alignments(module)
        _logger.debug("attempt %d: repaired %d workloads, %d alignments", number, workloads, alignments)
        overloaded = find_overloaded(checked, module, gpu=self._target.kind == "cuda")
        hide_joined_integers(module)
        if self._for_gpu:
            correct_dispatches(module)
            round_allocations(module)
        insert_bodies(module, [kernel.executable for kernel in self._kernels])
        write_bytecode(module, scheduled)
        self._seconds["verify"] += time.perf_counter() - start
        if overloaded:
            self._split_kernels(attempt, overloaded, "it has more operands than IREE takes")
            return None
        flags = SECOND_HALF
        if self._for_gpu:
            made = self._folder / f"commands{number}.mlirbc"
            if self._compile(attempt, number, scheduled, made, (*SECOND_HALF, *TO_COMMANDS), checked) is None:
                return None
            commands = ir.Module.parse(made.read_bytes(), self._context)
            skip_empty_launches(commands)
            write_bytecode(commands, made)
            scheduled, flags = made, FROM_COMMANDS
        output = self._folder / f"program{number}.vmfb"
        completed = self._compile(attempt, number, scheduled, output, (*flags, *PRINT_MACHINE), checked)
        if completed is None:
            return None
        start = time.perf_counter()
        ours = [kernel.name for kernel in self._kernels]
        races = find_races(checked, output.read_bytes(), ours) if self._for_gpu else []
        if races:
            self._isolate_ops(attempt, races, "its threads read what others write, without a barrier")
            return None
        output = self._with_right_moves(output, completed)
        self._seconds["verify"] += time.perf_counter() - start
        return output

    def _artifact(self, attempt: Attempt, number: int, output: Path, stream: str) -> Artifact:
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
        self._dump(number, attempt.text, without_dump(completed.stderr).splitlines())
        untranslated = find_untranslated(stream, completed.stderr) if stream is not None else []
        if sum(self._repairs.split(self._ops(attempt, lines)) for lines in untranslated):
            return None
        if not self._cure_failure(attempt, completed):
            raise self._failure(attempt, command, completed)
        return None

    def _with_right_moves(self, output: Path, completed: Completed) -> Path:
        """Return the compiled program, or another one where IREE's virtual machine would move values wrongly.

        Args:
            output: the compiled program.
            completed: what was printed.
        """
        # local-sync, which runs CPU programs, does one thing after the other.
        in_order = self._target.kind == "cpu"
        printed = MACHINE.findall(completed.stderr)
        if not printed:
            raise ToolError("iree-compile printed no IR of its virtual machine; please report it")
        wrong = [found for text in printed for found in find_shared_registers(text, self._context)]
        wrong += find_bad_moves(str(output), in_order=in_order)
        if not wrong:
            return output
        _logger.debug("%d wrong moves: %s", len(wrong), wrong)
        repaired, again = (self._folder / name for name in ("repaired.mlir", "repaired.vmfb"))
        text = rewrite_moves(f"module attributes {{vm.toplevel}} {{\n{printed[-1]}\n}}\n")
        repaired.write_text(text, encoding="utf-8")
        command = [compiler_path(), str(repaired), *self._flags, "--compile-from=vm", "-o", str(again)]
        completed = run_tool(command, timeout_s=self._timeout_s)
        if completed.returncode != 0:
            raise tool_error("iree-compile", self._shown(command), completed, source=text, dump_dir=self._dump_dir)
        wrong = [*find_shared_registers(text, self._context), *find_bad_moves(str(again), in_order=in_order)]
        if wrong:
            raise ToolError(
                f"IREE's virtual machine would move values wrongly; please report it\n{wrong[0]}",
                command=command,
                reproducer=keep_reproducer("iree-compile", text, self._dump_dir),
            )
        return again

    def _examine(self, module: ir.Module) -> tuple[list[Violation], list[int]]:
        """Check the stream IR.

        Returns:
            Kind, emplaced and the source lines of each violation, and the source lines of IREE's copies.
        """
        violations = find_violations(module, fills_arguments=self._target.kind == "cpu")
        found = [(found.kind, found.emplaced, found.source_lines(module)) for found in violations]
        return found, cloned_lines(module)
