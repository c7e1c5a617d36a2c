"""Kernels without their bodies, which the first half of iree-compile takes as they are.

It would run dozens of passes over them and print them, and changes nothing; they are inserted before the second half.
What stands for a kernel has its name in an op that no pass erases: of executables that look alike IREE keeps one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from iree.compiler import ir

from ...errors import ToolError

__all__ = ["insert_bodies", "without_body"]

_BODY = re.compile(r"^    builtin\.module \{\n.*?^    \}\n", re.MULTILINE | re.DOTALL)
_SOURCE = "hal.executable.source"


def without_body(executable: str, name: str) -> str:
    """Return a kernel's executable with a function that does nothing in the place of the kernel.

    Args:
        executable: the text that `executable.assemble` wrote.
        name: the name of the executable, and of the function in it.
    """
    named = f'llvm.inline_asm has_side_effects "{_mark(name)}", "" : () -> ()'
    body = f"    builtin.module {{\n      func.func @{name}() {{\n        {named}\n        return\n      }}\n    }}\n"
    text, count = _BODY.subn(lambda _: body, executable)
    assert count == 1
    return text


def insert_bodies(scheduled: ir.Module, executables: Sequence[str]) -> None:
    """Put kernels into the place of the functions that stood for them. IREE drops those whose results nobody uses.

    Args:
        scheduled: what the first half of iree-compile wrote, changed in place.
        executables: the executables of the kernels, as text.
    Raises:
        ToolError: the executables are not those of the kernels.
    """
    if not executables:
        return
    bodies = ir.Module.parse(f"module {{\n{''.join(executables)}}}\n", scheduled.context)
    found = {_name(source): _body(source) for source in _sources(bodies)}
    stubs = {_name(source): _body(source) for source in _sources(scheduled)}
    for name, stub in stubs.items():
        body = found.get(name)
        if body is None or _mark(name) not in "".join(str(op) for op in stub.operations):
            raise ToolError(
                f"IREE has not kept kernels apart: {sorted(found)} became {sorted(stubs)}; please report it"
            )
        for op in list(stub.operations):
            op.operation.erase()
        where = ir.InsertionPoint(stub)
        for op in body.operations:
            op.operation.clone(where)


def _mark(name: str) -> str:
    return f"# {name};"


def _sources(module: ir.Module) -> list[ir.Operation]:
    return [op.operation for op in module.body.operations if op.operation.name == _SOURCE]


def _name(source: ir.Operation) -> str:
    return ir.StringAttr(source.attributes["sym_name"]).value


def _body(source: ir.Operation) -> ir.Block:
    """The block of the module in an executable."""
    (inner,) = [op.operation for op in source.regions[0].blocks[0].operations if op.operation.name == "builtin.module"]
    return inner.regions[0].blocks[0]
