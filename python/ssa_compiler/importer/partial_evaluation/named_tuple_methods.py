"""Methods of named tuples, the user's and `state._replace(step=n)`, and `dataclasses.replace` and `asdict`."""

from __future__ import annotations

import ast
import copy
import dataclasses
import inspect
import types
from typing import Any

from .effects import has_effects
from .hints import is_plain
from .interfaces import Arguments, CallEvaluator, Result
from .new_nodes import with_places
from .rejections import NotCompiledError, OrderError
from .typed_classes import class_of
from .values import UNKNOWN, Known, ObjectValue, OptionalValue, Scalar, TensorValue, TupleValue, Value

__all__ = ["attribute", "call", "of_dataclass", "replaced"]


def _class(value: Value) -> Any:
    """The class of a named tuple as the user knows it, None if a value is none."""
    kind = value.kind if isinstance(value, (ObjectValue, TupleValue)) else None
    is_one = kind is not None and issubclass(kind, tuple) and hasattr(kind, "_fields")
    return class_of(kind) if is_one and kind is not None else None


def call(calls: CallEvaluator, node: ast.Call, owner: Result) -> Result | None:
    """Evaluate `state.f(...)`; None if the value is no named tuple, or has no such method.

    Args:
        calls: evaluates calls.
        node: the call; the function is an attribute.
        owner: the named tuple.
    """
    kind, function = _class(owner.value), node.func
    assert isinstance(function, ast.Attribute)
    if kind is None:
        return None
    if function.attr == "_replace" and not node.args:
        return replaced(calls, node, owner, kind, kind._fields)
    found = inspect.getattr_static(kind, function.attr, None)
    if not isinstance(found, types.FunctionType) or function.attr.startswith("_"):
        return None
    given = calls.arguments(node)
    arguments = Arguments([owner, *given.positional], given.named)
    return calls.scope.program.functions.call(calls.scope, found, arguments, node)


def attribute(expressions: Any, node: ast.Attribute, owner: Result) -> Result | None:
    """Evaluate a property of a named tuple; None if it is none."""
    kind = _class(owner.value)
    found = None if kind is None else inspect.getattr_static(kind, node.attr, None)
    if not isinstance(found, property):
        return None
    made: Result = expressions.scope.program.functions.get_of_object(expressions.scope, found.fget, owner, node)
    return made


def of_dataclass(calls: CallEvaluator, node: ast.Call, function: Any) -> Result | None:
    """Evaluate a call of a function in `dataclasses`; None of another function."""
    if function is dataclasses.asdict:
        return _as_dict(calls, node)
    return _replaced_fields(calls, node) if function is dataclasses.replace else None


def _replaced_fields(calls: CallEvaluator, node: ast.Call) -> Result:
    """Evaluate `dataclasses.replace(options, step=n)`.

    Raises:
        NotCompiledError: that is no dataclass, or has fields that its constructor does not take.
    """
    owner = calls.expressions.evaluate(node.args[0]) if len(node.args) == 1 else Result(None, UNKNOWN)
    kind = owner.value.kind if isinstance(owner.value, ObjectValue) else type(getattr(owner.value, "object", None))
    if not dataclasses.is_dataclass(kind) or not all(each.init for each in dataclasses.fields(kind)):
        raise NotCompiledError("dataclasses.replace() of another object")
    return replaced(calls, node, owner, kind, [each.name for each in dataclasses.fields(kind)])


def replaced(calls: CallEvaluator, node: ast.Call, owner: Result, kind: Any, fields: Any) -> Result:
    """Evaluate a call that makes an object with other values in some fields.

    Args:
        calls: evaluates calls.
        node: the call; its keywords are the fields.
        owner: the object.
        kind: its class.
        fields: the names of its fields.
    Raises:
        NotCompiledError: it has no such fields.
    """
    given = {keyword.arg: keyword.value for keyword in node.keywords}
    if None in given or given.keys() - {*fields}:
        raise NotCompiledError(f"a {kind.__name__} with fields that it does not have")
    if any(has_effects(calls.scope, value) for value in given.values()):
        raise OrderError("fields whose values have effects")
    name = calls.expressions.named(owner, node)
    parts = {each: given.get(each) or ast.Attribute(name, each, ast.Load()) for each in fields}
    made = ast.Call(node.func, [], [ast.keyword(each, value) for each, value in parts.items()])
    return calls.called(with_places(made, node), Result(None, Known(kind)))


def _as_dict(calls: CallEvaluator, node: ast.Call) -> Result:
    """Evaluate `dataclasses.asdict(options)`, which copies tensors.

    Raises:
        NotCompiledError: that is no dataclass, or has fields that are no tensors, numbers or strings.
    """
    owner = calls.expressions.evaluate(node.args[0]) if len(node.args) == 1 and not node.keywords else None
    kind = owner.value.kind if owner is not None and isinstance(owner.value, ObjectValue) else object
    if owner is None or not dataclasses.is_dataclass(kind):
        raise NotCompiledError("dataclasses.asdict() of another object")
    name = calls.expressions.named(owner, node)
    values: list[ast.expr] = []
    for each in dataclasses.fields(kind):
        part = with_places(ast.Attribute(copy.deepcopy(name), each.name, ast.Load()), node)
        value = calls.expressions.evaluate(copy.deepcopy(part)).value
        held = value.element if isinstance(value, OptionalValue) else value
        if isinstance(value, TensorValue):
            part = ast.Call(ast.Attribute(part, "clone", ast.Load()), [], [])
        elif not isinstance(held, Scalar) and not (isinstance(held, Known) and is_plain(held.object)):
            raise NotCompiledError("dataclasses.asdict() of fields that are no tensors, numbers or strings")
        values.append(part)
    keys: list[ast.expr | None] = [ast.Constant(each.name) for each in dataclasses.fields(kind)]
    return calls.expressions.evaluate(with_places(ast.Dict(keys, values), node))
