"""Elements of lists and dicts that a dynamic index or key chooses, and whether they are put back where they were."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..values.state import State
from ..values.values import DictRef, ListRef, ScalarValue, Site, TensorValue, Value
from .equal_views import EqualViews

__all__ = ["ChosenElements"]


class ChosenElements:
    """Notes what was read at dynamic places.

    `items[k] += x` is three steps: it reads the element, writes into it, and puts it back. Which of several tensors an
    element is only control flow knows, so a tensor that is put into a container of the caller's makes copies of the
    others there; this one stays where it is.
    """

    def __init__(
        self, state: State, choose: Callable[[Value, Sequence[Value]], Value], equal_views: EqualViews
    ) -> None:
        self._state, self._choose, self._equal_views = state, choose, equal_views
        self._read: dict[tuple[Site, object], tuple[tuple[Value, ...], Value]] = {}

    def read(self, target: ListRef | DictRef, index: ScalarValue, elements: Sequence[Value]) -> Value:
        """Return the element at a dynamic place, and note it.

        Args:
            target: the container.
            index: the place, counted in `elements`.
            elements: what the container holds.
        """
        view = self._equal_views.element(target, index) if isinstance(target, ListRef) else None
        value = self._choose(index, elements) if view is None else view
        numbers = self._state.heap.contents.get(("source", target.cell))
        if view is None and numbers is not None:
            self._state.heap.note_chosen(value, self._choose(index, numbers))
        self._read[(target.cell, index.ssa)] = (self._state.heap.contents[target.cell], value)
        return value

    def is_put_back(self, target: ListRef | DictRef, index: ScalarValue, element: Value) -> bool:
        """Whether an element is put where it was read, and nothing has changed in between.

        Args:
            target, index: as of `read`.
            element: what is put there.
        Raises:
            UnsupportedOpError: it is another tensor, and the container is an argument or the module's.
        """
        contents, value = self._read.get((target.cell, index.ssa), (None, element))
        if contents is self._state.heap.contents[target.cell] and _is_same(element, value):
            return True
        if target.cell in self._state.heap.caller_owned and isinstance(element, TensorValue):
            raise self._state.unsupported_op(
                "an assignment to an element, which a dynamic index or key chooses, of a list or dict of tensors that is an "
                "argument or the module's; write into the tensor, as by items[i].copy_(x), or keep one tensor with a row "
                "for each"
            )
        return False


def _is_same(one: Value, other: Value) -> bool:
    """Whether two values are one object in Python."""
    if isinstance(one, TensorValue) and isinstance(other, TensorValue):
        return bool(one.ssa == other.ssa)
    return one is other
