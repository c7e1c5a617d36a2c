"""`sum` of tensors, and with a start: TorchScript has it of numbers only."""

from __future__ import annotations

import ast
import copy
from typing import Any

from ...errors import UnsupportedProgramError
from .interfaces import CallEvaluator, Result
from .new_nodes import parsed_at
from .values import TensorValue

__all__ = ["summed"]


def summed(calls: CallEvaluator, node: ast.Call) -> Result | None:
    """`sum(tensors)`, which TorchScript has of numbers only."""
    if len(node.args) == 2 and not node.keywords:
        return _sum_from(calls, node)
    if len(node.args) != 1 or node.keywords:
        return None
    kept, hoisted = copy.deepcopy(node.args[0]), len(calls.scope.before)
    iteration = calls.expressions.statements.loops.iteration(node.args[0])
    if iteration.elements is not None and iteration.is_unrolled and not iteration.tests:
        made: Any = ast.copy_location(ast.Constant(0), node)
        for element in iteration.elements:
            made = ast.copy_location(ast.BinOp(made, ast.Add(), calls.expressions.expression(element, node)), node)
        return calls.expressions.evaluate(made)
    if not isinstance(iteration.element, TensorValue):
        node.args[0], calls.scope.before[hoisted:] = kept, []
        return None
    items = calls.expressions.named(Result(iteration.node), node)
    name = calls.scope.name()
    error = calls.scope.program.constant_name(UnsupportedProgramError)
    text = (
        f"if len({items.id}) == 0:\n    raise {error}('unsupported: sum() of no tensors, which is the int 0')\n"
        f"{name} = 0 + {items.id}[0]\n"
        f"for {name}_k in range(1, len({items.id})):\n    {name} = {name} + {items.id}[{name}_k]"
    )
    calls.scope.hoist(parsed_at(text, node), node)
    return Result(ast.copy_location(ast.Name(name, ast.Load()), node), iteration.element)


def _sum_from(calls: CallEvaluator, node: ast.Call) -> Result:
    """`sum(items, start)`."""
    name, item = calls.scope.name(), calls.scope.name()
    items = calls.scope.name()
    made = ast.parse(f"{items} = 0\n{name} = 0\nfor {item} in {items}:\n    {name} = {name} + {item}").body
    for statement, value in zip(made, node.args):
        statement.value = value  # type: ignore[attr-defined]
    return calls.written(made, name, node)
