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
from .interfaces import Evaluated, ExpressionEvaluator, Result
from .rejections import NotCompiledError
from .values import UNKNOWN, Known

__all__ = ["adopt", "adopted"]


def adopt(program: Evaluated, value: Known) -> None:
    """Let a module that a function finds around it be a part of the module that is made of its surroundings.

    It has to be one before its parts are, of which it may have others later. The program depends on which module is
    where it was found.

    Args:
        program: the program.
        value: the module, and the way to it.
    Raises:
        NotCompiledError: it has not been one yet, but is at the next evaluation.
    """
    root, module = program.root, value.object
    if value.path is not None and program.is_elsewhere(value.path):
        program.depend_on_module(value.path)
    if isinstance(root, Surroundings) and program.path_of(value) is None:
        root.add_part(module)
        program.elements["part", id(module)] = UNKNOWN
        raise NotCompiledError("a module that is found around a function, which is in a constructor")


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
    if isinstance(value.object, torch.nn.Module):
        adopt(program, value)
        return result
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
