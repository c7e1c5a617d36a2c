"""Tensors that global names and attributes of classes mean, in methods of modules: `x * SCALE`.

To TorchScript they are attributes of the modules whose methods read them; `abi.paths.follow` finds them where they are.
"""

from __future__ import annotations

import ast
import types
from typing import Any

import torch

from ...abi.paths import name_of_place
from ...abi.surroundings import Surroundings
from .interfaces import Evaluated
from .rejections import NotCompiledError
from .scope import Scope
from .values import UNKNOWN

__all__ = ["are_methods", "expression"]

_METHODS = "functions are methods"


def expression(program: Evaluated, scope: Scope, tensor: torch.Tensor, path: str | None) -> ast.expr:
    """Return an expression for a tensor that is no parameter or buffer.

    Args:
        program: the program.
        scope: where it is read.
        tensor: the tensor.
        path: the way to it, if that is known.
    Raises:
        NotCompiledError: it may be gone before the program, or is read in a function, which becomes a method of the
            module that calls it at the next evaluation.
    """
    place = program.places.get(path or "")
    if place is None or path is None or not isinstance(place.holder, (dict, types.ModuleType, type)):
        raise NotCompiledError("a tensor that is no parameter or buffer")
    if scope.owner is None:
        program.elements[_METHODS] = UNKNOWN
        raise NotCompiledError("a global tensor, in a function")
    name = name_of_place(place)
    program.compared[name] = place.part(is_tensor)
    program.hold(scope.owner, name, tensor)
    return ast.Attribute(ast.Name(scope.self_name, ast.Load()), name, ast.Load())


def is_tensor(thing: Any) -> bool:
    """Whether an object is a tensor."""
    return isinstance(thing, torch.Tensor)


def are_methods(program: Evaluated) -> bool:
    """Whether functions that methods of modules call are methods, too."""
    return isinstance(program.root, Surroundings) or _METHODS in program.elements
