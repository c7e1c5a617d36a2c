"""A size that reshape infers, where a size beside it may be 0: eager raises then, and FakeTensors ask whether it is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import sympy
import torch

from ..values.state import State
from ..values.symbols import expr_of

__all__ = ["with_inferred_size"]

_INFERRING = (torch.ops.aten.reshape.default, torch.ops.aten.view.default)


def with_inferred_size(state: State, op: Any, args: Sequence[Any]) -> list[Any]:
    """Return the arguments of an op with the size that it infers, where that takes an assertion.

    Args:
        state: the interpretation, where the assertion is made.
        op: an OpOverload.
        args: one Python value per schema argument.
    """
    made = list(args)
    if op not in _INFERRING or not isinstance(args[1], (list, tuple)):
        return made
    places = [k for k, size in enumerate(args[1]) if type(size) is int and size == -1]
    product = math.prod(size for k, size in enumerate(args[1]) if k not in places)
    if len(places) != 1 or not isinstance(product, torch.SymInt):
        return made
    relation = sympy.Ne(expr_of(product), 0)
    if state.symbols.known(relation) is not None or state.sizes.covers(relation):
        return made
    state.check(relation, "RuntimeError: cannot reshape tensor of 0 elements: the size that is -1 is ambiguous")
    inferred = args[0].numel() // product
    expr = expr_of(inferred)
    made[1] = list(args[1])
    made[1][places[0]] = int(expr) if getattr(expr, "is_Integer", False) else inferred
    return made
