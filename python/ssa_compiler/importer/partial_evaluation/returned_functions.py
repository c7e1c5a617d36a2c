"""Functions that a function of the program returns: `return lambda v: A @ v`.

The copy of the function returns the variables that its result reads, which become variables of the function that calls
it; the function that is returned then is one of the calling function's own, whose variables have other names.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence
from typing import Any

from .definitions import free_names
from .interfaces import Result
from .rejections import NotCompiledError
from .scope import Scope
from .values import Closure, Known, Value

__all__ = ["moved", "returned_variables"]


def returned_variables(scope: Scope, closure: Closure) -> list[str]:
    """The variables of a function that its result, a function, reads; that result is returned as they are.

    Args:
        scope: the function that returns.
        closure: its result.
    """
    names = dict.fromkeys(_read(scope, closure, ()))
    return [name for name in names if _is_variable(scope.variables[name])]


def _is_variable(found: Result) -> bool:
    return not isinstance(found.value, Closure) and found.node is not None


def _read(scope: Scope, closure: Closure, around: Sequence[Any]) -> list[str]:
    """The names of a function's variables, and of what is put in, that one of its functions reads."""
    if closure.scope is not scope:
        return []  # an argument: its variables are those of the function that passed it
    if any(closure.node is each for each in around):
        raise NotCompiledError("a function that is a result, and calls itself")
    read = [name for name in free_names(closure.node) if name in scope.variables]
    inner = [scope.variables[name].value for name in read]
    return read + [
        name for each in inner if isinstance(each, Closure) for name in _read(scope, each, [*around, closure.node])
    ]


def moved(scope: Scope, closure: Closure, variables: Sequence[tuple[str, Value]], call: ast.Call) -> Closure:
    """Make a function that a call returned one of the function that calls.

    Args:
        scope: the function that calls.
        closure: what is returned.
        variables: those that the call returns instead, and what is known of them.
        call: the call; it is put in front of the statement.
    """
    given = scope.name()
    names = {name: scope.name() for name, _ in variables}
    scope.hoist([_assigned(given, call, call) if variables else ast.copy_location(ast.Expr(call), call)], call)
    for number, (name, value) in enumerate(variables):
        part: Any = ast.copy_location(ast.Name(given, ast.Load()), call)
        if len(variables) > 1:
            part = ast.copy_location(
                ast.Subscript(part, ast.copy_location(ast.Constant(number), call), ast.Load()), call
            )
        scope.hoist([_assigned(names[name], part, call)], call)
        scope.variables[names[name]] = Result(ast.copy_location(ast.Name(names[name], ast.Load()), call), value)
    return _renamed(scope, closure, names) if closure.scope is not scope else closure


def _assigned(name: str, value: ast.expr, where: ast.AST) -> ast.stmt:
    return ast.copy_location(ast.Assign([ast.copy_location(ast.Name(name, ast.Store()), where)], value), where)


def _renamed(scope: Scope, closure: Closure, names: dict[str, str]) -> Closure:
    """A function with its variables as they are called where it is to be; `names` has those that are there."""
    outer: Scope = closure.scope
    for name in free_names(closure.node):
        found = outer.variables.get(name)
        if found is None:
            if name in scope.local or name in scope.enclosing:
                raise NotCompiledError(
                    f"a function that is a result, and reads '{name}', a variable of the caller, too"
                )
            continue
        if name in names:
            continue
        names[name] = scope.name()
        value = found.value
        if isinstance(value, Closure) and value.scope is outer:
            value = _renamed(scope, value, names)
        elif not isinstance(value, (Closure, Known)):
            raise NotCompiledError("a function that is a result, and reads a variable that is not passed on")
        scope.variables[names[name]] = Result(None, value)
    node = copy.deepcopy(closure.node)
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and part.id in names:
            part.id = names[part.id]
    return Closure(node, scope, closure.function or outer.function)
