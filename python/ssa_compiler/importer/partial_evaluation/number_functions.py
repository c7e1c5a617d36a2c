"""Pure functions of numbers that TorchScript has not, as calls of Python: `math.log2(x)`, `round(x, 1)`."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import cache
from typing import Any

import torch

from .hints import number_kind
from .interfaces import Arguments, CallEvaluator, Result
from .new_nodes import with_places
from .values import Known, Scalar, Value

__all__ = ["as_int", "of_numbers", "with_float"]

_find_builtin: Callable[[Any], Any] = torch.jit._builtins._find_builtin


def of_numbers(calls: CallEvaluator, node: ast.Call, function: Any, arguments: Arguments) -> Result | None:
    """Evaluate a call of such a function.

    Args:
        calls: evaluates calls.
        node: the call.
        function: a function without effects.
        arguments: its evaluated arguments.
    Returns:
        The call; None if TorchScript has the function, or it is given anything but one to three numbers.
    """
    values = [result.value for result in arguments.positional]
    kinds = tuple(map(number_kind, values))
    if arguments.named or None in kinds or not 1 <= len(kinds) <= 3:
        return None
    if function is not round and _find_builtin(function) is not None:
        return None
    made = number_kind(calls.expressions.samples.result(function, values, {}))
    if made is None:
        return None
    name = calls.scope.program.constant_name(_ignored(function, kinds, made))
    node.func = ast.copy_location(ast.Name(name, ast.Load()), node)
    calls.place(node, arguments)
    return Result(node, Scalar(made))


@cache
def _ignored(function: Callable[..., Any], kinds: tuple[type, ...], result: type) -> Any:
    """A function that TorchScript calls in Python, with the types that it needs."""
    called: Any
    if len(kinds) == 1:

        def called(a: Any) -> Any:
            return function(a)

    elif len(kinds) == 2:

        def called(a: Any, b: Any) -> Any:
            return function(a, b)

    else:

        def called(a: Any, b: Any, c: Any) -> Any:
            return function(a, b, c)

    called.__name__ = called.__qualname__ = function.__name__
    called.__annotations__ = dict(zip("abc", kinds)) | {"return": result}
    return torch.jit.ignore(called)  # type: ignore[no-untyped-call]


_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div)


def as_int(node: ast.expr) -> ast.expr:
    """Return an expression of an int that is a float to TorchScript."""
    return with_places(ast.Call(ast.Name("int", ast.Load()), [node], []), node)


def with_float(operator: ast.operator, number: Result, other: Value) -> Result:
    """Let `total + x.item()`, of a float and a number of which it is not known what it is, be a sum of floats: Python
    converts it.

    Args:
        operator: what is done with both.
        number: one operand.
        other: what is known of the other one.
    """
    kind = type(other.object) if isinstance(other, Known) else other.kind if isinstance(other, Scalar) else None
    is_number = number.node is not None and getattr(number.node, "is_number", False)
    if kind is not float or not is_number or not isinstance(operator, _ARITHMETIC):
        return number
    call = ast.Call(ast.Name("float", ast.Load()), [number.node], [])
    return Result(with_places(call, number.node), Scalar(float))
