"""`window = slice(a, b), slice(c, d)` and `x[window]`: indices that are values, which TorchScript has no type for.

Such a value is known by the expression that it is as an index, of variables that nothing else assigns.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from .hints import hint
from .interfaces import CallEvaluator, ExpressionEvaluator, Result
from .rejections import NotCompiledError
from .scope import literal
from .values import Known, Scalar, TupleValue, Value

__all__ = ["IndexValue", "as_index_expression", "is_value", "make", "parts_of", "passed_index", "tuple_of"]


@dataclass(frozen=True)
class IndexValue(Value):
    """A slice, or a tuple with slices.

    Attributes:
        node: the expression that stands for it in an index.
        value: what is known of that.
    """

    node: Any
    value: Value = field(compare=False)


def make(calls: CallEvaluator, node: ast.Call) -> Result | None:
    """Evaluate `slice(a, b)`; None if all of it is known."""
    if node.keywords or not 1 <= len(node.args) <= 3 or any(isinstance(part, ast.Starred) for part in node.args):
        return None
    results = [calls.expressions.evaluate(copy.deepcopy(part)) for part in node.args]
    if all(isinstance(result.value, Known) for result in results):
        return None
    held = [_held(calls.expressions, result, node) for result in results]
    bounds = [None, *held] if len(held) == 1 else held
    hints = [None if part is None else hint(part.value) for part in bounds]
    made = ast.copy_location(ast.Slice(*(None if part is None else part.node for part in bounds)), node)
    return Result(None, IndexValue(made, Scalar(slice, slice(*hints))))


def is_value(thing: Any, where: ast.AST) -> bool:
    """Whether TorchScript has a value for an object that is known."""
    return literal(thing, where) is not None and not isinstance(thing, slice)


def tuple_of(expressions: ExpressionEvaluator, results: Sequence[Result], node: ast.Tuple) -> Result | None:
    """Return a tuple that has slices in it as a value; None if it has none.

    Args:
        expressions: evaluates.
        results: its elements.
        node: the display.
    """
    if not any(isinstance(result.value, IndexValue) for result in results):
        return None
    is_index = any(isinstance(part, ast.Slice) for part in node.elts)  # `x[:, window]`
    held = [as_index_expression(each, node) if is_index else _held(expressions, each, node) for each in results]
    made = ast.copy_location(ast.Tuple([expressions.expression(part, node) for part in held], ast.Load()), node)
    value = TupleValue(tuple(part.value for part in held))
    return Result(made, value) if is_index else Result(None, IndexValue(made, value))


def _held(expressions: ExpressionEvaluator, result: Result, node: ast.AST) -> Result:
    """A part of an index, which keeps its value."""
    if isinstance(result.value, IndexValue):
        return as_index_expression(result, node)
    if isinstance(result.value, Known):
        return Result(expressions.expression(result, node), result.value)
    return Result(expressions.named(result, node, fresh=True), result.value)


def as_index_expression(result: Result, where: ast.AST) -> Result:
    """Return a value as an expression of an index; what is no such value as it is."""
    if not isinstance(result.value, IndexValue):
        return result
    made = copy.deepcopy(result.value.node)
    for part in ast.walk(made):
        ast.copy_location(part, where)
    return Result(made, result.value.value)


def passed_index(parameter: str, value: IndexValue) -> tuple[IndexValue, dict[str, str]]:
    """Return an index as it is in a function that it is passed to, and what variables of the caller it reads there.

    Args:
        parameter: the function's.
        value: the index.
    """
    names: dict[str, str] = {}
    node = copy.deepcopy(value.node)
    for part in ast.walk(node):
        if isinstance(part, ast.Name):
            made = names.setdefault(part.id, f"{parameter}_{len(names)}")
            part.id = made
    return IndexValue(node, value.value), {made: read for read, made in names.items()}


def parts_of(result: Result) -> list[Result]:
    """Return the elements of a tuple with slices.

    Raises:
        NotCompiledError: it is a slice.
    """
    found = result.value
    if (
        not isinstance(found, IndexValue)
        or not isinstance(found.node, ast.Tuple)
        or not isinstance(found.value, TupleValue)
    ):
        raise NotCompiledError("a part of a slice")
    return [
        Result(None, IndexValue(part, value)) if isinstance(part, (ast.Slice, ast.Tuple)) else Result(part, value)
        for part, value in zip(copy.deepcopy(found.node.elts), found.value.elements)
    ]
