"""Tensors where Python takes an index: `range(lengths[b])`, of which TorchScript takes ints only."""

from __future__ import annotations

import ast
from typing import Any

from .interfaces import Arguments, Result
from .values import TensorValue

__all__ = ["as_index"]


def as_index(scope: Any, result: Result) -> Result:
    """Return the int that a tensor is an index for, by an expression that raises where Python does; anything else as it
    is.

    Args:
        scope: the function.
        result: the value.
    """
    from ...library.indices import as_index as function  # as in `presence`

    if not isinstance(scope.program.widened(result.value), TensorValue) or result.node is None:
        return result
    call = ast.copy_location(ast.Call(ast.Name("_", ast.Load()), [], []), result.node)
    ast.copy_location(call.func, result.node)
    call.is_pure = True  # type: ignore[attr-defined]
    made: Result = scope.program.functions.call(scope, function, Arguments([result], {}), call)
    return made
