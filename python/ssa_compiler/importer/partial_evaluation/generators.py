"""Generators of random numbers that a program makes, and their methods."""

from __future__ import annotations

import ast
from typing import Any

import torch

from ...semantics.generator_ops import MAKE, NAMESPACE, STATE_OPS
from .interfaces import CallEvaluator, Result
from .rejections import NotCompiledError
from .values import UNKNOWN, Known, Scalar, TensorValue

__all__ = ["call_method", "make"]

_GENERATOR = Scalar(torch.Generator)


def make(calls: CallEvaluator, node: ast.Call) -> Result:
    """Evaluate `torch.Generator(...)`."""
    calls.place(node, calls.arguments(node))
    node.func = _operator(MAKE, node)
    return Result(node, _GENERATOR)


def call_method(calls: CallEvaluator, node: ast.Call, name: str, generator: Any) -> Result:
    """Evaluate a call of a method.

    Args:
        calls: evaluates calls.
        node: the call.
        name: the method.
        generator: the expression whose method it is.
    Raises:
        NotCompiledError: TorchScript has no such method, and there is no operator for it.
    """
    calls.place(node, calls.arguments(node))
    if name in ("initial_seed", "seed"):
        return Result(node, Scalar(int))
    if name == "manual_seed":
        return Result(node, _GENERATOR)
    if name not in STATE_OPS:
        raise NotCompiledError(f"{name} of a torch.Generator")
    node.func, node.args = _operator(name, node), [generator, *node.args]
    if name == "clone_state":
        return Result(node, _GENERATOR)
    if name == "get_state":
        sample = calls.expressions.samples.of(torch.Generator().get_state())
        return Result(node, TensorValue(torch.uint8, 1, sample))
    return Result(node, Known(None) if name == "set_state" else UNKNOWN)


def _operator(name: str, where: ast.AST) -> ast.expr:
    made = ast.parse(f"torch.ops.{NAMESPACE}.{name}", mode="eval").body
    for part in ast.walk(made):
        ast.copy_location(part, where)
    return made
