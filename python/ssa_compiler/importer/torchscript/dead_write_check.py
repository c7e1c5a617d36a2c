"""Finding writes that TorchScript dropped, in programs that `source_rewrite.py` could not rewrite.

While scripting, TorchScript removes what it believes to be dead code. It goes by alias annotations, and some ops return
an alias without saying so: after `y = x.type_as(x)` it removes `y += 1`, though eager changes x. So it does after
`y = x[i]` with a 0-d tensor `i`, which is a view in eager. The graph shows nothing of it, so the source is compared
with the graph: a statement that writes and of which no node is left was removed. So it does with ops that write the
tensors in a list, if nobody uses the list again. Only functions that call such an op, and writes to what was indexed
with a variable, are looked at, as TorchScript is right about all others.
"""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Callable, Collection, Iterator
from typing import Any

import torch

from ...errors import SourceLocation, UnsupportedProgramError
from ..ir.schemas import MAY_RETURN_ARGUMENT, writes_list_elements
from .source_rewrite import has_everything
from .view_dtype_check import check_views_of_dtype

__all__ = ["check_dead_writes"]

_RANGE = re.compile(r'File "([^"]+)", line (\d+)')


def check_dead_writes(
    function: Callable[..., Any], graph: Any, dtypes: Collection[str] = (), *, generated: bool = False
) -> None:
    """Check that every write in the source of `function` left something in its graph.

    Args:
        function: the Python function or method that was scripted.
        graph: its un-inlined graph.
        dtypes: names of attributes of modules that hold a dtype.
        generated: whether partial evaluation wrote what was scripted: methods, which TorchScript sees, for augmented
            assignments to variables.
    Raises:
        UnsupportedProgramError: TorchScript dropped a write to a possible alias.
    """
    try:
        lines, first = inspect.getsourcelines(function)
        file = inspect.getsourcefile(function) or "?"
        tree = ast.parse(textwrap.dedent("".join(lines)))
    except (OSError, TypeError, SyntaxError):
        return
    check_views_of_dtype(tree, file, first, dtypes)
    if has_everything(graph):
        return
    called = {_called_name(node) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    suspects = sorted(name for name in called if name in MAY_RETURN_ARGUMENT)
    lists = {name for name in called if _writes_lists(f"aten::{name}")}
    lists |= {
        node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute) and _writes_lists(_operator_name(node))
    }
    indexed = _indexed_names(tree)
    if (
        not suspects
        and not lists
        and not any(_writes_indexed(node, indexed) or _is_pure_to_torchscript(node) for node in ast.walk(tree))
    ):
        return
    indent = len(lines[0]) - len(lines[0].lstrip())
    present = set(_graph_places(graph, file))
    places = {(line - first + 1, column - indent) for line, column in present}
    for statement in ast.walk(tree):
        if _is_pure_to_torchscript(statement):
            # Of these only the result counts to TorchScript; an element's is always forgotten, unless
            # partial evaluation has written another statement.
            is_name = isinstance(statement.target, ast.Name)  # type: ignore[attr-defined]
            kept = generated or (is_name and _span(statement)[0] in places)
            suspect = "&=, |=, ^= and **= change the tensor; write x = x & y, or use bitwise_and_ and alike"
        elif _calls(statement, lists):
            start, end = _span(statement)
            kept = any(start <= place < end for place in places)
            suspect = "the tensors in the list are written; use the list afterwards, or write the tensors one by one"
        elif _writes(statement) if suspects else _writes_indexed(statement, indexed):
            start, end = _span(statement)
            kept = any(start <= place < end for place in places)
            suspect = (
                f"{' and '.join(suspects) or 'indexing with a tensor'} may return its argument itself or a view of it; "
                "write to the argument instead, or clone() the result"
            )
        else:
            continue
        if not kept:
            raise UnsupportedProgramError(
                f"unsupported: TorchScript drops the write here, as it does not see that {suspect}",
                location=SourceLocation(file, first + _span(statement)[0][0] - 1),
            )


def _operator_name(expression: ast.Attribute) -> str:
    """`ns::name` of the expression `torch.ops.ns.name`, else ""."""
    owner = expression.value
    if isinstance(owner, ast.Attribute) and ast.unparse(owner.value) == "torch.ops":
        return f"{owner.attr}::{expression.attr}"
    return ""


def _writes_lists(name: str) -> bool:
    """Whether an operator of this name (`aten::_foreach_add_`) writes the tensors in a list."""
    return bool(name) and any(writes_list_elements(s) for s in torch._C._jit_get_schemas_for_operator(name))


def _calls(statement: ast.AST, names: set[str]) -> bool:
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Call)
        and _called_name(statement.value) in names
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


def _is_indexed(expression: ast.AST | None, names: set[str]) -> bool:
    """Whether an expression is a part of something, chosen by a variable, or a method's result of such a part."""
    while True:
        if isinstance(expression, ast.Subscript):
            if any(isinstance(node, ast.Name) for node in ast.walk(expression.slice)):
                return True
            expression = expression.value
        elif isinstance(expression, ast.Call) and isinstance(expression.func, ast.Attribute):
            expression = expression.func.value
        else:
            return isinstance(expression, ast.Name) and expression.id in names


def _indexed_names(tree: ast.AST) -> set[str]:
    """The variables that are assigned something indexed with a variable."""
    names: set[str] = set()
    before = -1
    while len(names) != before:
        before = len(names)
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign) and _is_indexed(node.value, names):
                names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return names


def _writes_indexed(statement: ast.AST, names: set[str]) -> bool:
    """Whether a statement may write through something indexed with a variable; TorchScript keeps `x[i] = y`."""
    if isinstance(statement, ast.AugAssign):
        return isinstance(statement.target, ast.Name) and _is_indexed(statement.target, names)
    if isinstance(statement, ast.Assign):
        targets = [target for target in statement.targets if isinstance(target, ast.Subscript)]
        return any(_is_indexed(target.value, names) for target in targets)
    if _writes(statement):
        function = statement.value.func  # type: ignore[attr-defined]
        return isinstance(function, ast.Attribute) and _is_indexed(function.value, names)
    return False


def _is_pure_to_torchscript(statement: ast.AST) -> bool:
    """Whether TorchScript computes an augmented assignment as a new value."""
    return (
        isinstance(statement, ast.AugAssign)
        and isinstance(statement.op, (ast.BitAnd, ast.BitOr, ast.BitXor, ast.Pow))
        and isinstance(statement.target, (ast.Subscript, ast.Name))
    )


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
