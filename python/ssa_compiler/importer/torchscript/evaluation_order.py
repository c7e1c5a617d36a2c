"""Expressions that TorchScript computes several times, computed once and in Python's order.

TorchScript computes the indices of `x[f()]` up to three times, as it looks at their types first; the middle of
`a < f() < b`, the left side of `f() % n` and what `dict()` is made of, twice. If that has effects (`x[stack.pop()]`, a
module that counts its calls, random numbers), the whole expression is decomposed before TorchScript sees it: each part
gets a name, by statements in front of the one that it stands in, in the order in which Python computes them.

`f() or x`, whose value is used and which is a bool to TorchScript, is decomposed, too.

TorchScript computes the right side of `l[0] += f()` before it reads the element, unless `l[0]` is a view of a tensor.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Sequence
from typing import Any

import torch

__all__ = ["compute_once", "has_effects", "is_pure_op", "schemas"]

# Functions without effects that Python has without importing them.
_PURE = frozenset(
    "abs all any bin bool chr dict divmod enumerate float getattr hasattr hex int isinstance len list max min oct ord pow range "
    "reversed round slice sorted str sum tuple type zip".split()
)
# What a statement computes once, in front of everything else that it does.
_COMPUTED: dict[type[ast.stmt], str] = {
    **dict.fromkeys((ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Return, ast.Expr), "value"),
    **dict.fromkeys((ast.If, ast.Assert), "test"),
    ast.For: "iter",
    ast.Raise: "exc",
}
_COMPREHENSIONS = (ast.ListComp, ast.DictComp, ast.SetComp, ast.GeneratorExp, ast.Lambda)


def compute_once(definition: Any, name: Callable[[], str], lines: list[int]) -> None:
    """Rewrite the statements of a function that have such expressions.

    Args:
        definition: the `ast.FunctionDef`; it is changed.
        name: returns names that the function does not use.
        lines: receives the lines of the expressions that TorchScript would compute several times.
    Raises:
        NotImplementedError: one of them is in a comprehension.
    """
    definition.body = _Order(name, lines).block(definition.body)


def schemas(call: ast.Call) -> list[Any]:
    """The schemas of the operators that a call may call, by its name."""
    *path, name = ast.unparse(call.func).split(".")
    namespace = path[-1] if path[:-1] == ["torch", "ops"] else "aten"
    return list(torch._C._jit_get_schemas_for_operator(f"{namespace}::{name}")) if name.isidentifier() else []


class _Order:
    """Takes statements apart."""

    def __init__(self, name: Callable[[], str], lines: list[int]) -> None:
        self._name = name
        self._lines = lines

    # Statements.

    def block(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        """Rewrite statements."""
        return [made for statement in body for made in self._statement(statement)]

    def _statement(self, node: ast.stmt) -> list[ast.stmt]:
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Subscript) and has_effects(node.value):
            return self._updated(node, node.target)
        before: list[ast.stmt] = []
        if isinstance(node, ast.While) and self._is_needed(node.test):
            leave = ast.If(ast.UnaryOp(ast.Not(), self._test(node.test, before)), [ast.Break()], [])
            node.body = [*before, _at(node.test, leave), *node.body]
            node.test, before = ast.copy_location(ast.Constant(True), node.test), []
        targets = _targets(node)
        field = _COMPUTED.get(type(node), "")
        value = getattr(node, field, None)
        if any(map(self._is_needed, (target.slice for target in targets))) or any(map(has_effects, targets)):
            return self._stored(node, targets, before)
        if value is not None and self._is_needed(value):
            if isinstance(node, ast.AugAssign):
                self._locate(targets, before)
            if field == "test":
                made = self._test(value, before)
            else:
                made = self._part(value, before, whole=isinstance(node, (ast.Raise, ast.For)))
            setattr(node, field, made)
        for field in ("body", "orelse"):
            if isinstance(node, (ast.If, ast.For, ast.While, ast.With)) and getattr(node, field, None):
                setattr(node, field, self.block(getattr(node, field)))
        return [*before, node]

    def _updated(self, node: ast.AugAssign, target: ast.Subscript) -> list[ast.stmt]:
        """`x[i] += f()`: Python reads the element first. Of a view of a tensor TorchScript does likewise."""
        if any(map(has_effects, (target.value, target.slice))):
            self._lines.append(node.lineno)
        before: list[ast.stmt] = []
        self._locate([target], before)
        view = copy.deepcopy(node)
        steps: list[ast.stmt] = []
        owner = self._named(target.value, steps)
        part = self._named(ast.Subscript(owner, target.slice, ast.Load()), steps)
        store = ast.Name(part.id, ast.Store())
        steps += self._statement(_at(node, ast.AugAssign(store, node.op, node.value)))
        back = ast.Subscript(copy.deepcopy(owner), copy.deepcopy(target.slice), ast.Store())
        steps.append(ast.Assign([back], copy.deepcopy(part)))
        test = _is_view(target)
        if test is not None:
            in_place: list[ast.stmt] = []
            if self._is_needed(view.value):
                view.value = self._part(view.value, in_place)
            steps = [ast.If(test, [*in_place, view], steps)]
        return [*before, *(_at(node, step) for step in steps)]

    def _stored(self, node: Any, targets: Sequence[ast.Subscript], before: list[ast.stmt]) -> list[ast.stmt]:
        """`x[f()] = v`: Python computes the value first; `x[f()] += v`: last."""
        self._lines.append(node.lineno)
        if isinstance(node, ast.AugAssign):
            self._locate(targets, before)
            node.value = self._part(node.value, before)
            return [*before, node]
        node.value = self._part(node.value, before)
        if len(node.targets) == 1 and isinstance(node.targets[0], ast.Subscript):
            self._locate(targets, before)
            return [*before, node]
        # `a, x[f()] = v`: one target after the other.
        parts: list[ast.stmt] = []
        (several,) = node.targets
        for number, target in enumerate(several.elts):
            name = self._name()
            several.elts[number] = ast.copy_location(ast.Name(name, ast.Store()), target)
            if isinstance(target, ast.Subscript):
                self._locate([target], parts)
            parts.append(_at(target, ast.Assign([target], ast.Name(name, ast.Load()))))
        return [*before, node, *parts]

    def _locate(self, targets: Sequence[ast.Subscript], before: list[ast.stmt]) -> None:
        """Compute where something is stored."""
        for target in targets:
            if not _is_path(target.value):
                target.value = self._part(target.value, before)
            target.slice = self._indices(target.slice, before)

    def _is_needed(self, expression: ast.expr) -> bool:
        found = [node for node in ast.walk(expression) if _is_repeated(node)]
        self._lines += [node.lineno for node in found if isinstance(node, ast.expr)]
        return bool(found)

    # Expressions.

    def _test(self, node: ast.expr, before: list[ast.stmt]) -> ast.expr:
        """Split a condition, of which only its truth matters."""
        if isinstance(node, ast.Compare) and len(node.ops) > 1 and has_effects(node):
            return self._chained(node, before, truth=True)
        return self._part(node, before) if has_effects(node) else node

    def _part(self, node: ast.expr, before: list[ast.stmt], *, whole: bool = False) -> ast.expr:
        """Return an expression without effects that stands for `node` after the statements that are added to `before`.

        Args:
            node: the expression.
            before: receives the statements.
            whole: leave the expression itself, take its parts only.
        """
        if isinstance(node, (ast.Name, ast.Constant)):
            return node
        if not whole and not has_effects(node):
            return self._named(node, before)  # at the time that Python computes it
        if isinstance(node, ast.IfExp):
            return self._choice(node, before)
        if isinstance(node, ast.BoolOp):
            return self._connected(node, before)
        if isinstance(node, ast.Compare) and len(node.ops) > 1:
            return self._chained(node, before)
        if isinstance(node, ast.Subscript):
            node.value = node.value if _is_path(node.value) else self._part(node.value, before)
            node.slice = self._indices(node.slice, before)
        elif isinstance(node, ast.Call):
            if isinstance(node.func, ast.Attribute) and not _is_path(node.func):
                node.func.value = self._part(node.func.value, before)
            node.args = [self._part(argument, before) for argument in node.args]
            for keyword in node.keywords:
                keyword.value = self._part(keyword.value, before)
        elif isinstance(node, _COMPREHENSIONS):
            if any(map(_is_repeated, ast.walk(node))):
                raise NotImplementedError(f"line {node.lineno}: no statements can stand in a comprehension")
        else:
            for field, value in ast.iter_fields(node):
                if isinstance(value, ast.expr):
                    setattr(node, field, self._part(value, before))
                elif isinstance(value, list) and all(isinstance(part, ast.expr) for part in value):
                    setattr(node, field, [self._part(part, before) for part in value])
        return node if whole or isinstance(node, (ast.Starred, ast.JoinedStr)) else self._named(node, before)

    def _indices(self, index: ast.expr, before: list[ast.stmt]) -> ast.expr:
        """The indices of a subscript, whose parts get names."""
        if isinstance(index, ast.Tuple):
            index.elts = [self._indices(part, before) for part in index.elts]
            return index
        if isinstance(index, ast.Slice):
            for bound in ("lower", "upper", "step"):
                if (value := getattr(index, bound)) is not None:
                    setattr(index, bound, self._part(value, before))
            return index
        if isinstance(index, ast.List):
            index.elts = [self._part(part, before) for part in index.elts]
            return index
        return self._part(index, before)

    def _choice(self, node: ast.IfExp, before: list[ast.stmt]) -> ast.expr:
        """`a if c else b` as a statement, which leaves what `c` says of types to the branches."""
        return self._if(self._test(node.test, before), node.body, node.orelse, before)

    def _if(self, test: ast.expr, then: ast.expr, otherwise: ast.expr, before: list[ast.stmt]) -> ast.expr:
        name = self._name()
        branches: list[list[ast.stmt]] = []
        for value in (then, otherwise):
            branch: list[ast.stmt] = []
            result = self._part(value, branch) if has_effects(value) else value
            branch.append(_at(value, ast.Assign([ast.Name(name, ast.Store())], result)))
            branches.append(branch)
        before.append(_at(test, ast.If(test, *branches)))
        return ast.copy_location(ast.Name(name, ast.Load()), test)

    def _connected(self, node: ast.BoolOp, before: list[ast.stmt]) -> ast.expr:
        """`a and b and c`, of which the right side is computed only if the left one does not decide."""
        first, *rest = node.values
        if not rest:
            return self._part(first, before)
        if hasattr(node, "chooses"):
            return self._chosen(node, self._part(first, before), rest, before)
        test = self._test(first, before)
        others = ast.copy_location(ast.BoolOp(node.op, rest), rest[0]) if len(rest) > 1 else rest[0]
        value = _truth(others)
        decided = ast.copy_location(ast.Constant(isinstance(node.op, ast.Or)), first)
        if isinstance(node.op, ast.Or):
            return self._if(test, decided, value, before)
        return self._if(test, value, decided, before)

    def _chosen(self, node: ast.BoolOp, first: ast.expr, rest: list[ast.expr], before: list[ast.stmt]) -> ast.expr:
        """`a and b`, which is one of the two."""
        others: Any = ast.copy_location(ast.BoolOp(node.op, rest), rest[0]) if len(rest) > 1 else rest[0]
        if len(rest) > 1:
            others.chooses = True
        again = copy.deepcopy(first)
        if isinstance(node.op, ast.Or):
            return self._if(first, again, others, before)
        return self._if(first, others, again, before)

    def _chained(self, node: ast.Compare, before: list[ast.stmt], *, truth: bool = False) -> ast.expr:
        """`a < b < c`, of which `c` is computed only if `a < b`."""
        left, middle = self._part(node.left, before), self._part(node.comparators[0], before)
        test = ast.copy_location(ast.Compare(left, node.ops[:1], [middle]), node)
        rest = ast.copy_location(ast.Compare(copy.deepcopy(middle), node.ops[1:], node.comparators[1:]), node)
        return self._if(test, _truth(rest) if truth else rest, ast.copy_location(ast.Constant(False), node), before)

    def _named(self, value: ast.expr, before: list[ast.stmt]) -> ast.Name:
        name = self._name()
        before.append(_at(value, ast.Assign([ast.Name(name, ast.Store())], value)))
        return ast.copy_location(ast.Name(name, ast.Load()), value)


def _at(place: ast.AST, made: Any) -> Any:
    """Give the new nodes of a statement or expression the place of another one."""
    for node in ast.walk(made):
        if isinstance(node, (ast.stmt, ast.expr)) and not hasattr(node, "lineno"):
            ast.copy_location(node, place)
    return made


def _targets(node: ast.stmt) -> list[ast.Subscript]:
    """The subscripts that an assignment stores to; not where several targets get one value."""
    if isinstance(node, ast.AugAssign):
        found: Sequence[ast.expr] = [node.target]
    elif isinstance(node, ast.Assign) and len(node.targets) == 1:
        (target,) = node.targets
        found = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
    else:
        found = []
    return [target for target in found if isinstance(target, ast.Subscript)]


def _is_view(target: ast.Subscript) -> ast.expr | None:
    """A condition, which TorchScript decides by types, that `x[i]` is a view of a tensor; None if it is none.

    It says False of some that are.
    """
    tests = [_is_a(target.value, "Tensor")]
    for part in target.slice.elts if isinstance(target.slice, ast.Tuple) else [target.slice]:
        if isinstance(part, ast.List):
            return None
        if isinstance(part, ast.Name):
            tests.append(_is_a(part, "int"))
    return ast.BoolOp(ast.And(), tests) if len(tests) > 1 else tests[0]


def _is_a(value: ast.expr, kind: str) -> ast.expr:
    return ast.Call(ast.Name("isinstance", ast.Load()), [copy.deepcopy(value), ast.Name(kind, ast.Load())], [])


def _truth(value: ast.expr) -> ast.expr:
    made: ast.expr = _at(value, ast.Call(ast.Name("bool", ast.Load()), [value], []))
    return made


def _is_path(node: ast.expr) -> bool:
    """Whether an expression is `torch.nn.functional` or `self.layer`, which may be no value."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def _is_repeated(node: ast.AST) -> bool:
    """Whether TorchScript computes a part of an expression several times, and that has effects."""
    if isinstance(node, ast.Subscript):
        return isinstance(node.ctx, ast.Load) and has_effects(node.slice)
    if isinstance(node, ast.Compare):
        return any(map(has_effects, node.comparators[:-1]))
    if isinstance(node, ast.BoolOp):
        return hasattr(node, "chooses")
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.Mod) and has_effects(node.left)
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.UAdd) and has_effects(node.operand)
    is_dict = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "dict"
    return is_dict and any(map(has_effects, node.args))  # type: ignore[attr-defined]


def has_effects(expression: ast.expr) -> bool:
    """Whether computing an expression twice may not be the same as once."""
    return any(isinstance(node, ast.Call) and not _is_pure(node) for node in ast.walk(expression))


def _is_pure(call: ast.Call) -> bool:
    if isinstance(call.func, ast.Name):
        return call.func.id in _PURE
    if not isinstance(call.func, ast.Attribute) or any(keyword.arg == "out" for keyword in call.keywords):
        return False
    if isinstance(call.func.value, ast.Name) and call.func.value.id == "math":
        return True
    if call.func.attr in ("item", "tolist") and not call.args:
        return True  # of tensors; they are no operators
    return is_pure_op(call)


def is_pure_op(call: ast.Call) -> bool:
    """Whether an operator, of the name that is called, writes nothing and draws no random numbers, by its schemas."""
    found = [schema for schema in schemas(call) if not any(argument.is_out for argument in schema.arguments)]
    return bool(found) and not any(map(_changes, found))


def _changes(schema: Any) -> bool:
    """Whether an op writes an argument, or draws random numbers."""
    if any(argument.alias_info is not None and argument.alias_info.is_write for argument in schema.arguments):
        return True
    namespace, _, name = schema.name.partition("::")
    packet = getattr(getattr(torch.ops, namespace), name, None)
    op = getattr(packet, schema.overload_name or "default", None)
    return op is not None and torch.Tag.nondeterministic_seeded in op.tags
