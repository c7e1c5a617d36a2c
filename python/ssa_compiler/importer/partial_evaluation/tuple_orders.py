"""`a < b` of tuples and lists, in the order of Python, and `a == b` of tuples with elements of several types."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Sequence
from typing import Any

from .interfaces import Arguments, ExpressionEvaluator, Result
from .values import Known, ListValue, Scalar, TupleValue, Value, annotation, elements_of

__all__ = ["compared", "has_order", "is_list"]


def compared(
    expressions: ExpressionEvaluator, node: ast.Compare, operation: Callable[[Any, Any], Any], results: Sequence[Result]
) -> Result | None:
    """Return a call of a function that compares two tuples or two lists; None if they are none.

    Args:
        expressions: evaluates.
        node: the comparison.
        operation: the operator.
        results: what is compared.
    """
    from ...library.comparisons import COMPARISONS  # with the library comes what a program from the cache does not need

    kinds = [_kind(result.value) for result in results]
    if operation not in COMPARISONS or None in kinds or len(set(kinds)) != 1:
        return None
    if all(isinstance(result.value, Known) for result in results):
        return None
    if operation in (operator.eq, operator.ne) and not _are_mixed(
        [expressions.scope.program.widened(result.value) for result in results]
    ):
        return None
    call = ast.copy_location(ast.Call(ast.copy_location(ast.Name("_", ast.Load()), node), [], []), node)
    call.is_pure = True  # type: ignore[attr-defined]
    made = expressions.scope.program.functions.call(
        expressions.scope, COMPARISONS[operation], Arguments(list(results), {}), call
    )
    return Result(made.node, Scalar(bool) if made.node is not None else made.value)


def _are_mixed(values: Sequence[Value]) -> bool:
    """Whether values are tuples with elements that TorchScript has no list of: it makes lists of others."""
    parts = [elements_of(value) for value in values]
    kinds = {annotation(each) for part in parts if part is not None for each in part}
    return None not in parts and len({len(part or ()) for part in parts}) == 1 and len(kinds) > 1


def has_order(value: Value) -> bool:
    """Whether values of a type are tuples or lists, which TorchScript does not order."""
    return _kind(value) is not None


def _kind(value: Value) -> type | None:
    thing = value.object if isinstance(value, Known) else None
    if elements_of(value) is not None or isinstance(thing, tuple):
        return tuple
    if isinstance(value, ListValue) and value.element is not None:
        return tuple if value.is_tuple else list
    return list if isinstance(thing, list) and thing else None


def is_list(value: Value) -> bool | None:
    """Return whether a value is a list; False if it is a tuple, None if it is neither."""
    if isinstance(value, ListValue):
        return not value.is_tuple
    thing = value.object if isinstance(value, Known) else ()
    if not isinstance(value, (Known, TupleValue)) or not isinstance(thing, (list, tuple)):
        return None
    return isinstance(thing, list)
