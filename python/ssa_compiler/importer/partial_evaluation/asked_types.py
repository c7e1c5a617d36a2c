"""What programs ask of values: `isinstance`, `hasattr`, `getattr` and `callable`."""

from __future__ import annotations

import ast
import collections
import copy
import types
import typing
from collections import OrderedDict
from typing import Any

import torch

from ...abi.records import is_ordered
from . import records, sequences
from .interfaces import CallEvaluator, Result
from .library_classes import is_deque, is_set
from .objects import has_attribute, is_object
from .reading import MISSING, read
from .rejections import NeedsKnownError, NotCompiledError
from .values import (
    Closure,
    DictValue,
    Known,
    ListValue,
    ObjectValue,
    OptionalValue,
    Scalar,
    TensorValue,
    TupleValue,
    Unknown,
    is_none,
)

__all__ = ["get_attribute", "has_attribute_of", "is_callable", "is_instance"]

_CLASSES: dict[type, type] = {TensorValue: torch.Tensor, ListValue: list, TupleValue: tuple, DictValue: dict}


def is_instance(calls: CallEvaluator, node: ast.Call) -> Result | None:
    if len(node.args) != 2:
        return None
    result = calls.expressions.evaluate(copy.deepcopy(node.args[0]))
    kinds = calls.expressions.evaluate(copy.deepcopy(node.args[1]))
    if not isinstance(kinds.value, Known):
        return None
    value = result.value
    if isinstance(value, Known):
        guards = calls.scope.program.class_guards(value)
        return calls.expressions.known(node, Known(isinstance(value.object, kinds.value.object), None, guards))
    if isinstance(value, (Unknown, OptionalValue)):
        return None
    kind = value.kind if isinstance(value, (Scalar, ObjectValue)) else _CLASSES.get(type(value))
    if isinstance(value, ObjectValue) and records.is_record(value):
        kind = OrderedDict if is_ordered(value.kind) else dict
    if (of := sequences.kind_of(value)) is not None:
        kind = of
    if is_set(value):
        kind = set
    if is_deque(value):
        kind = collections.deque
    if isinstance(value, ListValue) and value.is_tuple:
        kind = tuple
    if kind is None:
        return None
    calls.expressions.discard(result, node.args[0])
    found = issubclass(kind, kinds.value.object)
    is_of_kind = isinstance(value, ObjectValue) and kind not in (dict, list)  # the caller's dict may be an OrderedDict
    is_exact = isinstance(value, Scalar) or is_of_kind or (isinstance(value, TupleValue) and not value.names)
    if not found and not is_exact and any(_may_be(kind, each) for each in _all(kinds.value.object)):
        raise NotCompiledError(f"whether a {kind.__name__} is of a class of its own")
    return calls.expressions.known(node, Known(found))


def _all(kinds: Any) -> tuple[Any, ...]:
    """The classes that `isinstance` looks for."""
    if isinstance(kinds, (tuple, types.UnionType)):
        parts = kinds if isinstance(kinds, tuple) else typing.get_args(kinds)
        return tuple(each for part in parts for each in _all(part))
    return (kinds,)


def _may_be(kind: type, other: Any) -> bool:
    """Whether an object that is known to be of a class may be of another one, too: a tensor a parameter, or one of the
    legacy types that stand for dtypes.
    """
    is_legacy = kind is torch.Tensor and type(other) is type(torch.FloatTensor)
    return is_legacy or (isinstance(other, type) and issubclass(other, kind))


def has_attribute_of(calls: CallEvaluator, node: ast.Call) -> Result | None:
    result, name = calls.expressions.evaluate(node.args[0]), calls.expressions.evaluate(node.args[1])
    if not isinstance(name.value, Known):
        raise NotCompiledError("hasattr() of a dynamic name")
    if is_object(result.value):
        return has_attribute(calls.expressions, result, calls.scope.use(name.value), node)
    if not isinstance(result.value, Known):
        return None
    program = calls.scope.program
    path = program.path_of(result.value)
    found = read(result.value.object, name.value.object)
    if isinstance(found, property):
        raise NotCompiledError("hasattr() of a property")
    if found is MISSING and program.states.may_be_added(result.value, name.value.object):
        return _is_set(calls, _added(calls, result.value, name.value.object, node), node)
    program.depend_on_presence(None if path is None else program.part_of(path, name.value.object))
    return calls.expressions.known(node, Known(found is not MISSING))


def _added(calls: CallEvaluator, owner: Known, name: str, node: ast.Call) -> Result:
    """An attribute that the program may add, which is None before.

    Raises:
        NotCompiledError: its type is not known.
    """
    found: Result | None = calls.scope.program.states.added(calls.scope, owner, name, node)
    if found is None:
        raise NotCompiledError(f"{name}, an attribute that is added, and that is no tensor or number, or list of these")
    return found


def _is_set(calls: CallEvaluator, found: Result, node: ast.Call) -> Result:
    """Whether a value is not None."""
    test = ast.Compare(found.node, [ast.IsNot()], [ast.Constant(None)])
    for part in ast.walk(test):
        ast.copy_location(part, node)
    return Result(test, Scalar(bool))


def get_attribute(calls: CallEvaluator, node: ast.Call) -> Result | None:
    result, name = calls.expressions.evaluate(node.args[0]), calls.expressions.evaluate(node.args[1])
    if is_object(result.value) and isinstance(name.value, Known):
        return _getattr_of_object(calls, node, result, calls.scope.use(name.value))
    if not isinstance(result.value, Known):
        return None
    if not isinstance(name.value, Known):
        raise NeedsKnownError("getattr() of a dynamic name")
    attribute = ast.copy_location(ast.Attribute(node.args[0], name.value.object, ast.Load()), node)
    calls.scope.use(name.value)
    if len(node.args) > 2 and read(result.value.object, name.value.object) is MISSING:
        program = calls.scope.program
        if program.states.may_be_added(result.value, name.value.object):
            if not is_none(calls.expressions.evaluate(node.args[2]).value):
                raise NotCompiledError(f"{name.value.object}, an attribute that an object may not have")
            return _added(calls, result.value, name.value.object, node)
        path = program.path_of(result.value)
        program.depend_on_presence(None if path is None else program.part_of(path, name.value.object))
        return calls.expressions.evaluate(node.args[2])
    return calls.expressions.attribute_of(result, result.value, attribute)


def _getattr_of_object(calls: CallEvaluator, node: ast.Call, owner: Result, name: str) -> Result:
    attribute = ast.copy_location(ast.Attribute(node.args[0], name, ast.Load()), node)
    if len(node.args) > 2:
        found = has_attribute(calls.expressions, owner, name, node)
        truth = calls.expressions.truth(found, node)
        if truth is None:
            raise NotCompiledError(f"{name}, an attribute that an object may not have")
        return calls.expressions.evaluate(attribute if truth else node.args[2])
    return calls.expressions.evaluate(attribute)


def is_callable(calls: CallEvaluator, node: ast.Call) -> Result | None:
    result = calls.expressions.evaluate(node.args[0])
    if isinstance(result.value, Known):
        return calls.expressions.known(node, Known(callable(calls.scope.use(result.value))))
    if isinstance(result.value, Closure):
        return calls.expressions.known(node, Known(True))
    if not isinstance(result.value, (TensorValue, Scalar, ListValue, TupleValue, DictValue)):
        return None
    calls.expressions.discard(result, node.args[0])
    return calls.expressions.known(node, Known(False))
