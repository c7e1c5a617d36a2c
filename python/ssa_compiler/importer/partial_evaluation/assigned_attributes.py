"""Which attributes methods assign, or change the contents of: those are no constants."""

from __future__ import annotations

import ast
import dis
import inspect
import textwrap
import types
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import torch

__all__ = ["Assigned", "assigned_attributes", "assigned_by"]

_MUTATORS = frozenset(
    "append extend insert pop remove clear sort reverse update setdefault popitem copy_ fill_ zero_ add_ mul_".split()
)


@dataclass(frozen=True)
class Assigned:
    """The names of attributes.

    Attributes:
        bound: those that are assigned.
        changed: those that are assigned, or of which what looks like a method of a container or tensor is called.
    """

    bound: frozenset[str] = frozenset()
    changed: frozenset[str] = frozenset()

    def __or__(self, other: Assigned) -> Assigned:
        return Assigned(self.bound | other.bound, self.changed | other.changed)

    def has(self, name: str, *, is_object: bool) -> bool:
        """Whether the attribute of a name may change.

        Args:
            name: the attribute.
            is_object: whether it is an object of the user's class, whose methods may be called like a container's.
        """
        return name in (self.bound if is_object else self.changed)


def assigned_attributes(root: torch.nn.Module) -> Assigned:
    """The attributes that methods of a module and its parts assign, or change the contents of."""
    kinds: set[Any] = {type(part) for part in root.modules()}
    found = Assigned()
    for kind in kinds:
        found |= assigned_by(kind)
    return found


@lru_cache(maxsize=256)
def assigned_by(kind: type) -> Assigned:
    """The attributes that methods of a class assign, or change the contents of."""
    found = Assigned()
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
    return found


def _changed(method: ast.AST) -> Assigned:
    found, bound = set[str](), set[str]()
    for node in ast.walk(method):
        if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
            bound.add(node.attr)
        if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
            found |= _held_by(node.value)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _MUTATORS:
            found |= _held_by(node.func.value)
    return Assigned(frozenset(bound), frozenset(bound | found))


def _changed_by_code(code: types.CodeType) -> Assigned:
    """`_changed`, of a function without source: the attributes that it assigns; any, if it changes a container."""
    steps = list(dis.get_instructions(code))
    bound = frozenset(str(step.argval) for step in steps if step.opname in ("STORE_ATTR", "DELETE_ATTR"))
    is_change = any(step.opname == "STORE_SUBSCR" or step.argval in _MUTATORS for step in steps)
    return Assigned(bound, bound.union(code.co_names) if is_change else bound)


def _held_by(node: ast.expr) -> set[str]:
    """The attribute of which an expression is, or is a part."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return {node.attr} if isinstance(node, ast.Attribute) else set()
