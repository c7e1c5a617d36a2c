"""What a program that asks about TorchScript, or about types, is told: what eager tells it.

`torch.jit.is_scripting()` is False in eager, and `@torch.jit.unused` functions run there as any other. TorchScript says
True, and makes an exception of such a function. A bool is an int to Python, and none to TorchScript. Some of
TorchScript's lists are tuples to Python (`containers/list_classes.py`).
"""

from __future__ import annotations

import ast
import builtins
import copy
import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import _jit_internal

from ..isolation.patching import replaced
from .evaluation_order import has_effects

__all__ = ["ASKED", "as_eager", "unused_functions_run"]

# What a list is compared with whose class the program asks for; no string of a user's.
ASKED = "\0ssa_compiler.asked"

_IS_SCRIPTING = getattr(torch.jit, "is_scripting")  # noqa: B009 - not exported by its module


def as_eager(function: Any, parsed: Any) -> Any:
    """Answer a parsed function's questions; PyTorch's own functions are left as they are.

    Args:
        function: the function.
        parsed: TorchScript's parse of its source.
    """
    function = inspect.unwrap(function)
    own = str(getattr(function, "__module__", "")).partition(".")[0] != "torch"
    if not own or not any(asked in parsed.source for asked in ("is_scripting", "isinstance")):
        return parsed
    tree = copy.deepcopy(parsed.ast)
    answers = _Answers({**getattr(function, "__globals__", {}), **inspect.getclosurevars(function).nonlocals})
    return parsed._replace(ast=ast.fix_missing_locations(answers.visit(tree)))


class _Answers(ast.NodeTransformer):
    def __init__(self, names: dict[str, Any]) -> None:
        self._names = names
        self._asked: list[ast.expr] = []
        self._in_place = False

    def visit(self, node: ast.AST) -> Any:
        """Rewrite a node; in front of a statement the lists are shown of which it asks what they are."""
        before = self._asked, self._in_place
        self._in_place = self._in_place or isinstance(node, (ast.While, ast.comprehension, ast.ListComp, ast.DictComp))
        if not isinstance(node, ast.stmt) or isinstance(node, ast.FunctionDef):
            changed = super().visit(node)
            self._in_place = before[1]
            return changed
        if not isinstance(node, ast.While):
            self._in_place = False
        self._asked = []
        changed = super().visit(node)
        shown = [ast.If(_is_a(name, "list"), [ast.Expr(_printed(name))], []) for name in self._asked]
        self._asked, self._in_place = before
        return [*(_placed(each, node) for each in shown), changed]

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        if not node.args and self._named(node.func) is _IS_SCRIPTING:
            return ast.copy_location(ast.Constant(False), node)
        if self._named(node.func) is isinstance and len(node.args) == 2:
            kinds = node.args[1].elts if isinstance(node.args[1], ast.Tuple) else [node.args[1]]
            named = [self._named(kind) for kind in kinds]
            if int in named and bool not in named:
                both = [*kinds, ast.copy_location(ast.Name("bool", ast.Load()), node.args[1])]
                node.args[1] = ast.copy_location(ast.Tuple(both, ast.Load()), node.args[1])
            if (list in named) is not (tuple in named) and not has_effects(node.args[0]):
                if not isinstance(node.args[0], ast.Name) or self._in_place:
                    return _watched(node, list in named)
                self._asked.append(node.args[0])  # TorchScript may learn its type of this
        return node

    def _named(self, expression: ast.expr) -> Any:
        if isinstance(expression, ast.Attribute):
            return getattr(self._named(expression.value), expression.attr, None)
        if not isinstance(expression, ast.Name):
            return None
        return self._names.get(expression.id, getattr(builtins, expression.id, None))


def _is_a(value: ast.expr, kind: str) -> ast.expr:
    return ast.Call(ast.Name("isinstance", ast.Load()), [copy.deepcopy(value), ast.Name(kind, ast.Load())], [])


def _shown(value: ast.expr) -> ast.expr:
    """A comparison, never true, by which the importer sees that a program asks for a value's class."""
    return ast.Compare(copy.deepcopy(value), [ast.Is()], [ast.Constant(ASKED)])


def _printed(value: ast.expr) -> ast.expr:
    """A call that shows it where no value is needed."""
    return ast.Call(ast.Name("print", ast.Load()), [ast.Constant(ASKED), copy.deepcopy(value)], [])


def _watched(asked: ast.Call, for_list: bool) -> ast.expr:
    """`isinstance(x, list)` or `isinstance(x, tuple)` such that an `x` that is a list to TorchScript is shown."""
    value = asked.args[0]
    if for_list:
        made = ast.BoolOp(ast.And(), [asked, ast.UnaryOp(ast.Not(), _shown(value))])
    else:
        made = ast.BoolOp(ast.Or(), [asked, ast.BoolOp(ast.And(), [_is_a(value, "list"), _shown(value)])])
    return _placed(made, asked)


def _placed(made: Any, place: ast.stmt | ast.expr) -> Any:
    for part in ast.walk(made):
        if isinstance(part, (ast.stmt, ast.expr)) and not hasattr(part, "lineno"):
            ast.copy_location(part, place)
    return made


@contextmanager
def unused_functions_run() -> Iterator[None]:
    """Let TorchScript take `@torch.jit.unused` for `@torch.jit.ignore`."""
    with replaced(_jit_internal, "should_drop", getattr(_jit_internal, "_is_drop_fn")):  # noqa: B009 - it is private
        yield
