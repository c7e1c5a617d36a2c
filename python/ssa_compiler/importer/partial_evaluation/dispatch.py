"""Calls of parts of modules that dynamic numbers choose."""

from __future__ import annotations

import ast
import copy

import torch

from .interfaces import Arguments, CallEvaluator, Result
from .rejections import NotCompiledError
from .values import (
    UNKNOWN,
    Known,
    Value,
    joined,
)

__all__ = ["dispatch", "of_either"]


def dispatch(calls: CallEvaluator, node: ast.Call, chosen: ast.Subscript) -> Result:
    """Call the part of a module that a dynamic number says."""
    owner = calls.expressions.evaluate(chosen.value)
    index = calls.expressions.evaluate(chosen.slice)
    if not isinstance(owner.value, Known):
        raise NotCompiledError("an element that is called, of what is dynamic")
    if not isinstance(owner.value.object, (torch.nn.ModuleList, torch.nn.Sequential)):
        raise NotCompiledError("a part of a container, chosen by a dynamic value")
    parts = list(owner.value.object)
    number = calls.expressions.named(index, node)
    results = [
        Result(
            calls.expressions.named(result, node) if not isinstance(result.value, Known) else result.node,
            result.value,
        )
        for result in calls.arguments(node).positional
    ]
    if node.keywords or not parts:
        raise NotCompiledError("keyword arguments of a module that is chosen by a dynamic number")
    name = calls.scope.name()
    body: list[ast.stmt] = ast.parse(f"raise IndexError('index out of range, of {len(parts)} modules')").body
    value: Value | None = None
    for position in reversed(range(len(parts))):
        call = ast.Call(ast.Name("_", ast.Load()), [], [])
        made = calls.module_with(
            copy.copy(ast.copy_location(call, node)), parts[position], Arguments(list(results), {})
        )
        value = made.value if value is None else joined(value, made.value, calls.expressions.samples.of)
        test = ast.parse(f"{number.id} == {position} or {number.id} == {position - len(parts)}", mode="eval").body
        body = [ast.If(test, [ast.Assign([ast.Name(name, ast.Store())], made.node)], body)]
    for part in ast.walk(body[0]):
        ast.copy_location(part, node)
    calls.scope.hoist(body, node)
    return Result(ast.copy_location(ast.Name(name, ast.Load()), node), value or UNKNOWN)


def of_either(node: ast.Call, function: ast.IfExp) -> ast.IfExp:
    """Return a call of one of two functions, as one of two calls."""
    first = ast.copy_location(ast.Call(function.body, node.args, node.keywords), node)
    second = ast.Call(function.orelse, copy.deepcopy(node.args), copy.deepcopy(node.keywords))
    return ast.copy_location(ast.IfExp(function.test, first, ast.copy_location(second, node)), node)
