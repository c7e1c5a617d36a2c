"""Finding writes that TorchScript dropped.

While scripting, TorchScript removes what it believes to be dead code. It goes by alias annotations, and some ops return
an alias without saying so: after `y = x.type_as(x)` it removes `y += 1`, though eager changes x. The graph shows nothing
of it, so the source is compared with the graph: a statement that writes and of which no node is left was removed. Only
functions that call such an op are looked at, as TorchScript is right about all others.
"""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Callable, Iterator
from typing import Any

from ..errors import SourceLocation, UnsupportedProgramError

__all__ = ["UNANNOTATED", "check_dropped_writes"]

# Ops whose result may be their argument, though their schema does not say so (seen on torch 2.13).
UNANNOTATED = frozenset(
    {
        "alpha_dropout",
        "atleast_1d",
        "atleast_2d",
        "atleast_3d",
        "broadcast_tensors",
        "cartesian_prod",
        "dropout",
        "einsum",
        "feature_alpha_dropout",
        "feature_dropout",
        "histogramdd",
        "meshgrid",
        "sum_to_size",
        "to_dense",
        "type_as",
        "unsafe_chunk",
        "unsafe_split",
        "unsafe_split_with_sizes",
    }
)
_RANGE = re.compile(r'File "([^"]+)", line (\d+)')


def check_dropped_writes(function: Callable[..., Any], graph: Any) -> None:
    """Check that every write in the source of `function` left something in its graph.

    Args:
        function: the Python function or method that was scripted.
        graph: its un-inlined graph.
    Raises:
        UnsupportedProgramError: TorchScript dropped a write to a possible alias.
    """
    try:
        lines, first = inspect.getsourcelines(function)
        file = inspect.getsourcefile(function) or "?"
        tree = ast.parse(textwrap.dedent("".join(lines)))
    except (OSError, TypeError, SyntaxError):
        return
    called = {_called_name(node) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    suspects = sorted(name for name in called if name in UNANNOTATED)
    if not suspects:
        return
    indent = len(lines[0]) - len(lines[0].lstrip())
    present = set(_graph_places(graph, file))
    for statement in ast.walk(tree):
        if not _writes(statement):
            continue
        start, end = _span(statement)
        places = [(line - first + 1, column - indent) for line, column in present]
        if not any(start <= place < end for place in places):
            raise UnsupportedProgramError(
                f"unsupported: TorchScript drops the write here, as it does not see that {' and '.join(suspects)} may "
                "return its argument itself; write to the argument instead, or clone() the result",
                location=SourceLocation(file, first + start[0] - 1),
            )


def _called_name(call: ast.Call) -> str:
    function = call.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _writes(statement: ast.AST) -> bool:
    """Whether a statement may write into a tensor."""
    if isinstance(statement, ast.AugAssign):
        return True
    if isinstance(statement, ast.Assign):
        return any(isinstance(target, ast.Subscript) for target in statement.targets)
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        name = _called_name(statement.value)
        return name.endswith("_") and not name.startswith("_")
    return False


def _span(statement: Any) -> tuple[tuple[int, int], tuple[int, int]]:
    """Where a statement starts and ends: line and column."""
    return (statement.lineno, statement.col_offset), (statement.end_lineno, statement.end_col_offset)


def _graph_places(block: Any, file: str) -> Iterator[tuple[int, int]]:
    """Yield the source lines and columns of a graph's nodes."""
    for node in block.nodes():
        found = _RANGE.search(node.sourceRange())
        if found and found.group(1) == file and node.kind() != "prim::Constant":
            marker = next((line for line in node.sourceRange().splitlines() if "<--- HERE" in line), "")
            yield int(found.group(2)), len(marker) - len(marker.lstrip())
        for inner in node.blocks():
            yield from _graph_places(inner, file)
