"""Ops that remove or insert an element of a list at a position."""

from __future__ import annotations

from collections.abc import Sequence

from ..values.diagnostics import ProgramRaises
from ..values.state import State
from ..values.values import ConstValue, ListRef, ScalarValue, Value
from .dynamic_lists import DynamicLists
from .list_forms import in_columns, in_parts

__all__ = ["PositionedOps", "position_in"]

_LAST = ConstValue(-1)


class PositionedOps:
    """Implements them on lists of known length; the methods are named like the ops.

    A position that is dynamic makes of the list one whose length is dynamic, to which this is no other case.
    """

    state: State
    growing: DynamicLists

    def elements(self, value: Value) -> tuple[Value, ...]:
        """Return the elements of a list."""
        raise NotImplementedError

    def store(self, value: Value, elements: Sequence[Value], op: str) -> None:
        """Give a list other elements."""
        raise NotImplementedError

    def _list_pop(self, target: Value, index: Value = _LAST) -> Value:
        elements = list(self.elements(target))
        if not elements:
            raise ProgramRaises("IndexError: pop from empty list")
        if isinstance(index, ScalarValue):
            return self._at_dynamic("pop", target, elements[0], index)  # type: ignore[return-value]
        element = elements.pop(position_in(index, len(elements), "pop index"))
        self.store(target, elements, "pop")
        return element

    def _list_insert(self, target: Value, index: Value, element: Value) -> None:
        elements = list(self.elements(target))
        if isinstance(index, ScalarValue):
            self._at_dynamic("insert", target, element, index, element)
            return
        elements.insert(index.value, element)  # type: ignore[attr-defined]
        self.store(target, elements, "insert")

    def _list_Delete(self, target: Value, index: Value) -> None:
        elements = list(self.elements(target))
        if isinstance(index, ScalarValue) and elements:
            self._at_dynamic("Delete", target, elements[0], index)
            return
        del elements[position_in(index, len(elements), "list assignment index")]
        self.store(target, elements, "del")

    def _at_dynamic(self, name: str, target: Value, like: Value, *args: Value) -> Value | None:
        """Run an op at a dynamic position.

        Args:
            name: the op.
            target: the list.
            like: what its elements are like.
            args: the op's further arguments.
        Raises:
            OtherForm: a list of dynamic length with such elements has to be in another form.
        """
        run, elements = self.growing.method(name), self.elements(target)
        assert run is not None
        assert isinstance(target, ListRef)
        in_columns(self.state, target.cell, [like, *elements], self.state.heap.contents)
        in_parts(self.state, target.cell, [like, *elements])
        changed, result = run((), self.growing.lifted(elements, like), *args)
        assert changed is not None
        self.store(target, (changed,), name)
        return result


def position_in(index: Value, length: int, what: str) -> int:
    """Return a constant index, counted from the start.

    Args:
        index: the index.
        length: of the list.
        what: what it is called in the IndexError that it raises if it is none of the list.
    """
    if isinstance(index, ConstValue) and -length <= index.value < length:
        return index.value % length
    raise ProgramRaises(f"IndexError: {what} out of range")
