"""Ints for floats, which TorchScript does not convert for functions of Python's: `interpolate(x, scale_factor=2)`,
`torch.cdist(x, y, p=1)`; and tensors for floats, `math.log(x)`.
"""

from __future__ import annotations

import ast
import inspect
import math
from dataclasses import replace
from functools import lru_cache
from typing import Any

from torch import _jit_internal
from torch.jit.annotations import get_signature

from .hints import number_kind
from .interfaces import Arguments, Result
from .new_nodes import with_places
from .values import Known, Scalar, TensorValue

__all__ = ["as_float", "with_floats"]

_OF_INTS = frozenset({math.comb, math.factorial, math.gcd, math.isqrt, math.lcm, math.perm, math.trunc})
"""Functions in `math` that do not take a number for a float."""


@lru_cache(maxsize=256)
def _float_parameters(function: Any) -> frozenset[str]:
    """The parameters of a function that are floats, or None, in some overload, and ints in none."""
    overloads = _jit_internal._get_fn_overloads(_jit_internal._qualified_name(function))  # type: ignore[no-untyped-call]
    found: dict[str, set[str]] = {}
    for overload in overloads or [function]:
        for name, text in _types(overload).items():
            found.setdefault(name, set()).update(text.replace("|", " ").split())
    return frozenset(name for name, kinds in found.items() if "float" in kinds and "int" not in kinds)


def _types(function: Any) -> dict[str, str]:
    """The types of parameters, as they are annotated or as a comment has them."""
    parameters = inspect.signature(function).parameters
    kinds = [each.annotation for each in parameters.values()]
    if any(kind is not inspect.Parameter.empty for kind in kinds):
        return {n: kind.__name__ if isinstance(kind, type) else str(kind) for n, kind in zip(parameters, kinds)}
    try:
        names = _jit_internal.createResolutionCallbackFromClosure(function)
        found = get_signature(function, names, None, False)  # type: ignore[no-untyped-call]
    except Exception:  # noqa: BLE001 - a comment that TorchScript does not understand, or no source
        return {}
    return dict(zip(parameters, map(str, found[0]))) if found is not None else {}


def with_floats(function: Any, arguments: Arguments, where: ast.AST) -> Arguments:
    """Return the arguments of a call, with floats for ints where only these are taken.

    Args:
        function: a function of PyTorch's.
        arguments: the arguments.
        where: the call.
    """
    if getattr(function, "__module__", "") == "math" and function not in _OF_INTS:
        return replace(arguments, positional=[_as_number(result, where) for result in arguments.positional])
    if not inspect.isfunction(function) or not (wanted := _float_parameters(function)):
        return arguments
    names = list(inspect.signature(function).parameters)
    positional = [
        as_float(result, where) if name in wanted else result for name, result in zip(names, arguments.positional)
    ]
    rest = list(arguments.positional[len(positional) :])
    named = {name: as_float(each, where) if name in wanted else each for name, each in arguments.named.items()}
    return replace(arguments, positional=[*positional, *rest], named=named)


def _as_number(result: Result, where: ast.AST) -> Result:
    """Return a tensor as a float, which functions of numbers make of it."""
    if not isinstance(result.value, TensorValue):
        return result
    made = ast.Call(ast.Name("float", ast.Load()), [result.node], [])
    return Result(with_places(made, where), Scalar(float))


def as_float(result: Result, where: ast.AST) -> Result:
    """Return a number as a float, if it is an int."""
    if number_kind(result.value) is not int:
        return result
    if isinstance(result.value, Known):
        made: Any = ast.Constant(float(result.value.object))
        return Result(with_places(made, where), Known(made.value, None, result.value.guards))
    made = ast.Call(ast.Name("float", ast.Load()), [result.node], [])
    return Result(with_places(made, where), Scalar(float))
