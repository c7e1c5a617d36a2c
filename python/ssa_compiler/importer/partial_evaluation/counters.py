"""`collections.Counter`: dicts of which an element that is not there is 0; see `default_dicts`."""

from __future__ import annotations

import ast
import copy
from collections import Counter
from typing import Any

from ..torchscript.function_scope import is_iterator
from .default_dicts import Factory, empty, is_counter
from .interfaces import CallEvaluator, Result, StatementEvaluator
from .new_nodes import parsed_at, put_in, with_places
from .rejections import NotCompiledError
from .values import DictValue, Known, ListValue, TensorValue

__all__ = ["call_method", "deleted", "is_counter_class", "is_element", "make"]

_COUNTED = "for {0} in _:\n    {1}[{0}] = {1}.get({0}, 0) {3} 1"
_ADDED = "for {0}, {2} in _.items():\n    {1}[{0}] = {1}.get({0}, 0) {3} {2}"
_METHODS = {
    "total": "sum(_.values())",
    "elements": "[{0} for {0}, {1} in _.items() for {2} in range({1})]",
    "most_common": "sorted(_.items(), key=lambda {0}: {0}[1], reverse=True)",
}


def is_counter_class(scope: Any, function: ast.expr) -> bool:
    """Whether an expression means the class."""
    is_part = isinstance(function, ast.Attribute) and function.attr == "Counter"
    name = function.value if is_part else function  # type: ignore[attr-defined]
    if not isinstance(name, ast.Name) or name.id in scope.variables or name.id in scope.local:
        return False
    try:
        meant = scope.lookup(name.id)
    except KeyError:
        return False
    return (getattr(meant, "Counter", None) if is_part else meant) is Counter


def make(calls: CallEvaluator, node: ast.Call) -> Result:
    """Evaluate `Counter(items)`.

    Raises:
        NotCompiledError: there are other arguments.
    """
    if len(node.args) > 1 or node.keywords or any(isinstance(part, ast.Starred) for part in node.args):
        raise NotCompiledError("Counter() of other arguments than what is counted")
    made = empty(calls, node, Factory("0", None, counts=True))
    if not node.args:
        return made
    name = calls.expressions.named(made, node, fresh=True)
    _add(calls, name.id, node.args[0], "+", node)
    return calls.scope.load(ast.copy_location(ast.Name(name.id, ast.Load()), node))


def _add(calls: CallEvaluator, counter: str, items: ast.expr, sign: str, node: ast.AST) -> None:
    """Add what there is in something to a counter, or subtract it."""
    if isinstance(items, ast.GeneratorExp) and len(items.generators) > 1:
        if any(isinstance(part, ast.Name) and part.id == counter for part in ast.walk(items)):
            raise NotCompiledError("a generator of several loops that is not read to its end")
        items = ast.copy_location(ast.ListComp(items.elt, items.generators), items)
    text = _COUNTED
    if not is_iterator(items) and not isinstance(items, (ast.GeneratorExp, ast.ListComp)):
        found = calls.expressions.evaluate(items)
        if isinstance(found.value, DictValue):
            text = _ADDED
        elif not isinstance(found.value, (Known, ListValue, TensorValue)) or isinstance(
            getattr(found.value, "object", None), dict
        ):
            raise NotCompiledError("Counter() of other arguments than what is counted")
        items = calls.expressions.named(found, items)
    names = [calls.scope.name() for _ in range(2)]
    (loop,) = parsed_at(text.format(names[0], counter, names[1], sign), node)
    loop.iter = put_in(loop.iter, "_", items)  # type: ignore[attr-defined]
    calls.scope.hoist(calls.expressions.statements.statement(loop), node)


def call_method(calls: CallEvaluator, node: ast.Call, owner: Result) -> Result | None:
    """Evaluate a method of a Counter that other dicts have not; None of other methods and dicts.

    Args:
        calls: evaluates calls.
        node: the call; the function is an attribute.
        owner: the Counter.
    Raises:
        NotCompiledError: the arguments are others than what is counted.
    """
    assert isinstance(node.func, ast.Attribute)
    name = node.func.attr
    if not is_counter(calls.scope.program, owner.value) or name not in (*_METHODS, "update", "subtract"):
        return None
    counter = calls.expressions.named(owner, node)
    if node.keywords or len(node.args) > (name in ("most_common", "update", "subtract")):
        raise NotCompiledError("Counter() of other arguments than what is counted")
    if name in ("update", "subtract"):
        for part in node.args:
            _add(calls, counter.id, part, "+" if name == "update" else "-", node)
        return Result(ast.copy_location(ast.Constant(None), node), Known(None))
    text = _METHODS[name].format(*(calls.scope.name() for _ in range(3)))
    if node.args and not (isinstance(node.args[0], ast.Constant) and node.args[0].value is None):
        most = node.args[0]
        held = calls.expressions.named(calls.expressions.evaluate(most), node) if _is_dynamic(most) else None
        text += f"[:max({held.id if held is not None else ast.unparse(most)}, 0)]"
    made: Any = parsed_at(text, node)[0]
    put_in(made, "_", counter)
    if hasattr(node, "token"):
        made.value.token = node.token
    return calls.expressions.evaluate(made.value)


def _is_dynamic(number: ast.expr) -> bool:
    return not isinstance(number, ast.Constant) or type(number.value) is not int


def is_element(expressions: Any, target: ast.expr) -> bool:
    """Whether a target is an element of a Counter, which may not be there."""
    if not isinstance(target, ast.Subscript) or not expressions.scope.program.factories:
        return False
    saved, hoisted = expressions.scope.save(), len(expressions.scope.before)
    value = expressions.evaluate(copy.deepcopy(target.value)).value
    expressions.scope.restore(saved)
    del expressions.scope.before[hoisted:]
    return is_counter(expressions.scope.program, value)


def deleted(statements: StatementEvaluator, node: ast.Delete) -> list[ast.stmt] | None:
    """Return what `del counts[key]` does of a Counter, where a key may be missing; None of others."""
    target = node.targets[0]
    if len(node.targets) > 1 or not isinstance(target, ast.Subscript) or not is_element(statements.expressions, target):
        return None
    key = statements.scope.name()
    made = parsed_at(f"{key} = _key\nif {key} in _:\n    _.pop({key})", node)
    return [with_places(put_in(put_in(each, "_key", target.slice), "_", target.value), node) for each in made]
