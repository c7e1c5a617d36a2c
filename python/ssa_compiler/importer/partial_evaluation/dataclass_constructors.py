"""Dataclasses whose constructor is written out, so that they are classes as any, with the types of what is assigned:
those with default factories or types that TorchScript has not, and those with methods, which are evaluated then.
"""

from __future__ import annotations

import ast
import dataclasses
import enum
import inspect
import types
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from .definitions import Definition, definition_of
from .interfaces import Arguments
from .new_nodes import with_places
from .objects import constructor
from .rejections import NotCompiledError
from .scope import Scope, literal
from .values import annotation, field_of

__all__ = ["dataclass_constructor", "is_written_out", "passed_dataclasses"]

_FACTORIES: Mapping[Any, str] = {list: "[]", dict: "{}"}
_FACTORY_OF = "_factory_of_"
"""What the names of the other factories begin with."""


def passed_dataclasses(values: Iterable[Any]) -> frozenset[type]:
    """Return the dataclasses of which there are objects among the arguments of a program, which have declared types."""
    found: set[type] = set()
    left = list(values)
    while left:
        value = left.pop()
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            found.add(type(value))
            left += [getattr(value, each.name, None) for each in dataclasses.fields(value)]
        elif isinstance(value, (list, tuple, dict)):
            left += value.values() if isinstance(value, dict) else value
    return frozenset(found)


def is_written_out(kind: type, passed: frozenset[type]) -> bool:
    """Whether a class is a dataclass whose constructor is written out.

    Args:
        kind: the class.
        passed: the dataclasses that the program is passed, see `passed_dataclasses`.
    """
    init = inspect.getattr_static(kind, "__init__")
    if not dataclasses.is_dataclass(kind) or "__slots__" in vars(kind) or not isinstance(init, types.FunctionType):
        return False
    if _has_methods(kind) and kind not in passed:
        return True
    fields = dataclasses.fields(kind)
    if any(each.default_factory is not dataclasses.MISSING or isinstance(each.default, enum.Enum) for each in fields):
        return True
    return any(annotation(field_of(kind, each.name)) is None for each in fields)


def _has_methods(kind: type) -> bool:
    """Whether a dataclass has methods or properties of the user's, which are evaluated then."""
    kinds = (types.FunctionType, property, staticmethod, classmethod)
    return any(
        isinstance(member, kinds) and (name == "__post_init__" or not (name.startswith("__") and name.endswith("__")))
        for owner in kind.__mro__[:-1]
        for name, member in vars(owner).items()
    )


def dataclass_constructor(scope: Scope, kind: type, arguments: Arguments, call: ast.Call) -> Definition:
    """Return the constructor of a dataclass, for a call.

    Args:
        scope: the function that calls it.
        kind: the class.
        arguments: the arguments of the call.
        call: the call.
    Raises:
        NotCompiledError: a default is not to be had.
    """
    wanted = list(inspect.signature(kind).parameters)
    passed = {*wanted[: len(arguments.positional)], *arguments.named}
    lines: list[ast.stmt] = []
    left_out: list[str] = []
    for each in dataclasses.fields(kind):
        value: Any = ast.Name(each.name, ast.Load())
        if each.default_factory is not dataclasses.MISSING and each.name not in passed:
            text = _FACTORIES.get(each.default_factory, f"{_FACTORY_OF}{each.name}()")
            value = ast.parse(text, mode="eval").body
            left_out.append(each.name)
        elif not each.init and each.default is dataclasses.MISSING:
            continue  # `__post_init__` sets it
        elif not each.init and (value := literal(each.default, call)) is None:
            raise NotCompiledError(f"the default of '{each.name}' of a {kind.__name__}")
        lines.append(ast.Assign([ast.Attribute(ast.Name("self", ast.Load()), each.name, ast.Store())], value))
    if hasattr(kind, "__post_init__"):
        method = ast.Attribute(ast.Name("self", ast.Load()), "__post_init__", ast.Load())
        lines.append(ast.Expr(ast.Call(method, [], [])))
    names = [ast.arg("self"), *(ast.arg(name) for name in wanted if name not in left_out)]
    node = ast.FunctionDef("__init__", ast.arguments([], names, None, [], [], None, []), lines, [], None, None)
    function = _function(kind, tuple(left_out))
    parsed = definition_of(scope.function).parsed
    return constructor(kind, Definition(function, parsed, with_places(node, call), source=function))


@lru_cache(maxsize=256)
def _function(kind: type, left_out: Sequence[str]) -> Any:
    """The constructor without the parameters that get their defaults; of globals it has the factories."""
    original: Any = inspect.getattr_static(kind, "__init__")
    names: dict[str, Any] = {f"{_FACTORY_OF}{each.name}": each.default_factory for each in dataclasses.fields(kind)}
    names["__name__"] = kind.__module__
    made = types.FunctionType(original.__code__, names, "__init__", original.__defaults__, original.__closure__)
    made.__kwdefaults__ = original.__kwdefaults__
    signature = inspect.signature(original)
    kept = [each for each in signature.parameters.values() if each.name not in left_out]
    made.__signature__ = signature.replace(parameters=kept)  # type: ignore[attr-defined]
    return made
