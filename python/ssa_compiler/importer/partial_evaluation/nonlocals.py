"""Variables that nested functions assign (`nonlocal count`), as lists of one element that both have."""

from __future__ import annotations

import ast
import copy
import itertools
from collections.abc import Iterator, Mapping
from typing import Any

from .new_nodes import with_places
from .parameters import all_parameters
from .rejections import NotCompiledError

__all__ = ["with_cells"]

_SCOPES = (ast.FunctionDef, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def with_cells(function: ast.FunctionDef) -> None:
    """Let the variables of a function that functions inside of it assign be in lists.

    Args:
        function: the function; changed.
    Raises:
        NotCompiledError: such a variable is bound otherwise than by an assignment, or not before it is used.
    """
    if any(isinstance(node, ast.Nonlocal) for node in ast.walk(function)):
        _put_in_cells(function, {}, map("_ssa_compiler_cell_{}".format, itertools.count()))


def _own(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of a function, without those of functions and comprehensions inside of it."""
    for child in ast.iter_child_nodes(node):
        yield child
        if not isinstance(child, _SCOPES):
            yield from _own(child)


def _declared(function: ast.FunctionDef) -> set[str]:
    return {name for node in _own(function) if isinstance(node, ast.Nonlocal) for name in node.names}


def _bound(function: ast.FunctionDef) -> set[str]:
    """The variables that are a function's own."""
    stored = {node.id for node in _own(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    defined = {node.name for node in _own(function) if isinstance(node, ast.FunctionDef)}
    return ({each.arg for each in all_parameters(function.args)} | stored | defined) - _declared(function)


def _wanted(function: ast.FunctionDef) -> set[str]:
    """The variables of functions around one that it, or a function inside of it, assigns."""
    inner = [node for node in _inside(function) if isinstance(node, ast.FunctionDef)]
    return _declared(function).union(*(_wanted(each) - _bound(function) for each in inner))


def _inside(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """The functions that are directly inside of one."""
    for node in _own(function):
        if isinstance(node, ast.FunctionDef):
            yield node


def _put_in_cells(function: ast.FunctionDef, around: Mapping[str, str], names: Iterator[str]) -> None:
    bound = _bound(function)
    wanted = set().union(*(_wanted(each) for each in _inside(function) if isinstance(each, ast.FunctionDef)))
    own = {name: f"{next(names)}_{name}" for name in sorted(wanted & bound)}
    cells = {name: cell for name, cell in around.items() if name not in bound} | own
    if cells:
        parameters = {each.arg: each for each in all_parameters(function.args)}
        first = [_made(own[name], ast.Name(name, ast.Load()), parameters[name]) for name in own if name in parameters]
        body = function.body
        for name, cell in own.items():
            body = body if name in parameters else _with_first(body, name, cell)
        writing = _Cells(cells)
        function.body = [*first, *(made for each in body for made in writing.statement(each))]
    for each in _inside(function):
        assert isinstance(each, ast.FunctionDef)
        if each.name in cells:
            raise NotCompiledError("a function that is assigned to a nonlocal variable")
        _put_in_cells(each, cells, names)


def _made(cell: str, value: ast.expr, where: ast.AST) -> ast.stmt:
    """The statement that makes a list."""
    made: ast.stmt = with_places(ast.Assign([ast.Name(cell, ast.Store())], ast.List([value], ast.Load())), where)
    return made


def _with_first(body: list[ast.stmt], name: str, cell: str) -> list[ast.stmt]:
    """The statements of a function, of which the first that mentions a variable makes its list.

    Raises:
        NotCompiledError: it is no assignment.
    """
    for number, statement in enumerate(body):
        mentioned = [part for part in _own(statement) if isinstance(part, ast.Name) and part.id == name]
        if isinstance(statement, ast.FunctionDef) or not (mentioned or _reads_inside(statement, name)):
            continue
        targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
        is_plain = isinstance(statement, (ast.Assign, ast.AnnAssign)) and statement.value is not None
        if not is_plain or len(mentioned) != 1 or not isinstance(mentioned[0].ctx, ast.Store):
            break
        if _reads_inside(statement, name):
            break
        if targets == mentioned:
            made = _made(cell, statement.value, statement)  # type: ignore[attr-defined]
            return [*body[:number], made, *body[number + 1 :]]
        mentioned[0].id = f"{cell}_first"
        made = _made(cell, ast.Name(mentioned[0].id, ast.Load()), mentioned[0])
        return [*body[: number + 1], made, *body[number + 1 :]]
    raise NotCompiledError(f"{name}, a nonlocal variable that is not assigned before it is used")


def _reads_inside(statement: ast.stmt, name: str) -> bool:
    """Whether a lambda or comprehension in a statement mentions a variable."""
    return any(
        isinstance(part, ast.Name) and part.id == name
        for scope in _own(statement)
        if isinstance(scope, _SCOPES)
        for part in ast.walk(scope)
    )


class _Cells(ast.NodeTransformer):
    """Reads and writes variables in lists."""

    def __init__(self, cells: Mapping[str, str]) -> None:
        self._cells = cells

    def statement(self, node: ast.stmt) -> list[ast.stmt]:
        made = self.visit(node)
        return made if isinstance(made, list) else [made]

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if (cell := self._cells.get(node.id)) is None:
            return node
        if isinstance(node.ctx, ast.Del):
            raise NotCompiledError("a nonlocal variable that is deleted")
        made = ast.Subscript(ast.Name(cell, ast.Load()), ast.Constant(0), node.ctx)
        return with_places(made, node)

    def visit_Nonlocal(self, node: ast.Nonlocal) -> ast.stmt:
        return ast.copy_location(ast.Pass(), node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        if not isinstance(node.target, ast.Name) or node.target.id not in self._cells:
            return self.generic_visit(node)
        if node.value is None:
            return ast.copy_location(ast.Pass(), node)
        return self.visit(ast.copy_location(ast.Assign([node.target], node.value), node))

    def visit_For(self, node: ast.For) -> Any:
        """A loop over a variable's values, which are assigned first in each iteration."""
        targets = [part for part in ast.walk(node.target) if isinstance(part, ast.Name) and part.id in self._cells]
        first: list[ast.stmt] = []
        for part in targets:
            held = f"{self._cells[part.id]}_each"
            first.append(with_places(ast.Assign([copy.copy(part)], ast.Name(held, ast.Load())), part))
            part.id = held
        node.body = [*first, *node.body]
        return self.generic_visit(node)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> Any:
        if node.target.id in self._cells:
            raise NotCompiledError("a nonlocal variable that an expression assigns")
        return self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        """A function inside, whose defaults are read here."""
        node.args.defaults = [self.visit(each) for each in node.args.defaults]
        node.args.kw_defaults = [each and self.visit(each) for each in node.args.kw_defaults]
        return node  # its body is rewritten by `_put_in_cells`

    def visit_Lambda(self, node: ast.Lambda) -> Any:
        node.args = self.visit(node.args)
        node.body = self._without({each.arg for each in all_parameters(node.args)}).visit(node.body)
        return node

    def generic_visit(self, node: Any) -> Any:
        if not hasattr(node, "generators"):
            return super().generic_visit(node)
        node.generators[0].iter = self.visit(node.generators[0].iter)
        parts = [part for each in node.generators for part in ast.walk(each.target)]
        inside = self._without({part.id for part in parts if isinstance(part, ast.Name)})
        first, node.generators[0].iter = node.generators[0].iter, ast.Constant(None)
        ast.NodeTransformer.generic_visit(inside, node)
        node.generators[0].iter = first
        return node

    def _without(self, hidden: set[str]) -> _Cells:
        return _Cells({name: cell for name, cell in self._cells.items() if name not in hidden})
