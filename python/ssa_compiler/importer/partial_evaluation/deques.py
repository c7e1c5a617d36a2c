"""`collections.deque`, as objects of a class of the library's, for each place in the program that makes one."""

from __future__ import annotations

import ast
import copy

from .interfaces import Arguments, CallEvaluator, ExpressionEvaluator, Result
from .library_classes import is_deque
from .new_nodes import with_places
from .rejections import NotCompiledError
from .values import Known, is_none

__all__ = ["as_list", "check_unchanged", "items", "make"]

_ITEMS = "items"
_CHANGING = frozenset("append appendleft extend extendleft pop popleft clear".split())


def make(calls: CallEvaluator, node: ast.Call) -> Result:
    """Evaluate `deque(items, maxlen)`, either of which may be missing.

    Raises:
        NotCompiledError: the arguments are others.
    """
    from ...library.deques import BoundedDeque, Deque, EmptyBoundedDeque, EmptyDeque

    node.args = [as_list(calls.expressions, part) for part in node.args]
    given, scope, program = calls.arguments(node), calls.scope, calls.scope.program
    held = {**dict(zip(("iterable", "maxlen"), given.positional)), **given.named}
    if held.keys() - {"iterable", "maxlen"} or len(given.positional) > 2:
        raise NotCompiledError("deque() of other arguments")
    elements, most = held.get("iterable"), held.get("maxlen")
    if most is not None and is_none(most.value):
        most = None
    kinds: type[Deque] = EmptyDeque if elements is None else Deque
    if most is not None:
        kinds = EmptyBoundedDeque if elements is None else BoundedDeque
    place = "deque", scope.place(node)
    known = program.elements.get(place)
    kind = known.object if isinstance(known, Known) else type("deque", (kinds,), {})
    if not issubclass(kind, kinds):
        raise NotCompiledError("a deque whose arguments are None or not")
    program.elements[place] = Known(kind)
    return program.functions.construct(scope, kind, Arguments([r for r in (elements, most) if r is not None], {}), node)


def items(result: Result, where: ast.AST) -> ast.expr:
    """Return an expression for the list of a deque's elements."""
    return with_places(ast.Attribute(result.node, _ITEMS, ast.Load()), where)


def as_list(expressions: ExpressionEvaluator, node: ast.expr) -> ast.expr:
    """Return what a function reads that goes through an argument: the list of a deque; others as they are."""
    if not isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)):
        return node
    saved, hoisted = expressions.scope.save(), len(expressions.scope.before)
    found = expressions.evaluate(copy.deepcopy(node))
    expressions.scope.restore(saved)
    del expressions.scope.before[hoisted:]
    return with_places(ast.Attribute(node, _ITEMS, ast.Load()), node) if is_deque(found.value) else node


def check_unchanged(expressions: ExpressionEvaluator, loop: ast.For) -> None:
    """Reject a loop over a deque that changes it, which raises in Python even if it keeps its length.

    Raises:
        NotCompiledError: it does.
    """
    read = {ast.dump(part) for part in ast.walk(loop.iter) if isinstance(part, (ast.Name, ast.Attribute))}
    for call in (part for statement in loop.body for part in ast.walk(statement) if isinstance(part, ast.Call)):
        function = call.func
        if isinstance(function, ast.Attribute) and function.attr in _CHANGING and ast.dump(function.value) in read:
            if as_list(expressions, function.value) is not function.value:
                raise NotCompiledError("a deque that changes while a loop goes through it")
