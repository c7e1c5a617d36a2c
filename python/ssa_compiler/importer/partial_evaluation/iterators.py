"""Iterators that are values: `it = iter(items)`, of which `next(it)` and loops read one element after the other; and
the first element that a generator gives.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from ..torchscript.function_scope import is_iterator
from . import records
from .comprehensions import rename
from .interfaces import CallEvaluator, Result, StatementEvaluator
from .new_nodes import at_place, put_in
from .rejections import NotCompiledError
from .tuple_keys import listed_keys
from .values import Known, ListValue, TensorValue, UnionValue

__all__ = ["assigned", "following", "iterated", "put_in_place"]

_END = 1 << 62
"""The place of an iterator that has reached the end of its list: it stays there, if elements are added to the list."""


_READERS = frozenset("all any dict enumerate filter list map max min reversed set sorted sum tuple zip".split())
"""Functions of an iterator that compute nothing of their own before they read it."""


@dataclass(frozen=True, eq=False)
class _Iterator:
    """An iterator.

    Attributes:
        items: the variable with what it reads.
        place: the variable with the number of the next element.
        scope: the function that has these.
    """

    items: str
    place: str
    scope: Any


def put_in_place(scope: Any, body: Sequence[ast.stmt]) -> list[ast.stmt]:
    """Write iterators where they are read: `rows = map(f, xs)`, and then `return list(rows)`.

    Args:
        scope: the function.
        body: statements that follow one another.
    Returns:
        The statements, of which those are left out that only make an iterator for a later one, between which and that
        one there is nothing but plain assignments.
    """
    left = list(body)
    for position in reversed(range(len(left) - 1)):
        first = left[position]
        if not isinstance(first, ast.Assign) or len(first.targets) != 1 or not is_iterator(first.value):
            continue
        target, names = first.targets[0], {part.id for part in ast.walk(first) if isinstance(part, ast.Name)}
        later = next((n for n in range(position + 1, len(left)) if not _is_plain(left[n], names)), len(left) - 1)
        second = left[later]
        field = "iter" if isinstance(second, ast.For) else "value"
        read = getattr(second, field, None)
        if not isinstance(target, ast.Name) or not _reads(read, target.id):
            continue
        if isinstance(second, ast.AugAssign) and not _is_other(second.target, names):
            continue
        if sum(isinstance(part, ast.Name) and part.id == target.id for part in ast.walk(second)) != 1:
            continue
        left[later] = made = copy.deepcopy(second)
        setattr(made, field, put_in(getattr(made, field), target.id, first.value))
        scope.forget(target.id)  # behind it there is nothing left to read
        del left[position]
    return left


def _is_other(target: ast.expr, names: Collection[str]) -> bool:
    """Whether a target is a variable that is none of the names."""
    return isinstance(target, ast.Name) and target.id not in names


def _is_plain(statement: ast.stmt, names: Collection[str]) -> bool:
    """Whether a statement lets new variables have constants or empty displays, none of the names among them."""
    if not isinstance(statement, (ast.Assign, ast.AnnAssign)) or statement.value is None:
        return False
    stored = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    plain = (ast.Constant, ast.Dict, ast.List, ast.Tuple, ast.Load, ast.UnaryOp, ast.USub)
    return all(_is_other(each, names) for each in stored) and all(
        isinstance(part, plain) for part in ast.walk(statement.value)
    )


def _reads(node: Any, name: str) -> bool:
    """Whether an expression reads an iterator of a name before it computes anything else."""
    if isinstance(node, ast.Name):
        return node.id == name
    if isinstance(node, ast.Starred):
        return _reads(node.value, name)
    if isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
        return _reads(node.generators[0].iter, name)
    if isinstance(node, (ast.Tuple, ast.List)):
        place = next((k for k, part in enumerate(node.elts) if _reads(part, name)), None)
        return place is not None and all(isinstance(part, (ast.Constant, ast.Name)) for part in node.elts[:place])
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.func.id not in _READERS:
        return False
    others = [part for part in (*node.args, *(each.value for each in node.keywords)) if not _reads(part, name)]
    return len(others) < len(node.args) + len(node.keywords) and all(
        isinstance(part, (ast.Attribute, ast.Constant, ast.Lambda, ast.Name)) for part in others
    )


def assigned(statements: Any, node: ast.Assign) -> list[ast.stmt] | None:
    """Evaluate `it = iter(items)`; None if a statement is none."""
    scope, called, target = statements.scope, node.value, node.targets[0]
    if not _is_builtin(scope, called, "iter") or len(called.args) != 1 or called.keywords:  # type: ignore[attr-defined]
        return None
    if len(node.targets) != 1 or not isinstance(target, ast.Name):
        return None
    items, place = scope.name(), scope.name()
    made = ast.parse(f"{items} = _\n{place} = 0").body
    made[0].value = records.as_keys(statements.expressions, called.args[0], dicts=True)  # type: ignore[attr-defined]
    out = _written(statements, made, node)
    value = scope.variables[items].value
    is_known = isinstance(value, Known) and isinstance(value.object, (list, tuple))
    if not is_known and not isinstance(value, (ListValue, TensorValue, UnionValue)):
        raise NotCompiledError("an iterator of something else than a list or tensor")
    scope.forget(target.id)
    scope.variables[target.id] = Result(None, Known(_Iterator(items, place, scope)))
    return out


def following(calls: CallEvaluator, node: ast.Call) -> Result | None:
    """Evaluate `next(it, default)` of such an iterator or of a generator; None if it is of anything else."""
    if not node.args or len(node.args) > 2 or node.keywords:
        return None
    first, default = node.args[0], node.args[1] if len(node.args) == 2 else None
    if isinstance(first, ast.GeneratorExp):
        return _first(calls, first, default, node)
    if _is_builtin(calls.scope, first, "iter") and len(first.args) == 1:  # type: ignore[attr-defined]
        named, first = calls.scope.name(), copy.deepcopy(first)
        first.args = [listed_keys(calls, part) for part in first.args]  # type: ignore[attr-defined]
        made: Any = ast.Assign([ast.Name(named, ast.Store())], first)
        calls.scope.hoist(_written(calls.expressions.statements, [made], node), node)
    elif isinstance(first, ast.Name):
        named = first.id
    else:
        return None
    iterator = _of(calls.scope, named)
    if iterator is None:
        return None
    held = calls.scope.variables[iterator.items].value
    if named != getattr(first, "id", "") and isinstance(held, Known) and held.object:
        return calls.expressions.statements.loops.part(held.object[0], node)
    name, items, place = calls.scope.name(), iterator.items, iterator.place
    error = calls.scope.program.constant_name(StopIteration)
    if default is None:
        text = f"if {place} >= len({items}):\n    raise {error}()\n{name} = {items}[{place}]\n{place} += 1"
    else:
        text = (
            f"{name} = _\nif {place} < len({items}):\n    {name} = {items}[{place}]\n    {place} += 1\n"
            f"else:\n    {place} = {_END}"
        )
    statements = ast.parse(text).body
    if default is not None:
        statements[0].value = default  # type: ignore[attr-defined]
    return calls.written(statements, name, node)


def _first(calls: CallEvaluator, generator: ast.GeneratorExp, default: ast.expr | None, node: ast.Call) -> Result:
    """`next((f(x) for x in items if p(x)), default)`: a loop that stops."""
    if len(generator.generators) != 1:
        raise NotCompiledError("a generator of several loops that is not read to its end")
    value = default.operand if isinstance(default, ast.UnaryOp) else default
    if not isinstance(value, (ast.Constant, ast.Name, type(None))):
        raise NotCompiledError("next() with a default that is computed")
    generator = copy.deepcopy(generator)
    rename(calls.expressions, generator)
    (loop_of,) = generator.generators
    name, found = calls.scope.name(), calls.scope.name()
    error = calls.scope.program.constant_name(StopIteration)
    text = f"{name} = _\n{found} = False\nfor _ in _:\n    {name} = _\n    {found} = True\n    break\n"
    text += f"if not {found}:\n    raise {error}()"
    first, flag, loop, check = ast.parse(text).body
    assert isinstance(loop, ast.For)
    loop.target, loop.iter = loop_of.target, loop_of.iter
    loop.body[0].value = generator.elt  # type: ignore[attr-defined]
    for test in reversed(loop_of.ifs):
        loop.body = [ast.If(test, loop.body, [])]
    if default is None:
        calls.scope.reads.setdefault(name, set()).add(_END)  # behind the loop
        return calls.written([flag, loop, check], name, node)
    first.value = default  # type: ignore[attr-defined]
    return calls.written([first, flag, loop], name, node)


def iterated(statements: StatementEvaluator, node: ast.For) -> list[ast.stmt] | None:
    """Evaluate a loop over what is left of such an iterator; None if it is over anything else."""
    iterator = _of(statements.scope, node.iter.id) if isinstance(node.iter, ast.Name) else None
    if iterator is None:
        return None
    items, place = iterator.items, iterator.place
    text = f"while {place} < len({items}):\n    _ = {items}[{place}]\n    {place} += 1\nelse:\n    {place} = {_END}"
    (loop,) = ast.parse(text).body
    assert isinstance(loop, ast.While)
    loop.body[0].targets = [node.target]  # type: ignore[attr-defined]
    loop.body += node.body
    return _written(statements, [loop], node)


def _of(scope: Any, name: str) -> _Iterator | None:
    """The iterator that a variable is.

    Raises:
        NotCompiledError: it is another function's.
    """
    found = scope.variables.get(name)
    iterator = found.value.object if found is not None and isinstance(found.value, Known) else None
    if not isinstance(iterator, _Iterator):
        return None
    if iterator.scope is not scope:
        raise NotCompiledError("an iterator that another function reads")
    return iterator


def _is_builtin(scope: Any, node: ast.expr, name: str) -> bool:
    """Whether an expression is a call of a builtin function."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.func.id != name:
        return False
    return name not in scope.variables and name not in scope.local


def _written(statements: StatementEvaluator, made: Sequence[ast.stmt], where: ast.AST) -> list[ast.stmt]:
    return [each for statement in made for each in statements.statement(at_place(statement, where))]
