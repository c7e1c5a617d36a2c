"""`a == b` and `a != b` of two types, which TorchScript does not compare: of None, or of a list and a tuple."""

from __future__ import annotations

import ast
import copy

from .enum_classes import base_of, is_enum
from .hints import number_kind
from .interfaces import ExpressionEvaluator, Result
from .new_nodes import with_places
from .rejections import OrderError
from .tuple_orders import is_list
from .values import DictValue, Known, OptionalValue, Scalar, TensorValue, Value, is_none, is_something

__all__ = ["compared"]


def compared(
    expressions: ExpressionEvaluator, node: ast.Compare, results: list[Result], *, effects: bool
) -> Result | None:
    """Return what a comparison gives; None if both operands are of one type.

    Args:
        expressions: evaluates.
        node: the comparison, by `==` or `!=`.
        results: its operands.
        effects: whether these have effects.
    Raises:
        OrderError: they have, and none is left of them.
    """
    kinds = [_kind(result.value) for result in results]
    if None not in kinds and kinds[0] is not kinds[1]:  # a list is no tuple
        if effects:
            raise OrderError("a comparison of two types")
        return _known(expressions, node, results)
    if effects:
        return None
    for one, other in (results, results[::-1]):
        differs = isinstance(node.ops[0], ast.NotEq)
        if is_none(one.value) and is_something(other.value):
            return _known(expressions, node, results)
        if is_none(one.value) and isinstance(other.value, OptionalValue):
            operator = ast.IsNot() if differs else ast.Is()
            tested = ast.Compare(expressions.expression(other, node), [operator], [ast.Constant(None)])
            return Result(with_places(tested, node), Scalar(bool))
        inner = one.value.element if isinstance(one.value, OptionalValue) else None
        if inner is None or isinstance(inner, TensorValue) or not is_something(other.value):
            continue
        left, right = expressions.named(one, node), expressions.named(other, node)
        test = ast.Compare(left, [ast.Is() if differs else ast.IsNot()], [ast.Constant(None)])
        scope, held = expressions.scope, expressions.scope.name()
        scope.variables[held] = Result(scope.program.unwrapped(copy.deepcopy(left)), inner)
        same = ast.Compare(ast.Name(held, ast.Load()), [node.ops[0]], [right])
        whole = ast.BoolOp(ast.Or() if differs else ast.And(), [test, same])
        return expressions.evaluate(with_places(whole, node))
    return None


def _kind(value: Value) -> type | None:
    """What values of a type may be equal to: numbers are, whatever they are; None if that is not known."""
    if number_kind(value) is not None:
        return int
    if (ordered := is_list(value)) is not None:
        return list if ordered else tuple
    thing = value.kind if isinstance(value, Scalar) else type(value.object) if isinstance(value, Known) else None
    if is_enum(thing) and base_of(thing) is None:
        return thing
    return str if thing is str else dict if isinstance(value, DictValue) or thing is dict else None


def _known(expressions: ExpressionEvaluator, node: ast.Compare, results: list[Result]) -> Result:
    """The outcome for operands that differ whatever they are."""
    for result in results:
        expressions.discard(result, node)
    return expressions.known(node, Known(isinstance(node.ops[0], ast.NotEq)))
