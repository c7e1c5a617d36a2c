"""How much may be appended to lists whose length is dynamic."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager

from ..values.values import ConstValue, Site, Value

__all__ = ["ReservedCapacity"]


class ReservedCapacity:
    """Counts what may be appended to each list, so that loops can reserve capacity for it.

    Attributes:
        added: how many elements each list may have got since the start of the loop body that is being imported;
            infinite if that depends on run-time values.
        reserved: the lists that have capacity for all that this body appends to them.
    """

    def __init__(self) -> None:
        self.added: dict[Site, float] = {}
        self.reserved: frozenset[Site] = frozenset()

    def add(self, cell: Site, count: float) -> None:
        """Note that a list has got elements."""
        self.added[cell] = self.added.get(cell, 0) + count

    @contextmanager
    def body(self, reserved: frozenset[Site]) -> Iterator[dict[Site, float]]:
        """Import a loop's body; yields its own counts, which are there at the end."""
        outer = self.added, self.reserved
        self.added, self.reserved = {}, reserved
        counted: dict[Site, float] = {}
        try:
            yield counted
        finally:
            counted.update(self.added)
            self.added, self.reserved = outer

    def either(self, first: dict[Site, float], second: dict[Site, float]) -> None:
        """Note that one of two branches has run, which counted `first` and `second`."""
        self.added = {cell: max(first.get(cell, 0), second.get(cell, 0)) for cell in {**first, **second}}

    def repeated(self, body: dict[Site, float], trip: Value, known: bool) -> None:
        """Note that a loop has run, whose body counted `body`."""
        for cell, count in body.items():
            constant = trip.value if known and isinstance(trip, ConstValue) else math.inf
            if count:
                self.add(cell, count * constant)
