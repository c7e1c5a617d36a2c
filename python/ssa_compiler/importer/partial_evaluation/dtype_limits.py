"""`torch.finfo(x.dtype).max` and the like, which TorchScript lacks: a function that asks which dtype it is."""

from __future__ import annotations

import ast
import copy
from dataclasses import dataclass
from typing import Any

import torch

from .interfaces import Arguments, CallEvaluator, ExpressionEvaluator, Result
from .rejections import NotCompiledError
from .values import Known, Scalar

__all__ = ["LIMITS", "DtypeLimits", "attribute", "limits_of"]

LIMITS = (torch.finfo, torch.iinfo)
_DTYPES: dict[Any, tuple[torch.dtype, ...]] = {
    torch.finfo: (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.complex64, torch.complex128),
    torch.iinfo: (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8),
}


@dataclass(frozen=True, eq=False)
class DtypeLimits:
    """What `torch.finfo(dtype)` is.

    Attributes:
        kind: the class that is called.
        dtype: the dtype.
        scope: the function that has the variable with it.
    """

    kind: Any
    dtype: Result
    scope: Any


def limits_of(calls: CallEvaluator, node: ast.Call, kind: Any) -> Result:
    """Evaluate `torch.finfo(dtype)`."""
    arguments = calls.arguments(node)
    given = [*arguments.positional, *arguments.named.values()]
    if len(given) != 1 or {*arguments.named} - {"type"}:
        raise NotCompiledError(f"torch.{kind.__name__} of no dtype")
    (dtype,) = given
    thing = dtype.value.object if isinstance(dtype.value, Known) else None
    if not isinstance(thing, torch.dtype):
        if not isinstance(dtype.value, Scalar) or dtype.value.kind is not torch.dtype:
            raise NotCompiledError(f"torch.{kind.__name__} of what may be no dtype")
        dtype = Result(calls.expressions.named(dtype, node, fresh=True), dtype.value)
    return Result(None, Known(DtypeLimits(kind, dtype, calls.scope)))


def attribute(expressions: ExpressionEvaluator, limits: DtypeLimits, node: ast.Attribute) -> Result:
    """Evaluate a number of `torch.finfo(dtype)`."""
    if limits.scope is not expressions.scope and limits.dtype.node is not None:
        raise NotCompiledError(f"torch.{limits.kind.__name__} of another function's dtype")
    numbers = {each: getattr(limits.kind(each), node.attr, None) for each in _DTYPES[limits.kind]}
    if {*map(type, numbers.values())} not in ({int}, {float}):
        raise NotCompiledError(f"{node.attr}, an attribute of torch.{limits.kind.__name__}")
    pairs = Known(tuple(numbers.items()))
    message = Result(ast.copy_location(ast.Constant(_message(limits.kind)), node), Known(_message(limits.kind)))
    if isinstance(limits.dtype.value, Known):
        dtype = expressions.scope.use(limits.dtype.value)
        if dtype in numbers:
            return expressions.known(node, Known(numbers[dtype]))
    from ...library.dtype_limits import limit  # with the library comes what a program from the cache does not need

    call = ast.copy_location(ast.Call(ast.copy_location(ast.Name("_", ast.Load()), node), [], []), node)
    given = Result(copy.deepcopy(limits.dtype.node), limits.dtype.value)
    arguments = Arguments([given, Result(None, pairs), message], {})
    call.is_pure = True  # type: ignore[attr-defined]
    return expressions.scope.program.functions.call(expressions.scope, limit, arguments, call)


def _message(kind: Any) -> str:
    """What the error says of a dtype of the other kind."""
    others = {torch.finfo: ("floating point", "iinfo"), torch.iinfo: ("integer", "finfo")}
    name, other = others[kind]
    article = "an" if name == "integer" else "a"
    return f"torch.{kind.__name__}() requires {article} {name} input type. Use torch.{other} to handle 'torch.{kind.__name__}'"
