"""Tuples that TorchScript makes lists of, to compute with them: `(1, n) * 2`, `t == [1, n]`.

Which list of a graph was a tuple shows in how it is used. One that is made for an operator has that use alone, as the
lists of the source have another: what is assigned is kept (`syntax_rewriter.py`), and operands become `[...][:]`.
"""

from __future__ import annotations

import ast
from typing import Any

__all__ = ["as_list", "as_lists", "is_made_of_tuple"]

_OPERATORS = frozenset(f"aten::{name}" for name in ("add", "add_", "mul", "eq", "ne", "lt", "le", "gt", "ge"))
_QUESTIONS = (ast.In, ast.NotIn, ast.Is, ast.IsNot)


def as_list(value: ast.expr) -> ast.expr:
    """An operand such that it is no list that is made for the operator; what is no display of a list as it is."""
    if isinstance(value, ast.IfExp):
        value.body, value.orelse = as_list(value.body), as_list(value.orelse)
    is_annotated = hasattr(value, "is_annotated") or (
        isinstance(value, ast.Call) and ast.unparse(value.func).endswith("annotate")
    )
    if not isinstance(value, ast.List) and not is_annotated:
        return value
    whole = ast.copy_location(ast.Slice(), value)
    return ast.copy_location(ast.Subscript(value, whole, ast.Load()), value)


def as_lists(node: ast.expr, generated: bool) -> None:
    """Do that for the operands of a sum, product or comparison.

    Args:
        node: the expression.
        generated: whether partial evaluation wrote it, where some lists are tuples in eager; it says which sums are of
            tuples only, and which comparisons of none.
    """
    if hasattr(node, "of_tuples"):
        return
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Mult)):
        node.left, node.right = as_list(node.left), as_list(node.right)
    if generated and not hasattr(node, "of_lists"):
        return
    if isinstance(node, ast.Compare) and not any(isinstance(op, _QUESTIONS) for op in node.ops):
        node.left, node.comparators = as_list(node.left), list(map(as_list, node.comparators))


def is_made_of_tuple(node: Any) -> bool:
    """Whether a prim::ListConstruct makes a list of a tuple, in a function that was rewritten."""
    uses = list(node.output().uses())
    return len(uses) == 1 and uses[0].user.kind() in _OPERATORS
