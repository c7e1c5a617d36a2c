"""For loops over a dict of which run-time values decide what keys it has: written out, each key under a branch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from ..containers.later_keys import Visit
from ..values.plan import UNROLLED
from ..values.state import State
from ..values.values import ConstValue, ScalarValue, Value

__all__ = ["KeyLoop"]

_TRUE = ConstValue(True)
Choose = Callable[[Value, Callable[[], list[Value]], Callable[[], list[Value]]], list[Value]]


@dataclass(frozen=True)
class KeyLoop:
    """A loop over such a dict.

    Attributes:
        state: the interpretation.
        choose: imports two alternatives under a dynamic condition.
        run_block: imports a TorchScript block.
        check: called at the end of an iteration.
        body: the loop's body.
        counters: the values that the loop carries which count the iterations, as one with a break has.
    """

    state: State
    choose: Choose
    run_block: Callable[[Any, Sequence[Value]], list[Value]]
    check: Callable[[Value | None], None]
    body: Any
    counters: Sequence[int]

    def run(self, visits: Sequence[Visit], values: list[Value]) -> list[Value]:
        """Import the loop.

        Args:
            visits: the keys that the dict may have.
            values: what the loop carries.
        """
        for number, visit in enumerate(visits):
            with self.state.at((UNROLLED, number)):
                again, *values = self._visited(visit, values)
            if isinstance(again, ScalarValue):
                return self.choose(again, partial(self.run, visits[number + 1 :], values), partial(list, values))
            if isinstance(again, ConstValue) and not again.value:
                break
        return values

    def _visited(self, visit: Visit, values: list[Value]) -> list[Value]:
        """Import the iteration for a key, if the dict has it; returns whether the loop goes on, and what it carries."""

        def there() -> list[Value]:
            carried = [visit.index if place in self.counters else value for place, value in enumerate(values)]
            with visit.entered():
                again, *results = self.run_block(self.body, [visit.index, *carried])
                self.check(again)
            return [again, *results]

        if isinstance(visit.present, ConstValue):
            return there() if visit.present.value else [_TRUE, *values]
        return self.choose(visit.present, there, lambda: [_TRUE, *values])
