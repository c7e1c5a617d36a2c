"""Dicts whose keys are known and whose elements are of several types: configurations, batches, results.

TorchScript's dicts have elements of one type. Such a dict is an object of a class instead, with an attribute for each
key; see `abi.records`. For keys that are added later see `later_keys`.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ...abi.records import attribute_name, can_be_record, record_class
from . import later_keys, objects, sequences
from .effects import has_effects
from .interfaces import Arguments, CallEvaluator, Evaluated, ExpressionEvaluator, Iteration, Result
from .new_nodes import with_places
from .rejections import NotCompiledError, OrderError
from .scope import Scope
from .values import UNKNOWN, DictValue, Known, ObjectValue, TupleValue, Value, annotation
from .wanted_records import WANTED, keys_of, met, reject_key, want

__all__ = [
    "as_keys",
    "call_method",
    "dict_call",
    "display",
    "gathered",
    "is_record",
    "is_wanted",
    "items",
    "iteration",
    "key_attribute",
    "keys_of",
    "make",
    "passed",
    "record_of",
]

_VIEWS = ("keys", "values", "items")


def is_record(value: Value) -> bool:
    """Whether a value is a record."""
    return keys_of(value) is not None


# Which dicts are records. ---------------------------------------------------------------------------------------------


def is_wanted(program: Evaluated, keys: Iterable[Any], element: Value | None, places: Iterable[Any]) -> bool:
    """Whether a dict is a record.

    Args:
        program: the program.
        keys: its keys.
        element: what its elements are, as of `DictValue`.
        places: where it is made.
    """
    if not can_be_record(keys):
        return False
    mixed = bool(tuple(keys)) and element is not None and annotation(element) is None
    return mixed or any((WANTED, place) in program.elements for place in places)


def record_of(
    program: Evaluated, parts: Mapping[str, Value], place: Any = None, *, ordered: bool = False
) -> ObjectValue:
    """Return what is known of a dict whose elements are known by key, and note that they are its elements.

    Args:
        program: the program.
        parts: what the elements are.
        place: where it is made, which tells empty dicts apart.
        ordered: whether it is an OrderedDict.
    """
    kinds = tuple(annotation(program.widened(value)) or type(value).__name__ for value in parts.values())
    kinds = kinds if parts else (str(place),)
    made = program.classes.value(met(program, record_class(tuple(parts), kinds, ordered)))
    for name, value in parts.items():
        program.classes.learn(made.kind, attribute_name(name), value)
    return made


def passed(program: Evaluated, parts: Mapping[str, Value]) -> ObjectValue:
    """Return what is known of a dict of the caller's, as `record_of`.

    Raises:
        NotCompiledError: it may get keys.
    """
    made = record_of(program, parts)
    if any(attribute_name(key) != key for key in parts):
        raise NotCompiledError(
            "a dict of the caller's whose elements are of several types, with keys that are no names"
        )
    if added := program.classes.later_keys(made.kind):
        raise NotCompiledError(f"{added[0]!r}, a key that is added to a dict of the caller's, or one like it")
    return made


# Making records. ------------------------------------------------------------------------------------------------------


def make(scope: Scope, parts: Mapping[str, Result], where: ast.AST) -> Result:
    """Make a record of results, which are evaluated in this order."""
    program = scope.program
    values, ordered = {name: result.value for name, result in parts.items()}, hasattr(where, "ordered")
    value = record_of(program, values, scope.place(where), ordered=ordered)
    return sequences.constructed(scope, value, {attribute_name(name): each for name, each in parts.items()}, where)


def display(expressions: ExpressionEvaluator, node: ast.Dict) -> Result:
    """Evaluate `{**a, "b": c}`."""
    parts: dict[Any, Result] = {}
    for key, each in zip(node.keys, node.values):
        result = expressions.evaluate(each)
        if key is None:
            added = items(expressions, result, each)
        else:
            name = expressions.evaluate(key).value
            if not isinstance(name, Known):
                raise NotCompiledError("a dict with dynamic keys, and others put into it")
            added = {expressions.scope.use(name): result}
        if any(given in parts for given in added):
            replaced = [*parts.values(), *added.values()]
            if any(part.node is not None and has_effects(expressions.scope, part.node) for part in replaced):
                raise OrderError("a dict whose elements have effects, and are replaced")
        parts |= added
    if all(isinstance(part.value, Known) for part in parts.values()):
        guards = frozenset().union(*(expressions.scope.program.guards_of(part.value) for part in parts.values()))
        return Result(None, Known({name: part.value.object for name, part in parts.items()}, None, guards))  # type: ignore[attr-defined]
    if not can_be_record(parts):
        raise NotCompiledError("a dict with keys that are no names, and others put into it")
    return make(expressions.scope, parts, node)


def dict_call(calls: CallEvaluator, node: ast.Call) -> Result | None:
    """Evaluate `dict(record, key=value)`, `dict(key=value)` and `dict()`; None if it is none of these."""
    keys: list[Any] = [None] * len(node.args) + [keyword.arg for keyword in node.keywords]
    values = [*node.args, *(keyword.value for keyword in node.keywords)]
    if not values:
        return calls.expressions.evaluate(ast.copy_location(ast.Dict([], []), node))
    if len(node.args) > 1:
        return None
    for each in node.args:
        value = calls.expressions.evaluate(copy.deepcopy(each)).value
        if not is_record(value) and not (isinstance(value, Known) and isinstance(value.object, dict)):
            return None
    if any(has_effects(calls.scope, keyword.value) for keyword in node.keywords):
        raise OrderError("a dict that is copied behind arguments with effects")
    names = [None if key is None else ast.copy_location(ast.Constant(key), node) for key in keys]
    made = ast.copy_location(ast.Dict(names, values), node)  # type: ignore[arg-type]
    return calls.expressions.evaluate(made)


def items(expressions: ExpressionEvaluator, result: Result, where: ast.AST) -> dict[Any, Result]:
    """Return the elements of a dict, by key.

    Raises:
        NotCompiledError: its keys are not known.
    """
    program, value = expressions.scope.program, result.value
    if isinstance(value, Known) and isinstance(value.object, dict):
        expressions.scope.use(value)
        guards = program.guards_of(value)
        return {key: Result(None, Known(each, None, guards)) for key, each in value.object.items()}
    if isinstance(value, DictValue):
        want(program, value)
    if not is_record(value):
        raise NotCompiledError("a dict whose keys are dynamic")
    owner = Result(expressions.named(result, where), value)
    return {key: key_attribute(expressions, owner, key, where) for key in _all_keys(expressions, owner, where)}


def gathered(scope: Scope, body: Sequence[ast.stmt]) -> Sequence[ast.stmt]:
    """Let a record that gets keys right after it is made have them from the start.

    `d = {"a": x}; y = f(x); d["b"] = y` is `d = {"a": x, "b": y}` where nothing else reads `d` before.

    Args:
        scope: the function.
        body: statements, one after the other.
    """
    for number, statement in enumerate(body):
        made = _displayed(scope, statement)
        if made is not None and (found := _with_later_keys(scope, statement, made, body[number + 1 :])) is not None:
            return gathered(scope, [*body[:number], *found])
    return body


def _displayed(scope: Scope, statement: ast.stmt) -> ast.Dict | None:
    """The dict that a variable is assigned, if that is a record."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    value = statement.value
    if isinstance(value, ast.Call) and not value.args and not value.keywords and ast.unparse(value.func) == "dict":
        value = ast.copy_location(ast.Dict([], []), value)
    is_named = isinstance(statement.targets[0], ast.Name) and isinstance(value, ast.Dict)
    wanted = is_named and (WANTED, scope.place(value)) in scope.program.elements
    return value if wanted and isinstance(value, ast.Dict) and None not in value.keys else None


def _with_later_keys(scope: Scope, statement: Any, made: ast.Dict, rest: Sequence[ast.stmt]) -> list[ast.stmt] | None:
    """The statements with the dict made where it has got its keys; None if it gets none."""
    name = statement.targets[0].id
    keys = {key.value for key in made.keys if isinstance(key, ast.Constant)}
    if len(keys) != len(made.keys) or any(_mentions(value, name) for value in made.values):
        return None
    if name in scope.captured_names:
        return None
    out: list[ast.stmt] = []
    pairs: list[tuple[ast.expr, ast.expr]] = []

    def hold(key: Any, value: ast.expr) -> None:
        held = scope.name()
        out.append(ast.copy_location(ast.Assign([ast.copy_location(ast.Name(held, ast.Store()), value)], value), value))
        pairs.append((key, ast.copy_location(ast.Name(held, ast.Load()), value)))

    for key, value in zip(made.keys, made.values):
        hold(key, value)
    last, taken = -1, len(out)
    ends = {-1: (taken, len(pairs))}
    for number, each in enumerate(rest):
        if (found := _stored(each, name)) is not None and found[0].value not in keys:
            keys.add(found[0].value)
            hold(*found)
            last, ends[number] = number, (len(out), len(pairs))
            continue
        if _mentions(each, name) or any(isinstance(part, (ast.Break, ast.Continue)) for part in ast.walk(each)):
            break
        out.append(each)
    if last < 0:
        return None
    count, entries = ends[last]
    whole: Any = ast.Dict([key for key, _ in pairs[:entries]], [value for _, value in pairs[:entries]])
    again = ast.copy_location(ast.Assign(statement.targets, ast.copy_location(whole, made)), statement)
    return [*out[:count], again, *rest[last + 1 :]]


def _stored(statement: ast.stmt, name: str) -> tuple[ast.Constant, ast.expr] | None:
    """The key and value of `name["key"] = value`."""
    target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
    if not isinstance(target, ast.Subscript) or not isinstance(target.value, ast.Name) or target.value.id != name:
        return None
    assert isinstance(statement, ast.Assign)
    value, key = statement.value, target.slice
    if not isinstance(key, ast.Constant) or not isinstance(key.value, str) or _mentions(value, name):
        return None
    return key, value


def _mentions(node: ast.AST, name: str) -> bool:
    return any(isinstance(part, ast.Name) and part.id == name for part in ast.walk(node))


# Reading records. -----------------------------------------------------------------------------------------------------


def key_attribute(expressions: ExpressionEvaluator, owner: Result, key: Any, where: ast.AST) -> Result:
    """Evaluate `record[key]`.

    Raises:
        NotCompiledError: it has no such key.
    """
    if key not in (keys_of(owner.value) or ()):
        return later_keys.element(expressions, owner, key, where)
    value = copy.deepcopy(owner.node) or ast.copy_location(ast.Name("_", ast.Load()), where)
    node = ast.copy_location(ast.Attribute(value, attribute_name(key), ast.Load()), where)
    return objects.attribute(expressions, owner, node)


def _all_keys(expressions: ExpressionEvaluator, owner: Result, where: ast.AST) -> list[str]:
    """The keys of a record, which has all that it may get."""
    later_keys.complete(expressions, owner, where)
    return [*(keys_of(owner.value) or ()), *later_keys.later_keys(expressions.scope, owner)]


def iteration(expressions: ExpressionEvaluator, node: ast.expr) -> Iteration | None:
    """Evaluate `for k, v in record.items()`, whose elements are read when it is their turn, or of a dict that is always
    empty; None if it is neither.
    """
    name, owner_node = "keys", node
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _VIEWS:
        if node.args or node.keywords:
            return None
        name, owner_node = node.func.attr, node.func.value
    if not isinstance(owner_node, (ast.Name, ast.Attribute, ast.Subscript)):
        return None
    owner = expressions.evaluate(copy.deepcopy(owner_node))
    if isinstance(owner.value, DictValue) and owner.value.element is None:
        return Iteration(None, UNKNOWN, [], True)  # nothing is ever put there, nor is it known what could be
    if isinstance(owner.value, DictValue) and not isinstance(owner_node, ast.Name):
        return None
    if not is_record(owner.value):
        return None
    owner = Result(expressions.named(owner, node, fresh=True), owner.value)
    elements = [_row(expressions, owner, key, name, node) for key in _all_keys(expressions, owner, node)]
    return Iteration(None, UNKNOWN, elements, True)


def _row(expressions: ExpressionEvaluator, owner: Result, key: str, view: str, where: ast.expr) -> Result:
    """What a view of a record has for a key."""
    if view == "keys":
        return Result(None, Known(key))
    value = key_attribute(expressions, owner, key, where)
    if view == "values":
        return value
    row: Any = ast.Tuple([ast.copy_location(ast.Constant(key), where), value.node], ast.Load())
    return Result(ast.copy_location(row, where), TupleValue((Known(key), value.value)))


def as_keys(expressions: ExpressionEvaluator, node: ast.expr, *, dicts: bool) -> ast.expr:
    """Return what a function reads that goes through an argument: the keys of a record; others as they are.

    Args:
        expressions: evaluates expressions.
        node: the argument.
        dicts: whether TorchScript needs to be told the keys of dicts, too.
    """
    if not isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)):
        return node
    saved, hoisted = expressions.scope.save(), len(expressions.scope.before)
    found = expressions.evaluate(copy.deepcopy(node))
    if not is_record(found.value) or not later_keys.later_keys(expressions.scope, found):
        expressions.scope.restore(saved)
        del expressions.scope.before[hoisted:]
    if dicts and isinstance(found.value, DictValue):
        return with_places(ast.Call(ast.Attribute(node, "keys", ast.Load()), [], []), node)
    if not is_record(found.value):
        return node
    keys = _all_keys(expressions, found, node)
    made = ast.Tuple([ast.copy_location(ast.Constant(key), node) for key in keys], ast.Load())
    return ast.copy_location(made, node)


# Methods. -------------------------------------------------------------------------------------------------------------


def call_method(calls: CallEvaluator, node: ast.Call, owner: Result) -> Result:
    """Evaluate `record.method(...)`.

    Raises:
        NotCompiledError: it changes the keys, or is none of a dict.
    """
    function = node.func
    assert isinstance(function, ast.Attribute)
    name, expressions = function.attr, calls.expressions
    if name in _VIEWS and not node.args and not node.keywords:
        return _view(expressions, node, owner, name)
    arguments = calls.arguments(node)
    if name == "get" and len(arguments.positional) in (1, 2) and not arguments.named:
        return _get(expressions, node, owner, arguments.positional)
    if name == "copy" and not arguments.positional and not arguments.named:
        return make(expressions.scope, items(expressions, owner, node), node)
    if name == "update" and len(arguments.positional) <= 1:
        given = [*arguments.positional, *arguments.named.values()]
        if any(result.node is not None and has_effects(expressions.scope, result.node) for result in given):
            raise OrderError("update() with arguments that have effects")
        return _update(calls, node, owner, arguments)
    raise NotCompiledError(f"{name}() of a dict whose elements are of several types")


def _view(expressions: ExpressionEvaluator, node: ast.Call, owner: Result, name: str) -> Result:
    """`list(record.values())`: what is read at once."""
    if not hasattr(node, "is_consumed"):
        raise NotCompiledError(f"{name}() of a dict that is a value")
    if name == "keys" and not later_keys.later_keys(expressions.scope, owner):
        expressions.discard(owner, node)
        return Result(None, Known(keys_of(owner.value)))
    owner = Result(expressions.named(owner, node), owner.value)
    keys = _all_keys(expressions, owner, node)
    if name == "keys":
        return Result(None, Known(tuple(keys)))
    parts = [_row(expressions, owner, key, name, node) for key in keys]
    values = tuple(part.value for part in parts)
    whole: Any = ast.Tuple([part.node for part in parts], ast.Load())  # of which some may have no expression
    return Result(ast.copy_location(whole, node), TupleValue(values))


def _get(expressions: ExpressionEvaluator, node: ast.Call, owner: Result, given: Sequence[Result]) -> Result:
    key = given[0].value
    if not isinstance(key, Known):
        reject_key(expressions.scope.program, key)
    if expressions.scope.use(key) in (keys_of(owner.value) or ()):
        if len(given) == 2 and given[1].node is not None and has_effects(expressions.scope, given[1].node):
            raise OrderError("a default that has effects")
        return key_attribute(expressions, owner, key.object, node)
    default = given[1] if len(given) == 2 else Result(ast.copy_location(ast.Constant(None), node), Known(None))
    if key.object in later_keys.later_keys(expressions.scope, owner):
        return later_keys.or_default(expressions, owner, key.object, default, node)
    expressions.discard(owner, node)
    return default


def _update(calls: CallEvaluator, node: ast.Call, owner: Result, arguments: Arguments) -> Result:
    """`record.update(other, key=value)`."""
    expressions = calls.expressions
    target = expressions.named(owner, node)
    given: dict[Any, Result] = {}
    for each in arguments.positional:
        given |= items(expressions, each, node)
    if given.keys() & arguments.named.keys():
        raise NotCompiledError("update() with one key twice")
    given |= arguments.named
    made: list[ast.stmt] = []
    for key, result in given.items():
        if result.node is not None and not isinstance(result.node, ast.Constant):
            given[key] = Result(expressions.named(result, node), result.value)
    for key, result in given.items():
        if key not in (keys_of(owner.value) or ()):
            made += later_keys.stored(expressions, Result(target, owner.value), key, result, node)
            continue
        attribute = ast.copy_location(ast.Attribute(copy.deepcopy(target), attribute_name(key), ast.Store()), node)
        if objects.store(expressions, Result(target, owner.value), attribute, result.value):
            value = expressions.expression(result, node)
            made.append(ast.copy_location(ast.Assign([attribute], value), node))
    expressions.scope.hoist(made, node)
    return Result(ast.copy_location(ast.Constant(None), node), Known(None))
