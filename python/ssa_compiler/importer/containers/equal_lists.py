"""`==` of lists of numbers of which one has a dynamic length."""

from __future__ import annotations

from typing import Any

import torch

from ..values.dynamic_list_value import DynamicListValue, is_growing
from ..values.values import ConstValue, ListRef, Value
from .dynamic_lists import DynamicLists

__all__ = ["compared"]


def compared(containers: Any, one: Any, other: Any, name: str) -> Value:
    """Return `one == other`, or `!=` for the name "ne", of which one has a dynamic length.

    Args:
        containers: a `containers.Containers`.
        one, other: the lists.
        name: that of the op.
    """
    growing = containers.growing
    equal: Value = ConstValue(False)
    if not containers.classes.differ(one, other):
        held = [containers.state.heap.contents[side.cell] for side in (one, other) if isinstance(side, ListRef)]
        if len(held) < 2:
            raise growing.rejected()
        like = next(each[0] for each in held if is_growing(each))
        equal = _equal(growing, *(growing.lifted(each, like) for each in held))
    return equal if name == "eq" else growing.scalars.negated(equal)


def _equal(lists: DynamicLists, one: DynamicListValue, other: DynamicListValue) -> Value:
    """Return whether two lists have the same elements in the same order.

    Args:
        lists: emits ops on such lists.
        one, other: the lists.
    Raises:
        UnsupportedOpError: they are no lists of numbers of one kind.
    """
    if one.kind is not other.kind or one.kind not in (int, float, bool):
        raise lists.rejected()
    scalars, op = lists.scalars, lists.tensors.call_arguments

    def alike_in_rows() -> list[Value]:
        rows = [lists.rows(one), lists.rows(other, end=one.length)]
        for each in rows if one.kind is float else ():
            # Two lists that hold the same NaN are equal to Python.
            (missing,) = op(torch.ops.aten.isnan.default, [each])
            (found,) = op(torch.ops.aten.any.default, [missing])
            message = "unsupported: a comparison of lists with NaN whose length depends on run-time values"
            scalars.require(scalars.negated(scalars.item(found, bool)), message)
        (same,) = op(torch.ops.aten.eq.Tensor, rows)
        (every,) = op(torch.ops.aten.all.default, [same])
        return [scalars.item(every, bool)]

    alike = scalars.emit("eq", [one.length, other.length])
    if isinstance(alike, ConstValue):
        return alike_in_rows()[0] if alike.value else alike
    return lists.choose(alike, alike_in_rows, lambda: [ConstValue(False)])[0]
