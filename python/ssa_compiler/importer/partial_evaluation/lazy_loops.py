"""Loops over generators, `map` and `enumerate` of these, each element of which Python computes when it is needed."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Sequence
from typing import Any

import torch

from .comprehensions import rename
from .effects import has_effects
from .interfaces import ExpressionEvaluator
from .map_calls import mapped
from .new_nodes import counted, with_places
from .rejections import NotCompiledError

__all__ = ["computed_late"]

_OF_LISTS = frozenset("append extend insert pop remove clear sort reverse".split())


def computed_late(
    expressions: ExpressionEvaluator, node: ast.For, builtin: Callable[[ast.expr], str]
) -> list[ast.stmt] | None:
    """Return statements that compute the elements of a loop where it needs them; None if they are there before.

    Args:
        expressions: evaluates.
        node: the loop, without an else branch.
        builtin: returns the name of the builtin function that an expression calls, "" if it calls none.
    Raises:
        NotCompiledError: that they are computed before would be seen, and there is no other way.
    """
    scope, items = expressions.scope, node.iter
    if builtin(items) == "map":
        items = mapped(scope, items)  # type: ignore[arg-type]
    if isinstance(items, ast.GeneratorExp) and len(items.generators) == 1:
        items = copy.deepcopy(items)
        rename(expressions, items)
        (generator,) = items.generators
        body: list[ast.stmt] = [ast.Assign([node.target], items.elt), *node.body]
        for test in reversed(generator.ifs):
            body = [ast.If(test, body, [])]
        return [with_places(ast.For(generator.target, generator.iter, body, []), node)]
    inner = [part for part in ast.walk(items) if _is_lazy(part, builtin) and part is not items]
    if isinstance(items, ast.GeneratorExp):
        inner.append(items)
    several = sum(has_effects(scope, part) for part in inner) > 1
    if not several and not any(_interferes(expressions, part, node) for part in inner):
        return None
    if builtin(items) == "enumerate" and len(items.args) == 1 and not items.keywords:  # type: ignore[attr-defined]
        return counted(scope, node, items.args[0])  # type: ignore[attr-defined]
    raise NotCompiledError("a generator whose elements are computed in turn with the body of a loop")


def _is_lazy(node: ast.AST, builtin: Callable[[ast.expr], str]) -> bool:
    return isinstance(node, ast.GeneratorExp) or (isinstance(node, ast.Call) and builtin(node) == "map")


def _interferes(expressions: ExpressionEvaluator, elements: Any, loop: ast.For) -> bool:
    """Whether it is seen that elements are computed before the loop, not in turn with its body."""
    scope, parts = expressions.scope, _parts(loop)
    read = {part.id for part in ast.walk(elements) if isinstance(part, ast.Name)}
    if any(_changes(scope, part, read) for part in parts):
        return True
    ends = any(isinstance(part, (ast.Break, ast.Return, ast.Raise, ast.Assert)) for part in parts)
    return ends and has_effects(scope, elements)


def _parts(loop: ast.For) -> Sequence[ast.AST]:
    return [part for each in (loop.target, *loop.body) for part in ast.walk(each)]


def _changes(scope: Any, part: ast.AST, names: set[str]) -> bool:
    """Whether a part of a loop assigns one of the variables, or has effects."""
    if isinstance(part, ast.Name):
        return not isinstance(part.ctx, ast.Load) and part.id in names
    if isinstance(part, (ast.Attribute, ast.Subscript)):
        return not isinstance(part.ctx, ast.Load)
    if isinstance(part, ast.AugAssign):
        return True
    if not isinstance(part, ast.Call):
        return False
    owner = part.func.value if isinstance(part.func, ast.Attribute) else None
    if isinstance(owner, ast.Name) and owner.id not in names:
        name = part.func.attr  # type: ignore[attr-defined]
        if name in _OF_LISTS or (hasattr(torch.Tensor, name) and not name.endswith("_")):
            return False
    return has_effects(scope, ast.Call(part.func, [], part.keywords))
