"""`dict.fromkeys(items, value)` as a loop that fills a dict."""

from __future__ import annotations

import ast
import types
from typing import Any

from .effects import has_effects
from .interfaces import CallEvaluator, Result
from .new_nodes import parsed_at
from .rejections import OrderError

__all__ = ["call"]


def call(calls: CallEvaluator, node: ast.Call, function: Any) -> Result | None:
    """Evaluate such a call; None if another function is called, or other arguments are passed.

    Raises:
        OrderError: the arguments have effects.
    """
    is_method = isinstance(function, types.BuiltinMethodType) and function.__self__ is dict
    if not is_method or function.__name__ != "fromkeys" or not 1 <= len(node.args) <= 2 or node.keywords:
        return None
    if any(isinstance(part, ast.Starred) for part in node.args):
        return None
    if any(has_effects(calls.scope, part) for part in node.args):
        raise OrderError("dict.fromkeys() of what has effects")
    made, key, value = (calls.scope.name() for _ in range(3))
    steps = parsed_at(f"{value} = None\n{made} = {{}}\nfor {key} in _:\n    {made}[{key}] = {value}", node)
    if len(node.args) == 2:
        steps[0].value = node.args[1]  # type: ignore[attr-defined]
    steps[2].iter = node.args[0]  # type: ignore[attr-defined]
    return calls.written(steps, made, node)
