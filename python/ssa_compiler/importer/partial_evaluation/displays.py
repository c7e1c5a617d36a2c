"""Tuples, lists and dicts that a program writes down."""

from __future__ import annotations

import ast
import copy
import operator
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

import torch

from ...abi.records import can_be_record
from . import objects, records, sequences, tuple_keys
from .hints import combined, hint, hints, is_tracked
from .index_values import IndexValue, parts_of, tuple_of
from .interfaces import ExpressionEvaluator, Result
from .library_classes import is_deque, is_set
from .rejections import NotCompiledError
from .scope import placed
from .unification import settle
from .values import (
    UNKNOWN,
    Closure,
    DictValue,
    Known,
    ListValue,
    OptionalValue,
    TensorValue,
    TupleValue,
    Value,
    annotation,
    elements_of,
    guards_of,
    is_none,
    joined,
    key_type,
    widened,
)

__all__ = [
    "as_list",
    "concatenated",
    "dict_display",
    "list_display",
    "list_of",
    "listed",
    "ordered_display",
    "shown",
    "tuple_display",
]


def tuple_display(expressions: ExpressionEvaluator, node: ast.Tuple) -> Result:
    """Evaluate `(a, *b)`."""
    if (made := listed(expressions, node.elts, node)) is not None:
        return made
    is_index = any(isinstance(part, ast.Slice) for part in node.elts)
    results = [expressions.evaluate(part) for part in node.elts]
    values = tuple(result.value for result in results)
    if (index := tuple_of(expressions, results, node)) is not None:
        return index
    if is_index:
        node.elts = [expressions.expression(result, part) for result, part in zip(results, node.elts)]
        return Result(node, TupleValue(values))
    if results and all(isinstance(value, Known) for value in values):
        things = tuple(value.object for value in values)  # type: ignore[attr-defined]
        guards = frozenset().union(*(expressions.scope.program.guards_of(value) for value in values))
        nodes = [result.node for result in results]
        if None in nodes:
            return Result(None, Known(things, None, guards))
        node.elts = nodes
        return Result(node, Known(things, None, guards))
    if any(_is_static(value) for value in values):
        return Result(None, TupleValue(values))
    results = [_or_something(expressions, result, part) for result, part in zip(results, node.elts)]
    node.elts = [expressions.expression(result, part) for result, part in zip(results, node.elts)]
    return Result(node, TupleValue(tuple(result.value for result in results)))


def _or_something(expressions: ExpressionEvaluator, result: Result, node: ast.expr) -> Result:
    """An element of a tuple: None with the type of what another tuple has there, which comes to the same place."""
    if not is_none(result.value) or not isinstance(node, ast.Constant):
        return result
    program, place = expressions.scope.program, expressions.scope.place(node)
    if isinstance(found := program.elements.get(place), OptionalValue):
        return Result(program.annotated(ast.copy_location(ast.Constant(None), node), found), found)
    return Result(result.node, Known(None, None, frozenset(), place))


def list_display(expressions: ExpressionEvaluator, node: ast.List) -> Result:
    """Evaluate `[a, *b]`."""
    if (made := listed(expressions, node.elts, node)) is not None:
        return made
    return list_of(expressions, [expressions.evaluate(part) for part in node.elts], node)


def list_of(expressions: ExpressionEvaluator, results: Sequence[Result], node: ast.List) -> Result:
    """Return a list of results, in the place of a display."""
    if results and any(_is_static(result.value) for result in results):
        if all(isinstance(result.value, Known) for result in results):
            guards = frozenset().union(*(guards_of(result.value) for result in results))
            return Result(None, Known([result.value.object for result in results], None, guards))  # type: ignore[attr-defined]
        raise NotCompiledError("a list of functions or modules and of other values")
    program, place = expressions.scope.program, expressions.scope.place(node)
    element = program.elements.get(place)
    for result in results:
        element = joined(element, program.widened(result.value), expressions.samples.of)
    has_objects = any(map(objects.is_object, (result.value for result in results)))
    if has_objects and element == UNKNOWN and program.length(frozenset([place]), len(results)) is not None:
        if (made := sequences.make(expressions.scope, results, node)) is not None:
            return made
    node.elts = [expressions.expression(result, part) for result, part in zip(results, node.elts)]
    for result in results:
        settle(program, result.value, element)
    places = frozenset([place])
    count = len(node.elts) or None  # elements are put into empty lists
    length = program.length(places, count)
    is_sample = all(is_tracked(result.value) for result in results) and (length is not None or not results)
    sample = tuple(hint(result.value) for result in results) if is_sample else _tensors(results, length)
    value = ListValue(element, places, False, length, sample)
    return Result(_annotated(expressions, node, value), value)


def _tensors(results: Sequence[Result], length: int | None) -> tuple[Any, ...] | None:
    """Samples of tensors, which may have several sizes; None if there are none."""
    found = [getattr(result.value, "sample", None) for result in results if isinstance(result.value, TensorValue)]
    is_sample = length is not None and len(found) == len(results) and not any(each is None for each in found)
    return tuple(found) if is_sample else None


def dict_display(expressions: ExpressionEvaluator, node: ast.Dict) -> Result:
    """Evaluate `{key: value}`."""
    if None in node.keys:
        return records.display(expressions, node)
    pairs = [(expressions.evaluate(k), expressions.evaluate(v)) for k, v in zip(node.keys, node.values)]  # type: ignore[arg-type]
    parts = [result for pair in pairs for result in pair]
    if any(_is_static(result.value) for result in parts):
        if all(isinstance(result.value, Known) for result in parts):
            guards = frozenset().union(*(guards_of(result.value) for result in parts))
            made = {k.value.object: v.value.object for k, v in pairs}  # type: ignore[attr-defined]
            return Result(None, Known(OrderedDict(made) if hasattr(node, "ordered") else made, None, guards))
        return records.make(expressions.scope, _named(pairs), node)
    program, place = expressions.scope.program, expressions.scope.place(node)
    key, element, sample = program.elements.get((place, "key")), program.elements.get(place), expressions.samples.of
    for one, other in pairs:
        own = key_type(program.widened(one.value))
        is_tuple, key = isinstance(own, TupleValue) or isinstance(key, TupleValue), joined(key, own, sample)
        if is_tuple and not isinstance(key, TupleValue):
            raise NotCompiledError("a dict with keys of which some are tuples")
        element = joined(element, program.widened(other.value), expressions.samples.of)
    for _, other in pairs:
        settle(program, other.value, element)
    if all(isinstance(k.value, Known) for k, _ in pairs):
        is_ordered = bool(pairs) and hasattr(node, "ordered")
        if is_ordered or records.is_wanted(program, [k.value.object for k, _ in pairs], element, [place]):  # type: ignore[attr-defined]
            return records.make(expressions.scope, _named(pairs), node)
    keys = [tuple_keys.dict_key(expressions, k, node) for k, _ in pairs]
    node.keys = [expressions.expression(key, part) for key, part in zip(keys, node.keys)]  # type: ignore[arg-type]
    node.values = [expressions.expression(value, part) for (_, value), part in zip(pairs, node.values)]
    value = DictValue(key, element, frozenset([place]))
    annotated = _annotated(expressions, node, value)
    if (made_by := getattr(node, "ordered", None)) is not None:
        if pairs:
            raise NotCompiledError("an OrderedDict with elements and dynamic keys")
        annotated = ast.copy_location(ast.Call(made_by, [annotated], []), node)
    return Result(annotated, value)


def ordered_display(node: ast.Call) -> ast.Dict | None:
    """Return the display of what `OrderedDict(a=x)` or `OrderedDict([("a", x)])` holds; None if it is neither."""
    is_display = len(node.args) == 1 and isinstance(node.args[0], (ast.List, ast.Tuple))
    if node.args and not is_display:
        return None
    given = node.args[0].elts if is_display else []  # type: ignore[attr-defined]
    keys, values = list[ast.expr](), list[ast.expr]()
    for pair in given:
        if not isinstance(pair, (ast.List, ast.Tuple)) or len(pair.elts) != 2:
            return None
        keys.append(pair.elts[0])
        values.append(pair.elts[1])
    for keyword in node.keywords:
        if keyword.arg is None:
            return None
        keys.append(ast.copy_location(ast.Constant(keyword.arg), node))
        values.append(keyword.value)
    return ast.copy_location(ast.Dict([*keys], values), node)


def _named(pairs: Sequence[tuple[Result, Result]]) -> dict[Any, Result]:
    """The elements of a record.

    Raises:
        NotCompiledError: it is none.
    """
    keys = [key.value.object if isinstance(key.value, Known) else None for key, _ in pairs]
    if not can_be_record(keys) or len(set(keys)) != len(keys):
        raise NotCompiledError("a dict whose elements are of several types, with keys that are no names")
    return {key: element for key, (_, element) in zip(keys, pairs)}


def _annotated(expressions: ExpressionEvaluator, node: Any, value: ListValue | DictValue) -> Any:
    """A display with the type that it has where TorchScript would take it for another."""
    is_empty = not (node.elts if isinstance(node, ast.List) else node.keys)
    is_default = value.element is None or annotation(value.element) == "Tensor"
    if isinstance(value, DictValue):
        is_default = is_default and (value.key is None or annotation(value.key) == "str")
    has_none = isinstance(value.element, OptionalValue) or (value.element is not None and is_none(value.element))
    if not has_none and (not is_empty or is_default):
        return node
    return node if annotation(value) is None else expressions.scope.program.annotated(node, value)


def _is_static(value: Value) -> bool:
    """Whether a value is an object that TorchScript has no values for."""
    if isinstance(value, (Closure, IndexValue)):
        return True
    return isinstance(value, Known) and not is_none(value) and isinstance(_general(value), Known)


def _general(value: Known) -> Value:
    return widened(value, lambda tensor: None)


def listed(expressions: ExpressionEvaluator, parts: Sequence[ast.expr], node: Any) -> Result | None:
    """Write `[a, *b]` with lists after stars as `[a] + b`; None if there are no stars.

    Args:
        expressions: evaluates.
        parts: the elements.
        node: the display, or the call whose arguments they are; what is made is placed there.
    """
    if not any(isinstance(part, ast.Starred) for part in parts):
        return None
    chunks: list[tuple[list[Any], list[Value]] | tuple[Any, ListValue]] = [([], [])]
    for part in parts:
        if not isinstance(part, ast.Starred):
            result = expressions.evaluate(part)
            chunks[-1][0].append(expressions.expression(result, part))
            chunks[-1][1].append(result.value)  # type: ignore[union-attr]
            continue
        result = expressions.evaluate(part.value)
        pieces = None if isinstance(result.value, ListValue) else spread(expressions, result, part.value)
        if pieces is None:
            if not isinstance(result.value, ListValue):
                raise NotCompiledError("a star before what has a dynamic number of elements")
            name = ast.copy_location(ast.Name("list", ast.Load()), part)
            items = ast.copy_location(ast.Call(name, [result.node], []), part) if result.value.is_tuple else result.node
            chunks += [(items, result.value), ([], [])]
            continue
        for piece in pieces:
            chunks[-1][0].append(expressions.expression(piece, part))
            chunks[-1][1].append(piece.value)  # type: ignore[union-attr]
    if len(chunks) == 1:
        elements, values = chunks[0]
        if isinstance(node, ast.Tuple):
            return Result(ast.copy_location(ast.Tuple(elements, ast.Load()), node), TupleValue(tuple(values)))  # type: ignore[arg-type]
        element: Value | None = None
        for value in values:  # type: ignore[union-attr]
            element = joined(element, expressions.scope.program.widened(value), expressions.samples.of)
        return Result(ast.copy_location(ast.List(elements, ast.Load()), node), ListValue(element))
    made: Any = None
    element, parts_of = None, list[Value]()
    sample: Any = ()
    expression: Any
    for _, value in chunks:
        parts_of += value if isinstance(value, list) else [value.element or UNKNOWN]
    for each in parts_of:
        element = joined(element, expressions.scope.program.widened(each), expressions.samples.of)
    for expression, value in chunks:
        if isinstance(value, list):
            if not value:
                continue
            listed_: Any = ast.List(expression, ast.Load())
            expression = ast.copy_location(listed_, node)
            sample = combined(operator.add, sample, hints(TupleValue(tuple(value))))
            if isinstance(element, OptionalValue):
                expression = expressions.scope.program.annotated(expression, ListValue(element))
        else:
            sample = combined(operator.add, sample, hints(value))
        made = expression if made is None else ast.copy_location(ast.BinOp(made, ast.Add(), expression), node)
    if not isinstance(made, (ast.BinOp, ast.List)):
        made = ast.copy_location(ast.Subscript(made, ast.Slice(None, None, None), ast.Load()), node)  # a copy
    return Result(made, ListValue(element, is_tuple=isinstance(node, ast.Tuple), sample=sample))


def spread(
    expressions: ExpressionEvaluator, result: Result, where: ast.AST, *, fresh: bool = False
) -> list[Result] | None:
    """Return the elements of what is unpacked, None if their number is dynamic.

    Args:
        expressions: evaluates.
        result: what is unpacked.
        where: the expression.
        fresh: whether they are used later, when the variables may have other values.
    """
    value = result.value
    if isinstance(value, IndexValue):
        return parts_of(result)
    if sequences.is_sequence(value):
        return sequences.elements(expressions, result, where, fresh=fresh)
    known = (list, tuple, range, torch.nn.ModuleList, torch.nn.Sequential)
    if isinstance(value, Known) and isinstance(value.object, known):
        guards = expressions.scope.program.guards_of(value)
        return [Result(None, Known(part, None, guards)) for part in value.object]
    if isinstance(value, ListValue) and value.length is not None and value.element is not None:
        value = TupleValue((value.element,) * value.length)
    elements = elements_of(value)
    if elements is None:
        return None
    if isinstance(result.node, ast.Tuple):
        parts = [Result(part, each) for part, each in zip(result.node.elts, elements)]
        if not fresh:
            return parts
        held = [part.node is None or isinstance(part.node, ast.Constant) for part in parts]
        return [
            part if is_held else Result(expressions.named(part, where, fresh=True), part.value)
            for part, is_held in zip(parts, held)
        ]
    if result.node is None:
        return [Result(None, each) for each in elements]
    name = expressions.named(result, where, fresh=fresh)
    return [
        Result(ast.copy_location(ast.Subscript(copy.deepcopy(name), ast.Constant(k), ast.Load()), where), each)
        for k, each in enumerate(elements)
    ]


def concatenated(expressions: ExpressionEvaluator, node: ast.BinOp, left: Value, right: Value) -> Result | None:
    """Evaluate `a + b` and `a * n` of lists and tuples; None for anything else.

    Sizes of tensors are tuples in Python and lists in TorchScript.
    """
    sample = expressions.samples.of
    if isinstance(node.op, ast.Mult):
        if isinstance(left, (ListValue, TupleValue)) or (
            isinstance(left, Known) and isinstance(left.object, (list, tuple))
        ):
            element = _element(left, sample)
            node.left = as_list(node.left)
            made = combined(operator.mul, hints(left), hint(right))
            length = _length(left)
            length = length * right.object if length is not None and isinstance(right, Known) else None
            return Result(node, ListValue(element, getattr(left, "places", frozenset()), _is_tuple(left), length, made))
        return None
    if not isinstance(node.op, ast.Add):
        return None
    sides = [
        isinstance(value, (ListValue, TupleValue))
        or (isinstance(value, Known) and isinstance(value.object, (list, tuple)))
        for value in (left, right)
    ]
    if not all(sides):
        return None
    if _is_tuple(left) is not _is_tuple(right):
        raise NotCompiledError("a sum of a list and a tuple, which raises TypeError")
    if not isinstance(left, ListValue) and not isinstance(right, ListValue):
        are_tuples = all(not (isinstance(value, Known) and isinstance(value.object, list)) for value in (left, right))
        parts = [
            spread(expressions, Result(side, value), node) for side, value in ((node.left, left), (node.right, right))
        ]
        if are_tuples and None not in parts:
            every = [each for part in parts for each in part or ()]
            whole = ast.Tuple([expressions.expression(each, node) for each in every], ast.Load())
            return Result(ast.copy_location(whole, node), TupleValue(tuple(each.value for each in every)))
    node.left, node.right = as_list(node.left), as_list(node.right)
    element = joined(_element(left, sample), _element(right, sample) or UNKNOWN, sample)
    if isinstance(element, OptionalValue):
        node.left, node.right = [
            _optional(expressions, side, _element(value, sample), element)
            for side, value in ((node.left, left), (node.right, right))
        ]
    counts = [_length(left), _length(right)]
    length = None if None in counts else sum(filter(None, counts))
    places = getattr(left, "places", frozenset()) | getattr(right, "places", frozenset())
    value = ListValue(element, places, _is_tuple(left), length, combined(operator.add, hints(left), hints(right)))
    if _is_tuple(left) and _is_tuple(right):
        node.of_tuples = True  # type: ignore[attr-defined]
    return Result(node, value)


def shown(expressions: ExpressionEvaluator, result: Result, node: ast.expr) -> ast.expr:
    """Return an expression whose text is that of a result.

    Raises:
        NotCompiledError: it is a tuple of dynamic length, which is a list or shape to TorchScript, or has its own text.
    """
    value = result.value
    if is_set(value) or is_deque(value):
        raise NotCompiledError("the text of a set or deque")
    factories = expressions.scope.program.factories
    if isinstance(value, DictValue) and any(place in factories for place in value.places):
        raise NotCompiledError("the text of a defaultdict or Counter")
    if sequences.is_sequence(value):
        raise NotCompiledError("the text of a list or tuple of several types")
    if not isinstance(value, ListValue) or not value.is_tuple or isinstance(value.sample, torch.Size):
        return expressions.expression(result, node, copied=True)
    if value.length is None:
        raise NotCompiledError("the text of a tuple of dynamic length")
    name = expressions.named(result, node).id
    text = f"({' '.join(f'{name}[{place}],' for place in range(value.length))})"
    made: ast.expr = placed(ast.parse(text, mode="eval").body, node)
    return made


def _optional(expressions: ExpressionEvaluator, node: ast.expr, own: Value | None, element: OptionalValue) -> Any:
    """Let a list that is written down have elements that may be None, as the other operand has."""
    is_other = isinstance(node, ast.List) and not isinstance(own, OptionalValue)
    return expressions.scope.program.annotated(node, ListValue(element)) if is_other else node


def _is_tuple(value: Value) -> bool:
    if isinstance(value, ListValue):
        return value.is_tuple
    return not (isinstance(value, Known) and isinstance(value.object, list))


def _length(value: Value) -> int | None:
    if isinstance(value, ListValue):
        return value.length
    return len(_elements(value))


def as_list(node: ast.expr) -> ast.expr:
    return ast.copy_location(ast.List(node.elts, ast.Load()), node) if isinstance(node, ast.Tuple) else node


def _elements(value: Value) -> Sequence[Value]:
    if isinstance(value, TupleValue):
        return value.elements
    assert isinstance(value, Known)
    return [Known(part) for part in value.object]


def _element(value: Value, sample: Callable[..., Any]) -> Value | None:
    if isinstance(value, ListValue):
        return value.element
    found: Value | None = None
    for part in _elements(value):
        found = joined(found, widened(part, sample), sample)
    return found
