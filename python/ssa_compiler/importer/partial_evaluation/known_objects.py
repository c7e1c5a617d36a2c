"""Calls of objects that are known and are no functions of the user's: partials, objects with a `__call__`, methods of
containers.
"""

from __future__ import annotations

import ast
import collections
import functools
import inspect
import types
from typing import Any

import torch

from . import counters, default_dicts, deques, dicts_from_keys, generators, methods
from .callees import is_of_torch
from .classes import is_list_class, is_plain_class
from .interfaces import Arguments, CallEvaluator, Evaluated, Result
from .new_nodes import with_places
from .rejections import NotCompiledError
from .values import DictValue, Known, ListValue, Value

__all__ = ["MUTATING", "call", "holder_path", "method_of_container"]

MUTATING = frozenset("append extend insert pop remove clear sort reverse update setdefault popitem".split())


def call(calls: CallEvaluator, node: ast.Call, callee: Known) -> Result | None:
    """Call an object that is no module; None if it is a function, or another object."""
    thing, path, program = callee.object, callee.path, calls.scope.program
    if thing is collections.deque:
        calls.scope.use(callee)
        return deques.make(calls, node)
    if thing is collections.defaultdict:
        calls.scope.use(callee)
        return default_dicts.make(calls, node)
    if thing is collections.Counter:
        calls.scope.use(callee)
        return counters.make(calls, node)
    if (made := dicts_from_keys.call(calls, node, thing)) is not None:
        return made
    if getattr(thing, "__module__", None) in ("_bisect", "_heapq"):
        return _on_list(calls, node, thing)
    if thing is functools.partial:
        calls.scope.use(callee)
        return _made_partial(calls, node)
    if thing is torch.Generator:
        calls.scope.use(callee)
        return generators.make(calls, node)
    if isinstance(thing, types.MethodType) and path is not None:
        _depend_on_method(program, thing, path)
    if path is None or not (program.is_elsewhere(path) or is_plain_class(type(thing)) or is_list_class(type(thing))):
        return None
    if isinstance(thing, functools.partial):
        return _partial(calls, node, thing, path)
    called = inspect.getattr_static(type(thing), "__call__", None)
    if not isinstance(called, types.FunctionType):
        return None
    # The parts of a list are its elements: its class is compared with these.
    is_list = is_list_class(type(thing))
    program.depend(callee if is_list else Known(type(thing), program.part_of(path, "__class__")))
    arguments = calls.arguments(node)
    given = Arguments([Result(None, callee), *arguments.positional], arguments.named)
    return program.functions.call(calls.scope, called, given, node)


def _on_list(calls: CallEvaluator, node: ast.Call, function: Any) -> Result | None:
    """Call a function of `bisect` or `heapq`; None if the library has none for it."""
    from ...library.bisections import BISECTIONS  # with the library comes what a program from the cache does not need
    from ...library.heaps import HEAPS

    found = BISECTIONS.get(function) or HEAPS.get(function)
    if found is None:
        return None
    return calls.scope.program.functions.call(calls.scope, found, calls.arguments(node), node)


def _depend_on_method(program: Evaluated, method: types.MethodType, path: str) -> None:
    """Let the program depend on which method an object has, or a variable: it may be another one later.

    Args:
        program: the program.
        method: the method.
        path: the way to it; the guards of a module see to its own methods.
    """
    owner = method.__self__
    is_of_module = isinstance(owner, torch.nn.Module)
    if is_of_module and path.rpartition(".")[0] == program.path_of(Known(owner)):
        return
    program.depend(Known(method.__func__, program.part_of(path, "__func__")))
    if is_of_module:
        program.depend_on_module(program.part_of(path, "__self__"))


def _made_partial(calls: CallEvaluator, node: ast.Call) -> Result:
    """Evaluate `functools.partial(f, x, k=1)`, as a lambda of what its arguments are now."""
    given = calls.arguments(node)
    names = [calls.scope.name() for _ in (*given.positional, *given.named)]
    for name, result in zip(names, (*given.positional, *given.named.values())):
        if result.node is None:
            calls.scope.variables[name] = result
            continue
        assigned = with_places(ast.Assign([ast.Name(name, ast.Store())], result.node), node)
        calls.scope.hoist([assigned], node)
        calls.scope.variables[name] = Result(with_places(ast.Name(name, ast.Load()), node), result.value)
    if not given.positional:
        raise NotCompiledError("functools.partial of no function")
    positional, rest = names[: len(given.positional)], calls.scope.name()
    named = ", ".join(f"{key}={name}" for key, name in zip(given.named, names[len(positional) :]))
    text = f"lambda *{rest}, **{rest}_named: {positional[0]}({', '.join([*positional[1:], f'*{rest}'])}, {named}"
    made = ast.parse(f"{text}{', ' if named else ''}**{rest}_named)", mode="eval").body
    for part in ast.walk(made):
        ast.copy_location(part, node)
    made.body.overrides = True  # type: ignore[attr-defined]  # keywords of the call, those that are bound
    return calls.expressions.evaluate(made)


def _partial(calls: CallEvaluator, node: ast.Call, bound: functools.partial[object], path: str) -> Result:
    """Call a functools.partial, which may be given other keywords later."""
    arguments, program = calls.arguments(node), calls.scope.program
    if not isinstance(bound.func, types.FunctionType) or is_of_torch(bound.func):
        raise NotCompiledError("functools.partial of what is no function of the users")
    program.depend(Known(bound.func, program.part_of(path, "func")))
    first, keys = program.part_of(path, "args"), program.part_of(path, "keywords")
    program.depend(Known(bound.keywords, keys))
    given = [Result(None, Known(each, program.part_of(first, (k,)))) for k, each in enumerate(bound.args)]
    named = {name: Result(None, Known(each, program.part_of(keys, (name,)))) for name, each in bound.keywords.items()}
    made = Arguments([*given, *arguments.positional], {**named, **arguments.named})
    return program.functions.call(calls.scope, bound.func, made, node)


def method_of_container(calls: CallEvaluator, node: ast.Call, method: Any, callee: Known) -> Result:
    """Call a method of a container or string that is known, like `self.cfg.get("k", 1)`.

    Args:
        calls: evaluates calls.
        node: the call.
        method: the bound method.
        callee: the method, with what it depends on.
    Raises:
        NotCompiledError: it changes the container, or there is no expression for the container.
    """
    arguments, program = calls.arguments(node), calls.scope.program
    values = [result.value for result in (*arguments.positional, *arguments.named.values())]
    if method.__name__ in MUTATING:
        raise NotCompiledError("a method of a container of the model")
    guards = program.guards_of(callee)
    if not all(isinstance(each, Known) for each in values):
        return _at_dynamic_value(calls, node, Known(method.__self__, holder_path(program, callee), guards), arguments)
    named = {name: result.value.object for name, result in arguments.named.items()}  # type: ignore[attr-defined]
    made = method(*(result.value.object for result in arguments.positional), **named)  # type: ignore[attr-defined]
    made = list(made) if isinstance(made, (type({}.items()), type({}.keys()), type({}.values()))) else made
    return Result(None, Known(made, None, guards.union(*map(program.guards_of, values))))


def _at_dynamic_value(calls: CallEvaluator, node: ast.Call, owner: Known, arguments: Arguments) -> Result:
    """`TABLE.get(n, 0)`, which looks for what is dynamic in a container that is known."""
    function, held = node.func, calls.scope.program.widened(owner)
    if not isinstance(function, ast.Attribute) or not isinstance(held, (DictValue, ListValue)):
        raise NotCompiledError("a method of a container of the model")
    function.value = calls.expressions.expression(Result(None, owner), function.value, copied=True)
    return methods.of_container(calls, node, held, arguments)


def holder_path(program: Evaluated, method: Value) -> str | None:
    """Return the path of the object whose method is called."""
    path: str | None = getattr(method, "path", None)
    if path is None:
        return None
    return program.part_of(path, "__self__") if program.is_elsewhere(path) else path.rpartition(".")[0]
