"""Functions of `operator`, as the operators that they are."""

from __future__ import annotations

import ast
import operator
from typing import Any

from .interfaces import CallEvaluator, Result
from .new_nodes import with_places
from .rejections import NotCompiledError
from .values import Known

__all__ = ["IS_PURE", "call"]

_BINARY = {
    operator.add: ast.Add, operator.sub: ast.Sub, operator.mul: ast.Mult, operator.truediv: ast.Div,
    operator.floordiv: ast.FloorDiv, operator.mod: ast.Mod, operator.pow: ast.Pow, operator.matmul: ast.MatMult,
    operator.and_: ast.BitAnd, operator.or_: ast.BitOr, operator.xor: ast.BitXor, operator.lshift: ast.LShift,
    operator.rshift: ast.RShift,
}  # fmt: skip
_COMPARED = {
    operator.eq: ast.Eq, operator.ne: ast.NotEq, operator.lt: ast.Lt, operator.le: ast.LtE, operator.gt: ast.Gt,
    operator.ge: ast.GtE, operator.is_: ast.Is, operator.is_not: ast.IsNot,
}  # fmt: skip
_UNARY = {operator.neg: ast.USub, operator.pos: ast.UAdd, operator.invert: ast.Invert, operator.not_: ast.Not}
IS_PURE = frozenset([*_BINARY, *_COMPARED, *_UNARY, operator.getitem])
"""Functions without effects."""


def call(calls: CallEvaluator, node: ast.Call, function: Any) -> Result | None:
    """Evaluate `operator.mul(a, b)`; None if another function is called.

    Args:
        calls: evaluates calls.
        node: the call.
        function: what is called.
    """
    if (made_by := _got(calls, node, function)) is not None:
        return made_by
    if not any(function is each for each in IS_PURE):
        return None
    if node.keywords or any(isinstance(each, ast.Starred) for each in node.args):
        return None
    if len(node.args) != (1 if function in _UNARY else 2):
        return None
    first, last = node.args[0], node.args[-1]
    made: ast.expr
    if function in _BINARY:
        made = ast.BinOp(first, _BINARY[function](), last)
    elif function in _COMPARED:
        made = ast.Compare(first, [_COMPARED[function]()], [last])
    elif function in _UNARY:
        made = ast.UnaryOp(_UNARY[function](), first)
    else:
        made = ast.Subscript(first, last, ast.Load())
    return _in_place(calls, made, node)


def _got(calls: CallEvaluator, node: ast.Call, function: Any) -> Result | None:
    """Evaluate `itemgetter(1)` and `attrgetter("name")`, and calls of what they give; None if another one is called."""
    if (
        any(function is each for each in (operator.itemgetter, operator.attrgetter))
        and len(node.args) == 1
        and not node.keywords
    ):
        key = calls.expressions.evaluate(node.args[0]).value
        if not isinstance(key, Known):
            raise NotCompiledError(f"{function.__name__}() of what is dynamic")
        return Result(None, Known(function(key.object), None, calls.scope.program.guards_of(key)))
    if not isinstance(function, (operator.itemgetter, operator.attrgetter)) or len(node.args) != 1:
        return None
    place: Any = function.__reduce__()[1][0]
    made: ast.expr
    if isinstance(function, operator.itemgetter):
        made = ast.Subscript(node.args[0], ast.Constant(place), ast.Load())
        return _in_place(calls, made, node) if isinstance(place, (int, str)) else None
    made = node.args[0]
    for name in str(place).split("."):
        made = ast.Attribute(made, name, ast.Load())
    return _in_place(calls, made, node)


def _in_place(calls: CallEvaluator, made: Any, node: ast.AST) -> Result:
    if hasattr(node, "token"):
        made.token = node.token
    return calls.expressions.evaluate(with_places(made, node))
