"""Variables that have another type on another path: `best = 0`, and `best = x[i].item()` in a branch of a loop.

Each type has a variable of its own, as always; one more says which of them is meant. A statement that reads the
variable is written once for each type, under a branch on that number, so that what follows is typed again. A result of
several types is an object that holds all of them, of which the caller gets the one that is meant. So is what a program
returns at several places: `return {}` early, `return {"boxes": boxes}` at the end.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence
from typing import Any

from ...abi.records import choice_class, choice_numbers, choice_types
from . import optional_variables
from .default_values import default_of
from .interfaces import Result, StatementEvaluator, Written
from .new_nodes import with_places
from .rejections import NotCompiledError
from .values import (
    UNKNOWN,
    ObjectValue,
    OptionalValue,
    Scalar,
    UnionValue,
    Value,
    annotation,
    is_none,
    joined,
)

__all__ = [
    "SplitError",
    "alternatives",
    "assigned",
    "chosen",
    "declared",
    "is_choice",
    "is_several",
    "learn",
    "merged",
    "named_result",
    "noted",
    "result_of_all",
    "returned",
    "returns_several",
    "split",
    "with_choices",
]

_KIND = "_ssa_compiler_kind_of_"
_MOST = 4


class SplitError(NotCompiledError):
    """A statement that reads a variable of several types.

    Args:
        name: the variable.
    """

    def __init__(self, name: str) -> None:
        super().__init__(f"{name}, a variable of several types")
        self.name = name


def _key(scope: Any, name: str) -> Any:
    return "several", scope.key, name


def is_several(scope: Any, name: str) -> bool:
    """Whether a variable is known to have several types."""
    return _key(scope, name) in scope.program.elements


def learn(scope: Any, name: str) -> None:
    """Let a variable have several types, from the next evaluation of the program on."""
    scope.program.elements[_key(scope, name)] = UNKNOWN


def merged(scope: Any, name: str, found: Sequence[Result]) -> Result | None:
    """Return what a variable is where paths join on which its type differs; None if it cannot be read.

    Args:
        scope: the function.
        name: the variable.
        found: what it is on each path.
    """
    parts: dict[str, Value] = {}
    for result in found:
        stored = scope.stored_as(name, result)
        given = dict(result.value.parts) if isinstance(result.value, UnionValue) else {}
        if (not given and stored is None) or hasattr(result.node, "may_be_unset"):
            return None
        for key, value in given.items() if given else [(stored, result.value)]:
            before = parts.get(key)
            general = scope.program.widened(value)
            parts[key] = general if before is None else joined(before, general, scope.program.samples.of)
    holders = [scope.stored_as(name, result) for result in found if is_none(result.value)]
    if not _with_nothing(scope, name, parts, holders):
        learn(scope, name)
        return None
    if len(parts) > _MOST or any(annotation(value) is None for value in parts.values()):
        return None
    if not is_several(scope, name):
        learn(scope, name)
        return None
    return Result(None, UnionValue(tuple(sorted(parts.items()))))


def _with_nothing(scope: Any, name: str, parts: dict[str, Value], holders: Sequence[str]) -> bool:
    """Let the variable that is None on a path be one of another type, too, that may be None; whether that is known.

    Args:
        scope: the function.
        name: the variable.
        parts: what it may be, by TorchScript's variables.
        holders: those of these that are None on a path.
    """
    others = [value for _, value in sorted(parts.items()) if not is_none(value)]
    places = scope.nothing.get(name, ())
    known = [scope.program.elements.get(place) for place in places]
    if holders and (
        not known or any(not isinstance(each, OptionalValue) or annotation(each) is None for each in known)
    ):
        found = [parts[each] for each in holders if not is_none(parts[each])] or others
        for place in places if is_several(scope, name) and found else ():
            value = found[0]
            scope.program.elements[place] = value if isinstance(value, OptionalValue) else OptionalValue(value)
        return False
    for stored, value in parts.items():
        if is_none(value):
            parts[stored] = known[0]
    return True


# What is written. -----------------------------------------------------------------------------------------------------


def noted(scope: Any, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
    """Let statements that assign a variable of several types say which type that is."""
    out: list[ast.stmt] = []
    for statement in statements:
        out.append(statement)
        if hasattr(statement, "is_noted"):
            continue
        statement.is_noted = True  # type: ignore[attr-defined]
        if isinstance(statement, ast.For):
            statement.body = [*_notes(scope, [statement.target], statement), *statement.body]
        elif isinstance(statement, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            out += _notes(scope, targets, statement)
    return out


def _notes(scope: Any, targets: Sequence[ast.AST], where: ast.AST) -> list[ast.stmt]:
    names = [part for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)]
    out: list[ast.stmt] = []
    for stored in dict.fromkeys(name.id for name in names if isinstance(name.ctx, ast.Store)):
        name = scope.variable_of(stored)
        out += optional_variables.notes(scope, stored, where)
        if is_several(scope, name):
            out.append(_assigned(f"{_KIND}{name}", str(scope.number_of(stored)), where))
    return out


def _assigned(name: str, value: str, where: ast.AST) -> ast.stmt:
    made = ast.parse(f"{name} = {value}").body[0]
    for part in ast.walk(made):
        ast.copy_location(part, where)
    return made


def declared(scope: Any, parameters: Sequence[str], body: Sequence[ast.stmt], where: ast.AST) -> list[ast.stmt]:
    """Return the statements of a function whose variables of several types exist from its start.

    Args:
        scope: the function, evaluated.
        parameters: its parameters.
        body: its statements.
        where: its place.
    """
    first: list[ast.stmt] = []
    for name, texts in scope.kinds.items():
        if not is_several(scope, name):
            continue
        for number, text in enumerate(texts):
            stored = scope.stored_name(name, number)
            if stored in parameters:
                continue
            if (default := default_of(text)) is not None:
                first.append(_assigned(stored, default, where))
                continue
            kind = text if text.startswith("Optional[") else f"Optional[{text}]"
            nothing = ast.copy_location(ast.Constant(None), where)
            store = ast.copy_location(ast.Name(stored, ast.Store()), where)
            value = scope.program.annotated_as(nothing, kind)
            first.append(ast.copy_location(ast.Assign([store], value), where))
        first.append(_assigned(f"{_KIND}{name}", "0", where))
    return [*first, *optional_variables.declared(scope, parameters, where), *body]


def alternatives(scope: Any, value: UnionValue, where: ast.AST) -> list[tuple[int, Result]]:
    """Return what a variable may be, by the number of the type."""
    made = []
    for stored, part in value.parts:
        node: Any = ast.copy_location(ast.Name(stored, ast.Load()), where)
        texts = scope.kinds.get(scope.variable_of(stored), [])
        may_be_none = stored not in scope.parameters and default_of(annotation(part)) is None
        if texts[scope.number_of(stored) :] and texts[scope.number_of(stored)].startswith("Optional["):
            may_be_none = True
        if not isinstance(part, OptionalValue):
            if may_be_none:
                node = scope.program.unwrapped(node)
                node.stored_as = stored
        made.append((scope.number_of(stored), Result(node, part)))
    return made


def split(statements: StatementEvaluator, node: ast.stmt, name: str) -> list[ast.stmt]:
    """Evaluate a statement for each type that a variable may have."""
    scope = statements.scope
    value = scope.variables[name].value
    kind = f"{_KIND}{name}"
    scope.variables[kind] = Result(ast.copy_location(ast.Name(kind, ast.Load()), node), Scalar(int))
    rest: list[ast.stmt] = []
    for number, result in reversed(alternatives(scope, value, node)):
        arm = Written()
        arm.evaluate = _narrowed(statements, node, name, result)
        if not rest:
            rest = [arm]
            continue
        test = ast.parse(f"{kind} == {number}", mode="eval").body
        rest = [ast.If(test, [arm], rest)]
    with_places(rest[0], node)
    return statements.block(rest)


def _narrowed(statements: StatementEvaluator, node: ast.stmt, name: str, result: Result) -> Any:
    def evaluate() -> list[ast.stmt]:
        statements.scope.variables[name] = result
        return statements.block([copy.deepcopy(node)])

    return evaluate


def with_choices(scope: Any, node: ast.expr) -> ast.expr:
    """Let a result of the program, or parts of a display of results, be of several types."""
    if isinstance(node, ast.Name):
        found = scope.variables.get(node.id)
        if found is None or not isinstance(found.value, UnionValue):
            return node
        result = chosen(scope, node.id, node)
        result.node.choice = result.value
        return result.node
    if isinstance(node, (ast.Tuple, ast.List)):
        node.elts = [with_choices(scope, part) for part in node.elts]
    elif isinstance(node, ast.Dict):
        node.values = [with_choices(scope, part) for part in node.values]
    return node


def named_result(scope: Any, node: ast.Return) -> list[ast.stmt]:
    """Give a result, or the parts of a display of results, names, so that they may be of several types."""
    out: list[ast.stmt] = []

    def named(value: ast.expr) -> ast.expr:
        if isinstance(value, (ast.Name, ast.Constant)):
            return value
        name = scope.name()
        store = ast.copy_location(ast.Name(name, ast.Store()), value)
        out.append(ast.copy_location(ast.Assign([store], value), value))
        return ast.copy_location(ast.Name(name, ast.Load()), value)

    assert node.value is not None
    if isinstance(node.value, (ast.Tuple, ast.List)):
        node.value.elts = [named(part) for part in node.value.elts]
    elif isinstance(node.value, ast.Dict):
        node.value.values = [named(part) for part in node.value.values]
    else:
        node.value = named(node.value)
    return [*out, node]


def is_choice(value: Value) -> bool:
    """Whether a value is an object that holds a value of each of several types."""
    return isinstance(value, ObjectValue) and choice_numbers(value.kind) is not None


def assigned(statements: StatementEvaluator, target: ast.Name, result: Result, node: ast.AST) -> list[ast.stmt]:
    """Let a variable be what such an object says that is meant, which has several types then."""
    kind = result.value.kind  # type: ignore[attr-defined]
    owner = statements.expressions.named(result, node)
    rest: list[ast.stmt] = []
    for place, number in reversed(list(enumerate(choice_numbers(kind) or ()))):
        arm = Written()
        arm.evaluate = _taken(statements, target, owner, place, choice_types(kind)[place])
        test = ast.parse(f"{owner.id}['kind'] == {number}", mode="eval").body
        rest = [ast.If(test, [arm], rest)] if rest else [arm]
    if len(rest) == 1 and isinstance(rest[0], ast.If):
        with_places(rest[0], node)
    return statements.block(rest)


def _taken(statements: StatementEvaluator, target: ast.Name, owner: ast.Name, place: int, text: str) -> Any:
    def evaluate() -> list[ast.stmt]:
        read = ast.Subscript(copy.deepcopy(owner), ast.Constant(f"value_{place}"), ast.Load())
        result = statements.expressions.evaluate(with_places(read, owner))
        if isinstance(result.value, OptionalValue) and not text.startswith("Optional["):
            result = Result(statements.scope.program.unwrapped(result.node), result.value.element)
        return statements.assign(copy.deepcopy(target), result)

    return evaluate


# What a program returns at several places. ----------------------------------------------------------------------------


def returns_several(scope: Any) -> bool:
    """Let what the program returns at several places be of several types, from its next evaluation on; whether it is
    already.
    """
    known = _results_key(scope) in scope.program.elements
    scope.program.elements.setdefault(_results_key(scope), UnionValue(()))
    return known


def _results_key(scope: Any) -> Any:
    return "results", scope.key


def returned(scope: Any, value: Value, node: ast.expr) -> ast.expr:
    """Return an object that holds what is returned at a place, if what the program returns is of several types.

    Args:
        scope: the program's function; of its results so far, `scope.returned` has each type.
        value: what is known of the result.
        node: the result.
    """
    known = scope.program.elements.get(_results_key(scope))
    text = annotation(scope.program.widened(value))
    if known is None or text is None:
        return node
    before = dict(scope.returned.parts) if isinstance(scope.returned, UnionValue) else {}
    both = scope.program.widened(value)
    before[text] = joined(before[text], both, scope.program.samples.of) if text in before else both
    scope.returned = UnionValue(tuple(before.items()))
    number = next((number for number, (other, _) in enumerate(known.parts) if other == text), None)
    if number is None:
        return node
    parts: list[ast.expr] = [ast.Constant(number)]
    for other, _ in known.parts:
        default = ast.parse(default_of(other) or "None", mode="eval").body
        parts.append(node if other == text else default)
    call = ast.Call(ast.Name(_class_of(scope, known).name, ast.Load()), parts, [])
    call.is_pure = True  # type: ignore[attr-defined]
    for part in ast.walk(call):
        if not hasattr(part, "lineno"):
            ast.copy_location(part, node)
    return call


def result_of_all(scope: Any) -> Value | None:
    """Return what is known of the result of a function that is evaluated."""
    if not isinstance(scope.returned, UnionValue):
        return scope.returned
    if not scope.is_dead:
        raise NotCompiledError("results of several types, and the end of the function, which is None")
    known = scope.program.elements[_results_key(scope)]
    parts = dict(known.parts)
    for text, value in scope.returned.parts:  # each copy of the function adds what it returns
        parts[text] = joined(parts[text], value, scope.program.samples.of) if text in parts else value
    found = UnionValue(tuple(parts.items()))
    scope.program.elements[_results_key(scope)] = found
    return _class_of(scope, found) if found == known else UNKNOWN


def _class_of(scope: Any, known: UnionValue) -> Any:
    kinds = tuple(text for text, _ in known.parts)
    kind = scope.program.classes.value(choice_class(kinds, tuple(range(len(kinds)))))
    scope.program.classes.learn(kind.kind, "kind", Scalar(int))
    for place, (text, value) in enumerate(known.parts):
        is_held = default_of(text) is not None or isinstance(value, OptionalValue)
        nothing = is_none(value) or is_held
        scope.program.classes.learn(kind.kind, f"value_{place}", value if nothing else OptionalValue(value))
    return kind


def chosen(scope: Any, name: str, where: ast.AST) -> Result:
    """Return an object that holds what a variable may be, as a result of the program."""
    value = scope.variables[name].value
    made = alternatives(scope, value, where)
    kinds = tuple(annotation(result.value) or "" for _, result in made)
    number: Any = ast.copy_location(ast.Name(f"{_KIND}{name}", ast.Load()), where)
    kind = scope.program.classes.value(choice_class(kinds, tuple(number for number, _ in made)))
    values: list[Value] = [Scalar(int), *(_optional(result) for _, result in made)]
    for key, part in zip(("kind", *(f"value_{k}" for k in range(len(made)))), values):
        scope.program.classes.learn(kind.kind, key, part)
    nodes = [number, *(_stored(result) for _, result in made)]
    call = ast.Call(ast.copy_location(ast.Name(kind.name, ast.Load()), where), nodes, [])
    call.is_pure = True  # type: ignore[attr-defined]
    return Result(ast.copy_location(call, where), kind)


def _optional(result: Result) -> Value:
    return OptionalValue(result.value) if hasattr(result.node, "stored_as") else result.value


def _stored(result: Result) -> Any:
    """The variable of an alternative, which is None where it is not meant."""
    if not hasattr(result.node, "stored_as"):
        return result.node
    return ast.copy_location(ast.Name(result.node.stored_as, ast.Load()), result.node)
