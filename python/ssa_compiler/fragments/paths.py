"""Attributes of the user's objects as variables.

A fragment cannot take an object of a class of the user's. What it does with one is, mostly, to read attributes and to
assign them: `self.mean` is a variable then, which is read before the fragment and assigned after it.
"""

from __future__ import annotations

import ast
import enum
import types
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import getattr_static
from typing import Any

import torch

__all__ = ["Paths", "is_bound", "is_plain", "read", "write"]

_PLAIN = (bool, int, float, complex, str, bytes, type(None), list, tuple, dict, set, frozenset)


def is_plain(value: Any) -> bool:
    """Whether a value can be an argument of a compiled program, its elements aside."""
    return isinstance(value, (torch.Tensor, *_PLAIN)) or hasattr(type(value), "__dataclass_fields__")


def is_bound(value: Any) -> bool:
    """Whether a value is one that a program is compiled for: a module, a class, a function that is no closure."""
    if isinstance(value, types.FunctionType):
        return value.__closure__ is None
    if isinstance(value, types.MethodType):
        return isinstance(value.__self__, torch.nn.Module)
    kinds = (torch.nn.Module, type, types.ModuleType, types.BuiltinFunctionType, torch.dtype, torch.device, enum.Enum)
    return isinstance(value, kinds)


@dataclass
class Paths:
    """The attributes of objects that a run of statements uses.

    Attributes:
        reads: the paths that are inputs, `("self", "mean")`, each with its variable.
        writes: those that are assigned.
        replaced: the texts that stand for others in the lines of the statements; see `fragment_source`.
        bad_line: a line that does something else with one of the objects; None if there is none.
        kinds: the classes of the objects that have the attributes.
    """

    reads: dict[tuple[str, ...], str] = field(default_factory=dict)
    writes: dict[tuple[str, ...], str] = field(default_factory=dict)
    replaced: dict[tuple[int, int, int], str] = field(default_factory=dict)
    bad_line: int | None = None
    kinds: dict[tuple[str, ...], type] = field(default_factory=dict)

    @classmethod
    def of(cls, group: Sequence[ast.stmt], objects: Mapping[str, Any]) -> Paths:
        """Find the paths of objects.

        Args:
            group: the statements.
            objects: the objects, by the names of variables, which the statements do not assign.
        """
        found = cls()
        for statement in group:
            for node, name, path in _chains(statement):
                if name not in objects:
                    continue
                if not found._place(node, objects[name], name, path):
                    found.bad_line = node.lineno
                    return found
        found.kinds = {path: type(_holder(path, objects)) for path in found.reads}
        if not found.fit(objects):
            found.bad_line = group[0].lineno
        return found

    def fit(self, objects: Mapping[str, Any]) -> bool:
        """Whether objects are of the same classes as before, and no two paths, of which one is assigned, are one
        attribute.

        Raises:
            KeyError, TypeError: there is no such attribute.
        """
        holders = [_holder(path, objects) for path in self.reads]
        if any(type(each) is not kind for each, kind in zip(holders, self.kinds.values())):
            return False
        places = {(id(each), path[-1]) for each, path in zip(holders, self.reads)}
        return not self.writes or len(places) == len(self.reads)

    def _place(self, node: ast.expr, holder: Any, name: str, path: Sequence[ast.Attribute]) -> bool:
        """Make a variable of the shortest part of a path that is no object; returns whether there is one."""
        steps, value = [name], holder
        for attribute in path:
            kept = getattr(value, "__dict__", None)
            if not isinstance(kept, dict) or hasattr(getattr_static(type(value), attribute.attr, None), "__get__"):
                return False
            if _is_special(type(value)) or attribute.end_lineno != node.lineno:
                return False
            stored = not isinstance(attribute.ctx, ast.Load)
            if attribute.attr not in kept:
                return False
            steps.append(attribute.attr)
            value = kept[attribute.attr]
            if isinstance(attribute.ctx, ast.Del) or (stored and not is_plain(value)):
                return False
            if is_plain(value):
                variable = self.reads.get(tuple(steps), f"path{len(self.reads)}__{'__'.join(steps)}")
                self.reads[tuple(steps)] = variable
                if stored:
                    self.writes[tuple(steps)] = variable
                self.replaced[node.lineno, node.col_offset, attribute.end_col_offset or 0] = variable
                return True
        return False


def _is_special(kind: type) -> bool:
    """Whether objects of a class do something else than to keep what is assigned to an attribute."""
    setter: Any = kind.__setattr__
    getter: Any = kind.__getattribute__
    return setter is not object.__setattr__ or getter is not object.__getattribute__


def _chains(statement: ast.AST) -> Iterator[tuple[ast.Name, str, list[ast.Attribute]]]:
    """Iterate over the names under a statement, each with the attributes that are taken of it, innermost first."""
    above: dict[int, ast.AST] = {
        id(child): node for node in ast.walk(statement) for child in ast.iter_child_nodes(node)
    }
    for node in ast.walk(statement):
        if isinstance(node, ast.Name):
            path: list[ast.Attribute] = []
            outer = above.get(id(node))
            while isinstance(outer, ast.Attribute):
                path.append(outer)
                outer = above.get(id(outer))
            yield node, node.id, path


def _holder(path: tuple[str, ...], objects: Mapping[str, Any]) -> Any:
    """The object whose attribute the last step of a path is.

    Raises:
        KeyError: an object on the way has no such attribute.
        TypeError: it is none that has attributes.
    """
    value = objects[path[0]]
    for step in path[1:-1]:
        value = vars(value)[step]
    return value


def read(path: tuple[str, ...], objects: Mapping[str, Any]) -> Any:
    """Return what an attribute is now; it raises as `_holder`."""
    return vars(_holder(path, objects))[path[-1]]


def write(path: tuple[str, ...], objects: Mapping[str, Any], value: Any) -> None:
    """Assign an attribute."""
    setattr(_holder(path, objects), path[-1], value)
