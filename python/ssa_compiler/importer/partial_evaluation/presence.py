"""Values that may be None, where None is an error: what is written is a function that raises what eager raises."""

from __future__ import annotations

import ast
from typing import Any

from ...library.presence import PRESENT
from .interfaces import Arguments, Result
from .rejections import NotCompiledError
from .values import Known, OptionalValue, annotation

__all__ = ["no_attribute", "required", "unset"]


def no_attribute(name: str) -> tuple[type[Exception], str]:
    """Return the error, and its message, of an attribute of None."""
    return AttributeError, f"'NoneType' object has no attribute '{name}'"


def required(scope: Any, result: Result, error: type[Exception], message: str) -> Result:
    """Return what an optional value holds, by an expression that raises if it is None.

    Args:
        scope: the function.
        result: the value, an `OptionalValue` with an expression.
        error: what it raises.
        message: what that says.
    """
    assert isinstance(result.value, OptionalValue)
    call = ast.copy_location(ast.Call(ast.Name("_", ast.Load()), [], []), result.node)
    ast.copy_location(call.func, result.node)
    call.is_pure = True  # type: ignore[attr-defined]
    if annotation(result.value) is None:
        return Result(scope.program.unwrapped(result.node), result.value.element)
    text = Result(ast.copy_location(ast.Constant(message), result.node), Known(message))
    made = scope.program.functions.call(scope, PRESENT[error], Arguments([result, text], {}), call)
    return Result(made.node, result.value.element)


def unset(scope: Any, name: str) -> Result:
    """Return a variable that is None where Python has not set it: reading it raises then.

    Raises:
        NotCompiledError: the variable may be None otherwise.
    """
    result: Result = scope.variables[name]
    if not isinstance(result.value, OptionalValue) or not isinstance(result.node, ast.Name):
        raise NotCompiledError("a variable that may be None, or may not be set")
    message = f"cannot access local variable '{name}' where it is not associated with a value"
    made = required(scope, result, UnboundLocalError, message)
    made.node.may_be_unset = result.node.id
    return made
