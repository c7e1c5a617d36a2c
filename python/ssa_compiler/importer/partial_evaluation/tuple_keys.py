"""Dicts whose keys are tuples, which are strings to TorchScript; see `ir.tuple_keys`."""

from __future__ import annotations

import ast
from typing import Any

import torch

from ..ir.tuple_keys import TUPLE_KEY
from .interfaces import ExpressionEvaluator, Result
from .rejections import NotCompiledError
from .values import DictValue, Known, Scalar, TupleValue, Value

__all__ = ["dict_key", "reject_tuple_keys"]

_PLAIN = (bool, int, float, str, type(None), torch.device)


def dict_key(expressions: ExpressionEvaluator, key: Result, where: ast.AST) -> Result:
    """Return the key of a dict, with an expression that TorchScript takes for one.

    Args:
        expressions: evaluates.
        key: the key.
        where: its place.
    Raises:
        NotCompiledError: it is a tuple with parts that no text tells.
    """
    if not isinstance(expressions.scope.program.widened(key.value), TupleValue):
        return key
    dynamic: list[Any] = []
    text = _template(expressions, key, dynamic, where)
    text = f"{TUPLE_KEY}{text}"
    constant = ast.copy_location(ast.Constant(text if dynamic else text.format()), where)
    if not dynamic:
        return Result(constant, key.value)
    function = ast.copy_location(ast.Attribute(constant, "format", ast.Load()), where)
    return Result(ast.copy_location(ast.Call(function, dynamic, []), where), key.value)


def _template(expressions: ExpressionEvaluator, part: Result, dynamic: list[Any], where: ast.AST) -> str:
    """How Python writes a part of a tuple, with `{}` for what is dynamic, which is added to `dynamic`."""
    value = part.value
    if isinstance(value, Known) and isinstance(value.object, _PLAIN):
        expressions.scope.use(value)
        return repr(value.object).replace("{", "{{").replace("}", "}}")
    if isinstance(value, Scalar) and value.kind in (int, torch.device):
        dynamic.append(expressions.expression(part, where))
        return "{}" if value.kind is int else "device('{}')"
    is_tuple = isinstance(value, TupleValue) or (isinstance(value, Known) and isinstance(value.object, tuple))
    parts = expressions.spread(part, where) if is_tuple else None
    if parts is None:
        raise NotCompiledError("a tuple that is a key, with something else in it than ints")
    texts = [_template(expressions, each, dynamic, where) for each in parts]
    return f"({', '.join(texts)}{',' if len(texts) == 1 else ''})"


def reject_tuple_keys(value: Value) -> None:
    """Reject what reads the keys of a dict, if these are tuples.

    Raises:
        NotCompiledError: they are.
    """
    if isinstance(value, DictValue) and isinstance(value.key, TupleValue):
        raise NotCompiledError("the keys of a dict, which are tuples, as values")
