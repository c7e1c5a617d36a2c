"""`min`, `max`, `sorted` and `sort` with a key, or of tuples, which TorchScript has not, as loops."""

from __future__ import annotations

import ast
import copy
from typing import Any, List  # noqa: UP035 - TorchScript

import torch

from .hints import number_kind
from .interfaces import CallEvaluator, Result
from .new_nodes import parsed_at, put_in, with_places
from .rejections import OrderError, StatementsError
from .tuple_orders import has_order
from .values import UNKNOWN, Known, ListValue, TensorValue, TupleValue, Value

__all__ = ["call", "extreme", "ordered", "permutation", "sorted_in_place"]


def _keyed(calls: CallEvaluator, node: ast.Call) -> tuple[str, ast.expr] | None:
    """The list that `min(items, key=f)` looks at, by name, and the function; None if there is none."""
    keys = [keyword.value for keyword in node.keywords if keyword.arg == "key"]
    others = {keyword.arg for keyword in node.keywords} - {"key", "reverse"}
    if len(node.args) != 1 or not keys or others:
        return None
    return _listed(calls, node), _of_elements(keys[0], node.args[0])


def _listed(calls: CallEvaluator, node: ast.Call) -> str:
    """Hoist a list of what a function looks at; returns the variable."""
    if calls.scope.conditional:
        raise OrderError("what may not be evaluated, and takes statements")
    items = ast.copy_location(ast.Call(ast.copy_location(ast.Name("list", ast.Load()), node), [node.args[0]], []), node)
    name = calls.scope.name()
    store = ast.copy_location(ast.Name(name, ast.Store()), node)
    calls.scope.hoist(calls.expressions.statements.statement(ast.copy_location(ast.Assign([store], items), node)), node)
    return name


def _of_elements(key: ast.expr, items: ast.expr) -> ast.expr:
    """`counts.get` as a function, where the items are the keys of `counts`: none is missing."""
    if not isinstance(key, ast.Attribute) or key.attr != "get":
        return key
    owner = ast.unparse(key.value)
    if ast.unparse(items) not in (owner, f"{owner}.keys()"):
        return key
    made = put_in(ast.parse("lambda k: owner[k]", mode="eval").body, "owner", key.value)
    return with_places(made, key)


def _written(calls: CallEvaluator, text: str, key: ast.expr, name: str, node: ast.AST) -> Result:
    """Hoist statements, in which `key` stands for a function, and return a variable."""
    return calls.written([put_in(statement, "key", key) for statement in ast.parse(text).body], name, node)


def _itself(node: ast.Call) -> ast.keyword:
    """The key by which elements are compared if there is none."""
    key = ast.keyword("key", ast.parse("lambda v: v", mode="eval").body)
    for part in ast.walk(key):
        ast.copy_location(part, node)
    return key


def _has_no_order(calls: CallEvaluator, node: ast.Call) -> bool:
    """Whether the operand is a list of tensors, tuples or lists, of which TorchScript knows no smallest; a variable
    holds it then.
    """
    kept, hoisted = copy.deepcopy(node.args[0]), len(calls.scope.before)
    iteration = calls.expressions.statements.loops.iteration(node.args[0])
    if isinstance(iteration.element, TensorValue) or has_order(iteration.element):
        value = UNKNOWN if isinstance(iteration.element, TensorValue) else ListValue(iteration.element)
        node.args[0] = calls.expressions.named(Result(iteration.node, value), node)
        return True
    node.args[0], calls.scope.before[hoisted:] = kept, []
    return False


def _kind(value: Value) -> type | None:
    if has_order(value):
        return tuple
    return torch.Tensor if isinstance(value, TensorValue) else number_kind(value)


def _choose(calls: CallEvaluator, node: ast.Call) -> None:
    """Let `max(0.0, x)`, of tensors, tuples or numbers of several types, be comparisons: it returns one of the
    operands as it is.

    Raises:
        StatementsError: it has such operands.
    """
    if not node.args or node.keywords or any(isinstance(each, ast.Starred) for each in node.args):
        return
    scope = calls.scope
    saved, hoisted = scope.save(), len(scope.before)
    values = [calls.expressions.evaluate(copy.deepcopy(each)).value for each in node.args]
    scope.restore(saved)
    del scope.before[hoisted:]
    operands: list[ast.expr] = list(node.args)
    if len(values) == 1 and isinstance(values[0], TupleValue):
        values = [*values[0].elements]
        operands = [ast.Subscript(node.args[0], ast.Constant(k), ast.Load()) for k in range(len(values))]
    kinds = {_kind(value) for value in values}
    if len(values) < 2 or None in kinds or not (len(kinds) > 1 or kinds & {torch.Tensor, tuple}):
        return
    best, sign = scope.name(), "<" if ast.unparse(node.func) == "min" else ">"
    made: list[ast.stmt] = []
    for number, each in enumerate(operands):
        text = f"{best} = _" if number == 0 else f"if _ {sign} {best}:\n    {best} = _"
        (statement,) = ast.parse(text).body
        for part in ast.walk(statement):
            ast.copy_location(part, node)
        made.append(with_places(put_in(statement, "_", each), node))
    raise StatementsError(made, best, node.token)  # type: ignore[attr-defined]


def _or_default(calls: CallEvaluator, node: ast.Call) -> Result | None:
    """`min(items, default=x)`, with a key or without; None without a default."""
    given = [each for each in node.keywords if each.arg == "default"]
    if len(node.args) != 1 or isinstance(node.args[0], ast.Starred) or not given:
        return None
    items, made = _listed(calls, node), calls.scope.name()
    others = [
        ast.keyword(each.arg, _of_elements(each.value, node.args[0])) for each in node.keywords if each is not given[0]
    ]
    call = ast.Call(node.func, [ast.Name(items, ast.Load())], others)
    text = f"{made} = default\nif len({items}) != 0:\n    {made} = found"
    parts = {"default": given[0].value, "found": with_places(call, node)}
    statements = ast.parse(text).body
    for name, part in parts.items():
        statements = [put_in(statement, name, part) for statement in statements]
    return calls.written(statements, made, node)


def extreme(calls: CallEvaluator, node: ast.Call) -> Result | None:
    """`min(items, key=f)`, `min(tensors)`: the first of the smallest."""
    if (chosen := _or_default(calls, node)) is not None:
        return chosen
    _choose(calls, node)
    if len(node.args) == 1 and not node.keywords and _has_no_order(calls, node):
        node.keywords.append(_itself(node))
    if (found := _keyed(calls, node)) is None:
        return None
    (items, key), best = found, calls.scope.name()
    sign = "<" if ast.unparse(node.func) == "min" else ">"
    text = (
        f"if len({items}) == 0:\n    raise ValueError('{ast.unparse(node.func)}() arg is an empty sequence')\n"
        f"{best} = {items}[0]\n{best}_key = key({items}[0])\n"
        f"for {best}_k in range(1, len({items})):\n"
        f"    {best}_other = key({items}[{best}_k])\n"
        f"    if {best}_other {sign} {best}_key:\n"
        f"        {best} = {items}[{best}_k]\n        {best}_key = {best}_other"
    )
    return _written(calls, text, key, best, node)


def ordered(calls: CallEvaluator, node: ast.Call) -> Result | None:
    """`sorted(items, key=f)`, by insertion, which is stable."""
    backwards = [keyword.value for keyword in node.keywords if keyword.arg == "reverse"]
    if not any(keyword.arg == "key" for keyword in node.keywords) and len(node.args) == 1:
        if backwards or _has_no_order(calls, node):
            node.keywords.append(_itself(node))
    if backwards and not isinstance(backwards[0], ast.Constant):
        return None
    if (found := _keyed(calls, node)) is None:
        return None
    (items, key), made = found, calls.scope.name()
    sign = "<" if backwards and backwards[0].value else ">"  # type: ignore[attr-defined]
    order, keys, place = (f"{made}_{part}" for part in ("order", "keys", "j"))
    text = (
        f"{order} = [{made}_n for {made}_n in range(0, len({items}))]\n"
        f"{keys} = [key({made}_e) for {made}_e in {items}]\n"
        f"for {made}_i in range(1, len({items})):\n"
        f"    {place} = {made}_i\n"
        f"    while {place} > 0 and {keys}[{order}[{place} - 1]] {sign} {keys}[{order}[{place}]]:\n"
        f"        {made}_x = {order}[{place}]\n"
        f"        {order}[{place}] = {order}[{place} - 1]\n"
        f"        {order}[{place} - 1] = {made}_x\n"
        f"        {place} -= 1\n"
        f"{order} = {calls.scope.program.constant_name(permutation)}({order})\n"
        f"{made} = [{items}[{made}_k] for {made}_k in {order}]"
    )
    return _written(calls, text, key, made, node)


def permutation(order: List[int]) -> List[int]:  # noqa: UP006 - TorchScript
    """A list of ints of which no two are equal, which tells the importer that."""
    return order


def call(calls: CallEvaluator, node: ast.Call, function: Any) -> Result | None:
    """Evaluate a call of `permutation`, which stays; None if another function is called."""
    if function is not permutation:
        return None
    arguments = calls.arguments(node)
    calls.place(node, arguments)
    return Result(node, arguments.positional[0].value)


def sorted_in_place(calls: CallEvaluator, node: ast.Call, owner: Result) -> Result | None:
    """`items.sort(key=f)`: the elements of `sorted(items, key=f)` in the places of those of `items`."""
    value = owner.value
    element = value.element if isinstance(value, ListValue) else None
    if node.args or element is None or not (has_order(element) or any(each.arg == "key" for each in node.keywords)):
        return None
    items, name = calls.expressions.named(owner, node), calls.scope.name()
    result = calls.expressions.evaluate(
        with_places(ast.Call(ast.Name("sorted", ast.Load()), [items], node.keywords), node)
    )
    made = calls.expressions.named(result, node)
    # With `range(len(items))` it would look like a loop over the list itself.
    text = f"for {name} in range(0, len({items.id})):\n    {items.id}[{name}] = {made.id}[{name}]"
    for statement in parsed_at(text, node):
        calls.scope.hoist(calls.expressions.statements.statement(statement), node)
    return Result(ast.copy_location(ast.Constant(None), node), Known(None))
