"""A module on its way through iree-compile, and what is changed in it when a run fails."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from pathlib import Path

from iree.compiler import ir

from ...abi.callback_sites import CallbackSite
from ...errors import SsaCompilerError, ToolError
from ...process.child_processes import Completed, keep_reproducer, memory_limit, parse_diagnostics, tool_error
from ..buffers.copy_insertion import cut_chains
from ..callbacks.callbacks import is_assertion, to_callback, torch_operator
from ..callbacks.dtype_emulation import carry_as_integers
from ..callbacks.extern_kernels import find_extern_kernels
from ..ir.bindings import walk
from ..kernels.kernels import Kernel
from ..kernels.library_calls import is_kernel_op
from ..toolchain.cache import ProgramCache
from ..toolchain.compile_attempt import Attempt, torch_users, user_location, without_dump
from ..toolchain.op_bisect import failing_ops, is_lasting, known_to_fail, probe_memory, rejection
from ..toolchain.targets import Target
from ..workarounds.conjugates import rewrite_conjugates
from ..workarounds.indices import rewrite_indices
from ..workarounds.masks import choose_at_masks
from ..workarounds.op_rewrites import rewrite_ops
from ..workarounds.unsupported_ops import cannot_be_linked, must_call_back
from .commands import FIRST_HALF, PRINT_FLAGS, PRINT_MACHINE, SECOND_HALF, compiler_path
from .repairs import Repairs

__all__ = ["ModuleAtWork", "Violation"]

Violation = tuple[str, bool, list[int]]
"""What could not be verified: its kind, whether an update in place is concerned, and the lines it comes from."""

_NO_FIXED_POINT = "failed to solve for"
# Failures of the program's structure: the op at the location is not to blame.
_NOT_OF_AN_OP = ("unresolved target materialization", _NO_FIXED_POINT, "does not dominate")
_SYMBOL = re.compile(r"undefined symbol: (\w+)")
_NO_END = "maximum iteration count exceeded in fixed point pipeline"
_TYPES = "!torch.float"
_TOPOLOGY = (
    "#hal.device.topology<links = [(@__device_0 -> @__device_0 = {transparent_access = true, unified_memory = true})]>"
)


def _base_name(op: ir.Operation) -> str:
    """The name of a torch op as C has it: `acos` of `aten::acos`."""
    return (torch_operator(op) or "").partition("::")[2].partition(".")[0]


class ModuleAtWork:
    """A module that is changed until iree-compile takes it: ops become callbacks, updates get copies and barriers.

    Attributes:
        repeatable: whether the result would be the same another time: no run was stopped by the clock or from outside.
    """

    # Of a module that is prepared for dispatches.
    _repairs: Repairs
    _copies: int
    _reach: int

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
        self._set_attributes(self._module)
        rewrite_indices(self._module)
        rewrite_conjugates(self._module)
        # All are found before the first is replaced: replacing one erases the constants that only it used.
        rejected = [
            (op, reason)
            for op in walk(self._module.operation)
            if (reason := must_call_back(op)) is not None
            and not (kernel_maker is not None and (is_kernel_op(op) or is_assertion(op)))
        ]
        for op, reason in rejected:
            self._call_back(op, reason)
        if target.library_threads:
            for op, reason in find_extern_kernels(self._module, target.library_threads):
                self._call_back(op, reason, extern=True)
        carry_as_integers(self._module)
        choose_at_masks(self._module)
        rewrite_ops(self._module)
        self._seconds["prepare"] += time.perf_counter() - start

    def _set_attributes(self, module: ir.Module) -> None:
        """Give a module the attributes that all have."""
        given = {"stream.topology": _TOPOLOGY, "tssa.types": _TYPES}
        for name, value in given.items():
            module.operation.attributes[name] = ir.Attribute.parse(value, self._context)

    def _call_back_known(self) -> None:
        """Turn the ops that earlier programs showed not to compile into callbacks, and those that cannot be linked."""
        if self._target.kind == "cpu":
            for op in [op for op in walk(self._module.operation) if cannot_be_linked(op)]:
                self._call_back(op, "IREE has no such function of float64")
        command = (compiler_path(), *self._flags)
        for op, reason in known_to_fail(self._module, command, timeout_s=self._timeout_s, cache=self._cache):
            self._call_back(op, reason)

    def _ops(self, attempt: Attempt, lines: list[int]) -> list[ir.Operation]:
        found = [attempt.op_at(line) for line in lines]
        return [op for op in found if op is not None]

    def _call_back_unverified(self, attempt: Attempt, violations: list[Violation]) -> bool:
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

    def _call_back(self, op: ir.Operation, reason: str, *, extern: bool = False) -> bool:
        number, where = len(self._callbacks), user_location(op)
        site = to_callback(self._module, op, number, location=where, reason=reason, extern=extern)
        if site is not None:
            self._callbacks.append(site)
            self.repeatable &= is_lasting(reason)
        return site is not None

    def _cure_failure(self, attempt: Attempt, completed: Completed) -> bool:
        """Change the module so that iree-compile may get further; returns whether there was something to change.

        Ops that fail alone become callbacks: those that iree-compile names, else any other. If one that is named does
        not, the failure is of ops that it was fused with, from which a barrier keeps it apart. Where none does, the run
        may have needed more memory, or barriers keep all ops apart. What iree-compile names after that becomes a
        callback. A run that comes to no end gets barriers in front of its
        loops, and one with an analysis that gives up gets copies between them, and between branches.
        """
        if _NO_FIXED_POINT in completed.stderr and self._cut_chains():
            return True
        if _NO_END in completed.stderr and self._repairs.hide_starts():
            return True
        named = self._named_ops(attempt, completed)
        blamed = [op for op, _ in named]
        if self._call_back_failing(blamed) or self._repairs.isolate(blamed):
            return True
        if self._call_back_failing(list(walk(self._module.operation))):
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
        missing = set(_SYMBOL.findall(completed.stderr))  # a function of C's that IREE's kernels do not have
        if found := [op for op in walk(self._module.operation) if _base_name(op) in missing]:
            return [(op, f"undefined symbol: {_base_name(op)}") for op in found]
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
            part for part in command if part not in (*PRINT_FLAGS, *FIRST_HALF, *SECOND_HALF, *PRINT_MACHINE)
        ]
        shown = self._shown(without_print)
        trimmed = Completed(completed.stdout, without_dump(completed.stderr), completed.returncode)
        return tool_error(
            "iree-compile", shown, trimmed, source=attempt.text, dump_dir=self._dump_dir, location=location
        )

    def _split_kernels(self, attempt: Attempt, kernels: list[list[int]], reason: str) -> None:
        """Split kernels that IREE makes wrongly, given by the lines they come from and what is wrong with them."""
        self._change_kernels(attempt, kernels, self._repairs.split, reason)

    def _isolate_ops(self, attempt: Attempt, kernels: list[list[int]], reason: str) -> None:
        """Give the last ops of kernels that IREE makes wrongly kernels of their own; see `_split_kernels`."""
        self._change_kernels(attempt, kernels, self._repairs.isolate, reason)

    def _change_kernels(
        self, attempt: Attempt, kernels: list[list[int]], change: Callable[[list[ir.Operation]], int], reason: str
    ) -> None:
        whole = [ops for lines in kernels if not change(ops := self._ops(attempt, lines))]
        if len(whole) == len(kernels) and not self._call_back_last(whole, reason):
            raise ToolError(
                f"a kernel of this program cannot be split: {reason}; please report it",
                reproducer=keep_reproducer("iree-compile", attempt.text, self._dump_dir),
            )

    def _dump(self, number: int, text: str, messages: list[str]) -> None:
        """Write a module that did not compile or was not verified, followed by why, to the folder for dumps if there is
        one.
        """
        if self._dump_dir is None:
            return
        folder = Path(self._dump_dir)
        folder.mkdir(parents=True, exist_ok=True)
        why = "".join(f"// {message}\n" for message in messages)
        (folder / f"attempt-{number}.mlir").write_text(text + why, encoding="utf-8")
