"""`collections.defaultdict`: dicts that get a default where an element is read that is not there."""

from __future__ import annotations

import ast
import copy
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

from .definitions import free_names
from .effects import has_effects
from .interfaces import CallEvaluator, Evaluated, ExpressionEvaluator, Result
from .new_nodes import parsed_at
from .rejections import NotCompiledError, OrderError
from .values import Closure, DictValue, Known, Scalar, Value, is_none

__all__ = ["Factory", "count", "empty", "fill", "fill_target", "is_counter", "make"]

_DEFAULTS = {int: "0", float: "0.0", bool: "False", str: "''", list: "[]", dict: "{}"}


@dataclass(frozen=True)
class Factory:
    """What makes the defaults of a dict.

    Attributes:
        text: an expression for a default, which reads global names only.
        names: the global names of the function that it is written in.
        counts: whether the dict is a Counter, which does not keep it.
    """

    text: str
    names: Any = field(hash=False, compare=False)
    counts: bool = False


def make(calls: CallEvaluator, node: ast.Call) -> Result:
    """Evaluate `defaultdict(f)`.

    Raises:
        NotCompiledError: it has elements, or the defaults are others than those of a type or of a lambda that reads no
            variables.
    """
    if len(node.args) != 1 or node.keywords:
        raise NotCompiledError("defaultdict() of other arguments than what makes the defaults")
    return empty(calls, node, _factory(calls.expressions, node.args[0]))


def empty(calls: CallEvaluator, node: ast.Call, factory: Factory | None) -> Result:
    """Evaluate a call that makes such a dict, without the elements.

    Args:
        calls: evaluates calls.
        node: the call.
        factory: makes the defaults.
    """
    program, scope = calls.scope.program, calls.scope
    display = ast.copy_location(ast.Dict([], []), node)
    if not isinstance(node.func, (ast.Name, ast.Attribute)) or _local_name(node.func) in scope.local:
        raise NotCompiledError("defaultdict by another name")  # the importer knows it by its global name
    name = ast.Name(program.constant_name(OrderedDict), ast.Load())  # to TorchScript, another name of dict
    display.ordered = ast.copy_location(name, node)  # type: ignore[attr-defined]
    if factory is not None and factory.counts:
        program.learn(scope.place(display), Scalar(int))
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


def _factory_of(expressions: ExpressionEvaluator, owner: Result, node: ast.Subscript) -> Factory | None:
    """What makes the default of an element that is read; None if there is none.

    Raises:
        NotCompiledError: the dict has defaults in some runs only.
        OrderError: the key has effects, and has to be computed before.
    """
    assert isinstance(owner.value, DictValue)
    scope = expressions.scope
    found = {scope.program.factories.get(place) for place in owner.value.places}
    if not any(found) or not isinstance(node.ctx, ast.Load):
        return None
    (factory, *others) = found
    is_known = factory is not None and (factory.counts or factory.names is scope.function.__globals__)
    if others or not is_known:
        raise NotCompiledError("a dict that is a defaultdict in some runs, or of another file")
    if has_effects(scope, node.slice):
        raise OrderError("a key of a defaultdict, with effects")
    return factory


def fill(expressions: ExpressionEvaluator, owner: Result, index: Result, node: ast.Subscript) -> tuple[Result, Result]:
    """Let a defaultdict have the element that is read.

    Args:
        expressions: evaluates expressions.
        owner: a dict.
        index: the key.
        node: the element.
    Returns:
        The dict and the key, as variables if there may be a default.
    """
    if (factory := _factory_of(expressions, owner, node)) is None:
        return owner, index
    scope, items, key = expressions.scope, expressions.named(owner, node.value), expressions.named(index, node.slice)
    text = f"if {key.id} not in {items.id}:\n    {items.id}[{key.id}] = {factory.text}"
    made = [each for statement in parsed_at(text, node) for each in expressions.statements.statement(statement)]
    scope.hoist(made, node)
    evaluated = [expressions.evaluate(ast.copy_location(ast.Name(name.id, ast.Load()), name)) for name in (items, key)]
    return evaluated[0], evaluated[1]


def count(expressions: ExpressionEvaluator, owner: Result, index: Result, node: ast.Subscript) -> Result:
    """Evaluate an element of a Counter that is read.

    Args:
        expressions: evaluates expressions.
        owner: the Counter.
        index: the key.
        node: the element.
    """
    _factory_of(expressions, owner, node)  # of which there may be others
    items, key = expressions.named(owner, node.value), expressions.named(index, node.slice)
    (made,) = parsed_at(f"{items.id}.get({key.id}, 0)", node)
    return expressions.evaluate(made.value)  # type: ignore[attr-defined]


def is_counter(program: Evaluated, value: Value | None) -> bool:
    """Whether a value is a Counter, in some runs at least."""
    found = [program.factories.get(place) for place in value.places] if isinstance(value, DictValue) else []
    return any(factory is not None and factory.counts for factory in found)


def fill_target(expressions: ExpressionEvaluator, target: ast.expr) -> None:
    """Let a defaultdict have the element that `d[k] += x` reads before `x` is computed."""
    if expressions.scope.program.factories and isinstance(target, ast.Subscript):
        read = copy.deepcopy(target)
        read.ctx = ast.Load()
        expressions.evaluate(read)
