"""Which lists, dicts and objects that a branch has made have one name behind it: there the value that joins them is the
object itself, which may be changed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from ..values.state import State
from ..values.values import ChosenRef, DictRef, ListRef, OptionalValue, Site, TupleValue, Value

__all__ = ["unshared"]


def unshared(
    state: State, values: Sequence[Value], heap: dict[Site, tuple[Value, ...]], before: Collection[Site]
) -> set[Site]:
    """Return the containers that a branch has made and that are in one place of what it leaves.

    Args:
        state: the interpretation.
        values: what it yields, and what it has put into containers from outside of it.
        heap: the contents of containers at its end.
        before: the containers from outside.
    """
    counts: Counter[Site] = Counter()

    def count(value: Value) -> None:
        if isinstance(value, OptionalValue):
            count(value.value)
        elif isinstance(value, TupleValue):
            for element in value.elements:
                count(element)
        elif isinstance(value, ChosenRef):
            counts.update(2 * [each.cell for each in value.choices])
        elif isinstance(value, (ListRef, DictRef)) and value.cell not in before:
            counts[value.cell] += 1
            if counts[value.cell] == 1:
                for element in heap[value.cell]:
                    count(element)

    for value in values:
        count(value)
    known = state.heap
    others = (known.frozen, known.copied, known.views, known.tuples, known.caller_owned, known.module_owned)
    return {cell for cell, number in counts.items() if number == 1 and not any(cell in each for each in others)}
