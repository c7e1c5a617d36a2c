"""Variables that hold a value at first and may be None later: `node = root`, and `node = parents[node]` in a loop.

TorchScript's variables have the type of what is assigned first. Such a variable has two of TorchScript's, one for its
type and an optional one, which each assignment to the first stores too. Where paths join, it is the optional one.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Container, Sequence
from typing import Any

from .interfaces import Arguments, Result
from .values import OptionalValue, Value, annotation, is_none

__all__ = [
    "alike",
    "also_of",
    "declared",
    "find_out",
    "find_stored",
    "is_optional",
    "joined_variable",
    "let_be_present",
    "notes",
]

_OPTIONAL = "Optional["


def _key(scope: Any, name: str) -> Any:
    return "optional", scope.key, name


def is_optional(scope: Any, name: str) -> bool:
    """Whether a variable is known to be None on some path only."""
    return _key(scope, name) in scope.program.elements


def alike(scope: Any, name: str, text: str) -> tuple[str, ...]:
    """Return the types of which one variable of TorchScript's holds values, for a type of a variable."""
    if is_optional(scope, name):
        return (text,)
    return text, f"{_OPTIONAL}{text}]", text.removeprefix(_OPTIONAL)[:-1]


def also_of(scope: Any, name: str, text: str) -> list[str]:
    """Return the type that a variable of a type is going to have, too."""
    optional = f"{_OPTIONAL}{text}]"
    return [optional] if annotation(scope.program.elements.get(_key(scope, name))) == optional else []


def find_out(scope: Any, name: str, found: Sequence[Result], value: Value, start: Container[str] | None) -> None:
    """Note that a variable may be None where paths join, if TorchScript's variable cannot be, for the next evaluation.

    Args:
        scope: the function.
        name: the variable.
        found: what it is on each path.
        value: what it is where they join.
        start: the variables where they fork; None if it is among them.
    """
    stored = [scope.stored_as(name, result) for result in found]
    if len({*stored}) != 1 or stored[0] is None or all(isinstance(each.value, OptionalValue) for each in found):
        return
    number = scope.number_of(stored[0])
    texts = scope.kinds.get(name, [])
    if number >= len(texts) or texts[number].startswith(_OPTIONAL) or annotation(value) is None:
        return
    if start is not None and name not in start:
        return
    places = scope.nothing.get(name, ())
    if all(isinstance(scope.program.elements.get(place), OptionalValue) for place in places):
        scope.program.elements[_key(scope, name)] = value


def find_stored(scope: Any, name: str, value: Value, text: str, held: str) -> None:
    """Note that a variable is assigned what may be None, if TorchScript's variable cannot be, for the next evaluation.

    Args:
        scope: the function.
        name: the variable.
        value: what is assigned.
        text: its type.
        held: the type of TorchScript's variable.
    """
    if isinstance(value, OptionalValue) and text == f"{_OPTIONAL}{held}]":
        scope.program.elements[_key(scope, name)] = value


def joined_variable(scope: Any, name: str, found: Sequence[Result], value: Value | None) -> str | None:
    """Return the variable of TorchScript's that holds a variable of which some paths say that it may be None.

    Args:
        scope: the function.
        name: the variable.
        found: what it is on each path.
        value: what it is where they join.
    """
    if not isinstance(value, OptionalValue) or not is_optional(scope, name):
        return None
    wanted = {annotation(value), annotation(value.element)}
    is_unset = any(hasattr(result.node, "may_be_unset") for result in found)
    if is_unset or any(not is_none(each.value) and annotation(each.value) not in wanted for each in found):
        return None
    return _stored(scope, name, annotation(value))


def _stored(scope: Any, name: str, text: str | None) -> str | None:
    texts = scope.kinds.get(name, [])
    return scope.stored_name(name, texts.index(text)) if text in texts else None


def notes(scope: Any, stored: str, where: ast.AST) -> list[ast.stmt]:
    """Return what an assignment to a variable of TorchScript's stores in the optional one.

    Args:
        scope: the function.
        stored: the variable.
        where: the assignment.
    """
    name = scope.variable_of(stored)
    text = scope.kinds.get(name, [])[scope.number_of(stored) :][:1]
    if not is_optional(scope, name) or not text:
        return []
    if (other := _stored(scope, name, f"{_OPTIONAL}{text[0]}]")) is None:
        return []
    return [_assigned(scope, other, _optional(scope, name, stored, where), where)]


def _optional(scope: Any, name: str, stored: str, where: ast.AST) -> Any:
    """The value of a variable, which TorchScript takes for an optional one: a function says so."""
    from ...library.presence import optional

    value = scope.program.elements[_key(scope, name)]
    given = Result(ast.copy_location(ast.Name(stored, ast.Load()), where), value)
    call = ast.Call(ast.copy_location(ast.Name("_", ast.Load()), where), [], [])
    call.is_pure = True  # type: ignore[attr-defined]
    return scope.program.functions.call(scope, optional, Arguments([given], {}), ast.copy_location(call, where)).node


def _assigned(scope: Any, stored: str, value: ast.expr, where: ast.AST) -> ast.stmt:
    store = ast.copy_location(ast.Name(stored, ast.Store()), where)
    made = ast.copy_location(ast.Assign([store], value), where)
    made.is_noted = True  # type: ignore[attr-defined]
    return made


def declared(scope: Any, parameters: Sequence[str], where: ast.AST) -> list[ast.stmt]:
    """Return the statements of a function that let its optional variables exist from its start.

    Args:
        scope: the function, evaluated.
        parameters: its parameters.
        where: its place.
    """
    out: list[ast.stmt] = []
    for name, texts in scope.kinds.items():
        for number, text in enumerate(texts if is_optional(scope, name) else ()):
            stored, inner = scope.stored_name(name, number), text.removeprefix(_OPTIONAL)[:-1]
            if not text.startswith(_OPTIONAL) or stored in parameters or inner not in texts:
                continue
            given = scope.stored_name(name, texts.index(inner))
            if given in parameters:
                first = _optional(scope, name, given, where)
            else:
                first = scope.program.annotated_as(ast.copy_location(ast.Constant(None), where), text)
            out.append(_assigned(scope, stored, first, where))
    return out


def let_be_present(scope: Any, before: dict[str, Result]) -> None:
    """Let variables that a condition says are not None be so where TorchScript does not know.

    That is in the body of a loop, and behind `if x is None: break`.

    Args:
        scope: the function, where the condition holds.
        before: its variables, whatever the condition says.
    """
    for name, result in scope.variables.items():
        known = before.get(name, result)
        if (
            result is known
            or result.node is not known.node
            or not isinstance(known.value, OptionalValue)
            or not isinstance(known.node, ast.Name)
        ):
            continue
        node = scope.program.unwrapped(copy.deepcopy(known.node))
        node.stored_as = known.node.id
        scope.variables[name] = Result(node, result.value)
