"""`collections.defaultdict`: dicts that get a default where an element is read that is not there."""

from __future__ import annotations

import ast
import copy
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

from .definitions import free_names
from .effects import has_effects
from .interfaces import CallEvaluator, ExpressionEvaluator, Result
from .new_nodes import parsed_at
from .rejections import NotCompiledError, OrderError
from .values import Closure, DictValue, Known, is_none

__all__ = ["Factory", "fill", "fill_target", "make"]

_DEFAULTS = {int: "0", float: "0.0", bool: "False", str: "''", list: "[]", dict: "{}"}


@dataclass(frozen=True)
class Factory:
    """What makes the defaults of a dict.

    Attributes:
        text: an expression for a default, which reads global names only.
        names: the global names of the function that it is written in.
    """

    text: str
    names: Any = field(hash=False, compare=False)


def make(calls: CallEvaluator, node: ast.Call) -> Result:
    """Evaluate `defaultdict(f)`.

    Raises:
        NotCompiledError: it has elements, or the defaults are others than those of a type or of a lambda that reads no
            variables.
    """
    program, scope = calls.scope.program, calls.scope
    if len(node.args) != 1 or node.keywords:
        raise NotCompiledError("defaultdict() of other arguments than what makes the defaults")
    factory = _factory(calls.expressions, node.args[0])
    display = ast.copy_location(ast.Dict([], []), node)
    if not isinstance(node.func, (ast.Name, ast.Attribute)) or _local_name(node.func) in scope.local:
        raise NotCompiledError("defaultdict by another name")  # the importer knows it by its global name
    name = ast.Name(program.constant_name(OrderedDict), ast.Load())  # to TorchScript, another name of dict
    display.ordered = ast.copy_location(name, node)  # type: ignore[attr-defined]
    found = calls.expressions.evaluate(display)
    if not isinstance(found.value, DictValue):
        raise NotCompiledError("a defaultdict whose elements are of several types")
    if factory is not None:
        program.factories[scope.place(display)] = factory
    return found


def _local_name(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _factory(expressions: ExpressionEvaluator, node: ast.expr) -> Factory | None:
    value = expressions.evaluate(copy.deepcopy(node)).value
    names = expressions.scope.function.__globals__
    if is_none(value):
        return None
    if isinstance(value, Known) and isinstance(value.object, type) and value.object in _DEFAULTS:
        return Factory(_DEFAULTS[value.object], names)
    is_lambda = isinstance(value, Closure) and isinstance(node, ast.Lambda) and not ast.unparse(node.args)
    if not is_lambda or any(name in expressions.scope.local for name in free_names(node)):
        raise NotCompiledError("a defaultdict of other defaults than those of a type or of a lambda without variables")
    assert isinstance(node, ast.Lambda)
    return Factory(ast.unparse(node.body), names)


def fill(expressions: ExpressionEvaluator, owner: Result, index: Result, node: ast.Subscript) -> tuple[Result, Result]:
    """Let a defaultdict have the element that is read.

    Args:
        expressions: evaluates expressions.
        owner: a dict.
        index: the key.
        node: the element.
    Returns:
        The dict and the key, as variables if there may be a default.
    Raises:
        NotCompiledError: the dict has defaults in some runs only.
        OrderError: the key has effects, and has to be computed before.
    """
    assert isinstance(owner.value, DictValue)
    scope = expressions.scope
    found = {scope.program.factories.get(place) for place in owner.value.places}
    if not any(found) or not isinstance(node.ctx, ast.Load):
        return owner, index
    (factory, *others) = found
    if others or factory is None or factory.names is not scope.function.__globals__:
        raise NotCompiledError("a dict that is a defaultdict in some runs, or of another file")
    if has_effects(scope, node.slice):
        raise OrderError("a key of a defaultdict, with effects")
    items, key = expressions.named(owner, node.value), expressions.named(index, node.slice)
    text = f"if {key.id} not in {items.id}:\n    {items.id}[{key.id}] = {factory.text}"
    made = [each for statement in parsed_at(text, node) for each in expressions.statements.statement(statement)]
    scope.hoist(made, node)
    evaluated = [expressions.evaluate(ast.copy_location(ast.Name(name.id, ast.Load()), name)) for name in (items, key)]
    return evaluated[0], evaluated[1]


def fill_target(expressions: ExpressionEvaluator, target: ast.expr) -> None:
    """Let a defaultdict have the element that `d[k] += x` reads before `x` is computed."""
    if expressions.scope.program.factories and isinstance(target, ast.Subscript):
        read = copy.deepcopy(target)
        read.ctx = ast.Load()
        expressions.evaluate(read)
