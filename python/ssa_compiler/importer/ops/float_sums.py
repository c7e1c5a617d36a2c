"""`sum` of a list of floats whose length is dynamic: a loop, as the order of additions decides the last bits."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from typing import Any

import torch

from ...errors import UnsupportedProgramError, program_error_name
from ..containers.containers import Containers
from ..values.dynamic_list_value import DynamicListValue
from ..values.values import ConstValue, Value

__all__ = ["sum_of_floats"]

_EMPTY = "unsupported: sum of an empty list of floats whose length depends on run-time values, which is the int 0"


def _in_order(items: list[float]) -> float:
    total = 0.0
    for item in items:
        total += item
    return total


def _compensated(items: list[float]) -> float:
    """What Python does from 3.12 on (Neumaier)."""
    total = 0.0
    lost = 0.0
    for item in items:
        more = total + item
        if abs(total) >= abs(item):
            lost += (total - more) + item
        else:
            lost += (item - more) + total
        total = more
    if lost - lost == 0.0:  # neither infinite nor NaN
        total += lost
    return total


@cache
def _program() -> Any:
    return torch.jit.script(_compensated if sys.version_info >= (3, 12) else _in_order)


def sum_of_floats(
    containers: Containers, kind: str, target: Value, call: Callable[[str, Any, list[Value]], Value]
) -> Value | None:
    """Import the sum of such a list; None if an op is something else.

    Args:
        containers: the program's lists.
        kind: the op.
        target: its first operand.
        call: inlines a TorchScript function, given its name, graph and arguments.
    """
    if kind != "aten::sum" or not containers.is_growing(target):
        return None
    (value,) = containers.state.heap.contents[target.cell]  # type: ignore[attr-defined]
    assert isinstance(value, DynamicListValue)
    if value.kind is not float:
        return None
    emit = containers.growing.scalars.emit
    some = emit("gt", [value.length, ConstValue(0)])
    containers.values.require(some, f"{program_error_name(UnsupportedProgramError)}: {_EMPTY}")
    return call(_program().qualified_name, _program().graph, [target])
