"""`any` and `all` of generators and of lists of tensors."""

from __future__ import annotations

import ast
import copy

from .comprehensions import rename
from .effects import has_effects, may_raise
from .interfaces import CallEvaluator, Result
from .map_calls import mapped
from .new_nodes import with_places
from .rejections import NotCompiledError
from .values import ListValue, TensorValue, Value

__all__ = ["has_tensors", "stopping", "truths"]


def stopping(calls: CallEvaluator, node: ast.Call) -> Result | None:
    """`any(f(x) for x in items)`, which stops at the first that is true, as a loop."""
    if len(node.args) != 1 or node.keywords:
        return None
    items = node.args[0]
    if isinstance(items, ast.Call) and isinstance(items.func, ast.Name) and items.func.id == "map":
        items = mapped(calls.scope, items)
    if not isinstance(items, ast.GeneratorExp) or not (may_raise(items.elt) or has_effects(calls.scope, items.elt)):
        return None
    if len(items.generators) != 1:
        raise NotCompiledError("a generator of several loops that is not read to its end")
    items = copy.deepcopy(items)
    rename(calls.expressions, items)
    (generator,) = items.generators
    name, stops = calls.scope.name(), ast.unparse(node.func) == "any"
    text = f"{name} = {not stops}\nfor _ in _:\n    if {'' if stops else 'not '}_:\n        {name} = {stops}\n        break"
    first, loop = ast.parse(text).body
    assert isinstance(loop, ast.For)
    assert isinstance(loop.body[0], ast.If)
    loop.target, loop.iter = generator.target, generator.iter
    loop.body[0].test = items.elt if stops else ast.UnaryOp(ast.Not(), items.elt)
    for test in reversed(generator.ifs):
        loop.body = [ast.If(test, loop.body, [])]
    return calls.written([first, loop], name, node)


def has_tensors(value: Value) -> bool:
    """Whether a value is a list of tensors."""
    return isinstance(value, ListValue) and isinstance(value.element, TensorValue)


def truths(calls: CallEvaluator, node: ast.Call, operand: Result) -> Result:
    """`any(tensors)` of a list, which TorchScript takes for the operator."""
    items, name = calls.expressions.named(operand, node), calls.scope.name()
    text = f"{ast.unparse(node.func)}(bool({name}) for {name} in {ast.unparse(items)})"
    made = with_places(ast.parse(text, mode="eval").body, node)
    return calls.expressions.evaluate(made)
