"""Ranges in words that TorchScript takes: `reversed(range(n))`, `len(range(n))`, `sum(range(n))`."""

from __future__ import annotations

import ast

from .new_nodes import with_places
from .scope import Scope, placed

__all__ = ["is_range", "listed_range", "of_range"]


def of_range(scope: Scope, node: ast.expr) -> ast.expr | None:
    """Return what a call of `reversed` or `len` with a range is, None if it is none, or the range has a dynamic step.

    Args:
        scope: says which names are variables.
        node: the expression.
    """
    name, parts = _called(scope, node)
    inner, bounds = _called(scope, parts[0]) if name in ("reversed", "len") and len(parts) == 1 else ("", [])
    if inner != "range" or not 1 <= len(bounds) <= 3 or any(isinstance(bound, ast.Starred) for bound in bounds):
        return None
    step = bounds[2] if len(bounds) == 3 else ast.Constant(1)
    if not isinstance(step, ast.Constant) or type(step.value) is not int or step.value < 1:
        return None
    start, stop = ("0", ast.unparse(bounds[0])) if len(bounds) == 1 else map(ast.unparse, bounds[:2])
    if len(bounds) > 1 and any(isinstance(part, (ast.Call, ast.NamedExpr)) for part in ast.walk(bounds[0])):
        return None  # the first bound is read more than once
    count = f"({stop}) - ({start})" if step.value == 1 else f"(({stop}) - ({start}) + {step.value - 1}) // {step.value}"
    text = f"max({count}, 0)"
    if name == "reversed":
        text = f"range(({start}) + (({count}) - 1) * {step.value}, ({start}) - 1, -{step.value})"
    made: ast.expr = placed(ast.parse(text, mode="eval").body, node)
    return made


def _called(scope: Scope, node: ast.expr) -> tuple[str, list[ast.expr]]:
    """The name of the builtin function that an expression calls, and what with."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        return ("" if node.func.id in scope.variables else node.func.id), node.args
    return "", []


def is_range(scope: Scope, node: ast.expr) -> bool:
    """Whether an expression is a call of `range`."""
    return _called(scope, node)[0] == "range"


def listed_range(scope: Scope, node: ast.expr) -> ast.expr:
    """Return an expression for the numbers of a range in a list; others are returned as they are."""
    if not is_range(scope, node):
        return node
    name = scope.name()
    generator = ast.comprehension(ast.Name(name, ast.Store()), node, [], 0)
    return with_places(ast.ListComp(ast.Name(name, ast.Load()), [generator]), node)
