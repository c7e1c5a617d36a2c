"""`a or b` and `a and b` of other values than bools: one of the two in Python, a bool in TorchScript."""

from __future__ import annotations

import ast
import copy

from .evaluation_order import has_effects

__all__ = ["choose_operands"]

_BOOLS = frozenset({"all", "any", "bool", "callable", "hasattr", "isinstance"})


def choose_operands(definition: ast.AST) -> None:
    """Write `a or b` as `a if a else b`, and `a and b` as `b if a else a`, where more than its truth is used.

    That is the same for bools. Left as they are: operators whose operands are bools for sure. Those of which an operand
    but the last has effects, as a call of the user's may have, are marked: their operands have to be named first.

    Args:
        definition: the function; it is changed.
    """
    _Chooser().visit(definition)


class _Chooser(ast.NodeTransformer):
    def __init__(self) -> None:
        self._tested: list[ast.expr] = []  # expressions of which the truth is used alone

    def visit(self, node: ast.AST) -> ast.AST:
        if isinstance(node, (ast.If, ast.While, ast.IfExp, ast.Assert)):
            self._tested.append(node.test)
        elif isinstance(node, ast.comprehension):
            self._tested += node.ifs
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            self._tested.append(node.operand)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "bool":
            self._tested += node.args
        changed: ast.AST = super().visit(node)
        return changed

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        tested = any(node is other for other in self._tested)
        if tested:
            self._tested += node.values
        self.generic_visit(node)
        *others, last = node.values
        if tested or all(map(_is_bool, node.values)):
            return node
        if any(map(has_effects, others)):
            node.chooses = True  # type: ignore[attr-defined]
            return node
        for value in reversed(others):
            again = copy.deepcopy(value)
            body, orelse = (again, last) if isinstance(node.op, ast.Or) else (last, again)
            last = ast.copy_location(ast.IfExp(value, body, orelse), node)
        return last


def _is_bool(node: ast.expr) -> bool:
    """Whether an expression is a bool for sure: comparisons of tensors are tensors."""
    if isinstance(node, ast.BoolOp):
        return all(map(_is_bool, node.values))
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id in _BOOLS
    if isinstance(node, ast.Compare):
        return all(isinstance(op, (ast.Is, ast.IsNot, ast.In, ast.NotIn)) for op in node.ops)
    is_not = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
    return is_not or (isinstance(node, ast.Constant) and isinstance(node.value, bool))
