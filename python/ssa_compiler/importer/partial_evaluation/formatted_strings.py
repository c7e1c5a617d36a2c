"""f-strings: what is known of them is text."""

from __future__ import annotations

import ast

from . import displays
from .interfaces import ExpressionEvaluator, Result
from .values import Known, Scalar

__all__ = ["formatted_string"]


def formatted_string(expressions: ExpressionEvaluator, node: ast.JoinedStr) -> Result:
    """Evaluate an f-string."""
    parts: list[str] = []
    for part in node.values:
        if isinstance(part, ast.FormattedValue):
            found = expressions.evaluate(part.value)
            if isinstance(found.value, Known) and part.format_spec is None and part.conversion == -1:
                part.value = ast.copy_location(ast.Constant(format(expressions.scope.use(found.value))), part)
                parts.append(str(part.value.value))
                continue
            part.value = displays.shown(expressions, found, part.value)
            return _rest(expressions, node, part)
        parts.append(str(part.value))  # type: ignore[attr-defined]
    text = "".join(parts)
    return Result(ast.copy_location(ast.Constant(text), node), Known(text))


def _rest(expressions: ExpressionEvaluator, node: ast.JoinedStr, last: ast.FormattedValue) -> Result:
    """Evaluate what stands behind a part of an f-string."""
    for part in node.values[node.values.index(last) + 1 :]:
        if isinstance(part, ast.FormattedValue):
            part.value = displays.shown(expressions, expressions.evaluate(part.value), part.value)
    return Result(node, Scalar(str))
