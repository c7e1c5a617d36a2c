"""The functions that a program with graph breaks calls, and the table of all."""

from __future__ import annotations

import ast
import builtins
import inspect
import os
import sysconfig
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any

import torch
import torch.nn.modules.module as module_globals
from torch.utils import _contextlib

from ..errors import SourceLocation, SsaCompilerError
from ..options import Options
from .liveness import stores_of
from .sources import Source, in_users_file, source_of
from .splitting import declared_in_file
from .unit import Unit

__all__ = ["Functions", "has_hooks"]

_MISSING = object()
_MOST_SPECIALISATIONS = 3
"""Of one fragment, for arguments that differ otherwise than in sizes: in a loop of Python's they may always do."""
_MOST_NODES = 15_000
"""Of a fragment, in all attempts to import it: smaller ones are tried if it has more."""
_DEPTH = 4
"""How many calls deep a line is searched for."""


class Functions:
    """The functions of a program with graph breaks.

    Args:
        options: what `compile` was asked for.
        limit: how often each function or fragment may be compiled.
    Attributes:
        units: those that were called, in that order.
    """

    def __init__(self, options: Options, limit: int) -> None:
        self.options = replace(options, exact_aliases=(), dynamic_shapes=None, dump_dir=None, most_nodes=_MOST_NODES)
        self.limit = min(limit, _MOST_SPECIALISATIONS)
        self._units: dict[tuple[Any, int], Any] = {}

    @property
    def units(self) -> list[Unit]:
        """The functions that were called, in that order."""
        return [unit for unit in self._units.values() if isinstance(unit, Unit)]

    def callee(self, value: Any) -> Any:
        """Return what is called in the place of a function, method or module: itself, if it is none of the user's."""
        if isinstance(value, types.FunctionType):
            return self._function(value) or value
        if isinstance(value, types.MethodType):
            if isinstance(value.__func__, types.FunctionType) and (
                unit := self._function(value.__func__, value.__self__)
            ):
                return partial(unit, value.__self__)
            return value
        if isinstance(value, torch.nn.Module) and not has_hooks(value) and type(value).__call__ is _MODULE_CALL:
            forward = value.forward
            return self.callee(forward) if isinstance(forward, types.MethodType) else value
        return value

    def root(self, function: types.FunctionType, owner: Any, rejected: SsaCompilerError) -> Callable[..., Any] | None:
        """Return what is called in the place of the program itself; None if its source is not known."""
        unit = self._function(function, owner, rejected)
        return None if unit is None else unit if owner is None else partial(unit, owner)

    def _function(
        self, function: types.FunctionType, owner: Any = None, rejected: SsaCompilerError | None = None
    ) -> Any:
        """The unit of a function, of each of its owners if these are modules; with the same decorators around it."""
        key = function, id(owner) if isinstance(owner, torch.nn.Module) else 0
        if key not in self._units:
            inner = getattr(function, "__wrapped__", None)
            if "<locals>" in function.__qualname__ and rejected is None:
                return None  # another one at each call
            if isinstance(inner, types.FunctionType):
                self._units[key] = self._decorated(function, inner, owner, rejected)
            else:
                source = source_of(function) if rejected is not None or is_users(function) else None
                self._units[key] = None if source is None else Unit(source, self, rejected=rejected)
        return self._units[key]

    def _decorated(
        self, function: types.FunctionType, inner: types.FunctionType, owner: Any, rejected: SsaCompilerError | None
    ) -> Any:
        """PyTorch's decorator, such as `torch.no_grad()`, around the unit of a function; None for any other, which may
        do with the function what cannot be done with a unit.
        """
        if function.__code__.co_filename != _contextlib.__file__:
            return None
        unit = self._function(inner, owner, rejected)
        cells = function.__closure__ or ()
        if unit is None or not any(_contents(cell) is inner for cell in cells):
            return None
        closure = tuple(types.CellType(unit) if _contents(cell) is inner else cell for cell in cells)
        made = types.FunctionType(
            function.__code__, function.__globals__, function.__name__, function.__defaults__, closure
        )
        made.__kwdefaults__ = function.__kwdefaults__
        return made

    # -- what statements call ----------------------------------------------------------------------------------------

    def may_be_users(self, call: ast.Call, source: Source, values: Mapping[str, Any]) -> bool:
        """Whether a call may be one of the user's functions, as far as can be told without running the program.

        Args:
            call: the call.
            source: the function that it is in.
            values: values of its variables.
        """
        found = _resolved(call.func, source, values)
        if found is _MISSING:
            return isinstance(call.func, ast.Attribute) and call.func.attr in _methods(source)
        return any(True for _ in _functions_of(found))

    def uses_torch(self, source: Source) -> bool:
        """Whether a function, or one that it calls, names something of PyTorch's."""
        names = {node.id for node in ast.walk(source.definition) if isinstance(node, ast.Name)}
        values = _values_of(source, names)
        return any(map(_is_torchs, values)) or any(
            any(map(_is_torchs, _globals_of(function))) for function in _reachable(values, set(), _DEPTH)
        )

    def differs(self, source: Source) -> bool:
        """Whether a function, or one that it calls, has variables that functions of its file assign by `global` or
        `nonlocal`, or a default that a compiled program converts.
        """
        names = {node.id for node in ast.walk(source.definition) if isinstance(node, ast.Name)}
        if names & declared_in_file(source.file) or _converts(source.template):
            return True
        return any(map(_differs, _reachable(_values_of(source, names), set(), _DEPTH)))

    def leads_to(
        self, statement: ast.stmt, location: SourceLocation | None, source: Source, values: Mapping[str, Any]
    ) -> bool:
        """Whether a line is one of a statement, or of a function that it calls."""
        if location is None:
            return False
        if location.file == source.file and source.first <= location.line <= source.last:
            return statement.lineno <= location.line <= (statement.end_lineno or statement.lineno)
        calls = (node for node in ast.walk(statement) if isinstance(node, ast.Call))
        seen: set[Any] = set()
        return any(
            _reaches(function, location, seen, _DEPTH)
            for call in calls
            for function in _functions_of(_resolved(call.func, source, values))
        )


def _contents(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return None


_MODULE_CALL = torch.nn.Module.__call__
_HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")


def has_hooks(module: torch.nn.Module) -> bool:
    """Whether a call of a module does more than to call its forward."""
    own = any(getattr(module, name, None) for name in _HOOKS)
    return own or any(getattr(module_globals, f"_global{name}", None) for name in _HOOKS)


@lru_cache
def _library_folders() -> tuple[str, ...]:
    paths = sysconfig.get_paths()
    return tuple({os.path.realpath(paths[name]) + os.sep for name in ("stdlib", "platstdlib", "purelib", "platlib")})


@lru_cache(maxsize=4096)
def _is_users_file(file: str) -> bool:
    return not os.path.realpath(file).startswith(_library_folders())


def is_users(function: types.FunctionType) -> bool:
    """Whether a function is the user's own: it is in no installed package."""
    inner = inspect.unwrap(function)
    return isinstance(inner, types.FunctionType) and _is_users_file(inner.__code__.co_filename)


def _resolved(node: ast.expr, source: Source, values: Mapping[str, Any]) -> Any:
    """What an expression of names and attributes means before the program runs; `_MISSING` if that is not known."""
    if isinstance(node, ast.Name):
        if node.id in values:
            return values[node.id]
        if node.id in source.cells:
            return _contents(source.cells[node.id])
        if node.id in frozenset().union(*map(stores_of, source.definition.body)):
            return _MISSING
        return source.globals.get(node.id, getattr(builtins, node.id, _MISSING))
    if isinstance(node, ast.Attribute):
        holder = _resolved(node.value, source, values)
        if holder is _MISSING:
            return _MISSING
        found = inspect.getattr_static(holder, node.attr, _MISSING)
        if isinstance(found, property) or (found is _MISSING and not isinstance(holder, torch.nn.Module)):
            return _MISSING
        try:
            return getattr(holder, node.attr, _MISSING)
        except Exception:  # noqa: BLE001 - an attribute that is computed
            return _MISSING
    return _MISSING


def _functions_of(value: Any) -> Iterator[types.FunctionType]:
    """The user's functions that a call of a value may run."""
    if isinstance(value, types.FunctionType):
        if is_users(value):
            yield inspect.unwrap(value)
    elif isinstance(value, types.MethodType):
        yield from _functions_of(value.__func__)
    elif isinstance(value, torch.nn.Module):
        yield from _functions_of(getattr(value, "forward", None))
    elif isinstance(value, type) and value.__module__ != "builtins":
        yield from (each for each in vars(value).values() if isinstance(each, types.FunctionType) and is_users(each))
    elif isinstance(value, staticmethod):
        yield from _functions_of(value.__func__)


def _methods(source: Source) -> set[str]:
    """The names of the methods of the user's classes that a function's globals have."""
    classes = (
        value
        for value in source.globals.values()
        if isinstance(value, type) and not value.__module__.startswith("torch")
    )
    return {
        name
        for kind in classes
        for name, value in vars(kind).items()
        if isinstance(value, types.FunctionType) and not name.startswith("__") and is_users(value)
    }


def _is_torchs(value: Any) -> bool:
    """Whether a value is PyTorch, or a tensor or module."""
    name = value.__name__ if isinstance(value, types.ModuleType) else getattr(value, "__module__", None)
    return isinstance(value, (torch.Tensor, torch.nn.Module)) or str(name).partition(".")[0] == "torch"


def _values_of(source: Source, names: set[str]) -> list[Any]:
    """What names mean in a function that are none of its variables, and what its closure has."""
    return [source.globals.get(name) for name in names] + [_contents(cell) for cell in source.cells.values()]


def _globals_of(function: types.FunctionType) -> list[Any]:
    return [function.__globals__.get(name) for name in function.__code__.co_names]


def _reachable(values: Iterable[Any], seen: set[Any], depth: int) -> Iterator[types.FunctionType]:
    """The user's functions that calls of values may run, and those that they call, each once."""
    for function in (function for value in values for function in _functions_of(value)):
        if function.__code__ not in seen:
            seen.add(function.__code__)
            yield function
            if depth:
                yield from _reachable(_globals_of(function), seen, depth - 1)


def _converts(function: types.FunctionType) -> bool:
    """Whether a compiled program would make a float of a parameter's default, which Python leaves as it is."""
    parameters = inspect.signature(function).parameters.values()
    return any(each.annotation in (float, "float") and type(each.default) is int for each in parameters)


def _differs(function: types.FunctionType) -> bool:
    """Whether a function has variables that may change at any time, or converts a default."""
    code = function.__code__
    names = {*code.co_names, *code.co_freevars, *code.co_cellvars}
    return bool(declared_in_file(code.co_filename) & names) or _converts(function)


def _reaches(function: types.FunctionType, location: SourceLocation, seen: set[Any], depth: int) -> bool:
    """Whether a line is one of a function, or of those that it calls."""
    code = function.__code__
    if code in seen:
        return False
    seen.add(code)
    lines = [line for _, _, line in code.co_lines() if line is not None]
    if (
        in_users_file(code.co_filename) == location.file
        and lines
        and code.co_firstlineno <= location.line <= max(lines)
    ):
        return True
    if not depth:
        return False
    classes = {value for value in function.__globals__.values() if isinstance(value, type)}
    for name in code.co_names:
        candidates = [function.__globals__.get(name), *(vars(kind).get(name) for kind in classes)]
        if any(_reaches(each, location, seen, depth - 1) for value in candidates for each in _functions_of(value)):
            return True
    return False
