"""`map(f, a, b)` as a generator."""

from __future__ import annotations

import ast
import copy
from typing import Any

from .new_nodes import with_places
from .rejections import NotCompiledError
from .values import Known, TupleValue

__all__ = ["mapped"]


def mapped(scope: Any, node: ast.Call) -> ast.expr:
    """`map(f, a, b)` as a generator."""
    if len(node.args) < 2 or node.keywords or isinstance(node.args[0], ast.Starred):
        raise NotCompiledError("map() of no operands")
    function, *given = node.args
    operands = [each for part in given for each in _written_out(scope, part)]
    names = [scope.name() for _ in operands]
    stored: list[ast.expr] = [ast.Name(name, ast.Store()) for name in names]
    read: list[ast.expr] = [ast.Name(name, ast.Load()) for name in names]
    if len(operands) == 1:
        generator = ast.comprehension(stored[0], operands[0], [], 0)
    else:
        rows = ast.Call(ast.Name("zip", ast.Load()), operands, [])
        generator = ast.comprehension(ast.Tuple(stored, ast.Store()), rows, [], 0)
    return with_places(ast.GeneratorExp(ast.Call(function, read, []), [generator]), node)


def _written_out(scope: Any, part: ast.expr) -> list[ast.expr]:
    """The operands that one stands for: several of `*items`."""
    if not isinstance(part, ast.Starred):
        return [part]
    found = scope.variables.get(part.value.id) if isinstance(part.value, ast.Name) else None
    value = None if found is None else found.value
    length = len(value.elements) if isinstance(value, TupleValue) else None
    if isinstance(value, Known) and isinstance(value.object, (list, tuple)):
        length = len(value.object)
    if not length:
        raise NotCompiledError("map() of a dynamic number of operands")
    return [ast.Subscript(copy.deepcopy(part.value), ast.Constant(k), ast.Load()) for k in range(length)]
