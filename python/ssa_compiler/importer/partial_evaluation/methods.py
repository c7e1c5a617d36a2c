"""Methods of values that a program computes."""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence
from typing import Any

import torch

from . import counters, generators
from .effects import has_effects
from .hints import number_kind, sizes
from .interfaces import Arguments, CallEvaluator, Result
from .new_nodes import parsed_at, put_in
from .number_functions import of_numbers
from .ordering import sorted_in_place
from .presence import no_attribute
from .rejections import NotCompiledError, StatementsError
from .scope import placed
from .squeezes import squeezed
from .tuple_keys import dict_key, popped, reads_texts, reject_tuple_keys
from .unification import settle
from .values import (
    NEVER,
    UNKNOWN,
    DictValue,
    Known,
    ListValue,
    Never,
    OptionalValue,
    Scalar,
    TensorValue,
    TupleValue,
    Unknown,
    Value,
    annotation,
    is_none,
    joined,
)
from .wanted_records import read_key, want

__all__ = ["call", "of_container"]

_OF_KEYS = frozenset("get pop setdefault __contains__ __getitem__".split())
_DTYPES = frozenset(each for each in vars(torch).values() if isinstance(each, torch.dtype))
_SYNONYMS = {"nelement": "numel", "ndimension": "dim"}
"""Methods that TorchScript knows by another name."""
_NEW = frozenset("new_full new_zeros new_ones new_empty".split())
_RETURN_NOTHING = frozenset("append extend insert remove clear sort reverse".split())


def call(calls: CallEvaluator, node: ast.Call, owner: Result) -> Result:
    """Evaluate `x.f(...)`.

    Args:
        calls: evaluates calls.
        node: the call; the function is an attribute.
        owner: what `x` is.
    """
    function = node.func
    assert isinstance(function, ast.Attribute)
    owner = calls.expressions.present(owner, *no_attribute(function.attr))
    value = owner.value
    function.value = calls.expressions.expression(owner, function.value)
    if isinstance(value, TensorValue):
        return _of_tensor(calls, node, function, value)
    if (made := counters.call_method(calls, node, Result(function.value, value))) is not None:
        return made
    if isinstance(value, DictValue) and function.attr == "update" and node.keywords:
        return _updated_by_name(calls, node, owner)
    if isinstance(value, ListValue) and function.attr == "sort":
        if (made := sorted_in_place(calls, node, Result(function.value, value))) is not None:
            return made
    if value == Scalar(torch.Generator):
        return generators.call_method(calls, node, function.attr, function.value)
    is_number = isinstance(value, Scalar) and value.kind in (bool, int, float)
    if is_number and not hasattr(value.kind, function.attr):  # type: ignore[attr-defined]
        return _without_method(calls, node, function, value.kind)  # type: ignore[attr-defined]
    arguments = calls.arguments(node)
    if isinstance(value, Scalar) and is_number and hasattr(value.kind, function.attr):
        given = Arguments([owner, *arguments.positional], arguments.named)
        if (made := of_numbers(calls, node, getattr(value.kind, function.attr), given)) is not None:
            return made
    if isinstance(value, (DictValue, ListValue)):
        return of_container(calls, node, value, arguments)
    calls.place(node, arguments)
    if isinstance(value, Unknown) and function.attr in ("append", "extend", "insert", "pop", "remove", "clear"):
        calls.scope.program.resize(calls.scope, function.value, ListValue(None))
    return Result(node)


def of_container(calls: CallEvaluator, node: ast.Call, value: ListValue | DictValue, arguments: Arguments) -> Result:
    """Evaluate `x.f(...)` of a list or dict.

    Args:
        calls: evaluates calls.
        node: the call; the function is an attribute of an expression for the container.
        value: what the container is.
        arguments: what is passed.
    """
    function = node.func
    assert isinstance(function, ast.Attribute)
    if isinstance(value, ListValue):
        calls.place(node, arguments)
        return Result(node, _of_list(calls, function, value, arguments))
    if function.attr == "get" and len(arguments.positional) == 2 and is_none(arguments.positional[1].value):
        arguments = Arguments(arguments.positional[:1], arguments.named)  # as TorchScript says it
    if function.attr == "get" and len(arguments.positional) == 2:
        _choose(calls, node, value, arguments.positional)
    given = arguments
    if arguments.positional and function.attr in _OF_KEYS:
        key = dict_key(calls.expressions, arguments.positional[0], node)
        given = Arguments([key, *arguments.positional[1:]], arguments.named)
    if function.attr == "popitem" and (made := popped(calls, node, value)) is not None:
        return made
    if function.attr in ("keys", "items", "popitem") and not reads_texts(value, node):
        reject_tuple_keys(value)
    calls.place(node, given)
    return Result(node, _of_dict(calls, function, value, arguments))


def _choose(calls: CallEvaluator, node: ast.Call, value: DictValue, given: Sequence[Result]) -> None:
    """Let `d.get(key, default)` be a branch, if the default is a number of another type than the elements.

    Raises:
        StatementsError: it is.
    """
    kinds = {number_kind(value.element or NEVER), number_kind(given[1].value)}
    whole, token = calls.scope.whole, getattr(node, "token", None)
    source = [part for part in ast.walk(whole) if getattr(part, "token", None) == token] if whole is not None else []
    is_name = isinstance(given[0].value, Known) and type(given[0].value.object) is str  # perhaps the dict is a record
    if None in kinds or len(kinds) == 1 or token is None or not source or is_name:
        return
    names = [calls.scope.name() for _ in range(3)]
    text = "{0} = _\n{1} = _\n{2} = _\nif {1} in {0}:\n    {2} = {0}[{1}]".format(*names)
    made = parsed_at(text, node)
    called: Any = copy.deepcopy(source[0])
    for statement, part in zip(made, (called.func.value, *called.args)):
        statement.value = part  # type: ignore[attr-defined]
    raise StatementsError(made, names[2], token)


def _without_method(calls: CallEvaluator, node: ast.Call, function: ast.Attribute, kind: type) -> Result:
    """`total.argmax(1)`, of a variable that is a number where no loop has made a tensor of it: it raises there."""
    text = f"raise AttributeError(\"'{kind.__name__}' object has no attribute '{function.attr}'\")"
    calls.scope.hoist(parsed_at(text, node), node)
    name = calls.scope.program.constant_name(torch.zeros)  # a tensor, as elsewhere, for what is never reached
    made = ast.parse(f"{name}([0])", mode="eval").body
    return Result(placed(made, node), NEVER)


def _of_tensor(calls: CallEvaluator, node: ast.Call, function: ast.Attribute, value: TensorValue) -> Result:
    name, samples = function.attr, calls.expressions.samples
    if _changes_shape(name):
        raise NotCompiledError(f"{name}, which changes the shape of a tensor in place")
    if (dtype := getattr(torch, name, None)) in _DTYPES and not node.args + node.keywords:
        # TorchScript has methods for some dtypes only, as it has names for some.
        name = function.attr = "to"
        node.args = [placed(ast.parse(str(dtype), mode="eval").body, node)]
    name = function.attr = _SYNONYMS.get(name, name)
    if name == "nonzero" and [each.arg for each in node.keywords] == ["as_tuple"]:
        flag = node.keywords.pop()
        as_tuple = calls.expressions.evaluate(flag.value).value
        if not isinstance(as_tuple, Known):
            raise NotCompiledError("nonzero(as_tuple=...) of what is dynamic")
        name = function.attr = "nonzero_numpy" if as_tuple.object else name
    if name == "squeeze" and (made := squeezed(calls, node, function.value, value)) is not None:
        return made
    if name in ("tolist", "item") and not node.args and value.dtype is not None:
        if (made := _as_python(calls, node, function, value)) is not None:
            return made
    if name == "new" and node.args and not isinstance(node.args[0], (ast.List, ast.Tuple)) and value.sample is not None:
        name = function.attr = "new_empty"
        node.args = [ast.copy_location(ast.List(node.args, ast.Load()), node)]
    if name == "new_tensor" and len(node.args) == 1:
        return _new_tensor(calls, node, function, value)
    if calls.with_list(node, name, 1):
        values: list[Value] = [calls.expressions.evaluate(node.args[0]).value]
        arguments = calls.arguments(ast.copy_location(ast.Call(node.func, [], node.keywords), node))
        node.keywords = [
            ast.copy_location(ast.keyword(key, calls.expressions.expression(result, node)), node)
            for key, result in arguments.named.items()
        ]
    else:
        arguments = calls.present(calls.arguments(node), name, 1)
        calls.place(node, arguments, copied=True)
        values = [result.value for result in arguments.positional]
    named = {key: result.value for key, result in arguments.named.items()}
    if name == "size" and not values and not named:
        return Result(node, sizes(value))
    if name in ("dim", "ndimension") and value.rank is not None and not has_effects(calls.scope, function.value):
        return Result(node, Known(value.rank))
    if name == "size" and len(values) == 1 and isinstance(values[0], Known) and value.sample is not None:
        try:
            return Result(node, Scalar(int, int(value.sample.shape[values[0].object])))
        except (IndexError, TypeError):
            return Result(node, Scalar(int))
    if name in ("dim", "numel", "size", "stride", "nelement", "ndimension"):
        return Result(node, Scalar(int))

    def method(tensor: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        if name == "nonzero_numpy":  # a method in TorchScript only
            return tensor.nonzero(as_tuple=True)
        return getattr(tensor, name)(*args, **kwargs)

    if name == "tolist" and value.rank is None:
        return Result(node)
    node.is_number = name == "item"  # type: ignore[attr-defined]  # to TorchScript, which does not know its dtype
    if name in _NEW and (value.dtype is not None or "dtype" in named):  # whatever shape the tensor has
        return Result(node, samples.result(method, [samples.value(torch.empty((), dtype=value.dtype)), *values], named))
    return Result(node, samples.result(method, [value, *values], named, name))


def _changes_shape(name: str) -> bool:
    """Whether a method changes the shape of a tensor in place, by the tags of its operator."""
    packet = getattr(torch.ops.aten, name, None) if name.endswith("_") and not name.startswith("_") else None
    overloads = packet.overloads() if packet is not None else ()
    return name in ("set_", "resize_", "resize_as_") or any(
        torch.Tag.inplace_view in getattr(packet, each).tags for each in overloads
    )


def _new_tensor(calls: CallEvaluator, node: ast.Call, function: ast.Attribute, value: TensorValue) -> Result:
    """`x.new_tensor([1, 2])` as `torch.tensor([1, 2], dtype=x.dtype, device=x.device)`."""
    owner = calls.expressions.named(Result(function.value, value), node)
    given = {keyword.arg for keyword in node.keywords}
    for name in ("dtype", "device"):
        if name not in given:
            attribute = ast.copy_location(ast.Attribute(owner, name, ast.Load()), node)
            node.keywords.append(ast.copy_location(ast.keyword(name, attribute), node))
    node.func = ast.copy_location(ast.Name(calls.scope.program.constant_name(torch.tensor), ast.Load()), node)
    arguments = calls.arguments(node)
    calls.place(node, arguments)
    if "dtype" in given or value.dtype is None:
        return Result(node, TensorValue())
    kind = {"dtype": Known(value.dtype)}
    return Result(node, calls.expressions.samples.result(torch.tensor, [arguments.positional[0].value], kind, "tensor"))


def _as_python(calls: CallEvaluator, node: ast.Call, function: ast.Attribute, value: TensorValue) -> Result | None:
    """`x.tolist()` and `x.item()`: TorchScript has to be told the type."""
    assert value.dtype is not None
    if value.dtype.is_complex:
        return None
    kind = bool if value.dtype is torch.bool else float if value.dtype.is_floating_point else int
    if function.attr == "item" or value.rank == 0:
        name = ast.copy_location(ast.Name(kind.__name__, ast.Load()), node)
        function.attr = "item"
        return Result(ast.copy_location(ast.Call(name, [node], []), node), Scalar(kind))
    if value.rank is None:
        return None
    made: Value = Scalar(kind)
    for _ in range(value.rank):
        made = ListValue(made)
    return Result(calls.scope.program.annotated(node, made), made)


def _of_list(calls: CallEvaluator, function: ast.Attribute, value: ListValue, arguments: Arguments) -> Value:
    program, scope, name = calls.scope.program, calls.scope, function.attr
    if name not in ("index", "count", "copy"):
        program.resize(scope, function.value, value)
    given = [result.value for result in arguments.positional]
    if name in ("append", "insert") and given:
        program.put(scope, function.value, value, None, given[-1])
    if name == "extend" and given:
        for element in _elements(given[0]):
            program.put(scope, function.value, value, None, element)
    if name == "pop":
        return value.element if value.element is not None else NEVER
    if name in ("index", "count"):
        return Scalar(int)
    if name == "copy":
        return ListValue(value.element, value.places)
    return Known(None) if name in _RETURN_NOTHING else UNKNOWN


def _elements(value: Value) -> list[Value]:
    """What the elements of something that is iterated over are."""
    if isinstance(value, TupleValue):
        return list(value.elements)
    if isinstance(value, ListValue):
        return [] if value.element is None else [value.element]
    return [UNKNOWN]


def _of_dict(calls: CallEvaluator, function: ast.Attribute, value: DictValue, arguments: Arguments) -> Value:
    name, element = function.attr, value.element or NEVER
    key = Scalar(str) if isinstance(value.key, TupleValue) else read_key(value)
    given = [result.value for result in arguments.positional]
    if name in ("get", "pop") and given:
        calls.scope.program.ask(value, given[0])
    if name in ("get", "pop", "setdefault") and len(given) == 2:
        settle(calls.scope.program, given[1], value.element)
    if name == "update":
        other = given[0] if given and isinstance(given[0], DictValue) else DictValue(UNKNOWN, UNKNOWN)
        calls.scope.program.put(calls.scope, function.value, value, other.key, other.element)
    if name == "setdefault" and len(given) == 2:
        calls.scope.program.put(calls.scope, function.value, value, given[0], given[1])
    if name == "copy":
        return DictValue(value.key, value.element, value.places)
    if name == "popitem":
        return TupleValue((key, element))
    if name == "items":
        return ListValue(TupleValue((key, element)))
    if name == "keys":
        return ListValue(key)
    if name == "values":
        return ListValue(element)
    if name == "get":
        if len(arguments.positional) == 1:
            return OptionalValue(element)
        default = calls.scope.program.widened(given[1])
        if isinstance(given[0], Known) and type(given[0].object) is str and _is_of_other_type(calls, element, default):
            want(calls.scope.program, value)
            raise NotCompiledError("get() with a default of another type than the elements")
        return default if isinstance(element, Never) else element
    if name in ("pop", "setdefault"):
        return element if not isinstance(element, Never) or len(given) < 2 else calls.scope.program.widened(given[1])
    return UNKNOWN


def _updated_by_name(calls: CallEvaluator, node: ast.Call, owner: Result) -> Result:
    """`found.update(other, key=value)` as assignments of elements."""
    expressions = calls.expressions
    target = expressions.named(owner, node)
    arguments = calls.arguments(node)
    values = {name: expressions.named(result, node) for name, result in arguments.named.items()}
    steps = [f"{target.id}.update(_)"] * len(node.args) + [f"{target.id}[{name!r}] = _" for name in values]
    parts = [*(expressions.named(each, node) for each in arguments.positional), *values.values()]
    for text, part in zip(steps, parts):
        made = [put_in(statement, "_", part) for statement in parsed_at(text, node)]
        calls.scope.hoist([each for one in made for each in expressions.statements.statement(one)], node)
    return Result(ast.copy_location(ast.Constant(None), node), Known(None))


def _is_of_other_type(calls: CallEvaluator, element: Value, default: Value) -> bool:
    """Whether TorchScript has types for an element and a default, and none for both."""
    both = joined(element, default, calls.expressions.samples.of)
    known = [annotation(each) for each in (element, default) if not isinstance(each, Never)]
    return None not in known and annotation(both) is None
