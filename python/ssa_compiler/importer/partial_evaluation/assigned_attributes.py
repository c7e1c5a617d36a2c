"""Which attributes methods assign, or change the contents of: those are no constants."""

from __future__ import annotations

import ast
import dis
import inspect
import textwrap
import types
from functools import lru_cache
from typing import Any

import torch

__all__ = ["assigned_attributes", "assigned_by"]

_MUTATORS = frozenset(
    "append extend insert pop remove clear sort reverse update setdefault popitem copy_ fill_ zero_ add_ mul_".split()
)


def assigned_attributes(root: torch.nn.Module) -> frozenset[str]:
    """The names of the attributes that methods assign, or change the contents of."""
    kinds: set[Any] = {type(part) for part in root.modules()}
    return frozenset().union(*(assigned_by(kind) for kind in kinds))


@lru_cache(maxsize=256)
def assigned_by(kind: type) -> frozenset[str]:
    """The names of the attributes that methods of a class assign, or change the contents of."""
    found = set[str]()
    for owner in kind.__mro__:
        if owner.__module__.partition(".")[0] in ("torch", "builtins"):
            continue
        for name, member in vars(owner).items():
            function = inspect.unwrap(getattr(member, "fget", None) or getattr(member, "__func__", member))
            if name not in ("__init__", "__post_init__") and isinstance(function, types.FunctionType):
                try:
                    found |= _changed(ast.parse(textwrap.dedent(inspect.getsource(function))))
                except (OSError, TypeError, SyntaxError):
                    found |= _changed_by_code(function.__code__)
    return frozenset(found)


def _changed(method: ast.AST) -> set[str]:
    found = set[str]()
    for node in ast.walk(method):
        if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
            found.add(node.attr)
        if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
            found |= _held_by(node.value)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _MUTATORS:
            found |= _held_by(node.func.value)
    return found


def _changed_by_code(code: types.CodeType) -> set[str]:
    """`_changed`, of a function without source: the attributes that it assigns; any, if it changes a container."""
    steps = list(dis.get_instructions(code))
    if any(step.opname == "STORE_SUBSCR" or step.argval in _MUTATORS for step in steps):
        return set(code.co_names)
    return {str(step.argval) for step in steps if step.opname in ("STORE_ATTR", "DELETE_ATTR")}


def _held_by(node: ast.expr) -> set[str]:
    """The attribute of which an expression is, or is a part."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return {node.attr} if isinstance(node, ast.Attribute) else set()
