"""Lists of equal views of one tensor, as `unbind`, `split` and `chunk` return: a dynamic index is a dynamic view."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy
import torch

from ..tensors.scalar_ops import ScalarOps
from ..tensors.tensor_ops import TensorOps
from ..values.state import State
from ..values.symbols import expr_of
from ..values.values import ConstValue, ListRef, ScalarValue, Site, TensorValue, Value

__all__ = ["EqualViews"]

_READILY_UNROLLED = 8
"""A loop over so many elements is written out: that shows more of them than a loop does, and costs little."""


@dataclass(frozen=True)
class _Family:
    """The elements of a list: element `i` is `base.select(dim, i)`, or of `size` entries the `i`-th part of `base`."""

    contents: tuple[Value, ...]
    base: TensorValue
    dim: int
    size: int | None


class EqualViews:
    """Knows the lists whose elements are equal parts of one tensor, next to each other in one dimension."""

    def __init__(self, state: State, tensors: TensorOps, scalars: ScalarOps) -> None:
        self._state, self._tensors, self._scalars = state, tensors, scalars
        self._families: dict[Site, _Family] = {}

    def note(self, target: ListRef, base: Value) -> None:
        """Look whether the elements of a new list are equal views of a tensor.

        Args:
            target: the list, which an op returned.
            base: the op's first operand.
        """
        contents = self._state.heap.contents[target.cell]
        found = _family(contents, base) if isinstance(base, TensorValue) else None
        if found is not None:
            self._families[target.cell] = found

    def is_structural(self, target: ListRef) -> bool:
        """Whether a loop over a list is better written out."""
        family = self._family(target)
        return family is None or len(family.contents) <= _READILY_UNROLLED

    def element(self, target: ListRef, index: ScalarValue) -> TensorValue | None:
        """Return the element at a dynamic place as a view; None if the elements are no equal views.

        Raises:
            UnsupportedOpError: the view is unsupported.
        """
        family = self._family(target)
        if family is None:
            return None
        state, count, expr = self._state, len(family.contents), expr_of(index.sym)
        state.check(sympy.Ge(expr, -count), "IndexError: list index out of range")
        state.check(sympy.Lt(expr, count), "IndexError: list index out of range")
        base, dim = family.base, ConstValue(family.dim)
        if family.size is None:
            (view,) = self._tensors.call_arguments(torch.ops.aten.select.int, [base, dim, index])
            return view
        size = ConstValue(family.size)
        start: Any = self._scalars.emit("mul", [index, size])
        return self._tensors.views.narrow(base, dim, start, size)

    def _family(self, target: ListRef) -> _Family | None:
        found = self._families.get(target.cell)
        return found if found is not None and found.contents is self._state.heap.contents[target.cell] else None


def _family(contents: tuple[Value, ...], base: TensorValue) -> _Family | None:
    """Find the dimension along which views of one tensor follow each other; None if there is none, or views differ."""
    views = [element for element in contents if isinstance(element, TensorValue)]
    if len(views) < max(len(contents), 2) or not all(view.root is base.root and view.absolute for view in views):
        return None
    shape, strides = _layout(views[0])
    if any(_layout(view) != (shape, strides) for view in views):
        return None
    whole, steps = _layout(base)
    for dim, (entries, step) in enumerate(zip(whole, steps)):
        if len(shape) == len(whole):
            size = shape[dim]
            expected = [*whole[:dim], size, *whole[dim + 1 :]], steps
        else:
            size = sympy.Integer(1)
            expected = [*whole[:dim], *whole[dim + 1 :]], [*steps[:dim], *steps[dim + 1 :]]
        if (shape, strides) != expected or not size.is_Integer or size * len(views) != entries:
            continue
        starts = [base.offset + number * size * step for number in range(len(views))]
        if all(sympy.expand(view.offset - start) == 0 for view, start in zip(views, starts)):
            return _Family(contents, base, dim, int(size) if len(shape) == len(whole) else None)
    return None


def _layout(value: TensorValue) -> tuple[list[sympy.Expr], list[sympy.Expr]]:
    return [expr_of(size) for size in value.fake.shape], [expr_of(stride) for stride in value.fake.stride()]
