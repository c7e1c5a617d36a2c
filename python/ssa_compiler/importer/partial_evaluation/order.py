"""Statements decomposed, in the order in which Python computes their parts.

Much of what TorchScript has no expressions for is written as statements in front of the one that it stands in. Where
other parts of that one come first, all of them get names before.
"""

from __future__ import annotations

import ast
import copy
import itertools
from collections.abc import Callable, Sequence
from typing import Any

from ..torchscript.function_scope import is_iterator
from .callees import is_super

__all__ = ["before_in", "decomposed", "mark", "with_name"]

_FIELDS: dict[type[ast.stmt], str] = {
    **dict.fromkeys((ast.Assign, ast.AnnAssign, ast.Return, ast.Expr), "value"),
    ast.Assert: "test",
    ast.If: "test",
    ast.For: "iter",
    ast.Raise: "exc",
}
_TOKENS = itertools.count()


def decomposed(node: Any, name: Callable[[], str]) -> list[ast.stmt] | None:
    """Return the steps of a statement, each with one operation; None if it cannot be decomposed.

    Args:
        node: the statement, which is numbered; it is not changed.
        name: returns names that the function does not use.
    """
    rebinds = any(isinstance(part, ast.NamedExpr) for part in ast.walk(node))
    made = _Steps(name, rebinds=rebinds).statement(copy.deepcopy(node))
    for step in made or ():
        for part in ast.walk(step):
            if isinstance(part, ast.stmt) and (not hasattr(part, "token") or part is made[-1]):  # type: ignore[index]
                part.is_step = True  # type: ignore[attr-defined]
            if isinstance(part, (ast.stmt, ast.expr, ast.keyword)) and not hasattr(part, "lineno"):
                ast.copy_location(part, node)
    return made


class _Steps:
    """Decomposes a statement.

    Args:
        name: as of `decomposed`.
        rebinds: whether a part of it assigns variables.
    """

    def __init__(self, name: Callable[[], str], *, rebinds: bool) -> None:
        self._name = name
        self._rebinds = rebinds
        self._before: list[ast.stmt] = []

    def statement(self, node: Any) -> list[ast.stmt] | None:
        if isinstance(node, ast.While):
            return self._while(node)
        if isinstance(node, ast.AugAssign):
            return self._updated(node)
        if isinstance(node, ast.Delete):
            for target in node.targets:
                self._place(target)
            return [*self._before, node]
        if isinstance(node, ast.With):
            return None
        field = _FIELDS.get(type(node))
        if field is None or getattr(node, field) is None:
            return None
        setattr(node, field, self.part(getattr(node, field), whole=True))
        if isinstance(node, ast.Assign) and (len(node.targets) > 1 or not isinstance(node.targets[0], ast.Name)):
            return self._assigned(node)
        if isinstance(node, ast.AnnAssign):
            self._place(node.target)
        return [*self._before, node]

    def _while(self, node: ast.While) -> list[ast.stmt]:
        test = self.part(node.test)
        leave = ast.If(ast.UnaryOp(ast.Not(), test), [ast.Break()], [])
        node.body = [*self._before, leave, *node.body]
        node.test = ast.Constant(True)
        return [node]

    def _assigned(self, node: ast.Assign) -> list[ast.stmt]:
        """`a, x[f()] = value`: the value first, then one target after the other."""
        value: ast.expr = node.value
        if len(node.targets) > 1:
            value = self.named(value)
        for target in node.targets:
            parts = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
            if len(parts) == 1 and parts[0] is target:
                if not isinstance(target, ast.Name):
                    value = self.simple(value)
                    self._place(target)
                self._before.append(ast.Assign([target], value))
                continue
            later: list[ast.stmt] = []
            for number, part in enumerate(parts):
                if isinstance(part, (ast.Attribute, ast.Subscript)):
                    parts[number] = ast.Name(self._name(), ast.Store())
                    later.append(ast.Assign([part], ast.Name(parts[number].id, ast.Load())))  # type: ignore[attr-defined]
            self._before.append(ast.Assign([target], value))
            for step in later:
                self._place(step.targets[0])  # type: ignore[attr-defined]
                self._before.append(step)
        return self._before

    def _updated(self, node: ast.AugAssign) -> list[ast.stmt]:
        """`a op= b`: Python reads `a`, computes `b`, and stores what the operator makes of both."""
        target = node.target
        self._place(target)
        read = copy.deepcopy(target)
        read.ctx = ast.Load()
        held = self.named(read)
        node.value = self.part(node.value)
        node.target = ast.Name(held.id, ast.Store())
        return [*self._before, node, ast.Assign([target], ast.Name(held.id, ast.Load()))]

    def _place(self, target: Any) -> None:
        """Compute where something is stored."""
        if isinstance(target, (ast.Attribute, ast.Subscript)):
            target.value = self.part(target.value)
        if isinstance(target, ast.Subscript):
            target.slice = self._indices(target.slice)

    # Expressions. -----------------------------------------------------------------------------------------------------

    def named(self, value: ast.expr) -> ast.Name:
        """Compute a value here, and return its name."""
        name = self._name()
        self._before.append(ast.copy_location(ast.Assign([ast.Name(name, ast.Store())], value), value))
        return ast.copy_location(ast.Name(name, ast.Load()), value)

    def simple(self, value: ast.expr) -> ast.expr:
        return value if isinstance(value, (ast.Name, ast.Constant, ast.Lambda)) else self.named(value)

    def part(self, node: Any, *, whole: bool = False) -> Any:
        """Return an expression for what a part is where it is computed.

        Args:
            node: the part.
            whole: leave the last operation to the statement.
        """
        if isinstance(node, (ast.Constant, ast.Lambda)) or is_super(node):
            return node
        if isinstance(node, ast.Name):
            return self.named(node) if self._rebinds and not whole else node
        method = getattr(self, f"_{type(node).__name__.lower()}", None)
        made = self._operation(node) if method is None else method(node)
        is_lazy = is_iterator(made) or hasattr(made, "is_lazy") or (hasattr(made, "shows_dict") and not self._rebinds)
        kept = whole or is_lazy or isinstance(made, (ast.Name, ast.Constant, ast.Starred, ast.JoinedStr))
        return made if kept else self.named(made)

    def _operation(self, node: Any) -> Any:
        for field, value in ast.iter_fields(node):
            if isinstance(value, ast.expr):
                setattr(node, field, self.part(value))
            elif isinstance(value, list) and all(isinstance(each, ast.expr) for each in value):
                setattr(node, field, [self.part(each) for each in value])
        return node

    def _attribute(self, node: ast.Attribute) -> ast.expr:
        if not _is_path(node):
            node.value = self.part(node.value)
        return node

    def _subscript(self, node: ast.Subscript) -> ast.expr:
        node.value = self.part(node.value)
        node.slice = self._indices(node.slice)
        return node

    def _indices(self, index: Any) -> Any:
        if isinstance(index, (ast.Tuple, ast.List)):
            index.elts = [self._indices(each) for each in index.elts]
            return index
        if isinstance(index, ast.Slice):
            for bound in ("lower", "upper", "step"):
                if getattr(index, bound) is not None:
                    setattr(index, bound, self.part(getattr(index, bound)))
            return index
        return self.part(index)

    def _call(self, node: ast.Call) -> ast.expr:
        if isinstance(node.func, ast.Attribute):
            node.func = self._attribute(node.func)
        elif isinstance(node.func, ast.Subscript):  # `self.layers[k](x)`, where `k` may be dynamic
            node.func = self._subscript(node.func)
        elif not isinstance(node.func, ast.Name):
            node.func = self.part(node.func)
        # What is the only argument may be read by the call, with its last operation left to it.
        alone = len(node.args) == 1 and not node.keywords
        if alone and isinstance(node.args[0], ast.GeneratorExp):
            node.args[0].is_alone = True  # type: ignore[attr-defined]
        node.args = [self.part(each, whole=alone and _is_view(each)) for each in node.args]
        for keyword in node.keywords:
            is_get = keyword.arg == "key" and isinstance(keyword.value, ast.Attribute) and keyword.value.attr == "get"
            if self._rebinds or not is_get or not _is_path(keyword.value):  # else it is known what `counts.get` is
                keyword.value = self.part(keyword.value)
        return node

    def _dict(self, node: ast.Dict) -> ast.expr:
        for number, (key, value) in enumerate(zip(node.keys, node.values)):
            node.keys[number] = None if key is None else self.part(key)
            node.values[number] = self.part(value)
        return node

    def _joinedstr(self, node: ast.JoinedStr) -> ast.expr:
        for each in node.values:
            if isinstance(each, ast.FormattedValue):
                each.value = self.part(each.value)
        return node

    def _starred(self, node: ast.Starred) -> ast.expr:
        if is_iterator(node.value):  # it is read to its end before the call
            name = self._name()
            rows = ast.comprehension(ast.Name(name, ast.Store()), node.value, [], 0)
            node.value = ast.ListComp(ast.Name(name, ast.Load()), [rows])
        node.value = self.part(node.value)
        return node

    def _namedexpr(self, node: ast.NamedExpr) -> ast.expr:
        value = self.simple(self.part(node.value))
        self._before.append(ast.copy_location(ast.Assign([node.target], value), node))
        return copy.deepcopy(value)

    def _comprehension(self, node: Any) -> ast.expr:
        first = node.generators[0]
        first.iter = self.part(first.iter, whole=not isinstance(node, ast.GeneratorExp) or hasattr(node, "is_alone"))
        return node

    _listcomp = _setcomp = _dictcomp = _generatorexp = _comprehension

    def _ifexp(self, node: ast.IfExp) -> ast.expr:
        return self._chosen(self.part(node.test, whole=True), [node.body], [node.orelse])

    def _boolop(self, node: ast.BoolOp) -> ast.expr:
        """`a and b` is `a` unless that is true."""
        first, *rest = node.values
        value = self.part(first)
        if not rest:
            return value
        others = ast.copy_location(ast.BoolOp(node.op, rest), rest[0])
        if isinstance(node.op, ast.And):
            return self._chosen(value, [others], [copy.deepcopy(value)])
        return self._chosen(value, [copy.deepcopy(value)], [others])

    def _compare(self, node: ast.Compare) -> ast.expr:
        """`a < b < c`, of which `c` is computed only if `a < b`."""
        left, middle = self.part(node.left), self.part(node.comparators[0])
        first = ast.copy_location(ast.Compare(left, node.ops[:1], [middle]), node)
        if len(node.ops) == 1:
            return first
        rest = ast.copy_location(ast.Compare(copy.deepcopy(middle), node.ops[1:], node.comparators[1:]), node)
        value = self.named(first)
        return self._chosen(value, [rest], [copy.deepcopy(value)])

    def _chosen(self, test: ast.expr, then: list[ast.expr], otherwise: list[ast.expr]) -> ast.expr:
        name = self._name()
        arms: list[list[ast.stmt]] = []
        outer = self._before
        for (value,) in (then, otherwise):
            self._before = []
            result = self.part(value, whole=True)
            arms.append([*self._before, ast.Assign([ast.Name(name, ast.Store())], result)])
        self._before = outer
        self._before.append(ast.copy_location(ast.If(test, *arms), test))
        return ast.copy_location(ast.Name(name, ast.Load()), test)


def _is_view(node: ast.expr) -> bool:
    """Whether an expression may be a view of a dict."""
    is_method = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not node.args
    return is_method and node.func.attr in ("keys", "values", "items")  # type: ignore[attr-defined]


def _is_path(node: ast.expr) -> bool:
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def mark(node: ast.AST) -> None:
    """Give the parts of a statement tokens, which their copies share."""
    for part in ast.walk(node):
        if not hasattr(part, "token"):
            part.token = next(_TOKENS)  # type: ignore[attr-defined]


def with_name(statement: ast.stmt, token: int, name: str) -> ast.stmt:
    """Return a statement in which a variable stands for a part.

    Args:
        statement: the statement, which is changed.
        token: that of the part.
        name: the variable.
    """

    class Put(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> Any:
            if getattr(node, "token", None) == token:
                return ast.copy_location(ast.Name(name, ast.Load()), node)
            return self.generic_visit(node)

    made: ast.stmt = Put().visit(statement)
    return made


def before_in(whole: ast.AST, token: Any) -> list[ast.AST] | None:
    """Return what is computed before a part of a statement.

    Args:
        whole: the statement, or what it computes.
        token: that of the part, an attribute of its node.
    Returns:
        The parts, without those in the part itself; None if it is not computed exactly once.
    """
    if getattr(whole, "token", None) == token:
        return []
    earlier: list[ast.AST] = []
    for child, is_sure in _operands(whole):
        found = before_in(child, token)
        if found is not None:
            return [*earlier, *found] if is_sure else None
        earlier.append(child)
    return None


def _operands(node: ast.AST) -> Sequence[tuple[ast.AST, bool]]:
    """The parts of an expression or statement, in Python's order, and whether they are computed exactly once."""
    if isinstance(node, ast.Assign):
        return [(node.value, True), *((target, True) for target in node.targets)]
    if isinstance(node, ast.IfExp):
        return [(node.test, True), (node.body, False), (node.orelse, False)]
    if isinstance(node, ast.BoolOp):
        return [(value, number == 0) for number, value in enumerate(node.values)]
    if isinstance(node, ast.Compare):
        return [(node.left, True), *((each, number == 0) for number, each in enumerate(node.comparators))]
    if isinstance(node, ast.Lambda):
        return [(node.body, False)]
    if isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)):
        rest = [part for part in ast.iter_child_nodes(node) if part is not node.generators[0]]
        return [(node.generators[0].iter, True), *((part, False) for part in rest)]
    if isinstance(node, ast.Dict):
        pairs = [part for pair in zip(node.keys, node.values) for part in pair if part is not None]
        return [(part, True) for part in pairs]
    if isinstance(node, ast.Assert):
        return [(node.test, True)]
    return [(part, True) for part in ast.iter_child_nodes(node)]
