"""Finding `x.view(torch.int32)`, which TorchScript takes for `x.view([3])`.

To TorchScript a dtype is an int, and `Tensor.view` takes sizes; where the sizes fit by chance, nothing in the graph
shows the mistake. The source does.
"""

from __future__ import annotations

import ast
from collections.abc import Collection

import torch

from ...errors import SourceLocation, UnsupportedOpError

__all__ = ["check_views_of_dtype"]


def check_views_of_dtype(tree: ast.AST, file: str, first: int, attributes: Collection[str] = ()) -> None:
    """Check that no call of `view` in a function is given a dtype.

    Args:
        tree: the function.
        file: its source file.
        first: its first line.
        attributes: names of attributes of modules that hold a dtype.
    Raises:
        UnsupportedOpError: one is.
    """
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.arg) and node.annotation is not None and "dtype" in ast.unparse(node.annotation):
            names.add(node.arg)
        if isinstance(node, ast.Assign) and _is_dtype(node.value, names, attributes):
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.func.attr != "view":
            continue
        given = [*node.args, *(keyword.value for keyword in node.keywords)]
        if len(given) in (1, 2) and _is_dtype(given[-1], names, attributes):
            raise UnsupportedOpError(
                "unsupported: TorchScript does not know view with a dtype, and takes the dtype for a size; to convert the "
                "elements, use to()",
                location=SourceLocation(file, first + node.lineno - 1),
            )


def _is_dtype(expression: ast.expr, names: set[str], attributes: Collection[str]) -> bool:
    """Whether an expression is `torch.int32`, `x.dtype`, or a variable or an attribute that is known to hold one."""
    if isinstance(expression, ast.Name):
        return expression.id in names
    if not isinstance(expression, ast.Attribute):
        return False
    if expression.attr == "dtype" or expression.attr in attributes:
        return True
    root = isinstance(expression.value, ast.Name) and expression.value.id == "torch"
    return root and isinstance(getattr(torch, expression.attr, None), torch.dtype)
