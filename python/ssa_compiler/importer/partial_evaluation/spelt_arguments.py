"""`*args` that take functions or modules, for which TorchScript has no tuples: a parameter for each argument."""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence
from dataclasses import replace

from .definitions import Definition
from .interfaces import Arguments
from .new_nodes import with_places
from .rejections import NotCompiledError

__all__ = ["with_parameters"]


def with_parameters(definition: Definition, arguments: Arguments, skip: int) -> Definition:
    """Return a function that has a parameter for each argument that its `*args` takes, if some have no expression.

    Args:
        definition: the function.
        arguments: those of a call.
        skip: how many parameters are bound already.
    Raises:
        NotCompiledError: the function assigns `args`, or has a name of ours.
    """
    parameters = definition.node.args
    count = len([*parameters.posonlyargs, *parameters.args]) - skip
    extra = arguments.positional[count:]
    if parameters.vararg is None or all(result.node is not None for result in extra):
        return definition
    name = parameters.vararg.arg
    names = [f"{name}_{k}" for k in range(len(extra))]
    node = copy.deepcopy(definition.node)
    for part in ast.walk(node):
        own = part.id if isinstance(part, ast.Name) else part.arg if isinstance(part, ast.arg) else None
        is_stored = isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load)
        if own in names or (
            own == name and (is_stored or (isinstance(part, ast.arg) and part is not node.args.vararg))
        ):
            raise NotCompiledError("a function or module among *args")
    added = [ast.copy_location(ast.arg(each), parameters.vararg) for each in names]
    kept = node.args
    node.args = ast.arguments(
        kept.posonlyargs, [*kept.args, *added], None, kept.kwonlyargs, kept.kw_defaults, kept.kwarg, []
    )
    speller = _Speller(name, names)
    node.body = [speller.visit(statement) for statement in node.body]
    return replace(definition, node=with_places(node, definition.node))


class _Speller(ast.NodeTransformer):
    """Writes the parameters where `args` is read.

    Args:
        name: what it is called.
        names: the parameters.
    """

    def __init__(self, name: str, names: Sequence[str]) -> None:
        self._name, self._names = name, names

    def _all(self) -> list[ast.expr]:
        return [ast.Name(each, ast.Load()) for each in self._names]

    def _opened(self, parts: Sequence[ast.expr]) -> list[ast.expr]:
        out: list[ast.expr] = []
        for part in parts:
            is_all = isinstance(part, ast.Starred) and self._is_read(part.value)
            out += self._all() if is_all else [self.visit(part)]
        return out

    def _is_read(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Name) and node.id == self._name

    def visit_Call(self, node: ast.Call) -> ast.expr:
        is_length = isinstance(node.func, ast.Name) and node.func.id == "len" and len(node.args) == 1
        if is_length and self._is_read(node.args[0]):
            return ast.copy_location(ast.Constant(len(self._names)), node)
        node.func, node.args = self.visit(node.func), self._opened(node.args)
        for keyword in node.keywords:
            keyword.value = self.visit(keyword.value)
        return node

    def visit_Tuple(self, node: ast.Tuple) -> ast.expr:
        node.elts = self._opened(node.elts)
        return node

    def visit_List(self, node: ast.List) -> ast.expr:
        node.elts = self._opened(node.elts)
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        place = node.slice.value if isinstance(node.slice, ast.Constant) else None
        if self._is_read(node.value) and isinstance(place, int) and -len(self._names) <= place < len(self._names):
            return ast.copy_location(ast.Name(self._names[place], ast.Load()), node)
        self.generic_visit(node)
        return node

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.copy_location(ast.Tuple(self._all(), ast.Load()), node) if self._is_read(node) else node
