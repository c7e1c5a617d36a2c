"""`for i, j in x.tolist()`: a loop over the rows of a tensor, of each of which a list is made when it is unpacked.

A list of all the lists would have to have a number of elements that is known. In `for i, j in x` the rows are unpacked
in a statement of their own, too.
"""

from __future__ import annotations

import ast
import copy
from typing import Any

from .interfaces import ExpressionEvaluator, Result
from .new_nodes import with_places
from .peeking import peeked
from .values import TensorValue, TupleValue, Value

__all__ = ["over_rows", "rows_of"]

_MOST_ROWS = 16


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


def _replaced(expressions: ExpressionEvaluator, target: Any, items: Any, out: list[ast.stmt]) -> Any:
    """What a loop assigns then."""
    if not isinstance(target, (ast.Tuple, ast.List)):
        return target
    called = items.func.id if isinstance(items, ast.Call) and isinstance(items.func, ast.Name) else ""
    is_plain = called in ("zip", "enumerate") and called not in expressions.scope.variables
    if is_plain and not items.keywords and not any(isinstance(a, ast.Starred) for a in items.args):
        parts = items.args if called == "zip" else items.args[:1]
        first = len(target.elts) - len(parts)
        if first == (called == "enumerate"):
            pairs = zip(target.elts[first:], parts)
            target.elts[first:] = [_replaced(expressions, part, each, out) for part, each in pairs]
        return target
    rows = _rows(expressions, items.func.value) if _is_tolist(items) else _rows(expressions, items)
    if rows is None:
        return _unpacked_later(expressions, target, _element(expressions, items), out)
    if _is_tolist(items) and (rows.rank or 0) < 2:
        return target
    name = expressions.scope.name()
    row: ast.expr = ast.Name(name, ast.Load())
    if _is_tolist(items):
        row = ast.Call(ast.Attribute(row, "tolist", ast.Load()), [], [])
        items.func.attr = "clone"  # the numbers are those before the loop
    out.append(with_places(ast.Assign([target], row), target))
    return with_places(ast.Name(name, ast.Store()), target)


def _is_tolist(items: Any) -> bool:
    is_method = isinstance(items, ast.Call) and isinstance(items.func, ast.Attribute) and items.func.attr == "tolist"
    return is_method and not items.args and not items.keywords


def _unpacked_later(expressions: ExpressionEvaluator, target: Any, element: Value | None, out: list[ast.stmt]) -> Any:
    """What a loop assigns if the tensors among its elements (`for k, (a, b) in boxes.items()`) are unpacked inside."""
    if not isinstance(target, (ast.Tuple, ast.List)):
        return target
    if isinstance(element, TupleValue) and len(element.elements) == len(target.elts):
        pairs = zip(target.elts, element.elements)
        target.elts = [_unpacked_later(expressions, part, value, out) for part, value in pairs]
    if not isinstance(element, TensorValue):
        return target
    name = expressions.scope.name()
    out.append(with_places(ast.Assign([target], ast.Name(name, ast.Load())), target))
    return with_places(ast.Name(name, ast.Store()), target)


def _element(expressions: ExpressionEvaluator, items: ast.expr) -> Value | None:
    """What the elements are that a loop assigns; None if it is written out."""
    iteration = peeked(expressions, lambda: expressions.statements.loops.iteration(copy.deepcopy(items)))
    return None if iteration is None or iteration.is_unrolled else iteration.element


def _rows(expressions: ExpressionEvaluator, items: ast.expr) -> TensorValue | None:
    """The tensor that a loop iterates over; None if it is none."""
    found = peeked(expressions, lambda: expressions.evaluate(copy.deepcopy(items)))
    value = None if found is None else found.value
    is_known = isinstance(value, TensorValue) and value.rank is not None and value.dtype is not None
    return value if isinstance(value, TensorValue) and is_known and value.rank != 1 else None


def rows_of(expressions: ExpressionEvaluator, result: Result, where: ast.AST) -> list[Result] | None:
    """Return the rows of a tensor that is unpacked, as many as there are in the sample, which is checked; None if there
    is no sample of it.
    """
    sample = result.value.sample if isinstance(result.value, TensorValue) else None
    if sample is None or sample.dim() == 0 or not 0 < sample.shape[0] <= _MOST_ROWS:
        return None
    names = [expressions.scope.name() for _ in range(sample.shape[0])]
    target = ast.Tuple([ast.Name(name, ast.Store()) for name in names], ast.Store())
    unpacked = with_places(ast.Assign([target], expressions.named(result, where)), where)
    expressions.scope.hoist(expressions.statements.statement(unpacked), where)
    return [expressions.scope.load(ast.copy_location(ast.Name(name, ast.Load()), where)) for name in names]
