"""Functions as syntax trees with the lines of their files, and fragments as functions.

A fragment is made of the very lines of the user's file, at their line numbers: what TorchScript and the importer say of
it names the user's lines. It is a file of its own in `linecache`, where `inspect` finds it; `in_users_file` turns the
name of that file into that of the user's.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
import linecache
import re
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import SourceLocation

__all__ = ["Source", "fragment_source", "in_users_file", "instantiate", "located", "source_of"]

_NAME = re.compile(r"<lines \d+-\d+ of (.*?) \([0-9a-f]{8}\)>")
_FACTORY, _FUNCTION = "_ssa_compiler_factory", "_ssa_compiler_function"
_INSPECTING = {"locals", "vars", "eval", "exec", "dir"}


@dataclass(frozen=True)
class Source:
    """A function as it is written.

    Attributes:
        definition: its syntax tree, with the line numbers and columns of the file.
        file: the file, as the user knows it.
        lines: those of the file that the tree was read from, which may be a fragment's.
        globals: the function's.
        cells: its closure, by name.
        template: what the function's defaults and names are taken from.
    """

    definition: ast.FunctionDef
    file: str
    lines: Sequence[str]
    globals: dict[str, Any]
    cells: Mapping[str, Any]
    template: Any

    @property
    def first(self) -> int:
        """Its first line."""
        return self.definition.lineno

    @property
    def last(self) -> int:
        """Its last line."""
        return self.definition.end_lineno or self.definition.lineno


def source_of(function: types.FunctionType) -> Source | None:
    """Return a Python function as it is written; None if that is not known, or if it is no plain function."""
    code = function.__code__
    if code.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
        return None
    linecache.checkcache(code.co_filename)
    lines = linecache.getlines(code.co_filename, function.__globals__)
    try:
        tree = ast.parse("".join(lines))
    except (SyntaxError, ValueError):
        return None
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == code.co_name:
            if min([node.lineno, *(each.lineno for each in node.decorator_list)]) == code.co_firstlineno:
                if any(map(_depends_on_its_frame, ast.walk(node))):
                    return None
                cells = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))
                return Source(node, in_users_file(code.co_filename), lines, function.__globals__, cells, function)
    return None


def _depends_on_its_frame(node: ast.AST) -> bool:
    """Whether an expression means something else in another function: private names, and what looks at variables."""
    name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    private = name.startswith("__") and not name.endswith("__")
    return private or (isinstance(node, ast.Name) and name in _INSPECTING)


def fragment_source(
    source: Source,
    group: Sequence[ast.stmt],
    inputs: Sequence[str],
    outputs: Sequence[str],
    replaced: Mapping[tuple[int, int, int], str] | None = None,
) -> Source | None:
    """Return a run of statements as a function that takes variables and returns others.

    Args:
        source: the function they are in.
        group: the statements.
        inputs: the parameters.
        outputs: the variables that it returns, one itself, several as a tuple; none if the statements return for
            themselves, or there is nothing to return.
        replaced: texts that stand for others, by line, first and last column (in bytes).
    Returns:
        None if the statements share a line with others.
    """
    first, last, column = group[0].lineno, group[-1].end_lineno or 0, group[0].col_offset
    lines = [line.rstrip("\n") for line in source.lines[first - 1 : last]]
    after = lines[-1].encode()[group[-1].end_col_offset or 0 :].decode().strip()
    if lines[0][:column].strip() or not column or (after and not after.startswith("#")):
        return None
    for (line, start, end), text in sorted((replaced or {}).items(), reverse=True):
        raw = lines[line - first].encode()
        lines[line - first] = (raw[:start] + text.encode() + raw[end:]).decode()
    name = f"{source.definition.name}_lines_{first}_to_{last}"
    result = f"{' ' * column}return {', '.join(outputs)}" if outputs else ""
    text = "\n".join([f"def {name}({', '.join(inputs)}):", *lines, *([result] if result else []), ""])
    digest = hashlib.sha256(f"{source.file}\n{first}\n{text}".encode()).hexdigest()[:8]
    file = f"<lines {first}-{last} of {source.file} ({digest})>"
    kept = "\n" * max(first - 2, 0) + text
    try:
        tree = ast.parse(kept)
    except SyntaxError:  # a string or a parenthesis goes over lines in a way that this does not follow
        return None
    kept_lines = kept.splitlines(keepends=True)
    linecache.cache[file] = (len(kept), None, kept_lines, file)
    definition = tree.body[0]
    assert isinstance(definition, ast.FunctionDef)
    namespace: dict[str, Any] = {"__name__": source.globals.get("__name__", "__main__")}
    exec(compile(tree, file, "exec"), namespace)
    return Source(definition, source.file, kept_lines, source.globals, source.cells, namespace[name])


def instantiate(source: Source, bound: Mapping[str, Any], file: str | None = None) -> Callable[..., Any]:
    """Return the function of a source, in the globals that it has.

    Args:
        source: the function.
        bound: values of further names, which its code reads as variables of an enclosing function.
        file: what its code calls its file; None for the one that `inspect` finds it in.
    """
    names = [*source.cells, *(name for name in bound if name not in source.cells)]
    definition = source.definition
    stripped = ast.FunctionDef(
        **{
            **_fields(definition),
            "name": _FUNCTION,  # its own name is a global one
            "args": _without_defaults(definition.args),
            "decorator_list": [],
            "returns": None,
        }
    )
    arguments = _without_defaults(ast.parse(f"lambda {', '.join(names)}: 0", mode="eval").body.args)  # type: ignore[attr-defined]
    result = ast.Return(ast.Name(_FUNCTION, ast.Load()))
    factory = ast.FunctionDef(_FACTORY, arguments, [stripped, result], [], None, lineno=1, col_offset=0)
    tree = ast.fix_missing_locations(ast.Module([factory], []))
    template: Any = source.template
    compiled = compile(tree, file or template.__code__.co_filename, "exec")
    code = _inner(_inner(compiled, _FACTORY), _FUNCTION)
    code = code.replace(co_firstlineno=template.__code__.co_firstlineno, co_name=definition.name)
    cells = {**source.cells, **{name: types.CellType(value) for name, value in bound.items()}}
    made = types.FunctionType(
        code, source.globals, definition.name, template.__defaults__, tuple(cells[name] for name in code.co_freevars)
    )
    made.__kwdefaults__ = template.__kwdefaults__
    made.__module__, made.__qualname__, made.__doc__ = template.__module__, template.__qualname__, template.__doc__
    return made


def _fields(node: ast.AST) -> dict[str, Any]:
    return {name: getattr(node, name) for name in (*node._fields, *node._attributes) if hasattr(node, name)}


def _without_defaults(arguments: ast.arguments) -> ast.arguments:
    """Parameters whose defaults and annotations, which were computed where the function was defined, are not computed
    again.
    """

    def plain(each: ast.arg) -> ast.arg:
        return ast.copy_location(ast.arg(each.arg), each)

    return ast.arguments(
        posonlyargs=[plain(each) for each in arguments.posonlyargs],
        args=[plain(each) for each in arguments.args],
        vararg=plain(arguments.vararg) if arguments.vararg is not None else None,
        kwonlyargs=[plain(each) for each in arguments.kwonlyargs],
        kw_defaults=[None for _ in arguments.kw_defaults],
        kwarg=plain(arguments.kwarg) if arguments.kwarg is not None else None,
        defaults=[],
    )


def _inner(code: types.CodeType, name: str) -> types.CodeType:
    return next(each for each in code.co_consts if isinstance(each, types.CodeType) and each.co_name == name)


def in_users_file(text: str) -> str:
    """Return a text with the user's files in the place of those of fragments."""
    return _NAME.sub(r"\1", text)


def located(location: SourceLocation | None) -> SourceLocation | None:
    """Return a line with the user's file in the place of a fragment's."""
    return None if location is None else SourceLocation(in_users_file(location.file), location.line)
