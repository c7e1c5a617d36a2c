"""Arguments of calls, bound to parameters."""

from __future__ import annotations

import ast
import inspect
from typing import Any

from . import records
from .constants import is_constant
from .definitions import Definition
from .effects import has_effects
from .interfaces import Arguments, Result
from .rejections import NotCompiledError, OrderError
from .scope import Scope, literal
from .values import Known, TupleValue, guards_of

__all__ = ["bind"]


def bind(scope: Scope, definition: Definition, arguments: Arguments, skip: int) -> dict[str, Result]:
    """Bind arguments to parameters.

    Args:
        scope: where it is called.
        definition: the function.
        arguments: the arguments.
        skip: how many parameters are bound already.
    Returns:
        The argument of each parameter, in their order.
    Raises:
        NotCompiledError: they do not fit, or are computed in an order that would be seen.
    """
    node = definition.node.args
    names = [each.arg for each in (*node.posonlyargs, *node.args)][skip:]
    bound: dict[str, Result] = dict(zip(names, arguments.positional))
    extra = list(arguments.positional[len(names) :])
    if node.vararg is not None:
        if any(result.node is None for result in extra):
            raise NotCompiledError("a function or module among *args")
        packed = ast.Tuple([result.node for result in extra], ast.Load())
        bound[node.vararg.arg] = Result(packed if extra else None, TupleValue(tuple(r.value for r in extra)))
        if not extra:
            bound[node.vararg.arg] = Result(None, Known(()))
    elif extra:
        raise NotCompiledError("more arguments than parameters")
    others: dict[str, Any] = {}
    if given_twice := set(arguments.named) & set(bound):
        raise NotCompiledError(f"{given_twice.pop()}, which is passed twice")
    positional_only = {each.arg for each in node.posonlyargs}
    for name, result in arguments.named.items():
        if name in positional_only:
            raise NotCompiledError(f"{name}, which may not be passed by keyword")
        (bound if name in names or name in [each.arg for each in node.kwonlyargs] else others)[name] = result
    if others and node.kwarg is None:
        raise NotCompiledError("a keyword that is no parameter")
    if node.kwarg is not None:
        if all(isinstance(result.value, Known) for result in others.values()):
            guards = frozenset().union(*(guards_of(result.value) for result in others.values()))
            known = {name: result.value.object for name, result in others.items()}
            bound[node.kwarg.arg] = Result(None, Known(known, None, guards))
        else:
            bound[node.kwarg.arg] = records.make(
                scope, others, arguments.named[next(iter(others))].node or definition.node
            )
    for name, default in _defaults(definition).items():
        if isinstance(default, (list, dict, set)) and name not in bound:
            raise NotCompiledError("a default that may be changed")
        path = None if is_constant(default) else scope.program.place_of(default, None, f"the default of '{name}'")
        bound.setdefault(name, Result(literal(default, definition.node), Known(default, path)))
    wanted = {*names, *(each.arg for each in node.kwonlyargs)}
    if wanted - set(bound):
        raise NotCompiledError("a parameter without an argument")
    results = {name: bound[name] for name in (*names, *bound) if name in bound}
    _check_order(scope, results, arguments)
    return results


def _check_order(scope: Scope, results: dict[str, Result], arguments: Arguments) -> None:
    """Reject arguments with effects in another order than the parameters."""
    given = [*arguments.positional, *arguments.named.values()]
    placed = [result for result in results.values() if any(result is each for each in given)]
    moved = len(given) != len(placed) or any(a is not b for a, b in zip(given, placed))
    if moved and any(result.node is not None and has_effects(scope, result.node) for result in given):
        raise OrderError("arguments with effects, in another order than the parameters")


def _defaults(definition: Definition) -> dict[str, Any]:
    if definition.scope is None:
        parameters = inspect.signature(definition.function).parameters.values()
        return {each.name: each.default for each in parameters if each.default is not inspect.Parameter.empty}
    node = definition.node.args
    pairs = [*zip(node.args[::-1], node.defaults[::-1]), *zip(node.kwonlyargs, node.kw_defaults)]
    found: dict[str, Any] = {}
    for parameter, default in pairs:
        if default is None:
            continue
        try:
            found[parameter.arg] = ast.literal_eval(default)
        except ValueError:
            raise NotCompiledError("a default of an inner function that is no constant") from None
    return found
