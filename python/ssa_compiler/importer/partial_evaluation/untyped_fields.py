"""Named tuples some of whose fields have types that TorchScript does not take, `Optional[list]`: to TorchScript they
are of another class, whose fields have the types of what the program puts there.
"""

from __future__ import annotations

import ast
import builtins
from collections import namedtuple
from functools import lru_cache
from typing import Any

import torch

from ..ir.typed_tuples import typed_name
from .declared_classes import declared_class, declared_name, declared_types
from .interfaces import Arguments, Result
from .rejections import NotCompiledError
from .scope import literal
from .typed_classes import stands_for
from .unification import settle
from .values import Known, TupleValue, Value, annotation, field_of, is_none

__all__ = ["is_untyped", "make"]


def is_untyped(kind: type) -> bool:
    """Whether a class is such a named tuple."""
    if not issubclass(kind, tuple) or not hasattr(kind, "_fields") or not getattr(kind, "__annotations__", None):
        return False  # of classes without any types see `named_tuples`
    declared = declared_types(kind) or {}
    return any(declared.get(name) is None or annotation(field_of(kind, name)) is None for name in kind._fields)


def make(calls: Any, node: ast.Call, kind: Any, arguments: Arguments) -> Result:
    """Evaluate a call that makes one.

    Args:
        calls: evaluates calls.
        node: the call.
        kind: the class.
        arguments: those of the call.
    Raises:
        NotCompiledError: a field is of several types.
    """
    program, defaults = calls.scope.program, kind._field_defaults
    given = dict(zip(kind._fields, arguments.positional)) | dict(arguments.named)
    if len(given) != len(arguments.positional) + len(arguments.named) or given.keys() - {*kind._fields}:
        raise NotCompiledError(f"a {kind.__name__} that is made of other fields than it has")
    for name in kind._fields:
        if name not in given:
            if name not in defaults or literal(defaults[name], node) is None:
                raise NotCompiledError(f"{name}, a field of a {kind.__name__} that is not given")
            given[name] = Result(literal(defaults[name], node), Known(defaults[name]))
            arguments = Arguments(arguments.positional, {**arguments.named, name: given[name]})
    values: list[Value] = []
    for name in kind._fields:
        value = given[name].value
        program.classes.learn(kind, name, value if is_none(value) else program.widened(value))
        found = program.classes.attribute(kind, name)
        settle(program, value, found)
        if found is None or annotation(found) is None:
            raise NotCompiledError(f"{name}, a field of a {kind.__name__} of several types")
        values.append(found)
    typed = _typed(kind, tuple(annotation(value) or "" for value in values))
    node.func = ast.copy_location(ast.Name(declared_name(typed) or "", ast.Load()), node)
    calls.place(node, arguments)
    return Result(node, TupleValue(tuple(values), kind._fields, typed))


@lru_cache(maxsize=256)
def _typed(kind: Any, texts: tuple[str, ...]) -> Any:
    """A named tuple with types of fields.

    Raises:
        NotCompiledError: it is one of an object that the program makes.
    """
    new: Any = namedtuple
    made = new(typed_name(kind.__name__), kind._fields)
    made.__module__ = kind.__module__
    stands_for(made, kind)
    try:
        made.__annotations__ = {name: _type(text) for name, text in zip(kind._fields, texts)}
    except NameError as error:
        raise NotCompiledError(f"a {kind.__name__} with an object of the program's") from error
    return made


def _type(text: str) -> Any:
    """The type that TorchScript writes so."""
    import typing

    names = [each.id for each in ast.walk(ast.parse(text)) if isinstance(each, ast.Name)]
    found = {name: getattr(typing, name, None) or declared_class(name) or vars(builtins).get(name) for name in names}
    known = {name: each for name, each in found.items() if each is not None}
    return eval(text, {**known, "Tensor": torch.Tensor, "torch": torch})
