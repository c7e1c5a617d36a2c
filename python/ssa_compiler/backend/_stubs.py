"""Kernels without their bodies, which the first half of iree-compile takes as they are.

It would run dozens of passes over them and print them, and changes nothing; they are inserted before the second half.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from iree.compiler import ir

__all__ = ["insert_bodies", "without_body"]

_BODY = re.compile(r"^    builtin\.module \{\n.*?^    \}\n", re.MULTILINE | re.DOTALL)
_SOURCE = "hal.executable.source"


def without_body(executable: str, name: str) -> str:
    """Return a kernel's executable with an empty function in the place of the kernel.

    Args:
        executable: the text that `_executable.assemble` wrote.
        name: the name of the executable, and of the function in it.
    """
    body = f"    builtin.module {{\n      func.func @{name}() {{\n        return\n      }}\n    }}\n"
    text, count = _BODY.subn(lambda _: body, executable)
    assert count == 1
    return text


def insert_bodies(scheduled: Path, executables: Sequence[str], context: ir.Context) -> None:
    """Put kernels into the place of the empty functions that stood for them.

    Args:
        scheduled: what the first half of iree-compile wrote, as bytecode; it is written anew if there are kernels.
        executables: the executables of the kernels, as text.
        context: a context with IREE's dialects.
    """
    if not executables:
        return
    module = ir.Module.parse(scheduled.read_bytes(), context)
    bodies = ir.Module.parse(f"module {{\n{''.join(executables)}}}\n", context)
    found = {_name(source): _body(source) for source in _sources(bodies)}
    for source in _sources(module):
        stub = _body(source)
        if (body := found.get(_name(source))) is None:
            continue
        for op in list(stub.operations):
            op.operation.erase()
        where = ir.InsertionPoint(stub)
        for op in body.operations:
            op.operation.clone(where)
    with scheduled.open("wb") as file:
        module.operation.write_bytecode(file)


def _sources(module: ir.Module) -> list[ir.Operation]:
    return [op.operation for op in module.body.operations if op.operation.name == _SOURCE]


def _name(source: ir.Operation) -> str:
    return ir.StringAttr(source.attributes["sym_name"]).value


def _body(source: ir.Operation) -> ir.Block:
    """The block of the module in an executable."""
    (inner,) = [op.operation for op in source.regions[0].blocks[0].operations if op.operation.name == "builtin.module"]
    return inner.regions[0].blocks[0]
