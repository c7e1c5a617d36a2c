"""Loops that are written out: their iterations are imported one by one."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ...errors import UnsupportedProgramError
from ..values.plan import UNROLLED
from ..values.state import State
from ..values.values import ConstValue, ScalarValue, Value
from .trip_counts import Iteration

__all__ = ["LargeLoopError", "Unrolling", "count_ops"]

_MOST_OPS = 2048
"""Ops that a loop may become whose body seemed to be small: it may be smaller in the first iteration than later, as
what it carries is known there."""

Choose = Callable[[Value, Callable[[], list[Value]], Callable[[], list[Value]]], list[Value]]


class LargeLoopError(UnsupportedProgramError):
    """A loop that is written out becomes too many ops."""


class Unrolling:
    """Writes loops out.

    Args:
        state: the interpretation.
        run_block: imports a TorchScript block.
        choose: emits two alternatives under a dynamic condition.
    """

    def __init__(self, state: State, run_block: Callable[[Any, Sequence[Value]], list[Value]], choose: Choose) -> None:
        self.state, self.run_block, self.choose = state, run_block, choose

    def run(
        self, trip: int, values: list[Value], body: Any, iteration: Iteration, *, is_limited: bool = False
    ) -> list[Value]:
        """Import a loop over the elements of a list one by one; under a branch what a run-time `break` may skip.

        Args:
            trip: how many iterations there are at most.
            values: what the loop carries.
            body: the TorchScript block.
            iteration: how it goes through lists.
            is_limited: whether it may not become many ops.
        Raises:
            LargeLoopError: it does.
        """
        return self._from(0, trip, values, body, iteration, _MOST_OPS if is_limited else math.inf)

    def _from(
        self, position: int, trip: int, values: list[Value], body: Any, iteration: Iteration, left: float
    ) -> list[Value]:
        while position < trip:
            block = self.state.emitter.scope.block
            before = 0 if left == math.inf else len(block.operations)
            with self.state.at((UNROLLED, position)):
                again, *values = self.run_block(body, [ConstValue(position), *values])
            if left < math.inf:
                left -= count_ops(list(block.operations)[before:])
                if left < 0:
                    raise LargeLoopError("a loop that is written out becomes many ops")
            position += 1
            iteration.check(again)
            if isinstance(again, ScalarValue) and position < trip:
                return self._while(again, position, trip, values, body, iteration, left)
            if isinstance(again, ConstValue) and not again.value:
                break
        return values

    def _while(
        self,
        again: ScalarValue,
        position: int,
        trip: int,
        values: list[Value],
        body: Any,
        iteration: Iteration,
        left: float,
    ) -> list[Value]:
        return self.choose(again, lambda: self._from(position, trip, values, body, iteration, left), lambda: values)


def count_ops(operations: Iterable[Any]) -> int:
    """Return how many ops there are, with those in them."""
    ops = [view.operation for view in operations]
    return len(ops) + sum(count_ops(inner.operations) for op in ops for region in op.regions for inner in region.blocks)
