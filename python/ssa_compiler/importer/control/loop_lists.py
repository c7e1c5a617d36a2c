"""The lists that a loop makes longer or shorter: how the loop gets them, and whether they have capacity for what it
appends.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from ..containers.dynamic_lists import DynamicLists
from ..containers.list_forms import FormsNeeded, in_columns, in_parts
from ..values.dynamic_list_value import LengthChanges, is_growing
from ..values.state import State
from ..values.values import ConstValue, ScalarValue, Site, Value
from .trip_counts import Trips
from .unrolling import count_ops

__all__ = ["BetterUnrolled", "LoopLists"]

_MOST_RESERVED = 1 << 16  # iterations known at import for which capacity is reserved in advance
_READILY_UNROLLED = 64  # iterations of a loop that builds a list; with more, the list becomes a buffer if it can
_MOST_OPS = 512  # of all iterations of such a loop

Heap = dict[Site, tuple[Value, ...]]


class BetterUnrolled(LengthChanges):
    """A loop is written out rather than that a list which it makes longer becomes a buffer."""


class LoopLists:
    """What one loop knows about lists that change their length in it, over all passes of its import."""

    def __init__(self, state: State, growing: DynamicLists, site: Site, trips: Trips) -> None:
        """Create it.

        Args:
            state: the interpretation.
            growing: the ops on such lists.
            site: the loop's.
            trips: how often it runs.
        """
        self.state, self.growing, self.site, self.most = state, growing, site, trips.most
        most, limit = trips.most, trips.limit
        constant = most.value if isinstance(most, ConstValue) else None
        self.bounded = isinstance(most, ScalarValue) or (constant is not None and constant <= _MOST_RESERVED)
        self._trips: int | None = limit.value if isinstance(limit, ConstValue) else None
        self._ops = 0
        # A loop around this one has reserved capacity if it can tell how often this one runs.
        self._inherited = growing.capacity.reserved if constant is not None and self.bounded else frozenset()
        self._reserved: dict[Site, float] = {}
        self._original: Heap = {}

    def measure(self, block: Any) -> None:
        """Note what the loop's body was imported to.

        Args:
            block: its ops.
        """
        if self._trips is not None:
            self._ops = count_ops(block.operations)

    def is_small(self) -> bool:
        """Whether all iterations together are few ops."""
        is_large = self.site in self.state.large_loops
        return self._trips is not None and self._trips * self._ops <= _MOST_OPS and not is_large

    def better_unrolled(self) -> bool:
        """Whether the loop is written out rather than a list that it makes longer becomes a buffer."""
        if self._trips is None or self._trips > _READILY_UNROLLED:
            return False
        if self.state.plan.unrolls or self.is_small():
            return True
        self.state.kept_loops.add(self.site)
        return False

    def reserved(self) -> frozenset[Site]:
        """Return the lists that have capacity for all that this loop appends."""
        return self._inherited | frozenset(self._reserved)

    @property
    def counts(self) -> Mapping[Site, float]:
        """How many elements an iteration may add to the lists for which the loop reserves capacity."""
        return self._reserved

    def foresee(self, before: Heap, counts: Mapping[Site, float]) -> None:
        """Reserve capacity as an earlier pass over the loop around this one came to it.

        Args:
            before: contents of all lists before the loop; changed to what the loop gets.
            counts: `counts` of that pass.
        """
        for cell, added in counts.items():
            if self.bounded and cell not in self._inherited and is_growing(before.get(cell, ())):
                with self.state.at(("capacity", cell)):
                    self._reserve(cell, before, (), added)

    def enter(self, before: Heap, end: Heap, added: dict[Site, float]) -> set[Site]:
        """Emit the lists that change their length as buffers, in front of the loop.

        Args:
            before: contents of all lists before the loop; changed to what the loop gets.
            end: their contents at the end of an iteration.
            added: how many elements an iteration may add to each.
        Returns:
            The lists of which the loop gets something else than it got in the last pass.
        Raises:
            LengthChanges: a list cannot be a buffer, or the loop is better written out.
        """
        changed, forms = set(), FormsNeeded()
        for cell in before:
            if cell in self.state.heap.keys or _same(before[cell], end[cell]):
                continue
            if is_growing(before[cell]) or is_growing(end[cell]) or len(before[cell]) != len(end[cell]):
                with self.state.at(("capacity", cell)), forms.next():
                    if self._enter_one(cell, before, end, added.get(cell, 0)):
                        changed.add(cell)
        forms.check()
        return changed

    def _enter_one(self, cell: Site, before: Heap, end_heap: Heap, added: float) -> bool:
        end = end_heap[cell]
        plain, lists = not is_growing(before[cell]), {**end_heap, **before}
        # A list whose length one iteration does not know has to be a buffer in any case.
        if plain and not is_growing(end) and self.better_unrolled():
            raise BetterUnrolled(
                "unsupported: a list that changes its length in a loop", location=self.state.locations.user()
            )
        bounded = self.bounded and added < math.inf and cell not in self._inherited
        had = self._reserved.get(cell)
        if not plain and not bounded:
            return self._reserved.pop(cell, None) is not None
        if not plain and had is not None and had >= added:
            return False
        original = self._original.setdefault(cell, before[cell])
        in_columns(self.state, cell, [*original, *end], lists)
        in_parts(self.state, cell, [*original, *end], lists)
        self._reserve(cell, before, end, added if bounded else None)
        return True

    def _reserve(self, cell: Site, before: Heap, end: Sequence[Value], added: float | None) -> None:
        """Emit a list as a buffer, with capacity for what the loop adds if that is known."""
        original = self._original.setdefault(cell, before[cell])
        more = None if added is None else self._more(added)
        before[cell] = (self.growing.entered(original, end, more),)
        if added is not None:
            self._reserved[cell] = added

    def _more(self, added: float) -> Value:
        """How many elements the whole loop may add."""
        emit: Any = self.growing.scalars.emit
        trips = emit("max", [self.most, ConstValue(0)])
        return emit("mul", [trips, ConstValue(int(added))])


def _same(a: Sequence[Value], b: Sequence[Value]) -> bool:
    return len(a) == len(b) and all(x is y for x, y in zip(a, b))
