"""`groups.setdefault(key, []).append(x)`: the list is changed where it is, in the dict."""

from __future__ import annotations

import ast
import copy
from typing import Any

from .effects import has_effects
from .new_nodes import parsed_at, put_in, with_places
from .scope import Scope
from .values import DictValue

__all__ = ["setdefault_steps"]


def setdefault_steps(scope: Scope, node: ast.Expr) -> list[ast.stmt] | None:
    """Return what a call of a method of `owner.setdefault(key, default)` does, as statements that name the element.

    Args:
        scope: the function.
        node: a statement.
    Returns:
        None if it is another one, or the key has effects, or the owner is no variable with a dict.
    """
    call: Any = node.value
    inner = getattr(getattr(call, "func", None), "value", None)
    if not isinstance(call, ast.Call) or not isinstance(inner, ast.Call) or not isinstance(inner.func, ast.Attribute):
        return None
    owner = inner.func.value
    if inner.func.attr != "setdefault" or len(inner.args) != 2 or inner.keywords or not isinstance(owner, ast.Name):
        return None
    found = scope.variables.get(owner.id)
    key, default = inner.args
    is_empty = isinstance(default, (ast.List, ast.Dict)) and not getattr(default, "elts", getattr(default, "keys", ()))
    if found is None or not isinstance(found.value, DictValue) or has_effects(scope, key) or not is_empty:
        return None
    name = scope.name()
    text = f"{name} = _key\nif {name} not in {owner.id}:\n    {owner.id}[{name}] = _default"
    steps = [put_in(put_in(step, "_key", key), "_default", default) for step in parsed_at(text, node)]
    element = ast.Subscript(copy.deepcopy(owner), ast.Name(name, ast.Load()), ast.Load())
    called: Any = call.func
    called.value = with_places(element, node)
    return [*steps, node]
