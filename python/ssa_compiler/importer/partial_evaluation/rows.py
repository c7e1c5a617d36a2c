"""`for i, j in x.tolist()`: a loop over the rows of a tensor, of each of which a list is made when it is unpacked.

A list of all the lists would have to have a number of elements that is known.
"""

from __future__ import annotations

import ast
import copy
from typing import Any

from .interfaces import ExpressionEvaluator
from .new_nodes import with_places
from .rejections import NeedsKnownError, NotCompiledError
from .values import TensorValue

__all__ = ["over_rows"]


def over_rows(expressions: ExpressionEvaluator, loop: Any) -> list[ast.stmt]:
    """Let a loop that unpacks the lists of numbers which the rows of a tensor make be one over the tensor.

    Args:
        expressions: evaluates what it iterates over.
        loop: the loop, or a part of a comprehension; changed.
    Returns:
        What it does first then; nothing if it is no such loop.
    """
    out: list[ast.stmt] = []
    loop.target = _replaced(expressions, loop.target, loop.iter, out)
    return out


def _replaced(expressions: ExpressionEvaluator, target: Any, items: ast.expr, out: list[ast.stmt]) -> Any:
    """What a loop assigns then."""
    if not isinstance(target, (ast.Tuple, ast.List)) or not isinstance(items, ast.Call):
        return target
    called = items.func.id if isinstance(items.func, ast.Name) else ""
    is_plain = called not in expressions.scope.variables and not any(isinstance(a, ast.Starred) for a in items.args)
    if called in ("zip", "enumerate") and is_plain and not items.keywords:
        parts = items.args if called == "zip" else items.args[:1]
        first = len(target.elts) - len(parts)
        if first == (called == "enumerate"):
            pairs = zip(target.elts[first:], parts)
            target.elts[first:] = [_replaced(expressions, part, each, out) for part, each in pairs]
        return target
    if not _has_rows(expressions, items):
        return target
    name = expressions.scope.name()
    row = ast.Call(ast.Attribute(ast.Name(name, ast.Load()), "tolist", ast.Load()), [], [])
    out.append(with_places(ast.Assign([target], row), target))
    items.func.attr = "clone"  # type: ignore[attr-defined] # the numbers are those before the loop
    return with_places(ast.Name(name, ast.Store()), target)


def _has_rows(expressions: ExpressionEvaluator, items: ast.Call) -> bool:
    """Whether what a loop iterates over are the rows of a tensor, as lists."""
    scope, function = expressions.scope, items.func
    if not isinstance(function, ast.Attribute) or function.attr != "tolist" or items.args or items.keywords:
        return False
    saved, hoisted, whole = scope.save(), len(scope.before), scope.whole
    scope.whole = None
    try:
        value = expressions.evaluate(copy.deepcopy(function.value)).value
    except (NeedsKnownError, NotCompiledError):
        return False
    finally:
        scope.restore(saved)
        del scope.before[hoisted:]
        scope.whole = whole
    return isinstance(value, TensorValue) and value.rank is not None and value.rank > 1 and value.dtype is not None
