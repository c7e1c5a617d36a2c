"""What one run of iree-compile is given and prints: the text of a module with the op on each line, and IR among
messages.
"""

from __future__ import annotations

import re

from iree.compiler import ir

from ...errors import SourceLocation
from ..callbacks.callbacks import torch_operator
from ..ir.bindings import walk

__all__ = ["Attempt", "last_dump", "torch_users", "user_location", "without_dump"]

_DUMP = re.compile(r"^// -----// IR Dump After \w+Pass.*$", re.MULTILINE)
# A diagnostic, or a line of a stack dump.
_MESSAGE = re.compile(r"^\S.*: (?:error|note|warning): |^ *#\d+ 0x|^LLVM ERROR")
# A module in generic form: up to the first bracket that is not indented, and the aliases of locations after it.
_PRINTED_MODULE = re.compile(r".*?^\}\)[^\n]*\n(?:#[^\n]*\n?)*", re.MULTILINE | re.DOTALL)
_USER_LINE = re.compile(r'"((?:[^"\\]|\\.)*)":(\d+)(?::\d+)?')


def user_location(op: ir.Operation) -> SourceLocation | None:
    """Return the user's line of an op: the last place its location names."""
    places = [
        place
        for place in _USER_LINE.findall(str(op.location))
        if not place[0].endswith((".mlir", "<stdin>")) and place[0] != "-"
    ]
    return SourceLocation(places[-1][0], int(places[-1][1])) if places else None


class Attempt:
    """The text of the module at one point, and the op on each of its lines.

    Args:
        module: an `iree`-stage module.
        executables: those of the kernels that it dispatches.
        stubs: those executables without the kernels.
    Attributes:
        text: the whole program.
        source: what the first half of iree-compile reads.
    """

    def __init__(self, module: ir.Module, executables: str = "", stubs: str = "") -> None:
        text = module.operation.get_asm(enable_debug_info=False)
        again = ir.Module.parse(text, module.context)
        end = text.rindex("}")
        self.text = text[:end] + executables + text[end:]
        self.source = text[:end] + stubs + text[end:]
        self._ops: dict[int, ir.Operation] = {}
        for op, twin in zip(walk(module.operation), walk(again.operation), strict=True):
            if isinstance(twin.location, ir.FileLineColLoc):  # what short forms of ops leave out has none
                self._ops.setdefault(ir.FileLineColLoc(twin.location).start_line, op)

    def op_at(self, line: int) -> ir.Operation | None:
        """Return the op that starts on a line, counted from 1."""
        return self._ops.get(line)


def torch_users(op: ir.Operation) -> list[ir.Operation]:
    """The torch operators that use a torch constant or list, each once."""
    found: list[ir.Operation] = []
    if op.name.startswith("torch."):
        for result in op.results:
            for use in result.uses:
                user = use.owner.operation
                users = [user] if torch_operator(user) not in (None, "prim::ListConstruct") else torch_users(user)
                found += [other for other in users if other not in found]
    return found


def without_dump(stderr: str) -> str:
    """Return what iree-compile printed before the IR, and the messages and stack dump after it."""
    before, *after = _DUMP.split(stderr)
    kept = [line for text in after for line in text.splitlines() if _MESSAGE.search(line)]
    return before + "\n".join(kept)


def last_dump(stderr: str) -> str:
    """Return the IR that was printed after the checked pass, without what iree-compile printed after it."""
    text = stderr[list(_DUMP.finditer(stderr))[-1].end() :]
    module = _PRINTED_MODULE.match(text)
    return module[0] if module is not None else text
