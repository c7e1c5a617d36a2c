"""Objects with tensors or state in global names and closures of a function: attributes of a module; see
`abi.surroundings`.

A function becomes a method of that module, and so do the functions that it calls.
"""

from __future__ import annotations

import ast
from typing import Any

import torch

from ...abi.surroundings import Surroundings
from .constants import is_constant, is_mutable_object
from .interfaces import ExpressionEvaluator, Result
from .rejections import NotCompiledError
from .values import Known

__all__ = ["adopted"]


def adopted(expressions: ExpressionEvaluator, result: Result, where: ast.AST) -> Result:
    """Return what a name means where that may hold tensors or state: an attribute of the module; others as they are.

    Args:
        expressions: evaluates.
        result: what the name means.
        where: its place.
    Raises:
        NotCompiledError: the function that reads it is no method of the module.
    """
    scope, value = expressions.scope, result.value
    program = scope.program
    root, path = program.root, value.path if isinstance(value, Known) else None
    if not isinstance(root, Surroundings) or path is None or not program.is_elsewhere(path):
        return result
    assert isinstance(value, Known)
    if not _may_hold(value.object):
        return result
    if scope.owner is not root:
        raise NotCompiledError("a global object with tensors, in a constructor")
    name = root.name_of(program.places[path])
    if isinstance(value.object, (torch.Tensor, torch.Generator, list, tuple, dict)):
        program.hold(root, name, value.object)
    own = ast.copy_location(ast.Name(scope.self_name, ast.Load()), where)
    attribute = ast.copy_location(ast.Attribute(own, name, ast.Load()), where)
    return expressions.attribute_of(Result(own, Known(root)), Known(root), attribute)


def _may_hold(thing: Any) -> bool:
    """Whether an object may hold tensors or state."""
    if isinstance(thing, dict):
        return not thing or any(map(_may_hold, thing.values()))
    if isinstance(thing, (list, tuple)):
        return thing == [] or any(map(_may_hold, thing))
    return isinstance(thing, (torch.Tensor, torch.Generator)) or (is_mutable_object(thing) and not is_constant(thing))
