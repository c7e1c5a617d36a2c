"""Lambdas that the program does not contain: those of modules, of attributes of objects, of default factories."""

from __future__ import annotations

import ast
import linecache
import types
from functools import lru_cache
from typing import Any

from torch._sources import ParsedDef, SourceContext

from .rejections import NotCompiledError

__all__ = ["parsed_lambda"]


def parsed_lambda(function: types.FunctionType, as_function: Any) -> Any:
    """Parse a lambda as TorchScript parses functions; its source are the lines on which it is.

    Args:
        function: the lambda.
        as_function: makes an `ast.FunctionDef` of an `ast.Lambda`.
    Returns:
        A `torch._sources.ParsedDef`.
    Raises:
        NotCompiledError: its source is not there, or it is not to be told apart from others.
    """
    code = function.__code__
    source = "".join(linecache.getlines(code.co_filename, function.__globals__))
    found = [node for node in _lambdas(source) if node.lineno == code.co_firstlineno and _may_be(node, code)]
    if len(found) > 1 and _places(code):  # all have these in them, so each is inside of the one before
        found = [max(found, key=lambda node: (node.lineno, node.col_offset))]
    if len(found) != 1:
        raise NotCompiledError("a lambda whose source is not there, or beside another one on its line")
    node = as_function(found[0])
    lines = source.splitlines(keepends=True)[node.lineno - 1 : node.end_lineno]
    indent = len(lines[0]) - len(lines[0].lstrip())
    for part in ast.walk(node):  # as of a function that stands at the left margin
        if isinstance(part, (ast.expr, ast.stmt, ast.arg, ast.keyword)):
            part.col_offset, part.end_col_offset = part.col_offset - indent, (part.end_col_offset or 0) - indent
    first = node.lineno
    ast.increment_lineno(node, 1 - first)
    text = "".join(lines)
    context = SourceContext(text, code.co_filename, first, indent, True, "_lambda")  # type: ignore[no-untyped-call]
    return ParsedDef(ast.Module([node], []), context, text, code.co_filename, first)


@lru_cache(maxsize=16)
def _lambdas(source: str) -> tuple[ast.Lambda, ...]:
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return ()
    return tuple(node for node in ast.walk(tree) if isinstance(node, ast.Lambda))


def _may_be(node: ast.Lambda, code: types.CodeType) -> bool:
    """Whether a lambda has the parameters of a code object, and what that was compiled from."""
    arguments = node.args
    names = [each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    names += [each.arg for each in (arguments.vararg, arguments.kwarg) if each is not None]
    if tuple(names) != code.co_varnames[: len(names)]:
        return False
    if not hasattr(code, "co_positions"):
        return True
    body = node.body
    first, last = (body.lineno, body.col_offset), (body.end_lineno or 0, body.end_col_offset or 0)
    return all(first <= start and end <= last for start, end in _places(code))


def _places(code: types.CodeType) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Where the expressions begin and end that a code object was compiled from: (line, column). Python 3.10 does not
    know, nor any that runs with `-X no_debug_ranges`.
    """
    found = []
    for line, end, column, end_column in code.co_positions() if hasattr(code, "co_positions") else ():
        if line is None or end is None or column is None or end_column is None or (line, column) == (end, end_column):
            continue  # of no expression
        found.append(((line, column), (end, end_column)))
    return found
