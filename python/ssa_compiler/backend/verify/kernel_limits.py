"""Find the kernels that take more operands than IREE's runtime passes to one, and those that its code generator gives
up.

IREE fuses without a limit, and its runtime rejects the program when it is loaded, or at the first call. How many
operands a kernel has is known only after scheduling: buffers that are slices of one are one operand and an offset,
equal numbers are passed once, and numbers of 64 bits are passed as two.

Some fused kernels are not lowered to the end (gathers from strided columns, indices that are vectors). The message has
no line, but shows the functions.
"""

from __future__ import annotations

import re

from iree.compiler import ir

from ..ir.bindings import walk
from ..ir.types import is_resource
from .kernel_access import dispatch_lines

__all__ = ["MOST_CONSTANTS", "find_overloaded", "find_untranslated", "most_bindings"]

MOST_CONSTANTS = 64
"""Numbers of 32 bits that are passed to one kernel."""
_FUNCTION = re.compile(r'^ +"llvm\.func"\(\).*sym_name = "([^"]+)"')
_UNTRANSLATED = '"builtin.unrealized_conversion_cast"'


def most_bindings(*, gpu: bool) -> int:
    """How many buffers IREE's runtime passes to one kernel."""
    return 16 if gpu else 32


def find_overloaded(before: ir.Module, scheduled: ir.Module, *, gpu: bool) -> list[list[int]]:
    """Find the kernels that IREE's runtime would reject.

    Args:
        before: the asynchronous stream IR.
        scheduled: what `iree-compile --compile-to=stream` wrote.
        gpu: whether a GPU runs them.
    Returns:
        For each, the lines of the compiled text that it was made from.
    """
    most = most_bindings(gpu=gpu)
    if not any(_may_be_overloaded(op, most) for op in walk(before.operation) if op.name == "stream.async.dispatch"):
        return []
    overloaded = {
        ir.StringAttr(executable.attributes["sym_name"]).value
        for executable in scheduled.body
        if executable.name == "stream.executable"
        and any(_is_overloaded(op, most) for op in walk(executable) if op.name.endswith(".func"))
    }
    return [
        dispatch_lines(op, before)
        for op in walk(before.operation)
        if op.name == "stream.async.dispatch" and _executables(op) & overloaded
    ]


def _may_be_overloaded(dispatch: ir.Operation, most: int) -> bool:
    """Each operand may be two numbers, each buffer bring an offset."""
    values = [*dispatch.operands, *dispatch.results]
    buffers = sum(is_resource(value) for value in values)
    return buffers > most or 2 * len(values) > MOST_CONSTANTS


def _is_overloaded(function: ir.Operation, most: int) -> bool:
    types = [str(type_) for type_ in ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value).inputs]
    buffers = types.count("!stream.binding")
    return buffers > most or len(types) - buffers > MOST_CONSTANTS


def _executables(dispatch: ir.Operation) -> set[str]:
    """The executables that a dispatch may run."""
    names = ir.ArrayAttr(dispatch.attributes["entry_points"])
    return {ir.SymbolRefAttr(name).value[0] for name in names}


def find_untranslated(before: ir.Module, printed: str) -> list[list[int]]:
    """Find the kernels that IREE could not translate to LLVM's IR.

    Args:
        before: the asynchronous stream IR.
        printed: what iree-compile printed.
    Returns:
        For each, the lines of the compiled text that it was made from.
    """
    function, found = "", set()
    for line in printed.splitlines():
        if (header := _FUNCTION.match(line)) is not None:
            function = header[1]
        elif _UNTRANSLATED in line and function:
            found.add(function)
    return [
        dispatch_lines(op, before)
        for op in walk(before.operation)
        if op.name == "stream.async.dispatch"
        and found & {ir.SymbolRefAttr(name).value[-1] for name in ir.ArrayAttr(op.attributes["entry_points"])}
    ]
