"""Augmented assignments to tensors that TorchScript takes for pure: `x |= y` changes nothing there, a method does."""

from __future__ import annotations

import ast
import copy
from typing import Any

from .effects import has_effects
from .new_nodes import with_places
from .rejections import NotCompiledError
from .scope import Scope
from .values import OptionalValue, TensorValue, Unknown, Value

__all__ = ["is_forgotten", "written", "written_element"]

_METHODS: dict[type, str] = {
    ast.BitAnd: "bitwise_and_",
    ast.BitOr: "bitwise_or_",
    ast.BitXor: "bitwise_xor_",
    ast.Pow: "pow_",
}


def is_forgotten(node: ast.AugAssign, value: Value) -> bool:
    """Whether TorchScript forgets an augmented assignment.

    Args:
        node: the assignment.
        value: what is known of its target.
    Raises:
        NotCompiledError: the target may be a tensor or something else.
    """
    if type(node.op) not in _METHODS:
        return False
    if isinstance(value, (Unknown, OptionalValue)):
        raise NotCompiledError("an augmented assignment to what may be a tensor or something else")
    return isinstance(value, TensorValue)


def written(target: Any, node: ast.AugAssign) -> ast.stmt:
    """Return a call of the method that an augmented assignment is.

    Args:
        target: an expression for the tensor.
        node: the assignment.
    """
    method = ast.Attribute(target, _METHODS[type(node.op)], ast.Load())
    made: ast.stmt = with_places(ast.Expr(ast.Call(method, [node.value], [])), node)
    return made


def written_element(scope: Scope, node: ast.AugAssign) -> list[ast.stmt]:
    """Return `x[i] |= y` as Python does it: the element is read, written, and stored.

    Args:
        scope: the function.
        node: the assignment, evaluated.
    Raises:
        NotCompiledError: the place would be computed twice.
    """
    target: Any = node.target
    if has_effects(scope, target.slice):
        raise NotCompiledError("an augmented assignment to an element whose place is computed with effects")
    read = copy.deepcopy(target)
    read.ctx = ast.Load()
    name = scope.name()
    first = ast.Assign([ast.Name(name, ast.Store())], read)
    last = ast.Assign([target], ast.Name(name, ast.Load()))
    return [with_places(first, node), written(ast.Name(name, ast.Load()), node), with_places(last, node)]
