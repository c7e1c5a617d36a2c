"""Expressions and statements that TorchScript rejects or takes for others, in words that it takes as Python does."""

from __future__ import annotations

import ast
import copy

import torch

from ...semantics.generator_ops import MAKE, NAMESPACE
from .literals import unknown

__all__ = ["columns", "extended", "makes_generator", "plus", "without_flag"]


def columns(value: ast.expr) -> ast.expr:
    """`x.nonzero(as_tuple=True)`, of which the parts are used, as the op that gives a list of them."""
    if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Attribute) or value.func.attr != "nonzero":
        return value
    flags = [k for k in value.keywords if k.arg == "as_tuple" and getattr(k.value, "value", None) is True]
    owner = value.func.value
    if not flags or len(value.keywords) != 1:
        return value
    if isinstance(owner, ast.Name) and owner.id == "torch" and len(value.args) == 1:
        owner = value.args[0]
    elif value.args:
        return value
    function = ast.copy_location(ast.Attribute(owner, "nonzero_numpy", ast.Load()), value.func)
    return ast.copy_location(ast.Call(function, [], []), value)


def without_flag(call: ast.Call) -> None:
    """`x.nonzero(as_tuple=False)`: TorchScript's op has no such argument, and does that."""
    if isinstance(call.func, ast.Attribute) and call.func.attr == "nonzero":
        is_flag = [each.arg == "as_tuple" and getattr(each.value, "value", None) is False for each in call.keywords]
        call.keywords = [each for each, drops in zip(call.keywords, is_flag) if not drops]


def makes_generator(call: ast.Call, meaning: object) -> None:
    """`torch.Generator(...)`, of which TorchScript makes one constant for all calls, as an operator.

    Args:
        call: a call.
        meaning: what is called, None if that is not known.
    """
    if meaning is not torch.Generator:
        return
    operator: ast.expr = ast.Name("torch", ast.Load())
    for name in ("ops", NAMESPACE, MAKE):
        operator = ast.Attribute(operator, name, ast.Load())
    for part in ast.walk(operator):
        if isinstance(part, ast.expr):
            ast.copy_location(part, call)
    call.func = operator


def plus(node: ast.UnaryOp) -> ast.expr:
    """`+x`, which TorchScript does not know: the tensor itself, or a number, which is an int if it is a bool.

    A tensor of bools has no sign, which its negative finds out.
    """
    if isinstance(node.operand, ast.Constant) and not isinstance(node.operand.value, bool):
        return node.operand
    test = ast.Call(ast.Name("isinstance", ast.Load()), [node.operand, ast.Name("Tensor", ast.Load())], [])
    both = [copy.deepcopy(node.operand), ast.UnaryOp(ast.USub(), copy.deepcopy(node.operand))]
    itself = ast.Subscript(ast.List(both, ast.Load()), ast.Constant(0), ast.Load())
    number = ast.BinOp(copy.deepcopy(node.operand), ast.Mult(), unknown(ast.copy_location(ast.Constant(1), node)))
    chosen = ast.IfExp(test, itself, number)
    _place(chosen, node)
    return chosen


def extended(node: ast.AugAssign, target: ast.Name) -> ast.stmt:
    """`t += u`, a list to TorchScript also if `t` is a tuple: `t = t + u` then, as it decides by types."""
    if isinstance(node.value, (ast.Constant, ast.List, ast.ListComp)):
        return node
    before = ast.Name(target.id, ast.Load())
    test = ast.Call(ast.Name("isinstance", ast.Load()), [before, ast.Name("tuple", ast.Load())], [])
    added = ast.BinOp(copy.deepcopy(before), ast.Add(), copy.deepcopy(node.value))
    made = ast.If(test, [ast.Assign([copy.deepcopy(target)], added)], [node])
    _place(made, node)
    return made


def _place(made: ast.AST, place: ast.stmt | ast.expr) -> None:
    """Give the new nodes in a statement or expression the place of another one."""
    for part in ast.walk(made):
        if isinstance(part, (ast.stmt, ast.expr)) and not hasattr(part, "lineno"):
            ast.copy_location(part, place)
