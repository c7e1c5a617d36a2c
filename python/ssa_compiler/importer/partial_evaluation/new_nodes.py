"""Statements and expressions that partial evaluation writes."""

from __future__ import annotations

import ast
import copy
from typing import Any, TypeVar

__all__ = ["at_place", "counted", "parsed_at", "put_in", "with_places"]

_Node = TypeVar("_Node", bound=ast.AST)


def with_places(node: Any, where: ast.AST) -> Any:
    """Give the parts of a new statement or expression that have no place in the source another one's; returns it."""
    for part in ast.walk(node):
        if not hasattr(part, "lineno"):
            ast.copy_location(part, where)
    return node


def at_place(node: Any, where: ast.AST) -> Any:
    """Give the parts of a new statement or expression that are none of the user's another one's place; returns it."""
    for part in ast.walk(node):
        if not hasattr(part, "token"):
            ast.copy_location(part, where)
    return node


def counted(scope: Any, node: ast.For, items: ast.expr) -> list[ast.stmt]:
    """`for i, x in enumerate(items)`, where the elements are computed as they are needed: statements that count them.

    Args:
        scope: the function.
        node: the loop.
        items: what is enumerated.
    """
    count, element = scope.name(), scope.name()
    text = f"{count} = -1\nfor {element} in _:\n    {count} += 1\n    _ = ({count}, {element})"
    first, loop = ast.parse(text).body
    assert isinstance(loop, ast.For)
    loop.iter = items
    loop.body[1].targets = [node.target]  # type: ignore[attr-defined]
    loop.body += node.body
    return [with_places(at_place(statement, node), node) for statement in (first, loop)]


def parsed_at(text: str, where: ast.AST) -> list[ast.stmt]:
    """Parse statements, and give all their parts the place of another one."""
    made = ast.parse(text).body
    for statement in made:
        for part in ast.walk(statement):
            ast.copy_location(part, where)
    return made


def put_in(node: _Node, name: str, value: ast.expr) -> _Node:
    """A statement or expression with an expression in place of a name."""

    class Put(ast.NodeTransformer):
        def visit_Name(self, found: ast.Name) -> ast.expr:
            return copy.deepcopy(value) if found.id == name else found

    made: _Node = Put().visit(node)
    return made
