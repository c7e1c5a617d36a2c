"""Literals of numbers and strings that are hidden from TorchScript, as it would compute with them otherwise than
Python.

They are rewritten in the syntax tree by `source_rewrite.py`: `5 << 70` becomes `[5][0] << 70`.
"""

from __future__ import annotations

import ast
import copy
import operator
import types
from collections.abc import Callable, Mapping
from typing import Any

import torch

__all__ = [
    "converted",
    "converts",
    "counted_from_end",
    "is_known",
    "is_large",
    "is_of_python",
    "large_literal",
    "makes_float",
    "named_dtype",
    "unknown",
]

# Functions of numbers and strings that Python has without importing them.
_BUILTINS = frozenset("abs bin chr divmod float hex int len max min oct ord pow round str".split())


def converted(call: ast.Call) -> ast.expr:
    """A call of `int`, `float` or `bool` such that it is in the graph although TorchScript believes that it does
    nothing.

    It leaves out `float(n ** 2)`, and `int(n)` of a parameter that is declared an int, which may be a tensor to Python.
    """
    kind = call.func.id if isinstance(call.func, ast.Name) and len(call.args) == 1 and not call.keywords else ""
    if kind in ("int", "float"):
        one = unknown(ast.copy_location(ast.Constant(1 if kind == "int" else 1.0), call))
        return ast.copy_location(ast.BinOp(call, ast.Mult(), one), call)
    if kind == "bool" and isinstance(call.args[0], (ast.Name, ast.Compare)):
        opposite = ast.copy_location(ast.UnaryOp(ast.Not(), call), call)
        return ast.copy_location(ast.UnaryOp(ast.Not(), opposite), call)
    return call


def converts(node: Any) -> type | None:
    """Return int or float for a node of a graph that is what `converted` makes of `int(x)` or `float(x)`, None for
    others.
    """
    if node.kind() != "aten::mul":
        return None
    factor = list(node.inputs())[1].node()
    made = next(factor.inputs()).node() if factor.kind() == "aten::__getitem__" else factor
    elements = list(made.inputs()) if made.kind() == "prim::ListConstruct" else []
    if len(elements) != 1 or elements[0].node().kind() != "prim::Constant":
        return None
    value = elements[0].toIValue()
    return type(value) if type(value) in (int, float) and value == 1 else None


def makes_float(node: Any) -> bool:
    """Whether a node of a graph makes an int a float: it is `float(x)`, or `x * 1.0`."""
    if node.kind() != "aten::mul" or converts(node) is float:
        return node.kind() == "aten::mul"
    factor = list(node.inputs())[1].node()
    return factor.kind() == "prim::Constant" and factor.output().toIValue() == 1.0


def is_known(value: ast.expr) -> bool:
    """Whether an expression is a number or a string that TorchScript could compute."""
    if isinstance(value, ast.UnaryOp):
        return not isinstance(value.op, ast.Not) and is_known(value.operand)
    if isinstance(value, ast.BinOp):
        return is_known(value.left) and is_known(value.right)
    if isinstance(value, ast.Call):
        return (
            isinstance(value.func, ast.Name)
            and value.func.id == "float"
            and len(value.args) == 1
            and isinstance(value.args[0], ast.Constant)
        )
    if isinstance(value, ast.Attribute):
        return isinstance(value.value, ast.Name) and value.value.id == "math"
    if isinstance(value, ast.Tuple):
        return all(map(is_known, value.elts))
    return isinstance(value, ast.Constant) and type(value.value) in (int, float, str)


_MOST = 2**63 - 1


def large_literal(value: ast.expr) -> ast.expr | None:
    """`2**63 - 1` or `-2**63` as the number that it is: on the way there TorchScript makes a float of `2**63`; None for
    others.
    """
    number, largest = _computed(value)
    if number is None or largest <= _MOST or not -_MOST - 1 <= number <= _MOST:
        return None
    parts = [ast.copy_location(ast.Constant(part), value) for part in (abs(max(number, -_MOST)), 1)]
    made = ast.copy_location(ast.UnaryOp(ast.USub(), parts[0]), value) if number < 0 else parts[0]
    if number >= -_MOST:
        return made
    return ast.copy_location(ast.BinOp(made, ast.Sub(), parts[1]), value)  # the least int is the negative of none


def is_large(value: ast.expr) -> bool:
    """Whether an expression is a number so large that the difference of two such may not fit 64 bits."""
    number, _ = _computed(value)
    return number is not None and abs(number) > _MOST // 2


def _computed(value: ast.expr) -> tuple[int | None, int]:
    """What an expression of literals is, if it is an int, and the largest of the numbers that it is computed from."""
    if isinstance(value, ast.Constant):
        return (value.value, abs(value.value)) if type(value.value) is int else (None, 0)
    if isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.USub):
        number, largest = _computed(value.operand)
        return None if number is None else -number, largest
    if not isinstance(value, ast.BinOp) or type(value.op) not in _COMPUTED:
        return None, 0
    (left, first), (right, second) = _computed(value.left), _computed(value.right)
    if left is None or right is None or (isinstance(value.op, ast.Pow) and not 0 <= right <= 64):
        return None, 0
    number = _COMPUTED[type(value.op)](left, right)
    return number, max(abs(number), first, second)


_COMPUTED: dict[type, Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Pow: operator.pow,
}


def named_dtype(value: ast.expr, names: Mapping[str, Any]) -> ast.expr:
    """A dtype such that it is in the graph, where TorchScript has a number; any other expression as it is.

    Args:
        value: an expression.
        names: what names mean that are no variables.
    """
    # By another name, that of a variable outside of the function, TorchScript takes none.
    if not isinstance(value, ast.Attribute) or _named_module(value.value, names) is not torch:
        return value
    if not isinstance(getattr(torch, value.attr, None), torch.dtype):
        return value
    function = ast.Attribute(copy.deepcopy(value.value), "promote_types", ast.Load())
    # Of a dtype with itself; with one known to TorchScript it would be computed.
    call = ast.Call(function, [unknown(value), copy.deepcopy(value)], [])
    for node in (call, function):
        ast.copy_location(node, value)
    return call


def _named_module(owner: ast.expr, names: Mapping[str, Any]) -> Any:
    if isinstance(owner, ast.Name):
        found = names.get(owner.id)
    else:
        module = _named_module(owner.value, names) if isinstance(owner, ast.Attribute) else None
        found = getattr(module, owner.attr, None) if module is not None else None  # type: ignore[attr-defined]
    return found if isinstance(found, types.ModuleType) else None


def counted_from_end(end: ast.expr) -> ast.expr:
    """The end of a search in a string: TorchScript's -1 is the end of the string."""
    if not isinstance(end, (ast.Name, ast.UnaryOp)):
        return end
    zero, one = (ast.Constant(number) for number in (0, 1))
    before = ast.BinOp(end, ast.Sub(), one)
    chosen = ast.IfExp(ast.Compare(copy.deepcopy(end), [ast.Lt()], [zero]), before, copy.deepcopy(end))
    for node in ast.walk(chosen):
        ast.copy_location(node, end)
    return chosen


def is_of_python(function: ast.expr) -> bool:
    """Whether what is called is a function of Python's on numbers and strings."""
    if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Constant):
        return True
    if isinstance(function, ast.Attribute):
        return isinstance(function.value, ast.Name) and function.value.id == "math"
    return isinstance(function, ast.Name) and function.id in _BUILTINS


def unknown(value: ast.expr) -> ast.expr:
    """A number or string as an element of a list: TorchScript computes nothing of it."""
    element = ast.Subscript(ast.List([value], ast.Load()), ast.Constant(0), ast.Load())
    ast.copy_location(element, value)
    for node in (element.value, element.slice):
        ast.copy_location(node, value)
    return element
