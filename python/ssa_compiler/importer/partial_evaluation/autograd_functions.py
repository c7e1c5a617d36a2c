"""`Function.apply`: what a torch.autograd.Function does where no gradients are recorded.

It calls `forward`. The context that it is passed keeps tensors and attributes for `backward`, which is never called: an
attribute is a variable, and what is saved is forgotten.
"""

from __future__ import annotations

import ast
import types
import weakref
from typing import Any

import torch

from .interfaces import CallEvaluator, Result
from .rejections import NotCompiledError

__all__ = ["call", "without_context"]

_NOTES = frozenset(
    "save_for_backward save_for_forward mark_dirty mark_non_differentiable set_materialize_grads".split()
)
"""Methods of the context that change nothing but gradients."""
_forwards: weakref.WeakSet[Any] = weakref.WeakSet()


def call(calls: CallEvaluator, node: ast.Call, thing: Any) -> Result | None:
    """Call `apply` of a torch.autograd.Function; None if it is another function.

    Raises:
        NotCompiledError: it does more with its context than keep something.
    """
    kind = getattr(thing, "__self__", None)
    if not isinstance(kind, type) or not issubclass(kind, torch.autograd.Function) or thing.__name__ != "apply":
        return None
    forward: Any = kind.forward
    if not isinstance(forward, types.FunctionType):
        raise NotCompiledError("a torch.autograd.Function whose forward is no static method")
    arguments = calls.arguments(node)
    if kind.setup_context is torch.autograd.Function.setup_context:
        _forwards.add(forward)
    if arguments.named:
        raise NotCompiledError("a torch.autograd.Function that is passed keywords")
    return calls.scope.program.functions.call(calls.scope, forward, arguments, node)


def without_context(function: Any, node: Any) -> None:
    """Let a `forward` with a context do without it.

    Args:
        function: any function.
        node: its definition, which is changed.
    Raises:
        NotCompiledError: it does more with its context than keep something.
    """
    if function not in _forwards:
        return
    parameters = node.args.posonlyargs or node.args.args
    if not parameters:
        raise NotCompiledError("a torch.autograd.Function whose forward has no context")
    context = parameters.pop(0).arg
    node.body = [_Removal(context).visit(statement) for statement in node.body]
    if any(isinstance(each, ast.Name) and each.id == context for each in ast.walk(node)):
        raise NotCompiledError("the context of a torch.autograd.Function that is a value")


class _Removal(ast.NodeTransformer):
    def __init__(self, context: str) -> None:
        self._context = context

    def _is_context(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Name) and node.id == self._context

    def visit_Expr(self, node: ast.Expr) -> ast.stmt:
        called = node.value.func if isinstance(node.value, ast.Call) else None
        if not isinstance(called, ast.Attribute) or not self._is_context(called.value) or called.attr not in _NOTES:
            return self.generic_visit(node)  # type: ignore[return-value]
        assert isinstance(node.value, ast.Call)
        parts = [*node.value.args, *(keyword.value for keyword in node.value.keywords)]
        for part in parts:
            inner = part.value if isinstance(part, ast.Starred) else part
            if not isinstance(inner, (ast.Name, ast.Constant)):
                raise NotCompiledError("a torch.autograd.Function that saves what it computes for that")
        return ast.copy_location(ast.Pass(), node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        if not self._is_context(node.value):
            return self.generic_visit(node)  # type: ignore[return-value]
        if hasattr(torch.autograd.function.FunctionCtx, node.attr) or node.attr in (
            "needs_input_grad",
            "saved_tensors",
        ):
            raise NotCompiledError(f"{node.attr} of the context of a torch.autograd.Function")
        return ast.copy_location(ast.Name(f"_{self._context}_{node.attr}", node.ctx), node)
