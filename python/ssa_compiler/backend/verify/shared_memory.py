"""Find kernels for CUDA whose threads read shared memory that others write, without a barrier in between.

IREE 3.13 makes such kernels of some ops that it fuses with what computes their operands (a scatter and its indices):
one thread writes each operand into shared memory, and all read them all. Whether a warp has written when another reads
is left to chance.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from iree.compiler import ir

from ..ir.bindings import walk
from .kernel_access import dispatch_lines

__all__ = ["find_races"]

_KERNEL = re.compile(rb"\.entry ([\w$]+)\(.*?^\}", re.MULTILINE | re.DOTALL)
_STORE, _LOAD = b"st.shared", b"ld.shared"
_BARRIER = re.compile(rb"^\s*(?:@!?%p\d+ )?bar(?:rier)?\.", re.MULTILINE)


def find_races(before: ir.Module, program: bytes, ours: Collection[str] = ()) -> list[list[int]]:
    """Find the kernels of IREE's that write and read shared memory without a barrier.

    Args:
        before: the asynchronous stream IR.
        program: the compiled program, with the kernels as PTX.
        ours: the names of kernels that are not IREE's.
    Returns:
        For each, the lines of the compiled text that it was made from.
    """
    racing = {
        match[1].decode()
        for match in _KERNEL.finditer(program)
        if match[1].decode() not in ours
        and _STORE in match[0]
        and _LOAD in match[0]
        and _BARRIER.search(match[0]) is None
    }
    return [
        dispatch_lines(op, before)
        for op in walk(before.operation)
        if op.name == "stream.async.dispatch" and racing & set(_kernels(op))
    ]


def _kernels(dispatch: ir.Operation) -> list[str]:
    """The names that the kernels of a dispatch have in PTX."""
    names = [ir.SymbolRefAttr(name).value[-1] for name in ir.ArrayAttr(dispatch.attributes["entry_points"])]
    return [re.sub(r"\W", "_", name) for name in names]
