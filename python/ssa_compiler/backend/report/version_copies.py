"""Count the copies of whole tensors in a compiled program: what IREE makes for the versions that are still needed.

A copy is a `stream.async.clone`, which IREE puts in front of an update of a tensor that has another use, or an opaque
copy (`copies`) of a tensor. An opaque copy that is one kernel with what computes the tensor, or of a tensor that is
created from nothing (`zeros`), passes over no memory of its own and is not counted. Slices and updates of a part of a
tensor are what the program asks for, and not counted either.
"""

from __future__ import annotations

from dataclasses import dataclass

from iree.compiler import ir

from ...process.forks import new_context
from ..buffers.buffer_reuse import memory_root
from ..ir.bindings import DIALECTS, source_lines, walk
from ..ir.types import holds_tensor
from ..verify.kernel_access import kernel_function
from .copy_count import runs_again

__all__ = ["VersionCopies", "count_version_copies"]


@dataclass(frozen=True)
class VersionCopies:
    """Static counts of copies of whole tensors.

    Attributes:
        outside: copies outside every loop.
        inside: copies in blocks that run again.
    """

    outside: int = 0
    inside: int = 0

    @property
    def total(self) -> int:
        """All of them."""
        return self.outside + self.inside


def count_version_copies(module: str, stream: str) -> VersionCopies:
    """Count the copies of one compiled program.

    Args:
        module: the module that was compiled, `Artifact.module`; locations of `stream` are lines of it.
        stream: the asynchronous stream IR, `Artifact.stream`.
    """
    counts = [0, 0]
    with new_context(ir, *DIALECTS) as context:
        context.allow_unregistered_dialects = True
        sources = _copied(ir.Module.parse(module, context))
        program = ir.Module.parse(stream, context)
        for view in program.body.operations:
            function = view.operation
            if function.name != "util.func":
                continue
            for op in walk(function):
                if op.name == "stream.async.clone" or (
                    op.name == "stream.async.dispatch" and _is_copy(op, program, sources)
                ):
                    counts[runs_again(op, function)] += 1
    return VersionCopies(*counts)


def _copied(module: ir.Module) -> dict[int, int | None]:
    """The line of each opaque copy, with the line of the op that makes what it copies; None for an argument of a
    block.
    """
    found: dict[int, int | None] = {}
    for op in walk(module.operation):
        # Only `copies` makes these.
        if op.name != "linalg.generic":
            continue
        owner = memory_root(op.operands[0]).owner
        line = ir.FileLineColLoc(op.location).start_line
        if isinstance(owner, ir.Block):
            found[line] = None
        elif owner.operation.regions or any(holds_tensor(operand) for operand in owner.operation.operands):
            found[line] = ir.FileLineColLoc(owner.operation.location).start_line
    return found


def _is_copy(dispatch: ir.Operation, program: ir.Module, sources: dict[int, int | None]) -> bool:
    """Whether a kernel copies a tensor that it does not compute itself."""
    kernel = kernel_function(dispatch, program)
    if kernel is None:
        return False
    # What moves a part of a copy elsewhere has its line too: the copy is the kernel that computes it.
    # Equal kernels are one, with the lines of the first; the dispatch has its own.
    generic = [op for op in walk(kernel) if op.name == "linalg.generic"]
    computed = source_lines([*generic, dispatch]) if generic else []
    lines = source_lines([*walk(kernel), dispatch])
    return any(line in computed and source not in lines for line, source in sources.items())
