"""Loops that are written out, as each iteration means another part of the model."""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence

from .interfaces import Result, StatementEvaluator, Written
from .new_nodes import with_places
from .rejections import NotCompiledError
from .scope import MIXED

__all__ = ["MOST_ITERATIONS", "UnrolledLoops"]

MOST_ITERATIONS = 256
"""How many iterations are written out."""
_MOST_TESTS = 32
"""How many, if each is inside of the one before."""


class UnrolledLoops:
    """Writes out the loops of one function."""

    def __init__(self, statements: StatementEvaluator) -> None:
        self.scope = statements.scope
        self._statements = statements

    def declare(self, made: dict[str, Result], node: ast.stmt) -> None:
        """Let variables that are first assigned in a loop be read after it."""
        raise NotImplementedError

    def unrolled(self, node: ast.For, elements: Sequence[Result], tests: Sequence[ast.expr] = ()) -> list[ast.stmt]:
        """A loop written out."""
        if len(elements) > (_MOST_TESTS if tests else MOST_ITERATIONS):
            raise NotCompiledError("a loop of many iterations over parts of a model")
        if tests:
            out, flag = self._if_there(node, elements, tests, ""), ""
        else:
            out, flag, is_left = self._iterations(node, elements)
            if is_left:
                return out
        if flag:  # which iteration was the last is dynamic
            for part in ast.walk(node.target):
                if isinstance(part, ast.Name):
                    self.scope.variables[part.id] = MIXED
        return out

    def _iterations(
        self, node: ast.For, elements: Sequence[Result], tests: Sequence[ast.expr] = ()
    ) -> tuple[list[ast.stmt], str, bool]:
        """The iterations of a loop.

        Args:
            node: the loop.
            elements: what its target is in each.
            tests: whether those behind the first take place; none if all do.
        Returns:
            Their statements; the variable that says whether the loop was left, "" if there is none; whether the loop or
            the function is left in any case.
        """
        out: list[ast.stmt] = []
        flag = ""
        for number, element in enumerate(elements):
            if number and tests:
                return [*out, *self._if_there(node, elements[number:], tests, flag)], flag, self.scope.is_dead
            kept, hoisted, present = self.scope.fork(), list(self.scope.before), self.scope.present
            made, ended = ([], None) if flag else self._plain_iteration(node, element)
            if made is not None and not flag:
                out += made
                if ended is ast.Break or self.scope.is_dead:
                    return out, flag, True
                continue
            self.scope.variables, self.scope.before[:], self.scope.is_dead = kept, hoisted, False
            self.scope.present = present
            if not flag and any(isinstance(jump, ast.Break) for jump in _jumps(node.body)):
                flag = self.scope.name()
                out += self._statements.statement(_stored(flag, ast.Constant(False), node))
            out += self._jumping_iteration(node, element, flag)
        return out, flag, False

    def _if_there(
        self, node: ast.For, elements: Sequence[Result], tests: Sequence[ast.expr], flag: str
    ) -> list[ast.stmt]:
        """The iterations of a loop, of which the first takes place if there is an element for it, the next inside of it
        if there is one more, and so on.
        """
        start, found = self.scope.fork(), dict[str, Result]()

        def evaluate() -> list[ast.stmt]:
            made, *_ = self._iterations(node, elements, tests[1:])
            found.update({} if self.scope.is_dead else self.scope.variables)
            return made

        test = copy.deepcopy(tests[0])
        if flag:
            goes_on = ast.UnaryOp(ast.Not(), ast.Name(flag, ast.Load()))
            test = ast.BoolOp(ast.And(), [goes_on, test])
        inside = Written()
        inside.evaluate = evaluate
        rest = ast.If(test, [inside], [])
        for part in ast.walk(rest):
            ast.copy_location(part, node)
        made = self._statements.statement(rest)
        if not self.scope.is_dead:
            self.declare({name: result for name, result in found.items() if name not in start}, node)
        return made

    def _plain_iteration(self, node: ast.For, element: Result) -> tuple[list[ast.stmt] | None, type | None]:
        """An iteration that is left at its end, or surely by one `break` or `continue`.

        Returns:
            Its statements, None if it may be left in several ways; and how it is left.
        """
        jumps, self.scope.jumps = self.scope.jumps, []
        try:
            made = [*self._bound(node.target, element), *self._statements.block(copy.deepcopy(node.body))]
            count = len(self.scope.jumps)
        finally:
            self.scope.jumps = jumps
        if not count:
            return made, None
        if count > 1 or not isinstance(made[-1], (ast.Break, ast.Continue)):
            return None, None
        self.scope.is_dead = False
        return made[:-1], type(made[-1])

    def _jumping_iteration(self, node: ast.For, element: Result, flag: str) -> list[ast.stmt]:
        """An iteration with `break` and `continue`, as a loop of one iteration."""
        body = copy.deepcopy(node.body)
        if _jumps(body):
            body = _single(body, flag, self.scope.name(), node)
        bound = self._bound(node.target, element)
        if not flag:
            return [*bound, *self._statements.block(body)]
        test = ast.copy_location(ast.UnaryOp(ast.Not(), ast.copy_location(ast.Name(flag, ast.Load()), node)), node)
        return [*bound, *self._statements.statement(ast.copy_location(ast.If(test, body, []), node))]

    def _bound(self, target: ast.expr, element: Result) -> list[ast.stmt]:
        """Let the target of a loop be an element."""
        return self._statements.assign(copy.deepcopy(target), element)


def _jumps(body: Sequence[ast.stmt]) -> list[ast.stmt]:
    """The `break` and `continue` of a loop with this body."""
    found: list[ast.stmt] = []
    for statement in body:
        if isinstance(statement, (ast.Break, ast.Continue)):
            found.append(statement)
        elif isinstance(statement, (ast.If, ast.With)):
            found += _jumps([*statement.body, *getattr(statement, "orelse", [])])
        elif isinstance(statement, (ast.For, ast.While)):
            found += _jumps(statement.orelse)
    return found


def _single(body: list[ast.stmt], flag: str, name: str, node: ast.For) -> list[ast.stmt]:
    """One iteration with `break` and `continue`, as a loop of one iteration.

    Args:
        body: its statements.
        flag: the variable that says whether the loop was left.
        name: a variable that nothing else uses.
        node: the loop.
    """
    for jump in _jumps(body):
        if isinstance(jump, ast.Break):
            _before(body, jump, _stored(flag, ast.Constant(True), jump))
    once = ast.For(ast.Name(name, ast.Store()), ast.parse("range(1)", mode="eval").body, body, [])
    once.is_single = True  # type: ignore[attr-defined]
    return [with_places(once, node)]


def _before(body: list[ast.stmt], statement: ast.stmt, added: ast.stmt) -> bool:
    """Put a statement in front of another."""
    for position, found in enumerate(body):
        if found is statement:
            body.insert(position, added)
            return True
        for name in ("body", "orelse"):
            if not isinstance(found, (ast.For, ast.While)) or name == "orelse":
                if _before(getattr(found, name, []), statement, added):
                    return True
    return False


def _stored(name: str, value: ast.expr, where: ast.AST) -> ast.stmt:
    made = ast.Assign([ast.Name(name, ast.Store())], value)
    for part in ast.walk(made):
        ast.copy_location(part, where)
    return made
