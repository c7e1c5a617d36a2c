"""`min`, `max` and `sorted` with a key, which TorchScript has not, as loops."""

from __future__ import annotations

import ast
import copy

from .interfaces import CallEvaluator, Result
from .values import TensorValue

__all__ = ["extreme", "ordered"]


def _keyed(calls: CallEvaluator, node: ast.Call) -> tuple[str, ast.expr] | None:
    """The list that `min(items, key=f)` looks at, by name, and the function; None if there is none."""
    keys = [keyword.value for keyword in node.keywords if keyword.arg == "key"]
    others = {keyword.arg for keyword in node.keywords} - {"key", "reverse"}
    if len(node.args) != 1 or not keys or others:
        return None
    items = ast.copy_location(ast.Call(ast.copy_location(ast.Name("list", ast.Load()), node), [node.args[0]], []), node)
    name = calls.scope.name()
    store = ast.copy_location(ast.Name(name, ast.Store()), node)
    calls.scope.hoist(calls.expressions.statements.statement(ast.copy_location(ast.Assign([store], items), node)), node)
    return name, keys[0]


def _written(calls: CallEvaluator, text: str, key: ast.expr, name: str, node: ast.AST) -> Result:
    """Hoist statements, in which `key` stands for a function, and return a variable."""
    statements = ast.parse(text).body

    class Put(ast.NodeTransformer):
        def visit_Name(self, found: ast.Name) -> ast.expr:
            return copy.deepcopy(key) if found.id == "key" else found

    return calls.written([Put().visit(statement) for statement in statements], name, node)


def _itself(node: ast.Call) -> ast.keyword:
    """The key by which elements are compared if there is none."""
    key = ast.keyword("key", ast.parse("lambda v: v", mode="eval").body)
    for part in ast.walk(key):
        ast.copy_location(part, node)
    return key


def _are_tensors(calls: CallEvaluator, node: ast.Call) -> bool:
    """Whether the operand is a list of tensors, which TorchScript does not compare; a variable holds it then."""
    kept, hoisted = copy.deepcopy(node.args[0]), len(calls.scope.before)
    iteration = calls.expressions.statements.loops.iteration(node.args[0])
    if isinstance(iteration.element, TensorValue):
        node.args[0] = calls.expressions.named(Result(iteration.node), node)
        return True
    node.args[0], calls.scope.before[hoisted:] = kept, []
    return False


def extreme(calls: CallEvaluator, node: ast.Call) -> Result | None:
    """`min(items, key=f)`, `min(tensors)`: the first of the smallest."""
    if len(node.args) == 1 and not node.keywords and _are_tensors(calls, node):
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
    if backwards and not any(keyword.arg == "key" for keyword in node.keywords):
        node.keywords.append(_itself(node))
    if backwards and not isinstance(backwards[0], ast.Constant):
        return None
    if (found := _keyed(calls, node)) is None:
        return None
    (items, key), made = found, calls.scope.name()
    sign = "<" if backwards and backwards[0].value else ">"  # type: ignore[attr-defined]
    text = (
        f"{made} = {items}[:]\n{made}_keys = [key({made}_e) for {made}_e in {items}]\n"
        f"for {made}_i in range(1, len({items})):\n"
        f"    {made}_j = {made}_i\n"
        f"    while {made}_j > 0 and {made}_keys[{made}_j - 1] {sign} {made}_keys[{made}_j]:\n"
        f"        {made}_x = {made}[{made}_j]\n        {made}[{made}_j] = {made}[{made}_j - 1]\n"
        f"        {made}[{made}_j - 1] = {made}_x\n"
        f"        {made}_y = {made}_keys[{made}_j]\n        {made}_keys[{made}_j] = {made}_keys[{made}_j - 1]\n"
        f"        {made}_keys[{made}_j - 1] = {made}_y\n"
        f"        {made}_j -= 1"
    )
    return _written(calls, text, key, made, node)
