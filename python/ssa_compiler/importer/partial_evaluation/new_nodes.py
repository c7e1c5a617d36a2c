"""Statements and expressions that partial evaluation writes."""

from __future__ import annotations

import ast
from typing import Any

__all__ = ["parsed_at", "with_places"]


def with_places(node: Any, where: ast.AST) -> Any:
    """Give the parts of a new statement or expression that have no place in the source another one's; returns it."""
    for part in ast.walk(node):
        if not hasattr(part, "lineno"):
            ast.copy_location(part, where)
    return node


def parsed_at(text: str, where: ast.AST) -> list[ast.stmt]:
    """Parse statements, and give all their parts the place of another one."""
    made = ast.parse(text).body
    for statement in made:
        for part in ast.walk(statement):
            ast.copy_location(part, where)
    return made
