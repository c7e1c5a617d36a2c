"""`==` of lists of numbers of which one has a dynamic length."""

from __future__ import annotations

import torch

from ..values.dynamic_list_value import DynamicListValue
from ..values.values import ConstValue, Value
from .dynamic_lists import DynamicLists

__all__ = ["equal_lists"]


def equal_lists(lists: DynamicLists, one: DynamicListValue, other: DynamicListValue) -> Value:
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

    def compared() -> list[Value]:
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
        return compared()[0] if alike.value else alike
    return lists.choose(alike, compared, lambda: [ConstValue(False)])[0]
