"""Calls of Python's own functions."""

from __future__ import annotations

import ast
import builtins
import copy
from collections.abc import Callable, Sequence
from typing import Any

import torch

from ..torchscript.function_scope import is_iterator
from . import asked_types, deques, enums, generator_functions, index_values, int_items, records, sequences, sets
from .any_and_all import has_tensors, stopping, truths
from .callees import is_of_torch
from .displays import shown
from .effects import has_effects
from .hints import is_plain, number_kind
from .indices import as_index
from .interfaces import Arguments, CallEvaluator, Result
from .iterators import following
from .map_calls import mapped
from .number_functions import of_numbers
from .objects import call_special, decides, is_object, truth
from .ordering import extreme, ordered
from .presence import optional_truth
from .ranges import listed_range, of_range
from .rejections import NotCompiledError, OrderError
from .scope import literal
from .squeezes import squeezed
from .sums import summed
from .tuple_keys import listed_keys, reject_tuple_keys
from .values import (
    UNKNOWN,
    DictValue,
    Known,
    ListValue,
    OptionalValue,
    Scalar,
    TupleValue,
    Value,
)

__all__ = ["call", "numbers_of"]

_FOLDED = (
    range,
    min,
    max,
    abs,
    sum,
    int,
    float,
    bool,
    str,
    round,
    any,
    all,
    divmod,
    len,
    tuple,
    reversed,
    zip,
    enumerate,
)
_OTHERS = frozenset("frozenset iter hash id vars dir globals locals bytes bytearray memoryview object".split())
"""Functions of which TorchScript has no values."""
_OF_NUMBERS = frozenset("abs bool complex divmod float int pow range round".split())
_OF_NONE = frozenset("bool str repr print isinstance hasattr getattr callable id type map filter zip enumerate".split())
"""Functions that take None, or lists with it."""
_UNORDERED = frozenset("all any max min sorted sum".split())
"""Functions that give the same for the elements of a set in any order."""
_READING = frozenset("all any enumerate len list max min reversed sorted tuple zip".split())
_OF_DICTS = frozenset({"len", "list"})
"""Functions of dicts that TorchScript has."""


def call(calls: CallEvaluator, node: ast.Call, function: Any) -> Result | None:
    """Evaluate a call of a builtin function; None if it is none, or nothing is known of it."""
    if function is torch.squeeze:
        return _squeeze(calls, node)
    name = getattr(function, "__name__", "")
    if getattr(builtins, name, None) is not function:
        return None
    if name == "set":
        return sets.make(calls, node)
    if name in _OTHERS:
        raise NotCompiledError(f"{name}()")
    if name in ("reversed", "len") and (ranged := of_range(calls.scope, node)) is not None:
        return calls.expressions.evaluate(ranged)
    effects = any(has_effects(calls.scope, part) for part in node.args)
    if (
        effects
        and not isinstance(node.args[0], ast.GeneratorExp)
        and name in ("isinstance", "hasattr", "getattr", "callable", "next", "tuple")
    ):
        raise OrderError(f"{name}() of what has effects")
    _list_operands(calls, node, name)
    special = _special(name)
    if special is not None:
        saved, hoisted = calls.scope.save(), len(calls.scope.before)
        if (made := special(calls, node)) is not None:
            return made
        calls.scope.restore(saved)  # what follows evaluates the arguments again
        del calls.scope.before[hoisted:]
    if name in ("zip", "enumerate", "reversed", "map", "filter"):
        return _iterable(calls, node, function)
    arguments = calls.arguments(node)
    if name not in _OF_NONE:
        message = f"{name}() of None"
        given = [calls.expressions.present(result, TypeError, message) for result in arguments.positional]
        if function is range:
            given = [as_index(calls.scope, result) for result in given]
        arguments = Arguments(given, arguments.named)
    if name in _OF_NUMBERS:
        arguments = enums.plain_arguments(arguments)
    values = [result.value for result in arguments.positional]
    if name == "len" and len(values) == 1 and (made := _length(calls, node, arguments.positional[0])) is not None:
        return made
    if function in _FOLDED and not arguments.named and not effects:
        if (folded := _folded(calls, node, function, arguments.positional)) is not None:
            return folded
    for value in values if name not in ("len", "bool", "dict") else ():
        reject_tuple_keys(value)
    if name in ("str", "repr") and len(values) == 1 and not arguments.named:
        return _text(calls, node, arguments.positional[0])
    if name == "bool" and len(values) == 1 and (made := _truth(calls, arguments.positional[0], node)) is not None:
        return made
    if name in ("any", "all") and len(values) == 1 and has_tensors(values[0]):
        return truths(calls, node, arguments.positional[0])
    if name == "round" and len(values) == 2 and (made := of_numbers(calls, node, round, arguments)) is not None:
        return made
    calls.place(node, arguments, copied=True)
    return Result(node, _kind(calls, node, name, values))


def _list_operands(calls: CallEvaluator, node: ast.Call, name: str) -> None:
    """Let a function that goes through its operands have lists, which TorchScript goes through."""
    if name in ("list", "max", "min", "sorted", "sum", "tuple"):  # which read all before anything else runs
        node.args = [generator_functions.listed(calls.expressions.statements, part) for part in node.args]
    if name in _READING or name in ("sum", "map", "filter"):
        if name != "len" and not any(keyword.arg == "key" for keyword in node.keywords):  # which lists it itself
            node.args = [listed_keys(calls, part) for part in node.args]
        keys = [records.as_keys(calls.expressions, part, dicts=name not in _OF_DICTS) for part in node.args]
        node.args = [deques.as_list(calls.expressions, part) for part in keys]
    if name in _UNORDERED:
        node.args = [sets.as_keys(calls, listed_range(calls.scope, part)) for part in node.args]
    if name in ("list", "max", "min", "sorted"):
        node.args = [int_items.listed(calls, part) for part in node.args]


def _squeeze(calls: CallEvaluator, node: ast.Call) -> Result | None:
    """`torch.squeeze(x, dim)`."""
    if not node.args or isinstance(node.args[0], ast.Starred):
        return None
    operand, *others = node.args
    value = calls.expressions.evaluate(copy.deepcopy(operand)).value
    method = ast.copy_location(ast.Call(node.func, copy.deepcopy(others), copy.deepcopy(node.keywords)), node)
    return squeezed(calls, method, operand, value)


def _special(name: str) -> Callable[[CallEvaluator, ast.Call], Result | None] | None:
    """What evaluates calls of a function, if there is more to do than to evaluate its arguments."""
    special: dict[str, Callable[[CallEvaluator, ast.Call], Result | None]] = {
        "dict": records.dict_call,
        "isinstance": asked_types.is_instance,
        "hasattr": asked_types.has_attribute_of,
        "getattr": asked_types.get_attribute,
        "sum": summed,
        "list": _list,
        "tuple": _tuple,
        "callable": asked_types.is_callable,
        "next": _next,
        "map": _map,
        "min": extreme,
        "max": extreme,
        "sorted": ordered,
        "any": stopping,
        "all": stopping,
        "zip": _transposed,
        "slice": index_values.make,
    }
    return special.get(name)


def _length(calls: CallEvaluator, node: ast.Call, operand: Result) -> Result | None:
    """`len(x)` of objects that the program makes, or that have state."""
    if sequences.is_sequence(operand.value):
        return sequences.counted(calls.expressions, operand, node)
    if is_object(operand.value):
        return call_special(calls, "__len__", operand, [], node)
    thing = operand.value.object if isinstance(operand.value, Known) else None
    counts = getattr(type(thing), "__len__", None) if isinstance(thing, torch.nn.Module) else None
    if counts is not None and not is_of_torch(counts):
        method = ast.copy_location(ast.Attribute(node.args[0], "__len__", ast.Load()), node)
        return calls.expressions.evaluate(ast.copy_location(ast.Call(method, [], []), node))
    objects = calls.scope.program.states.elements(operand.value) if isinstance(operand.value, Known) else None
    return None if objects is None else calls.expressions.known(node, Known(len(objects)))


def _text(calls: CallEvaluator, node: ast.Call, operand: Result) -> Result:
    """`str(x)`, `repr(x)`."""
    node.args = [shown(calls.expressions, operand, node)]
    if isinstance(operand.value, (ListValue, TupleValue)):  # TorchScript has no repr
        node.func = ast.copy_location(ast.Name("str", ast.Load()), node.func)
    return Result(node, Scalar(str))


def _iterable(calls: CallEvaluator, node: ast.Call, function: Any) -> Result:
    """`zip(...)` and the like outside of loops, or over what is known."""
    lazy = [part for part in node.args if isinstance(part, ast.GeneratorExp) or is_iterator(part)]
    if sum(has_effects(calls.scope, part) for part in lazy) > 1:
        raise NotCompiledError("iterators with effects that are read in turn")
    arguments = calls.arguments(node)
    values = [result.value for result in arguments.positional]
    if (
        function in _FOLDED
        and not arguments.named
        and (folded := _folded(calls, node, function, arguments.positional)) is not None
    ):
        return folded
    calls.place(node, arguments)
    if function is reversed and values and isinstance(values[0], ListValue):
        backwards = ast.parse("x[::-1]", mode="eval").body
        assert isinstance(backwards, ast.Subscript)
        for part in ast.walk(backwards):
            ast.copy_location(part, node)
        backwards.value = node.args[0]
        return Result(backwards, ListValue(values[0].element, length=values[0].length))
    return Result(node)


def _folded(calls: CallEvaluator, node: ast.Call, function: Any, results: Sequence[Result]) -> Result | None:
    """Compute a function of what is known."""
    value = _known(calls, function, [result.value for result in results])
    if value is None:
        return None
    for result in results:
        calls.expressions.discard(result, node)
    if function is range:
        calls.scope.use(value)
        return Result(_range(value.object, node), value)
    return calls.expressions.known(node, value)


def _known(calls: CallEvaluator, function: Any, values: Sequence[Value]) -> Known | None:
    if function is len and len(values) == 1 and isinstance(values[0], TupleValue):
        return Known(len(values[0].elements))
    if function is len and len(values) == 1 and isinstance(values[0], ListValue) and values[0].length is not None:
        return Known(values[0].length)
    if not values or not all(isinstance(value, Known) for value in values):
        return None
    things = [value.object for value in values]  # type: ignore[attr-defined]
    counts = function in (len, reversed, zip, enumerate, tuple)
    containers = (torch.nn.ModuleList, torch.nn.Sequential, torch.nn.ModuleDict, list, tuple, dict)
    if not all(is_plain(thing) or (counts and isinstance(thing, containers)) for thing in things):
        return None
    try:
        made: Any = function(*things)
    except Exception:  # noqa: BLE001 - the program raises it, where it is evaluated
        return None
    made = list(made) if function in (reversed, zip, enumerate) else made
    return Known(made, None, frozenset().union(*(calls.scope.program.guards_of(value) for value in values)))


def _range(made: range, node: ast.AST) -> Any:
    found = ast.parse(f"range({made.start}, {made.stop}, {made.step})", mode="eval").body
    for part in ast.walk(found):
        ast.copy_location(part, node)
    return found


def _kind(calls: CallEvaluator, node: ast.Call, name: str, values: Sequence[Value]) -> Value:
    """What a builtin function returns."""
    scalar = {"int": int, "float": float, "bool": bool, "str": str, "len": int, "any": bool, "all": bool}.get(name)
    if name == "len" and values and getattr(values[0], "sample", None) is not None:
        return Scalar(int, len(values[0].sample))  # type: ignore[attr-defined]
    if scalar is not None:
        return Scalar(scalar)
    if name in ("min", "max") and len(values) == 1 and isinstance(values[0], ListValue):
        return values[0].element or UNKNOWN
    if name == "dict" and len(values) == 1 and isinstance(values[0], DictValue):
        return DictValue(values[0].key, values[0].element, frozenset([calls.scope.place(node)]))
    if name == "sorted" and values and isinstance(values[0], ListValue):
        return ListValue(values[0].element)
    if name in ("min", "max") and len({number_kind(value) for value in values}) > 1:
        return UNKNOWN  # the number decides on its type
    if name in ("min", "max", "abs", "round", "sum", "divmod"):
        return calls.expressions.samples.result(getattr(builtins, name), values, {})
    return ListValue(Scalar(int, 0)) if name == "range" else UNKNOWN


def _list(calls: CallEvaluator, node: ast.Call) -> Result | None:
    if len(node.args) != 1:
        return None
    result = numbers_of(calls.scope, calls.expressions.evaluate(copy.deepcopy(node.args[0])), node)
    if isinstance(result.value, Known) and isinstance(result.value.object, (torch.nn.Module, list, dict)):
        held: Any = result.value.object
        thing = list(held)
        if literal(thing, node) is None:
            return Result(None, Known(thing, None, calls.scope.program.guards_of(result.value)))
    if isinstance(result.value, TupleValue) and any(isinstance(each, ListValue) for each in result.value.elements):
        return result  # `list(zip(*rows))`
    if isinstance(result.value, TupleValue) and isinstance(result.node, ast.Tuple):
        return calls.expressions.evaluate(ast.copy_location(ast.List(result.node.elts, ast.Load()), node))
    if isinstance(result.value, TupleValue) and isinstance(result.node, ast.Name):
        # TorchScript takes the elements of a tuple for tensors.
        starred = ast.copy_location(ast.Starred(result.node, ast.Load()), node)
        return calls.expressions.evaluate(ast.copy_location(ast.List([starred], ast.Load()), node))
    if isinstance(result.value, Known) and isinstance(result.value.object, (tuple, range)):
        made = literal(list(result.value.object), node)
        calls.scope.use(result.value)
        return calls.expressions.evaluate(made) if made is not None else None
    if isinstance(result.value, ListValue):
        node.args = [calls.expressions.expression(result, node, copied=True)]
        value = result.value
        places = frozenset([calls.scope.place(node)])
        length = calls.scope.program.length(places, value.length)
        return Result(node, ListValue(value.element, places, False, length, value.sample))
    return None


def _truth(calls: CallEvaluator, result: Result, node: ast.Call) -> Result | None:
    """Evaluate `bool(x)` of an object whose class decides, or of what may be None; None of anything else."""
    if is_object(result.value) and decides(result.value):
        return truth(calls, result, node)
    return optional_truth(calls.expressions, result, node) if isinstance(result.value, OptionalValue) else None


def numbers_of(scope: Any, result: Result, node: ast.AST) -> Result:
    """Let a dynamic `range(n)` be a list."""
    is_range = (
        isinstance(result.node, ast.Call) and isinstance(result.node.func, ast.Name) and result.node.func.id == "range"
    )
    if not is_range or isinstance(result.value, Known):
        return result
    name = scope.name()
    made = ast.parse(f"[{name} for {name} in range(0)]", mode="eval").body
    assert isinstance(made, ast.ListComp)
    for part in ast.walk(made):
        ast.copy_location(part, node)
    made.generators[0].iter = result.node
    return Result(made, ListValue(Scalar(int), is_tuple=True))


def _tuple(calls: CallEvaluator, node: ast.Call) -> Result | None:
    """`tuple(x.shape)`: TorchScript has no tuples of dynamic length, and takes a list of sizes where Python takes a
    tuple.
    """
    if len(node.args) != 1:
        return None
    result = numbers_of(calls.scope, calls.expressions.evaluate(copy.deepcopy(node.args[0])), node)
    if isinstance(result.value, TupleValue):
        return result
    if isinstance(result.value, ListValue) and result.node is not None:
        value = result.value
        if (is_iterator(node.args[0]) or isinstance(node.args[0], ast.ListComp)) and value.length is not None:
            parts = calls.expressions.spread(result, node)
            if parts is not None:
                nodes = [calls.expressions.expression(part, node) for part in parts]
                made = ast.copy_location(ast.Tuple(nodes, ast.Load()), node)
                return Result(made, TupleValue(tuple(part.value for part in parts)))
        copied = ast.parse("x[:]", mode="eval").body  # a list may change later, a tuple does not
        assert isinstance(copied, ast.Subscript)
        for part in ast.walk(copied):
            ast.copy_location(part, node)
        copied.value = result.node
        sample = None if value.sample is None else tuple(value.sample)
        return Result(copied, ListValue(value.element, is_tuple=True, length=value.length, sample=sample))
    return None


def _map(calls: CallEvaluator, node: ast.Call) -> Result | None:
    """`map(f, items)` where it is read at once, as a comprehension."""
    made = mapped(calls.scope, node)
    assert isinstance(made, ast.GeneratorExp)
    return calls.expressions.evaluate(ast.copy_location(ast.ListComp(made.elt, made.generators), node))


def _next(calls: CallEvaluator, node: ast.Call) -> Result | None:
    """`next(self.parameters())`."""
    if (made := following(calls, node)) is not None:
        return made
    result = calls.expressions.evaluate(copy.deepcopy(node.args[0]))
    if not isinstance(result.value, Known) or not isinstance(result.value.object, list) or not result.value.object:
        return None
    return calls.expressions.statements.loops.part(result.value.object[0], node)


def _transposed(calls: CallEvaluator, node: ast.Call) -> Result | None:
    """`zip(*rows)`, with rows of a known length, as a tuple of lists."""
    if len(node.args) != 1 or not isinstance(node.args[0], ast.Starred) or node.keywords:
        return None
    result = calls.expressions.evaluate(node.args[0].value)
    rows = result.value
    if not isinstance(rows, ListValue):
        return None
    row = rows.element
    if isinstance(row, TupleValue):
        elements = row.elements
    elif isinstance(row, ListValue) and row.length is not None and row.element is not None:
        elements = (row.element,) * row.length
    else:
        return None
    name = calls.expressions.named(result, node)
    columns = [ast.parse(f"[row[{k}] for row in {name.id}]", mode="eval").body for k in range(len(elements))]
    made = ast.Tuple(columns, ast.Load())
    for part in ast.walk(made):
        ast.copy_location(part, node)
    columns_are = tuple(ListValue(element, is_tuple=True, length=rows.length) for element in elements)
    return Result(made, TupleValue(columns_are))
