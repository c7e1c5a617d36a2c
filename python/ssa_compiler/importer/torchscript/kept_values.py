"""Which expressions compute values that have to be kept, so that TorchScript does not remove what computes them."""

from __future__ import annotations

import ast

from .evaluation_order import schemas

__all__ = ["NO_VALUES", "called_name", "compared_with_none", "has_value", "is_attribute"]

# Calls whose result is no value to TorchScript, so that it cannot be printed.
NO_VALUES = frozenset({"range", "zip", "enumerate", "reversed", "getattr", "super", "annotate", "isinstance", "print"})


def called_name(call: ast.Call) -> str:
    function = call.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def has_value(expression: ast.expr) -> bool:
    """Whether an expression computes a value for TorchScript: ops without results and iterators do not, modules are
    none.
    """
    if isinstance(expression, ast.Subscript):
        return hasattr(expression, "is_value") or not (
            is_attribute(expression.value) and isinstance(expression.value, ast.Attribute)
        )
    if not isinstance(expression, ast.Call):
        computes = isinstance(expression, (ast.BinOp, ast.UnaryOp, ast.Compare, ast.List))
        return computes or any(map(has_value, _parts(expression)))
    return called_name(expression) not in NO_VALUES and all(schema.returns for schema in schemas(expression))


def compared_with_none(test: ast.expr) -> list[ast.expr]:
    """The elements of containers that a statement surely compares with None, which reading may raise."""
    if isinstance(test, ast.UnaryOp):
        return compared_with_none(test.operand)
    if isinstance(test, ast.BoolOp):
        return compared_with_none(test.values[0])
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], (ast.Is, ast.IsNot)):
        is_pure = not any(isinstance(part, (ast.Call, ast.NamedExpr, ast.IfExp)) for part in ast.walk(test.left))
        return [test.left] if is_pure and isinstance(test.left, ast.Subscript) and has_value(test.left) else []
    return []


def _parts(expression: ast.expr) -> list[ast.expr]:
    """The expressions whose values are, or are in, the value of a display or of a choice."""
    if isinstance(expression, ast.Tuple):
        return expression.elts
    if isinstance(expression, ast.Dict):
        return [part for part in (*expression.keys, *expression.values) if part is not None]
    if isinstance(expression, ast.IfExp):
        return [expression.body, expression.orelse]
    if isinstance(expression, ast.BoolOp):
        return expression.values
    return [expression.elt] if isinstance(expression, ast.ListComp) else []


def is_attribute(expression: ast.expr) -> bool:
    """Whether an expression is `self.a.b`: a name with attributes."""
    while isinstance(expression, ast.Attribute):
        expression = expression.value
    return isinstance(expression, ast.Name)
