"""Members of enums of which it is not known which they are: `self.state.value`, `NEXT[state]`, `State(n)`."""

from __future__ import annotations

import ast
import copy
import enum
from collections.abc import Callable
from typing import Any

from .effects import has_effects, may_raise
from .enum_classes import base_of, is_enum, value_kind
from .interfaces import Arguments, CallEvaluator, ExpressionEvaluator, Result
from .new_nodes import with_places
from .rejections import NeedsKnownError, NotCompiledError
from .values import Known, ListValue, Scalar, TupleValue, Value, guards_of

__all__ = [
    "as_plain",
    "attribute",
    "call_method",
    "called",
    "contained",
    "display",
    "element",
    "enumerator",
    "is_member",
    "is_true",
    "of_display",
    "plain_arguments",
]


def is_member(value: Value) -> bool:
    """Whether a value is a member of an enum that is not known."""
    return isinstance(value, Scalar) and is_enum(value.kind)


def is_true(value: Value) -> bool:
    """Whether a value is a member of an enum that is true whichever it is."""
    return isinstance(value, Scalar) and is_enum(value.kind) and base_of(value.kind) is None


def as_plain(result: Result) -> Result:
    """Return the number or string that a member is, for an operator; anything else is returned as it is."""
    value = result.value
    if isinstance(value, Known) and isinstance(value.object, enum.Enum) and is_enum(type(value.object)):
        if base_of(type(value.object)) is None:
            return result
        return Result(None, Known(value.object.value, None, guards_of(value)))
    if not isinstance(value, Scalar) or not is_enum(value.kind) or result.node is None:
        return result
    base = base_of(value.kind)
    if base is None:
        return result
    read: Any = ast.Attribute(result.node, "value", ast.Load())
    return Result(with_places(read, result.node), Scalar(base))


def attribute(expressions: ExpressionEvaluator, owner: Result, node: ast.Attribute) -> Result | None:
    """Evaluate an attribute of a member that is not known; None of anything else.

    Raises:
        NotCompiledError: it is another one than its value or name, or a property.
    """
    value = owner.value
    if not isinstance(value, Scalar) or not is_enum(value.kind):
        return None
    member = vars(value.kind).get(node.attr)
    if isinstance(member, property) and node.attr not in ("value", "name"):
        return expressions.scope.program.functions.get_of_object(expressions.scope, member.fget, owner, node)
    found = {"value": value_kind(value.kind), "name": str}.get(node.attr)
    if found is None or isinstance(member, property):
        raise NotCompiledError(f"{node.attr}, an attribute of a member of an enum that is not known")
    node.value = expressions.expression(owner, node.value)
    return Result(node, Scalar(found))


def call_method(calls: CallEvaluator, node: ast.Call, owner: Result) -> Result | None:
    """Call a method of a member that is not known; None of anything else."""
    value, function = owner.value, node.func
    if not isinstance(value, Scalar) or not is_enum(value.kind) or not isinstance(function, ast.Attribute):
        return None
    member = vars(value.kind).get(function.attr)
    if not hasattr(member, "__code__"):
        return None
    given = calls.arguments(node)
    arguments = Arguments([owner, *given.positional], given.named)
    return calls.scope.program.functions.call(calls.scope, member, arguments, node)


def display(expressions: ExpressionEvaluator, node: ast.expr) -> ast.expr:
    """Return a tuple for `{State.A, State.B}`, a list or set of members in which something is looked for.

    Args:
        expressions: evaluates.
        node: an expression; others are returned as they are.
    """
    if not isinstance(node, (ast.List, ast.Set)) or not all(isinstance(part, ast.Attribute) for part in node.elts):
        return node
    found = [expressions.evaluate(copy.deepcopy(part)).value for part in node.elts]
    known = [type(each.object) for each in found if isinstance(each, Known)]
    is_display = len(known) == len(found) and all(is_enum(each) for each in known)
    return ast.copy_location(ast.Tuple(node.elts, ast.Load()), node) if is_display else node


def contained(expressions: ExpressionEvaluator, node: ast.Compare, results: list[Result]) -> Result | None:
    """Evaluate `state in (State.A, State.B)` of a member that is not known; None of anything else."""
    left, right = results
    if isinstance(right.value, ListValue) and right.value.element is not None and is_member(right.value.element):
        return _in_list(expressions, node, left, right)
    if not is_member(left.value):
        return None
    if isinstance(right.value, Known) and isinstance(right.value.object, (list, tuple, set, frozenset, dict)):
        parts = [Result(None, Known(each)) for each in expressions.scope.use(right.value)]
        expressions.discard(right, node)
    elif isinstance(right.value, TupleValue) and isinstance(right.node, ast.Tuple):
        if any(has_effects(expressions.scope, each) for each in right.node.elts):
            return None
        parts = [Result(each, value) for each, value in zip(right.node.elts, right.value.elements)]
    else:
        return None
    scope, tests = expressions.scope, list[ast.expr]()
    name = expressions.named(left, node)
    for part in parts:
        held = scope.name()
        scope.variables[held] = part
        tests.append(ast.Compare(name, [ast.Eq()], [ast.Name(held, ast.Load())]))
    whole: ast.expr = ast.BoolOp(ast.Or(), tests) if len(tests) > 1 else tests[0] if tests else ast.Constant(False)
    if isinstance(node.ops[0], ast.NotIn):
        whole = ast.UnaryOp(ast.Not(), whole)
    return expressions.evaluate(with_places(whole, node))


def _in_list(expressions: ExpressionEvaluator, node: ast.Compare, left: Result, right: Result) -> Result:
    """`state in history` of a list of members, which TorchScript looks for nothing in."""
    wanted, items = expressions.named(left, node), expressions.named(right, node)
    each, place = expressions.scope.name(), ast.comprehension
    found = ast.Compare(ast.Name(each, ast.Load()), [ast.Eq()], [wanted])
    generator = ast.GeneratorExp(found, [place(ast.Name(each, ast.Store()), items, [], 0)])
    whole: ast.expr = ast.Call(ast.Name("any", ast.Load()), [generator], [])
    if isinstance(node.ops[0], ast.NotIn):
        whole = ast.UnaryOp(ast.Not(), whole)
    return expressions.evaluate(with_places(whole, node))


def plain_arguments(arguments: Arguments) -> Arguments:
    """Return the arguments of a function of numbers, with the numbers that members are."""
    return Arguments(
        [as_plain(each) for each in arguments.positional],
        {name: as_plain(each) for name, each in arguments.named.items()},
    )


def called(calls: CallEvaluator, function: ast.expr) -> ast.IfExp | None:
    """Return `f if state == State.A else g` for `HANDLERS[state]`, a function in a dict that is known.

    Args:
        calls: evaluates calls.
        function: what is called.
    Returns:
        None if it is something else.
    """
    scope = calls.scope
    if not isinstance(function, ast.Subscript) or not isinstance(function.slice, (ast.Name, ast.Attribute)):
        return None
    if not isinstance(function.value, (ast.Name, ast.Attribute)):
        return None
    owner = calls.expressions.evaluate(copy.deepcopy(function.value)).value
    if not isinstance(owner, Known) or type(owner.object) is not dict or not all(map(callable, owner.object.values())):
        return None
    index = calls.expressions.evaluate(copy.deepcopy(function.slice))
    if not isinstance(index.value, Scalar) or not is_enum(index.value.kind):
        return None
    kind, found = index.value.kind, scope.use(owner)
    if any(each not in found for each in kind):
        return None
    name = calls.expressions.named(index, function)
    chosen: ast.expr | None = None
    for each in reversed(list(kind)):
        key, value = (_held(calls.expressions, Known(part), function) for part in (each, found[each]))
        test = ast.Compare(copy.deepcopy(name), [ast.Eq()], [key])
        chosen = value if chosen is None else ast.IfExp(test, value, chosen)
    return with_places(chosen, function) if isinstance(chosen, ast.IfExp) else None


def of_display(expressions: ExpressionEvaluator, node: ast.Subscript) -> Result | None:
    """Evaluate `{State.A: 0.5, State.B: x}[state]`; None if it is something else, or another element may be seen."""
    display = node.value
    if not isinstance(display, ast.Dict) or not all(isinstance(key, ast.Attribute) for key in display.keys):
        return None
    if any(may_raise(each) or has_effects(expressions.scope, each) for each in (*display.values, node.slice)):
        return None
    keys = [expressions.evaluate(copy.deepcopy(key)).value for key in display.keys if key is not None]
    index = expressions.evaluate(copy.deepcopy(node.slice))
    if not is_member(index.value) or not all(isinstance(key, Known) for key in keys):
        return None
    kind: Any = index.value.kind  # type: ignore[attr-defined]
    given = {key.object: value for key, value in zip(keys, display.values)}  # type: ignore[attr-defined]
    parts = {each: value for each, value in given.items() if type(each) is kind}
    found = [(_held(expressions, Known(each), node), expressions.evaluate(value)) for each, value in parts.items()]
    message = None if len(found) == len(kind) else "the key is not in the dict"
    return _chosen(expressions, index, found, node, KeyError, message)


def element(
    expressions: ExpressionEvaluator, owner: Known, index: Result, part: Callable[[Any], Result | None], where: ast.AST
) -> Result | None:
    """Evaluate `NEXT[state]`, an element of a dict that is known; None if it is none of such a dict.

    Args:
        expressions: evaluates.
        owner: the dict.
        index: the key.
        part: evaluates the element of a key.
        where: the place.
    """
    value, thing = index.value, owner.object
    if not isinstance(value, Scalar) or not is_enum(value.kind) or type(thing) is not dict:
        return None
    found = list[tuple[ast.expr, Result]]()
    for member in value.kind:
        if member in thing:
            if callable(thing[member]) or (made := part(member)) is None:
                return None
            found.append((_held(expressions, Known(member), where), made))
    expressions.scope.use(owner)
    message = None if len(found) == len(value.kind) else "the key is not in the dict"
    return _chosen(expressions, index, found, where, KeyError, message)


def enumerator(calls: CallEvaluator, node: ast.Call, kind: type[enum.Enum]) -> Result:
    """Evaluate `Mode("fast")`, the enumerator that has a value.

    Raises:
        NeedsKnownError: the value is dynamic, and none of a type that the enum's are of.
        NotCompiledError: there is none.
    """
    arguments = calls.arguments(node)
    given = [*arguments.positional, *arguments.named.values()]
    value = given[0].value if len(given) == 1 else None
    if isinstance(value, Scalar) and given[0].node is not None and _is_looked_for(kind, value):
        expressions = calls.expressions
        found = [(_held(expressions, Known(each.value), node), Result(None, Known(each))) for each in kind]
        return _chosen(expressions, given[0], found, node, ValueError, f"not a valid {kind.__name__}")
    if not isinstance(value, Known):
        raise NeedsKnownError(f"{kind.__name__} of a dynamic value")
    try:
        return Result(None, Known(kind(value.object), None, calls.scope.program.guards_of(value)))
    except ValueError as error:
        raise NotCompiledError(str(error)) from error


def _is_looked_for(kind: type[enum.Enum], value: Scalar) -> bool:
    """Whether a member is found by comparing a value with the values of all."""
    if not is_enum(kind) or kind._missing_.__func__ is not enum.Enum._missing_.__func__:  # type: ignore[attr-defined]
        return False
    return value.kind is value_kind(kind) or {value.kind, value_kind(kind)} == {int, float}


def _held(expressions: ExpressionEvaluator, value: Value, where: ast.AST, node: Any = None) -> ast.expr:
    """A name that stands for a value."""
    name = expressions.scope.name()
    expressions.scope.variables[name] = Result(node, value)
    return ast.copy_location(ast.Name(name, ast.Load()), where)


def _chosen(
    expressions: ExpressionEvaluator,
    index: Result,
    found: list[tuple[ast.expr, Result]],
    where: ast.AST,
    error: type[Exception],
    message: str | None,
) -> Result:
    """Choose one of several values, by what equals a key.

    Args:
        expressions: evaluates.
        index: the key.
        found: what it is compared with, and the value.
        where: the place.
        error: what is raised if it equals none.
        message: what that says; None if it equals one.
    """
    name = expressions.named(index, where)
    parts = [(key, _held(expressions, each.value, where, each.node)) for key, each in found]
    chosen: ast.expr = ast.Constant(None) if message is not None or not parts else parts.pop()[1]
    for key, each in reversed(parts):
        chosen = ast.IfExp(ast.Compare(copy.deepcopy(name), [ast.Eq()], [key]), each, chosen)
    made = expressions.evaluate(with_places(chosen, where))
    return made if message is None else expressions.present(made, error, message)
