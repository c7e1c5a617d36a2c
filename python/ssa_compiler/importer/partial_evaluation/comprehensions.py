"""Comprehensions, which TorchScript has some of."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable, Mapping
from typing import Any

from .displays import list_of
from .effects import has_effects
from .generator_functions import is_generator
from .interfaces import ExpressionEvaluator, Result
from .new_nodes import with_places
from .parameters import all_parameters
from .rejections import NeedsKnownError, NotCompiledError
from .rows import over_rows
from .tuple_keys import goes_over_keys
from .values import ListValue, is_none

__all__ = ["comprehension", "rename"]


def comprehension(expressions: ExpressionEvaluator, node: Any) -> Result:
    """Evaluate a comprehension, as TorchScript takes it, or as a loop in front of the statement."""
    scope = expressions.scope
    if any(
        _has_late_effects(scope, generator.iter) or is_generator(expressions.statements, generator.iter)
        for generator in node.generators
    ):
        return _as_loop(expressions, copy.deepcopy(node))
    is_simple = len(node.generators) == 1 and not node.generators[0].ifs and not isinstance(node, ast.DictComp)
    is_simple = is_simple and not goes_over_keys(expressions, node.generators[0].iter)
    if is_simple and not over_rows(expressions, copy.deepcopy(node.generators[0])):
        saved, hoisted = scope.save(), len(scope.before)
        try:
            made = _as_it_is(expressions, copy.deepcopy(node))
            scope.restore(saved)
            return made
        except (NeedsKnownError, NotCompiledError):
            del scope.before[hoisted:]
            scope.restore(saved)
        found = _written_out(expressions, copy.deepcopy(node))
        if found is not None:
            return found
        del scope.before[hoisted:]
        scope.restore(saved)
    return _as_loop(expressions, copy.deepcopy(node))


def _has_late_effects(scope: Any, items: ast.expr) -> bool:
    """Whether there are iterators in what is gone through that have effects in turn with what is made of their
    elements.
    """
    lazy = [part for part in ast.walk(items) if isinstance(part, ast.GeneratorExp) or _is_map(part)]
    return any(has_effects(scope, part) for part in lazy)


def _is_map(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "map"


def _written_out(expressions: ExpressionEvaluator, node: ast.ListComp) -> Result | None:
    """`[f(x) for x in parts]` as a list of calls, if the parts are known."""
    scope = expressions.scope
    kept, hoisted = scope.fork(), len(scope.before)
    iteration = expressions.statements.loops.iteration(node.generators[0].iter)
    if iteration.elements is None or iteration.tests:
        scope.variables, scope.before[hoisted:] = kept, []
        return None
    made: list[Result] = []
    for element in iteration.elements:
        each = copy.deepcopy(node)
        rename(expressions, each)
        expressions.scope.hoist(expressions.statements.assign(each.generators[0].target, element), node)
        result = expressions.evaluate(each.elt)
        if result.node is not None and not isinstance(result.node, (ast.Constant, ast.Name)):
            result = Result(expressions.named(result, node), result.value)
        made.append(result)
    return list_of(expressions, made, ast.copy_location(ast.List([node.elt] * len(made), ast.Load()), node))


def _as_it_is(expressions: ExpressionEvaluator, node: ast.ListComp) -> Result:
    (generator,) = node.generators
    scope = expressions.scope
    if any(name in scope.variables for name in _targets(node)):
        rename(expressions, node)  # closures may read the other variable
    iteration = expressions.statements.loops.iteration(generator.iter)
    if iteration.elements is not None and iteration.is_unrolled:
        raise NeedsKnownError("a comprehension over parts of a model")
    generator.iter = iteration.node
    expressions.statements.bind_target(generator.target, iteration.element)
    scope.conditional += 1
    try:
        element = expressions.evaluate(node.elt)
    finally:
        scope.conditional -= 1
    if is_none(element.value):
        raise NotCompiledError("a comprehension of which TorchScript takes the elements for nothing else than None")
    node.elt = expressions.expression(element, node.elt)
    places = frozenset([scope.place(node)])
    length = scope.program.length(places, iteration.length)
    return Result(node, ListValue(scope.program.widened(element.value), places, False, length))


def rename(expressions: ExpressionEvaluator, node: Any) -> None:
    """Give the variables of a comprehension, which has a scope of its own, names of their own."""
    _Renaming({name: expressions.scope.name() for name in _targets(node)}).comprehension(node)


def _targets(node: Any) -> list[str]:
    """The variables of a comprehension."""
    parts = [part for generator in node.generators for part in ast.walk(generator.target)]
    return list(
        dict.fromkeys(part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store))
    )


class _Renaming(ast.NodeTransformer):
    """Renames variables, but for those of functions and comprehensions inside that have the same names."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names

    def comprehension(self, node: Any) -> None:
        """Rename in a comprehension whose variables are renamed; what it iterates over first is left."""
        first, node.generators[0].iter = node.generators[0].iter, ast.Constant(None)
        super().generic_visit(node)
        node.generators[0].iter = first

    def visit_Name(self, node: ast.Name) -> ast.Name:
        node.id = self._names.get(node.id, node.id)
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.Lambda:
        node.args = self.visit(node.args)  # defaults are evaluated outside
        node.body = self._without(each.arg for each in all_parameters(node.args)).visit(node.body)
        return node

    def generic_visit(self, node: Any) -> Any:
        if not hasattr(node, "generators"):
            return super().generic_visit(node)
        node.generators[0].iter = self.visit(node.generators[0].iter)
        self._without(_targets(node)).comprehension(node)
        return node

    def _without(self, names: Iterable[str]) -> _Renaming:
        hidden = set(names)
        return _Renaming({name: made for name, made in self._names.items() if name not in hidden})


def _as_loop(expressions: ExpressionEvaluator, node: Any) -> Result:
    """Write a comprehension as a loop that fills a list or dict."""
    scope = expressions.scope
    rename(expressions, node)
    name = scope.name()
    is_dict = isinstance(node, ast.DictComp)
    if is_dict:
        key = scope.name()  # Python computes the key first
        target = ast.Subscript(ast.Name(name, ast.Load()), ast.Name(key, ast.Load()), ast.Store())
        body: list[ast.stmt] = [ast.Assign([ast.Name(key, ast.Store())], node.key), ast.Assign([target], node.value)]
    else:
        append = ast.Attribute(ast.Name(name, ast.Load()), "append", ast.Load())
        body = [ast.Expr(ast.Call(append, [node.elt], []))]
    for generator in reversed(node.generators):
        for test in reversed(generator.ifs):
            body = [ast.If(test, body, [])]
        body = [ast.For(generator.target, generator.iter, body, [])]
    empty: Any = ast.Dict([], []) if is_dict else ast.List([], ast.Load())
    made = [ast.Assign([ast.Name(name, ast.Store())], empty), *body]
    statements = [each for one in made for each in expressions.statements.statement(with_places(one, node))]
    scope.hoist(statements, node)
    return scope.load(ast.copy_location(ast.Name(name, ast.Load()), node))
