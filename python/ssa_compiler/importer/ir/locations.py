"""Source locations: from TorchScript's source ranges to MLIR locations and to the user's file and line."""

from __future__ import annotations

import ast
import re
from functools import lru_cache
from itertools import pairwise
from typing import Any

import torch
from torch_mlir import ir

from ... import library
from ...errors import SourceLocation

__all__ = ["Locations", "highlighted", "is_augmented_assignment", "is_call"]

_AUGMENTED_OPERATOR = re.compile(r"(?:\*\*|//|<<|>>|[-+*/%&|^@])=(?!=)")
_RANGE = re.compile(r'File "([^"]+)", line (\d+)')
_OTHERS = (torch.__path__[0], library.__path__[0])


def highlighted(node: Any) -> str:
    """Return the source text that a node was made of, "" if it has none; lines lose their indentation."""
    marked = []
    for line, marker in pairwise(node.sourceRange().splitlines()):
        if re.fullmatch(r" *~+( <--- HERE)?", marker):
            start = len(marker) - len(marker.lstrip())
            marked.append(str(line[start : start + marker.count("~")]))
    return "\n".join(marked)


@lru_cache(maxsize=256)
def is_augmented_assignment(text: str) -> bool:
    """Whether source text is a statement such as `x[0] += y`.

    The end that TorchScript gives may lie behind that of the statement, or before a closing parenthesis.
    """
    if "=" not in text:
        return False
    lines = text.split("\n")
    for count in range(len(lines), 0, -1):
        try:
            first = ast.parse("\n".join(lines[:count])).body[0]
        except (SyntaxError, ValueError, IndexError):
            continue
        return isinstance(first, ast.AugAssign)
    return _AUGMENTED_OPERATOR.search(lines[0]) is not None


_ITEM_ASSIGNMENT = re.compile(r"[\w.]+(\[.*\])+\s*=(?!=)")


@lru_cache(maxsize=256)
def is_item_assignment(text: str) -> bool:
    """Whether source text is a statement such as `x[0] = y`, or its beginning: the last brackets may be missing."""
    return _ITEM_ASSIGNMENT.match(text) is not None


_CALL = re.compile(r"\w+(\.\w+)+(\(.*)?", re.DOTALL)


def is_call(text: str) -> bool:
    """Whether the text of an op is a function in a module, `math.pow`, and no operator: of a call it is what is
    called.
    """
    return _CALL.fullmatch(text) is not None


class Locations:
    """The location of the node being imported, inside the calls that lead to it.

    `frames` holds one location per active call, outermost first; the innermost is replaced node by node. `kind` is what
    the node does, `aten::append`.
    """

    def __init__(self) -> None:
        self.frames: list[SourceLocation | None] = [None]
        self.kind = ""
        self._node: Any = None

    def enter_node(self, node: Any) -> None:
        """Move to `node`; one without source range, or of a builtin of TorchScript's, keeps the location of the node
        before it.
        """
        self.kind, self._node = node.kind(), node
        match = _RANGE.search(node.sourceRange())
        if match and match.group(1) != "<string>":
            self.frames[-1] = SourceLocation(match.group(1), int(match.group(2)))

    def users(self) -> list[Any]:
        """Return the nodes that use the result of the present one."""
        return [] if self._node is None else [use.user for use in self._node.output().uses()]

    def text(self) -> str:
        """Return the user's text of the current node."""
        return highlighted(self._node) if self._node is not None else ""

    def enter_function(self, function: Any) -> None:
        """Locate nodes in front of the first one that has a source range at the definition of the function, if it is
        known.
        """
        code = getattr(function, "__code__", None)
        if self.frames[-1] is None and code is not None:
            self.frames[-1] = SourceLocation(code.co_filename, code.co_firstlineno)

    def enter_call(self) -> None:
        """Enter a callee: its nodes are located inside the current node."""
        self.frames.append(None)

    def leave_call(self) -> None:
        """Return to the caller."""
        self.frames.pop()

    def user(self) -> SourceLocation | None:
        """Return the innermost line that is neither PyTorch's own code nor the library's, the user's line."""
        known = [frame for frame in self.frames if frame]
        for frame in reversed(known):
            if not frame.file.startswith(_OTHERS):
                return frame
        return known[0] if known else None

    def is_in_library(self) -> bool:
        """Whether the current node is of PyTorch's own code, or of the library's."""
        return self.frames[-1] is not None and self.frames[-1].file.startswith(_OTHERS)

    def mlir(self) -> ir.Location:
        """Return the MLIR location: `callsite(callee at caller)`, whose last caller is a line of the outermost
        function.
        """
        known = [frame for frame in self.frames if frame]
        if not known:
            return ir.Location.unknown()
        places = [ir.Location.file(frame.file, frame.line, 0) for frame in reversed(known)]
        return places[0] if len(places) == 1 else ir.Location.callsite(places[0], places[1:])
