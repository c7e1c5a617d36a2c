"""Lists whose elements are of several types, displays or the caller's, and the tuples in these: objects with an
attribute for each element, see `abi.records`. Loops over them are written out, and strings in them are known.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping, Sequence
from typing import Any

from ...abi.records import record_keys, sequence_class, sequence_kind
from . import objects
from .definitions import expression_of
from .effects import has_effects
from .interfaces import Evaluated, ExpressionEvaluator, Result
from .rejections import NeedsKnownError, NotCompiledError, OrderError
from .scope import Scope
from .values import Known, ObjectValue, Value, annotation, is_none

__all__ = [
    "constructed",
    "counted",
    "elements",
    "has_texts",
    "is_sequence",
    "kind_of",
    "length",
    "make",
    "part",
    "passed",
]


def has_texts(thing: Any) -> bool:
    """Whether there are strings in lists, tuples or dicts, or in what is in them, or may be in other calls."""
    if isinstance(thing, list) and not thing:
        return True
    parts = thing.values() if isinstance(thing, dict) else thing if isinstance(thing, (list, tuple)) else ()
    return any(isinstance(part, str) or has_texts(part) for part in parts)


def kind_of(value: Value) -> type | None:
    """Return list or tuple if a value is such an object; None if it is none."""
    return sequence_kind(value.kind) if isinstance(value, ObjectValue) else None


def is_sequence(value: Value) -> bool:
    """Whether a value is such an object."""
    return kind_of(value) is not None


def length(value: Value) -> int:
    """Return how many elements such an object has."""
    return len(record_keys(value.kind) or ()) if isinstance(value, ObjectValue) else 0


def counted(expressions: ExpressionEvaluator, owner: Result, where: ast.AST) -> Result:
    """Evaluate `len(items)`."""
    expressions.discard(owner, where)
    return expressions.known(where, Known(length(owner.value)))


def passed(program: Evaluated, parts: Sequence[Value], of: type) -> ObjectValue | None:
    """Return what is known of a list or tuple of the caller's; None if an element has no type.

    Args:
        program: the program.
        parts: what is known of its elements.
        of: list or tuple.
    """
    kinds = [_kind(program, value) for value in parts]
    if None in kinds:
        return None
    made = program.classes.value(sequence_class(of, tuple(kind or "" for kind in kinds)))
    for name, value in zip(record_keys(made.kind) or (), parts):
        program.classes.learn(made.kind, name, value)
    return made


def make(scope: Scope, results: Sequence[Result], where: ast.AST) -> Result | None:
    """Make such an object of the elements of a list display; None if one has no type."""
    value = passed(scope.program, [result.value for result in results], list)
    if value is None:
        return None
    return constructed(scope, value, dict(zip(record_keys(value.kind) or (), results)), where)


def constructed(scope: Scope, value: ObjectValue, parts: Mapping[str, Result], where: ast.AST) -> Result:
    """Make an object of results, which are evaluated in this order.

    Args:
        scope: the function.
        value: what is known of the object.
        parts: its attributes.
        where: the place.
    """
    call = ast.Call(ast.copy_location(ast.Name(value.name or "", ast.Load()), where), [], [])
    call.is_pure = True  # type: ignore[attr-defined]
    for name, result in parts.items():
        if scope.program.classes.is_stored(value.kind, name):
            call.args.append(expression_of(scope, result))
        elif result.node is not None and has_effects(scope, result.node):
            raise OrderError("an element that is known, and has effects")
    return Result(ast.copy_location(call, where), value)


def _kind(program: Evaluated, value: Value) -> str | None:
    """What tells an element from others: a string, or a type."""
    is_text = isinstance(value, Known) and not is_none(value)
    return repr(value.object) if is_text else annotation(program.widened(value))  # type: ignore[attr-defined]


def elements(expressions: ExpressionEvaluator, owner: Result, where: ast.AST, *, fresh: bool = False) -> list[Result]:
    """Return the elements of such an object.

    Args:
        expressions: evaluates.
        owner: the object.
        where: the expression.
        fresh: as of `displays.spread`.
    """
    value = owner.value
    assert isinstance(value, ObjectValue)
    if not length(value):
        expressions.discard(owner, where)
        return []
    named = Result(expressions.named(owner, where, fresh=fresh), value)
    return [_element(expressions, named, name, where) for name in record_keys(value.kind) or ()]


def _element(expressions: ExpressionEvaluator, owner: Result, name: str, where: ast.AST) -> Result:
    node = ast.copy_location(ast.Attribute(copy.deepcopy(owner.node), name, ast.Load()), where)
    return objects.attribute(expressions, owner, node)


def part(expressions: ExpressionEvaluator, owner: Result, index: Result, where: ast.AST) -> Result:
    """Evaluate `items[index]`.

    Raises:
        NotCompiledError: there is none, or it is a slice of a tuple.
        NeedsKnownError: the index is dynamic.
    """
    if not isinstance(index.value, Known):
        raise NeedsKnownError("an element of a list of several types, chosen by a dynamic number")
    place: Any = expressions.scope.use(index.value)
    if isinstance(place, slice) and kind_of(owner.value) is list:
        made = make(expressions.scope, elements(expressions, owner, where)[place], where)
        if made is not None:
            return made
    if type(place) is not int or not -length(owner.value) <= place < length(owner.value):
        raise NotCompiledError("a slice of a list of several types, or an element that it does not have")
    assert isinstance(owner.value, ObjectValue)
    return _element(expressions, owner, (record_keys(owner.value.kind) or ())[place], where)
