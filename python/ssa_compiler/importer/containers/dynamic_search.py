"""Looking for numbers in lists whose length is dynamic."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from ...errors import UnsupportedOpError
from ..tensors.scalar_ops import ScalarOps
from ..tensors.tensor_ops import TensorOps
from ..values.dynamic_list_value import DynamicListValue
from ..values.symbols import expr_of
from ..values.values import ConstValue, ScalarValue, Site, TensorValue, Value

__all__ = ["DynamicSearch"]


class DynamicSearch:
    """The ops on such lists that look for elements; see `DynamicLists`, which they are a part of."""

    tensors: TensorOps
    scalars: ScalarOps
    rows: Callable[[DynamicListValue], TensorValue]
    rejected: Callable[[], UnsupportedOpError]
    _without: Callable[[DynamicListValue, Value], DynamicListValue]

    def located(self, lists: Sequence[DynamicListValue], wanted: Sequence[Value]) -> tuple[Value, Value]:
        """Return whether lists of ints, of one length, have some elements at one place, and that place.

        Args:
            lists: the lists.
            wanted: an element for each of them; together they are there once at most.
        Returns:
            Whether they are there, and the place, 0 if not.
        """
        same: TensorValue | None = None
        for value, element in zip(lists, wanted, strict=True):
            if value.kind is not int or self.scalars.kind(element) is not int:
                raise self.rejected()
            here = self._same(value, element)
            same = here if same is None else self._op(torch.ops.aten.logical_and.default, same, here)
        assert same is not None
        places = self._op(torch.ops.aten.mul.Tensor, self._places(same), same)
        place = self._op(torch.ops.aten.sum.default, places, ConstValue(None))
        return self._any_of(same), self.scalars.item(place, int)

    def has(self, value: DynamicListValue, wanted: Value) -> Value:
        """Emit `wanted in list`."""
        return self._any_of(self._same(value, wanted))

    def _count(self, cell: Site, value: DynamicListValue, wanted: Value) -> tuple[None, Value]:
        total = self._op(torch.ops.aten.sum.default, self._same(value, wanted), ConstValue(None))
        return None, self.scalars.item(total, int)

    def _index(self, cell: Site, value: DynamicListValue, wanted: Value) -> tuple[None, Value]:
        shown = repr(wanted.value) if isinstance(wanted, ConstValue) else "x"
        return None, self._first(value, wanted, f"ValueError: {shown} is not in list")

    def _remove(self, cell: Site, value: DynamicListValue, wanted: Value) -> tuple[DynamicListValue, None]:
        return self._without(value, self._first(value, wanted, "ValueError: list.remove(x): x not in list")), None

    def _all(self, cell: Site, value: DynamicListValue) -> tuple[None, Value]:
        return None, self._reduced(value, torch.ops.aten.all.default)

    def _any(self, cell: Site, value: DynamicListValue) -> tuple[None, Value]:
        return None, self._reduced(value, torch.ops.aten.any.default)

    def _reduced(self, value: DynamicListValue, op: Any) -> Value:
        if value.kind is torch.Tensor:
            raise self.rejected()
        return self.scalars.item(self._op(op, self.rows(value)), bool)

    def _first(self, value: DynamicListValue, wanted: Value, message: str) -> Value:
        """The place of the first element that is equal to another one, which has to be there."""
        same = self._same(value, wanted)
        self.scalars.require(self._any_of(same), message)
        differs = self._op(torch.ops.aten.logical_not.default, same)
        places = self._op(torch.ops.aten.masked_fill.Scalar, self._places(same), differs, ConstValue(2**63 - 1))
        return self.scalars.item(self._op(torch.ops.aten.amin.default, places, [], ConstValue(False)), int)

    def _same(self, value: DynamicListValue, wanted: Value) -> TensorValue:
        """Which elements are equal to another one: a tensor of bools.

        Raises:
            UnsupportedOpError: they are no numbers of one type; Python compares ints and floats exactly.
        """
        is_number = isinstance(wanted, (ConstValue, ScalarValue))
        kinds = {value.kind, self.scalars.kind(wanted) if is_number else None}
        if not (kinds <= {int, bool} or kinds == {float}):
            raise self.rejected()
        if kinds == {float}:  # a NaN is in the list if it is the same object
            nan = self.scalars.emit("ne", [wanted, wanted])
            message = "unsupported: a search for NaN in a list whose length depends on run-time values"
            self.scalars.require(self.scalars.negated(nan), message)
        return self._op(torch.ops.aten.eq.Scalar, self.rows(value), wanted)

    def _any_of(self, flags: TensorValue) -> Value:
        return self.scalars.item(self._op(torch.ops.aten.any.default, flags), bool)

    def _places(self, like: TensorValue) -> TensorValue:
        """The numbers of the elements."""
        none, count = ConstValue(None), self.tensors.symbolic(expr_of(like.fake.shape[0]))
        return self._op(torch.ops.aten.arange.default, count, none, none, none, none)

    def _op(self, op: Any, *operands: Any) -> TensorValue:
        (made,) = self.tensors.call_arguments(op, list(operands))
        return made
