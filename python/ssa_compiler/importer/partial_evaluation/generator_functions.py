"""Loops over generator functions: `for y, x in tiles(h, w):`, where `tiles` yields.

The body of the generator takes the place of the loop, and that of the loop the place of each `yield`, so that both run
in turn as in Python.
"""

from __future__ import annotations

import ast
import copy
import inspect
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from .definitions import parsed_function
from .interfaces import StatementEvaluator
from .new_nodes import at_place, counted
from .rejections import NotCompiledError, RejectionError
from .values import Closure, Known

__all__ = ["inlined", "is_generator", "listed", "mark_generators"]

_MOST_COPIES = 4  # of the body of a loop
_SCOPES = (ast.FunctionDef, ast.Lambda, ast.ClassDef)


@dataclass(frozen=True)
class _Around:
    """A loop of a generator that a statement is in.

    Attributes:
        is_last: whether nothing follows behind it, so that leaving it ends the generator.
    """

    is_last: bool


def is_generator(statements: StatementEvaluator, node: ast.expr) -> bool:
    """Whether an expression is a call of a generator function."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, (ast.Name, ast.Attribute)):
        return False
    return _generator(statements, node.func) is not None


def mark_generators(statements: StatementEvaluator, node: ast.stmt) -> None:
    """Say of calls of generator functions in a statement that they run as they are read."""
    for part in ast.walk(node):
        if isinstance(part, ast.Call) and is_generator(statements, part):
            part.is_lazy = True  # type: ignore[attr-defined]


def listed(statements: StatementEvaluator, node: ast.expr) -> ast.expr:
    """Return a comprehension with what a call of a generator function yields; anything else as it is."""
    if not is_generator(statements, node):
        return node
    name = statements.scope.name()
    made = ast.parse(f"[{name} for {name} in _]", mode="eval").body
    assert isinstance(made, ast.ListComp)
    made.generators[0].iter = node
    return at_place(made, node)


def inlined(statements: StatementEvaluator, node: ast.For) -> list[ast.stmt] | None:
    """Evaluate a loop over a call of a generator function; None if it is over anything else.

    Args:
        statements: evaluates statements.
        node: the loop, without an else branch.
    Raises:
        NotCompiledError: the generator or the loop ends in the middle of the other, or the generator is none that can
            be written here.
    """
    call = node.iter
    if not isinstance(call, ast.Call) or not isinstance(call.func, (ast.Name, ast.Attribute)):
        return None
    if isinstance(call.func, ast.Name) and call.func.id == "enumerate" and len(call.args) == 1 and not call.keywords:
        items = call.args[0]
        return statements.block(counted(statements.scope, node, items)) if is_generator(statements, items) else None
    found = _generator(statements, call.func)
    if found is None:
        return None
    definition, owner, value = found
    body = [copy.deepcopy(statement) for statement in definition.body]
    names = _Names(statements, definition, owner, call, is_local=isinstance(value, Closure))
    out: list[ast.stmt] = names.assignments()
    out += _Writer(node).written([names.visit(statement) for statement in body], True, None)
    if isinstance(value, Known):
        statements.scope.use(value)
    inside = getattr(statements.scope, "generators", ())
    function = definition if isinstance(value, Closure) else getattr(value.object, "__func__", value.object)
    if function in inside:
        raise NotCompiledError("a generator function that reads itself")
    statements.scope.generators = (*inside, function)
    try:
        return statements.block([at_place(statement, node) for statement in out])
    finally:
        statements.scope.generators = inside


def _generator(statements: StatementEvaluator, node: ast.expr) -> tuple[ast.FunctionDef, ast.expr | None, Any] | None:
    """The definition of the generator function that an expression is, and the object whose method it is."""
    scope = statements.scope
    saved, hoisted = scope.save(), len(scope.before)
    try:
        value: Any = statements.expressions.evaluate(copy.deepcopy(node)).value
    except RejectionError:  # which says so again where it is called
        value = None
    scope.restore(saved)
    del scope.before[hoisted:]
    if isinstance(value, Closure) and isinstance(value.node, ast.FunctionDef):
        if value.scope is not scope or not any(isinstance(part, ast.Yield) for part in _own(value.node)):
            return None
        return value.node, None, value
    function = value.object if isinstance(value, Known) else None
    plain: Any = inspect.unwrap(getattr(function, "__func__", function)) if callable(function) else None
    if not inspect.isgeneratorfunction(plain):
        return None
    if plain.__globals__ is not getattr(inspect.unwrap(scope.function), "__globals__", None) or plain.__closure__:
        raise NotCompiledError("a generator function of another module, or with variables of a function around it")
    owner = node.value if inspect.ismethod(function) and isinstance(node, ast.Attribute) else None
    return parsed_function(plain).ast.body[0], owner, value


def _own(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of a function, without those of functions in it."""
    for child in ast.iter_child_nodes(node):
        yield child
        if not isinstance(child, _SCOPES):
            yield from _own(child)


class _Names(ast.NodeTransformer):
    """Gives the variables of a generator names of their own."""

    def __init__(
        self,
        statements: StatementEvaluator,
        definition: ast.FunctionDef,
        owner: ast.expr | None,
        call: ast.Call,
        *,
        is_local: bool,
    ) -> None:
        scope, arguments = statements.scope, definition.args
        parts = [part for statement in definition.body for part in (statement, *_own(statement))]
        if any(isinstance(part, (*_SCOPES, ast.Nonlocal, ast.Global)) for part in parts):
            raise NotCompiledError("a generator function with functions or declarations in it")
        if arguments.vararg or arguments.kwarg or arguments.kwonlyargs or arguments.posonlyargs:
            raise NotCompiledError("a generator function with *args, **kwargs or parameters of one kind")
        stored = {part.id for part in parts if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load)}
        parameters = [each.arg for each in arguments.args]
        self._names = {name: scope.name() for name in [*parameters, *sorted(stored - set(parameters))]}
        read = {part.id for part in parts if isinstance(part, ast.Name)} - set(self._names)
        if not is_local and any(name in scope.variables or name in scope.local for name in read):
            raise NotCompiledError("a generator function that reads a name which is a variable here")
        self._passed = _bound(parameters, arguments.defaults, owner, call)

    def assignments(self) -> list[ast.stmt]:
        """Assignments of the arguments, in Python's order."""
        return [ast.Assign([ast.Name(self._names[name], ast.Store())], value) for name, value in self._passed]

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.copy_location(ast.Name(self._names.get(node.id, node.id), node.ctx), node)


def _bound(
    parameters: Sequence[str], defaults: Sequence[ast.expr], owner: ast.expr | None, call: ast.Call
) -> list[tuple[str, ast.expr]]:
    """What each parameter gets: arguments in the order in which they are evaluated, then defaults."""
    given = [*([owner] if owner is not None else []), *call.args]
    named = [(keyword.arg, keyword.value) for keyword in call.keywords]
    positional = list(zip(parameters, given))
    names = [name for name, _ in [*positional, *named]]
    if len(given) > len(parameters) or len(set(names)) < len(names) or not set(names) <= set(parameters):
        raise NotCompiledError("arguments that do not fit a generator function")
    if any(isinstance(each, ast.Starred) for each in given):
        raise NotCompiledError("a starred argument of a generator function")
    others = dict(zip(parameters[len(parameters) - len(defaults) :], defaults))
    missing = [name for name in parameters if name not in names]
    if any(not isinstance(others.get(name), ast.Constant) for name in missing):
        raise NotCompiledError("a default of a generator function that is no constant")
    return [*positional, *((str(name), value) for name, value in named), *((name, others[name]) for name in missing)]


class _Writer:
    """Writes the body of a generator with that of a loop in the places of its yields.

    Args:
        loop: the loop.
    """

    def __init__(self, loop: ast.For) -> None:
        self._loop, self._copies = loop, 0
        ends = list(_ends(loop.body))
        self._breaks = any(isinstance(each, ast.Break) for each in ends)
        self._continues = any(isinstance(each, ast.Continue) for each in ends)

    def written(self, body: Sequence[ast.stmt], tail: bool, around: _Around | None) -> list[ast.stmt]:
        """Return statements of the generator.

        Args:
            body: the statements.
            tail: whether nothing follows behind them, in the iteration of `around` or in the generator.
            around: the loop of the generator that they are in.
        """
        out: list[ast.stmt] = []
        for number, statement in enumerate(body):
            rest = body[number + 1 :]
            is_last = tail and not rest
            value = statement.value if isinstance(statement, ast.Expr) else None
            if isinstance(value, ast.Yield):
                out += self._yielded(value, is_last, around)
            elif isinstance(value, ast.YieldFrom):
                out += self._all_yielded(value, is_last, around)
            elif not any(isinstance(part, (ast.Yield, ast.YieldFrom, ast.Return)) for part in ast.walk(statement)):
                out.append(statement)
            elif isinstance(statement, ast.Return):
                return out + self._returned(statement, tail, around)
            elif isinstance(statement, ast.If) and around is None and isinstance(statement.body[-1], ast.Return):
                then = self.written(statement.body, tail, None)
                otherwise = self.written([*statement.orelse, *rest], tail, None)
                return [*out, ast.If(statement.test, then or [ast.Pass()], otherwise)]
            elif isinstance(statement, ast.If):
                arms = [self.written(arm, is_last, around) for arm in (statement.body, statement.orelse)]
                out.append(ast.If(statement.test, arms[0] or [ast.Pass()], arms[1]))
            elif isinstance(statement, (ast.For, ast.While)) and not statement.orelse:
                statement.body = self.written(statement.body, True, _Around(around is None and is_last))
                out.append(statement)
            else:
                raise NotCompiledError("a yield or return inside of a with, try or loop with else")
        return out

    def _yielded(self, value: ast.Yield, is_last: bool, around: _Around | None) -> list[ast.stmt]:
        if self._breaks and (around is None or not around.is_last):
            raise NotCompiledError("a break that ends a generator in the middle")
        if self._continues and (around is None or not is_last):
            raise NotCompiledError("a continue in a loop over a generator that goes on behind its yield")
        self._copies += 1
        if self._copies > _MOST_COPIES:
            raise NotCompiledError("a generator with many yields")
        element = value.value or ast.Constant(None)
        return [ast.Assign([copy.deepcopy(self._loop.target)], element), *copy.deepcopy(self._loop.body)]

    def _all_yielded(self, value: ast.YieldFrom, is_last: bool, around: _Around | None) -> list[ast.stmt]:
        """`yield from items`."""
        if self._breaks and not (around is None and is_last):
            raise NotCompiledError("a break that ends a generator in the middle")
        return [ast.For(copy.deepcopy(self._loop.target), value.value, copy.deepcopy(self._loop.body), [])]

    @staticmethod
    def _returned(statement: ast.Return, is_last: bool, around: _Around | None) -> list[ast.stmt]:
        if statement.value is not None and not isinstance(statement.value, ast.Constant):
            raise NotCompiledError("a generator that returns something")
        if around is not None and around.is_last:
            return [ast.Break()]
        if around is not None or not is_last:
            raise NotCompiledError("a return that ends a generator in the middle")
        return []


def _ends(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """The breaks and continues of a loop itself."""
    for part in body:
        if isinstance(part, (ast.Break, ast.Continue)):
            yield part
        elif not isinstance(part, (ast.For, ast.While, *_SCOPES)):
            yield from _ends(ast.iter_child_nodes(part))
