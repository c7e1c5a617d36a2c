"""What a program that asks about TorchScript, or about types, is told: what eager tells it.

`torch.jit.is_scripting()` is False in eager, and `@torch.jit.unused` functions run there as any other. TorchScript says
True, and makes an exception of such a function. A bool is an int to Python, and none to TorchScript.
"""

from __future__ import annotations

import ast
import builtins
import copy
import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import _jit_internal

from ..isolation.patching import replaced

__all__ = ["as_eager", "unused_functions_run"]

_IS_SCRIPTING = getattr(torch.jit, "is_scripting")  # noqa: B009 - not exported by its module


def as_eager(function: Any, parsed: Any) -> Any:
    """Answer a parsed function's questions; PyTorch's own functions are left as they are.

    Args:
        function: the function.
        parsed: TorchScript's parse of its source.
    """
    function = inspect.unwrap(function)
    own = str(getattr(function, "__module__", "")).partition(".")[0] != "torch"
    if not own or not any(asked in parsed.source for asked in ("is_scripting", "isinstance")):
        return parsed
    tree = copy.deepcopy(parsed.ast)
    answers = _Answers({**getattr(function, "__globals__", {}), **inspect.getclosurevars(function).nonlocals})
    return parsed._replace(ast=ast.fix_missing_locations(answers.visit(tree)))


class _Answers(ast.NodeTransformer):
    def __init__(self, names: dict[str, Any]) -> None:
        self._names = names

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        if not node.args and self._named(node.func) is _IS_SCRIPTING:
            return ast.copy_location(ast.Constant(False), node)
        if self._named(node.func) is isinstance and len(node.args) == 2:
            kinds = node.args[1].elts if isinstance(node.args[1], ast.Tuple) else [node.args[1]]
            named = [self._named(kind) for kind in kinds]
            if int in named and bool not in named:
                both = [*kinds, ast.copy_location(ast.Name("bool", ast.Load()), node.args[1])]
                node.args[1] = ast.copy_location(ast.Tuple(both, ast.Load()), node.args[1])
        return node

    def _named(self, expression: ast.expr) -> Any:
        if isinstance(expression, ast.Attribute):
            return getattr(self._named(expression.value), expression.attr, None)
        if not isinstance(expression, ast.Name):
            return None
        return self._names.get(expression.id, getattr(builtins, expression.id, None))


@contextmanager
def unused_functions_run() -> Iterator[None]:
    """Let TorchScript take `@torch.jit.unused` for `@torch.jit.ignore`."""
    with replaced(_jit_internal, "should_drop", getattr(_jit_internal, "_is_drop_fn")):  # noqa: B009 - it is private
        yield
