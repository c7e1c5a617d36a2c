"""Looking for ints in lists whose length is dynamic."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from ..values.dynamic_list_value import DynamicListValue
from ..values.symbols import expr_of
from ..values.values import ConstValue, ScalarValue, Value
from .dynamic_lists import DynamicLists

__all__ = ["located"]


def located(growing: DynamicLists, lists: Sequence[DynamicListValue], wanted: Sequence[Value]) -> tuple[Value, Value]:
    """Return whether lists of ints, of one length, have some elements at one place, and that place.

    Args:
        growing: the ops on such lists.
        lists: the lists.
        wanted: an element for each of them; together they are there once at most.
    Returns:
        Whether they are there, and the place, 0 if not.
    """
    kinds = {each.kind if isinstance(each, ScalarValue) else type(getattr(each, "value", None)) for each in wanted}
    if {value.kind for value in lists} != {int} or kinds != {int}:
        raise growing.rejected()
    op, none, same = growing.tensors.call_arguments, ConstValue(None), None
    for value, element in zip(lists, wanted, strict=True):
        (here,) = op(torch.ops.aten.eq.Scalar, [growing.rows(value), element])
        same = here if same is None else op(torch.ops.aten.logical_and.default, [same, here])[0]
    assert same is not None
    (found,) = op(torch.ops.aten.any.default, [same])
    count = growing.tensors.symbolic(expr_of(same.fake.shape[0]))
    (places,) = op(torch.ops.aten.arange.default, [count, none, none, none, none])
    (places,) = op(torch.ops.aten.mul.Tensor, [places, same])
    (place,) = op(torch.ops.aten.sum.default, [places, none])
    return growing.scalars.item(found, bool), growing.scalars.item(place, int)
