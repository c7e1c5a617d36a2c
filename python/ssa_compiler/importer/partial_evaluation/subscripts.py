"""Elements of containers and tensors."""

from __future__ import annotations

import ast
import copy
import operator
from collections.abc import Iterable, Sequence
from typing import Any

import torch

from ..ir.tuple_keys import has_tuple_keys
from . import default_dicts, enums, records, sequences, wanted_records
from .displays import spread
from .effects import has_effects
from .ellipses import expanded
from .index_values import IndexValue, as_index_expression, parts_of
from .interfaces import ExpressionEvaluator, Result
from .new_nodes import with_places
from .objects import call_special, is_object
from .ranges import is_range
from .rejections import NeedsKnownError, NotCompiledError
from .scope import literal
from .tuple_keys import dict_key
from .values import (
    NEVER,
    UNKNOWN,
    Closure,
    DictValue,
    Known,
    ListValue,
    Never,
    Scalar,
    TensorValue,
    TupleValue,
    Value,
    annotation,
    elements_of,
    joined,
)

__all__ = ["element_of_known", "index_of", "subscript"]


def subscript(expressions: ExpressionEvaluator, node: ast.Subscript) -> Result:
    """Evaluate `a[i]`."""
    if isinstance(node.value, ast.Dict) and (found := _of_display(expressions, node, node.value)) is not None:
        return found
    owner = expressions.present(expressions.evaluate(node.value), TypeError, "'NoneType' object is not subscriptable")
    index = _index_in(expressions, owner.value, node.slice)
    if isinstance(owner.value, IndexValue):
        return _of_index(expressions, owner, index)
    if isinstance(owner.value, Known) and not isinstance(owner.value.object, torch.Tensor):
        return _of_known(expressions, node, owner, index)
    if records.is_record(owner.value):
        if not isinstance(index.value, Known):
            wanted_records.reject_key(expressions.scope.program, index.value, NeedsKnownError)
        return records.key_attribute(expressions, owner, expressions.scope.use(index.value), node)
    if sequences.is_sequence(owner.value):
        return sequences.part(expressions, owner, index, node)
    if default_dicts.is_counter(expressions.scope.program, owner.value) and isinstance(node.ctx, ast.Load):
        return default_dicts.count(expressions, owner, index, node)
    if is_object(owner.value):
        if (called := call_special(expressions.calls, "__getitem__", owner, [index], node)) is None:
            raise NotCompiledError("an object without elements")
        return called
    if isinstance(owner.value, DictValue):
        owner, index = default_dicts.fill(expressions, owner, index, node)
    node.value = expressions.expression(owner, node.value)
    if isinstance(owner.value, Never):
        node.slice = expressions.expression(index, node.slice)
        return Result(node, NEVER)
    if isinstance(owner.value, TupleValue):
        if not isinstance(index.value, Known):
            return _of_alike(expressions, node, owner.value, index)
        return _of_tuple(expressions, node, owner.value, index)
    value = owner.value
    if (parts := elements_of(value)) is not None and isinstance(index.value, Known):
        return _of_tuple(expressions, node, TupleValue(parts), index)
    if isinstance(value, DictValue):
        index = dict_key(expressions, index, node.slice)
    node.slice = expressions.expression(index, node.slice)
    if isinstance(value, ListValue):
        is_slice = isinstance(node.slice, ast.Slice)
        element = value.element if value.element is not None else NEVER
        if not is_slice:
            return Result(node, _element_hint(value, index.value, element))
        part = _sliced(value.sample, index.value)
        whole = value.sample is None and value.length is not None
        parts = _sliced(range(value.length), index.value) if whole else part  # type: ignore[arg-type]
        length = len(parts) if parts is not None and value.length is not None else None
        return Result(node, ListValue(value.element, is_tuple=value.is_tuple, length=length, sample=part))
    if isinstance(value, DictValue):
        expressions.scope.program.ask(value, index.value)
        if isinstance(index.value, Known) and (known := [v for k, v in value.parts if k == index.value.object]):
            expressions.scope.use(index.value)
            return Result(node, known[0])
        return Result(node, value.element if value.element is not None else NEVER)
    if isinstance(value, TensorValue):
        node.slice = expanded(value, index.value, node.slice)
        made = expressions.samples.result(operator.getitem, [value, _as_tensors(index.value)], {}, "select")
        return Result(node, made if getattr(made, "dtype", None) is not None else TensorValue(value.dtype))
    return Result(node, Scalar(str) if isinstance(value, Scalar) and value.kind is str else UNKNOWN)


def _index_in(expressions: ExpressionEvaluator, owner: Value, node: ast.expr) -> Result:
    """Evaluate an index; a member of an enum that is an int is that int, but to a dict."""
    index = index_of(expressions, node)
    return index if isinstance(owner, Known) and type(owner.object) is dict else enums.as_plain(index)


def _of_display(expressions: ExpressionEvaluator, node: ast.Subscript, display: ast.Dict) -> Result | None:
    """`{...}[key]` of which only one element is asked; None if it is none."""
    found = _function(expressions, display, node.slice)
    return enums.of_display(expressions, node) if found is None else found


def _of_index(expressions: ExpressionEvaluator, owner: Result, index: Result) -> Result:
    """`window[0]` of a tuple with slices."""
    position = expressions.scope.use(index.value) if isinstance(index.value, Known) else None
    parts = parts_of(owner)
    if type(position) is not int or not -len(parts) <= position < len(parts):
        raise NotCompiledError("an element of a tuple with slices that is not known")
    return parts[position]


def index_of(expressions: ExpressionEvaluator, node: ast.expr) -> Result:
    """Evaluate an index, or several: one that is known is written as it is."""
    parts = node.elts if isinstance(node, ast.Tuple) else []
    if any(map(_is_ellipsis, parts)):
        return _indices(expressions, node, parts)
    index = as_index_expression(_numbers(expressions, node) or expressions.evaluate(node), node)
    if index.node is None and isinstance(index.value, Known) and (made := _index(index.value.object, node)) is not None:
        expressions.scope.use(index.value)
        return Result(made, index.value)
    return index


def _indices(expressions: ExpressionEvaluator, node: ast.expr, parts: Sequence[ast.expr]) -> Result:
    """Evaluate several indices, one of which is an ellipsis, which is no value to TorchScript."""
    found = [Result(part, Known(...)) if _is_ellipsis(part) else index_of(expressions, part) for part in parts]
    made = ast.Tuple([expressions.expression(each, part) for each, part in zip(found, parts)], ast.Load())
    return Result(ast.copy_location(made, node), TupleValue(tuple(each.value for each in found)))


def _numbers(expressions: ExpressionEvaluator, node: ast.expr) -> Result | None:
    """`x[rows, range(n)]`: a range is a tensor of its numbers there, and no value to TorchScript; None of others."""
    if isinstance(node, ast.Tuple) and any(is_range(expressions.scope, part) for part in node.elts):
        return _indices(expressions, node, node.elts)
    if not is_range(expressions.scope, node):
        return None
    bounds = [expressions.expression(expressions.evaluate(part), part) for part in node.args]  # type: ignore[attr-defined]
    arange = ast.Attribute(ast.Name("torch", ast.Load()), "arange", ast.Load())
    return Result(with_places(ast.Call(arange, bounds, []), node), TensorValue(torch.int64, 1))


def _as_tensors(index: Value) -> Value:
    """An index of a tensor, with tensors for lists of unknown length in it."""
    if isinstance(index, TupleValue) and not index.names:
        return TupleValue(tuple(map(_as_tensors, index.elements)))
    if isinstance(index, ListValue) and index.length is None and isinstance(index.element, Scalar):
        return TensorValue(torch.bool if index.element.kind is bool else torch.int64, 1)
    return index


def _is_ellipsis(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is ...


def _function(expressions: ExpressionEvaluator, display: ast.Dict, key: ast.expr) -> Result | None:
    """`{"relu": F.relu, "scaled": lambda x: x * 2}[name]`: one of several functions, of which the others are not asked.

    Returns:
        None if it is another display, or which of them it is is not known.
    """
    if not display.values or not all(
        isinstance(part, (ast.Lambda, ast.Name, ast.Attribute)) for part in display.values
    ):
        return None
    scope = expressions.scope
    if any(part is None or has_effects(scope, part) for part in (*display.keys, key)):
        return None
    saved, hoisted = scope.save(), len(scope.before)
    found = _chosen(expressions, display, key)
    if found is None:  # all of it is evaluated again
        scope.restore(saved)
        del scope.before[hoisted:]
    return found


def _chosen(expressions: ExpressionEvaluator, display: ast.Dict, key: ast.expr) -> Result | None:
    keys = [expressions.evaluate(copy.deepcopy(part)).value for part in display.keys if part is not None]
    index = expressions.evaluate(copy.deepcopy(key)).value
    if not all(isinstance(each, Known) for each in (*keys, index)):
        return None
    values = [expressions.evaluate(copy.deepcopy(part)) for part in display.values]
    if not any(isinstance(each.value, Closure) for each in values):
        return None
    try:
        place = {each.object: place for place, each in enumerate(keys)}[index.object]  # type: ignore[attr-defined]
    except (KeyError, TypeError):  # it raises where it is evaluated
        return None
    for each in (*keys, index):
        expressions.scope.use(each)
    return values[place]


def _index(thing: Any, where: ast.AST) -> Any:
    """An expression for an index that is known, None if there is none; `...` is no value to TorchScript."""
    if thing is ...:
        return ast.copy_location(ast.Constant(thing), where)
    if isinstance(thing, (tuple, list)):
        parts = [_index(each, where) for each in thing]
        display = ast.Tuple if isinstance(thing, tuple) else ast.List
        return None if None in parts else ast.copy_location(display(parts, ast.Load()), where)
    return literal(thing, where)


def _parameter(expressions: ExpressionEvaluator, node: ast.Subscript, owner: Known, index: Result) -> Result:
    """`self.scales[i]`: parameters are attributes of the container."""
    if not isinstance(index.value, Known):
        raise NeedsKnownError("a parameter chosen by a dynamic number")
    key = expressions.scope.use(index.value)
    found = owner.object[key]
    name = str(key if isinstance(owner.object, torch.nn.ParameterDict) else range(len(owner.object))[key])
    container = expressions.scope.program.module_expression(expressions.scope, owner.object, node)
    function = ast.copy_location(ast.Name("getattr", ast.Load()), node)
    call = ast.Call(function, [container, ast.copy_location(ast.Constant(name), node)], [])
    program = expressions.scope.program
    path = f"{program.path_of(owner)}.{name}".removeprefix(".")
    return Result(ast.copy_location(call, node), program.tensor_value(found, path))


def _element_hint(value: ListValue, index: Value, element: Value) -> Value:
    """An element of a list, with the number that it has in the sample."""
    if value.sample is None or not isinstance(index, Known) or not isinstance(element, Scalar):
        return element
    try:
        return Scalar(element.kind, value.sample[index.object])
    except (IndexError, TypeError):
        return element


def _sliced(sample: Any, index: Value) -> Any:
    """A slice of a sample."""
    if sample is None or not isinstance(index, Known):
        return None
    try:
        return sample[index.object]
    except (TypeError, ValueError):
        return None


def _of_alike(expressions: ExpressionEvaluator, node: ast.Subscript, value: TupleValue, index: Result) -> Result:
    """An element of a tuple at a dynamic place, which TorchScript has of lists only.

    Raises:
        NeedsKnownError: the elements are of several types.
    """
    if len({annotation(element) for element in value.elements}) != 1 or annotation(value.elements[0]) is None:
        raise NeedsKnownError("an element of a tuple of several types, chosen by a dynamic number")
    parts = spread(expressions, Result(node.value, value), node) or []
    nodes = [expressions.expression(part, node) for part in parts]
    node.value = ast.copy_location(ast.List(nodes, ast.Load()), node)
    node.slice = expressions.expression(index, node.slice)
    found = value.elements[0]
    for element in value.elements[1:]:
        found = joined(found, element, expressions.samples.of)
    return Result(node, found)


def _of_tuple(expressions: ExpressionEvaluator, node: ast.Subscript, value: TupleValue, index: Result) -> Result:
    position = expressions.scope.use(index.value)
    try:
        found = value.elements[position]
    except (IndexError, TypeError):
        found = UNKNOWN  # it raises where it is evaluated
    node.slice = literal(position, node.slice) or expressions.expression(index, node.slice)
    return Result(node, TupleValue(found) if isinstance(found, tuple) else found)


def _of_known(expressions: ExpressionEvaluator, node: ast.Subscript, owner: Result, index: Result) -> Result:
    assert isinstance(owner.value, Known)
    known, thing = owner.value, owner.value.object
    if isinstance(thing, (torch.nn.ParameterList, torch.nn.ParameterDict)):
        return _parameter(expressions, node, known, index)
    if thing is None:
        node.value, node.slice = expressions.expression(owner, node.value), expressions.expression(index, node.slice)
        return Result(node, NEVER)  # it raises
    if not hasattr(type(thing), "__iter__"):
        raise NotCompiledError("an element of what has none")
    part = lambda key: element_of_known(expressions, known, Known(key))  # noqa: E731
    if isinstance(index.value, Known):
        try:
            found = element_of_known(expressions, known, index.value)
        except (IndexError, KeyError, TypeError):
            found = None
        if found is not None:
            return found
    elif (chosen := enums.element(expressions, known, index, part, node)) is not None:
        return chosen
    elif isinstance(thing, (torch.nn.ModuleList, torch.nn.Sequential, torch.nn.ModuleDict)):
        raise NeedsKnownError("a part of a model chosen by a dynamic value")
    if owner.node is None and (literal(thing, node) is None or has_tuple_keys(thing)):
        if type(thing) is dict and annotation(expressions.scope.program.widened(owner.value)) is not None:
            expressions.scope.program.change(owner.value)  # so that it is passed, whatever is in it
        raise NeedsKnownError("an element of a container that TorchScript has no type for, at a dynamic place")
    is_copy = isinstance(thing, dict) or not any(isinstance(part, (list, dict)) for part in thing)
    node.value = expressions.expression(owner, node.value, copied=is_copy)
    node.slice = expressions.expression(index, node.slice)
    if isinstance(thing, (list, tuple)) and thing:
        value = _any_of(expressions, thing, known.path)
        if isinstance(node.slice, ast.Slice):
            return Result(node, ListValue(value))
        if isinstance(thing, tuple) and isinstance(node.value, ast.Tuple):
            node.value = ast.copy_location(ast.List(node.value.elts, ast.Load()), node.value)
        return Result(node, value or UNKNOWN)
    if (
        isinstance(thing, dict)
        and thing
        and all(isinstance(part, (torch.Tensor, torch.Generator)) for part in thing.values())
    ):
        return Result(node, _any_of(expressions, thing.values(), owner.value.path))
    return Result(node)


def _any_of(expressions: ExpressionEvaluator, parts: Iterable[Any], path: str | None) -> Value:
    """What is known of an element of a container, whichever it is."""
    value: Value | None = None
    for part in parts:
        held = expressions.scope.program.widened(Known(part, path))
        value = joined(value, held, expressions.samples.of)
    return value or UNKNOWN


def element_of_known(expressions: ExpressionEvaluator, owner: Known, index: Known) -> Result | None:
    """Evaluate an element of a container that is known, at a place that is known.

    Raises:
        NotCompiledError: a change of the container would not be seen.
    """
    scope, thing = expressions.scope, owner.object
    position = scope.use(index)
    if (objects := scope.program.states.elements(owner)) is not None:
        found = objects[position]
        return found if isinstance(found, Result) else None
    if isinstance(thing, dict) and position not in thing and hasattr(type(thing), "__missing__"):
        raise NotCompiledError("a key that is not there, of a dict that makes it")
    found = thing[position]
    path = scope.program.path_of(owner)
    if isinstance(thing, (list, tuple, dict)) and path is not None and scope.program.is_elsewhere(path):
        if not isinstance(position, slice) and not isinstance(found, (torch.nn.Module, torch.Tensor, torch.Generator)):
            part = scope.program.part_of(path, (position,))
            return Result(None, Known(found, part, owner.guards | scope.program.guards_of(index)))
    if isinstance(found, torch.nn.Module) and not isinstance(position, slice):
        if not isinstance(thing, torch.nn.Module):
            scope.use(owner)  # it may hold another one later
        return Result(None, Known(found, None, scope.program.guards_of(owner)))
    if isinstance(thing, torch.nn.Module):  # `self.layers[1:]`
        return Result(None, Known(found if isinstance(found, torch.nn.Sequential) else list(found)))
    if isinstance(found, (torch.Tensor, torch.Generator)):
        return None
    if isinstance(thing, (list, tuple, dict, range, str)):
        return Result(None, Known(found, None, scope.program.guards_of(owner) | scope.program.guards_of(index)))
    raise NotCompiledError("an element of what is no container")
