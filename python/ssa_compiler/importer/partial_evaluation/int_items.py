"""`d.items()` of dicts with int keys, which may be dynamic, where a list of them is read."""

from __future__ import annotations

import ast
import copy

from .interfaces import CallEvaluator
from .new_nodes import at_place
from .values import DictValue, Scalar

__all__ = ["listed"]


def listed(calls: CallEvaluator, node: ast.expr) -> ast.expr:
    """Return a comprehension that makes such a list of `d.items()`; anything else as it is.

    Args:
        calls: evaluates calls.
        node: what is listed.
    """
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.args or node.keywords:
        return node
    owner = node.func.value
    if node.func.attr != "items" or not isinstance(owner, (ast.Name, ast.Attribute)):
        return node
    saved, hoisted = calls.scope.save(), len(calls.scope.before)
    value = calls.expressions.evaluate(copy.deepcopy(owner)).value
    calls.scope.restore(saved)
    del calls.scope.before[hoisted:]
    if not isinstance(value, DictValue) or value.key != Scalar(int):
        return node
    key, element = calls.scope.name(), calls.scope.name()
    made = ast.parse(f"[({key}, {element}) for {key}, {element} in _]", mode="eval").body
    assert isinstance(made, ast.ListComp)
    made.generators[0].iter = node
    return at_place(made, node)
