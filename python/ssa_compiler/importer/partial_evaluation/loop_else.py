"""`for ... else` and `while ... else`, which TorchScript has not: a flag says whether a `break` was reached."""

from __future__ import annotations

import ast
from typing import Any

__all__ = ["without_else"]


def without_else(loop: ast.For | ast.While, flag: str) -> list[ast.stmt]:
    """Return statements that do what a loop with an else branch does.

    Args:
        loop: the loop; changed.
        flag: the name of a new variable.
    """
    branch, loop.orelse = loop.orelse, []
    marker = _Marker(flag)
    loop.body = marker.marked(loop.body)
    if not marker.found:
        return [loop, *branch]
    unset = ast.Assign([ast.Name(flag, ast.Store())], ast.Constant(False))
    test = ast.If(ast.UnaryOp(ast.Not(), ast.Name(flag, ast.Load())), branch, [])
    made: list[ast.stmt] = [unset, loop, test]
    for statement in made:
        for part in ast.walk(statement):
            if isinstance(part, (ast.stmt, ast.expr)) and not hasattr(part, "lineno"):
                ast.copy_location(part, loop)
    return made


class _Marker(ast.NodeTransformer):
    """Sets the flag in front of each `break` that ends the loop."""

    def __init__(self, flag: str) -> None:
        self.found = False
        self._flag = flag

    def marked(self, body: list[ast.stmt]) -> list[ast.stmt]:
        made: list[ast.stmt] = []
        for statement in body:
            visited = self.visit(statement)
            made += visited if isinstance(visited, list) else [visited]
        return made

    def visit_Break(self, node: ast.Break) -> Any:
        self.found = True
        return [ast.copy_location(ast.Assign([ast.Name(self._flag, ast.Store())], ast.Constant(True)), node), node]

    def _inner(self, node: Any) -> Any:
        node.orelse = self.marked(node.orelse)  # its own body has its own breaks
        return node

    visit_For = visit_While = _inner

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        return node
