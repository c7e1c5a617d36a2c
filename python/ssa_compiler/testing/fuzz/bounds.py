"""Which input sets keep a program's ints within 64 bits.

Python's ints have no bounds; the compiler's wrap around, which is documented. So an input set for which some int leaves
64 bits in eager is not run. Nor is one that loops for very long.
"""

from __future__ import annotations

import ast
import copy
import sys
import types
from typing import Any

import torch

__all__ = ["within_64_bits"]

_STEPS = 100_000


class _TooLarge(BaseException):
    """Not an Exception, so that no program catches it."""


class _Watch(ast.NodeTransformer):
    """Puts a call of `_watch` around whatever may be a new int."""

    def _watched(self, node: Any) -> ast.expr:
        self.generic_visit(node)
        call = ast.Call(ast.Name("_watch", ast.Load()), [node], [])
        return ast.copy_location(call, node)

    visit_BinOp = visit_UnaryOp = visit_Call = _watched  # the names that ast.NodeTransformer looks for

    def visit_AugAssign(self, node: ast.AugAssign) -> list[ast.stmt]:
        self.generic_visit(node)
        read = copy.deepcopy(node.target)
        for part in ast.walk(read):
            if isinstance(part, ast.Name | ast.Attribute | ast.Subscript):
                part.ctx = ast.Load()
        call = ast.Call(ast.Name("_watch", ast.Load()), [read], [])
        return [node, ast.copy_location(ast.Expr(call), node)]


def within_64_bits(text: str, calls: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Leave out input sets for which an int of the program leaves 64 bits.

    Args:
        text: the program.
        calls: its input sets.
    Returns:
        Those to run.
    """
    tree = ast.fix_missing_locations(_Watch().visit(ast.parse(text)))
    code = compile(tree, "<program>", "exec")
    while True:
        large = _first_large(code, calls)
        if large is None:
            return calls
        calls = [call for number, call in enumerate(calls) if number != large]


def _first_large(code: Any, calls: list[tuple[Any, ...]]) -> int | None:
    """The first input set that does not fit; the state of a module goes from each to the next."""
    steps = 0

    def watch(value: Any) -> Any:
        nonlocal steps
        steps += 1
        if steps > _STEPS or (type(value) is int and not -(2**63) <= value < 2**63):
            raise _TooLarge
        return value

    module = types.ModuleType("watched")
    names = vars(module)
    names["_watch"] = watch
    sys.modules["watched"] = module  # dataclasses look their module up
    try:
        exec(code, names)
    finally:
        del sys.modules["watched"]
    torch.manual_seed(0)
    model = names["Program"]() if "Program" in names else names["program"]
    for number, call in enumerate(calls):
        steps = 0
        try:
            with torch.no_grad(), torch.random.fork_rng([]):
                torch.default_generator.manual_seed(number)
                model(*copy.deepcopy(call))
        except _TooLarge:
            return number
        except Exception:  # the program's own; `check` compares it
            continue
    return None
