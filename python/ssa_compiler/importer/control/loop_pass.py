"""One import of a loop's body, under an assumption about what the loop carries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from torch_mlir import ir

from ..containers.dynamic_lists import DynamicLists
from ..containers.list_forms import in_one_form
from ..tensors.scalar_ops import ScalarOps
from ..values.diagnostics import ProgramRaises
from ..values.dict_items import Items, contents_of, value_of
from ..values.join import operands, rebuild, types
from ..values.lattice import Abstract, AnyScalar, AnyTensor, Same, abstract, has_later_keys, is_growing_abstract
from ..values.lattice_join import from_earlier_iterations, join
from ..values.state import State
from ..values.symbols import expr_of
from ..values.values import ConstValue, ScalarValue, Site, Value
from .join_owners import unshared
from .loop_counts import counted
from .loop_lists import BetterUnrolled, LoopLists
from .trip_counts import Trips

__all__ = ["FOREVER", "Heap", "LoopParts", "LoopPass", "same_contents"]

FOREVER = 2**63 - 1
"""The number of iterations of a while loop."""

Heap = dict[Site, tuple[Value, ...]]


@dataclass(frozen=True)
class LoopParts:
    """What importing a body needs.

    Attributes:
        state: the interpretation.
        scalars: emits scalar ops.
        growing: the ops on lists whose length is dynamic.
        run_block: imports a TorchScript block.
        last_named: the lists that are carried first and that nothing else refers to from there on.
    """

    state: State
    scalars: ScalarOps
    growing: DynamicLists
    run_block: Callable[[Any, Sequence[Value]], list[Value]]
    last_named: frozenset[Site]


class LoopPass:
    """One import of a loop's body, under an assumption about what it carries.

    `plain` is what is surely known at the head, of which the assumption may be a forecast.
    """

    def __init__(
        self,
        parts: LoopParts,
        site: Site,
        trips: Trips,
        initial: list[Value],
        before: Heap,
        head: list[Abstract],
        cells: list[Site],
        contents: list[Abstract],
        written: set[Site],
        lists: LoopLists,
        plain: list[Abstract],
    ) -> None:
        self.lists, self.plain = lists, plain
        self.parts, self.site, self.trip, self.condition = parts, site, trips.limit, trips.condition
        self.state, self.emitter = parts.state, parts.state.emitter
        self.initial, self.before, self.head = initial, before, head
        self.cells, self.contents, self.written = list(cells), list(contents), set(written)

    def _carried(self) -> list[Abstract]:
        return [*self.head, *self.contents]

    def run(self, body: Any) -> None:
        """Import the body into a region that is in no block yet."""
        state, emitter = self.state, self.emitter
        state.heap.contents = dict(self.before)
        state.symbols.forget_counts()  # what the end of the body writes is seen at its start
        carried_types = [found for a in self._carried() for found in types(state, a)]
        self.operation = emitter.draft("torch.prim.Loop", 1)
        self.block = ir.Block.create_at_start(
            self.operation.regions[0],
            [emitter.scalar_type(int), *carried_types],
            [state.locations.mlir()] * (1 + len(carried_types)),
        )
        self.raises: str | None = None
        with (
            self.state.region(),
            state.at(self.site[-1]),
            state.at("body"),
            emitter.region(self.block) as self.scope,
            self.parts.growing.capacity.body(self.lists.reserved()) as self.added,
        ):
            arguments = iter(self.block.arguments)
            induction = self._induction(next(arguments))
            self.entry = [rebuild(state, a, lambda: next(arguments)) for a in self._carried()]
            for cell, value in zip(self.cells, self.entry[len(self.head) :]):
                state.heap.contents[cell] = contents_of(value)
            if self.written:
                state.storages.clock += 1
                state.storages.stamps.update(dict.fromkeys(self.written, state.storages.clock))
            self.start = dict(state.heap.contents)
            written_before = set(state.storages.written)
            state.storages.written = set()
            try:
                again, *self.outputs = control_outputs = self.parts.run_block(
                    body, [induction, *self.entry[: len(self.head)]]
                )
                del control_outputs
                self.again: Value = again
            except ProgramRaises as raised:
                self.raises = raised.text
                self.again = ConstValue(False)
                self.outputs = self.entry[: len(self.head)]
                state.heap.contents = dict(self.start)
                emitter.assertion(emitter.constant(False), raised.text)
            self.body_writes = state.storages.written
            state.storages.written = written_before | self.body_writes
        self.end = state.heap.contents
        state.symbols.forget_counts()
        self.lists.measure(self.block)

    def _induction(self, ssa: Any) -> Value:
        state = self.state
        high = None
        if isinstance(self.trip, ConstValue):
            high = max(self.trip.value - 1, 0)
        elif isinstance(self.trip, ScalarValue):
            bound = state.symbols.bounds(self.trip.sym.node.expr)[1]
            high = int(bound) - 1 if bound.is_Integer and 0 < bound < FOREVER else None
        symbol = state.symbols.integer((self.site, "induction", self.trip), low=0, high=high)
        state.inductions[expr_of(symbol)] = (*self.site, "body")
        return state.scalar(int, ssa, symbol)

    def settled(self) -> bool:
        """Join the end of the body with its head; whether nothing new came of it."""
        changed = [cell for cell in self.before if not same_contents(self.before[cell], self.end[cell])]
        kept = [element for cell in changed for element in self.end[cell]]
        heap = self.state.heap
        heap.unshared |= self.parts.last_named | unshared(self.state, [*self.outputs, *kept], self.end, self.before)
        try:
            return self._settled()
        finally:
            heap.unshared.clear()

    def _settled(self) -> bool:
        state = self.state
        state.heap.contents = dict(self.before)
        entered = self.lists.enter(self.before, self.end, self.added)
        self.next_head = [self._join(a, value, output) for a, value, output in zip(self.head, self.entry, self.outputs)]
        for number, (a, b, known) in enumerate(zip(self.head, self.next_head, self.plain)):
            if a is not known and a != b:  # a forecast that was wrong is forgotten
                self.next_head[number] = self._join(known, self.entry[number], self.outputs[number])
        for a, b in zip(self.head, self.next_head):
            if is_growing_abstract(b) and not is_growing_abstract(a) and self.lists.better_unrolled():
                raise BetterUnrolled("unsupported: a list that changes its length", location=state.locations.user())
            self._check_keys(a, b)
        self.next_contents = [
            abstract(value_of(self.before[cell])) if cell in entered else self._join(a, value, value_of(self.end[cell]))
            for a, value, cell in zip(self.contents, self.entry[len(self.head) :], self.cells)
        ]
        for a, b in zip(self.contents, self.next_contents):
            self._check_keys(a, b)
        self.new_cells = [
            cell
            for cell in self.before
            if cell not in self.cells and not same_contents(self.before[cell], self.end[cell])
        ]
        self.next_written = self.written | self._writes_seen_at_the_head()
        return (
            self.next_head == self.head
            and self.next_contents == self.contents
            and not self.new_cells
            and not entered
            and self.next_written == self.written
        )

    def _check_keys(self, a: Abstract, b: Abstract) -> None:
        """Reject a dict that gets keys in a loop which is better written out: then they are known."""
        if has_later_keys(b) and not has_later_keys(a) and self.lists.better_unrolled():
            raise BetterUnrolled("unsupported: a dict that changes its keys", location=self.state.locations.user())

    def _writes_seen_at_the_head(self) -> set[Site]:
        """The storages that an iteration writes, and that something at the head of the next one may alias."""
        writes = self.body_writes & self.state.storages.questioned
        carried = (*self.next_head, *self.next_contents)
        if not all(isinstance(a, (Same, AnyScalar)) or (isinstance(a, AnyTensor) and not a.maybe) for a in carried):
            return writes
        # Of what an iteration made itself, the next one has at most tensors that surely alias it, or do not.
        body = (*self.site, "body")
        return {storage for storage in writes if storage[: len(body)] != body}

    def _join(self, a: Abstract, entry: Value, output: Value) -> Abstract:
        """Join the knowledge at the head with one output of the body; what the body passes through changes nothing."""
        if output is entry:
            return a
        in_one_form(self.state, a, abstract(output), self.before, self.end)
        joined = join(self.state, a, abstract(output), "loop", self.before, self.end)
        return from_earlier_iterations(joined, (*self.site, "body"))

    def widened(self) -> tuple[list[Abstract], list[Site], list[Abstract], set[Site]]:
        """What to assume in the next pass."""
        added = [abstract(value_of(self.before[cell])) for cell in self.new_cells]
        return self.next_head, [*self.cells, *self.new_cells], [*self.next_contents, *added], self.next_written

    def finish(self) -> list[Value]:
        """Emit the loop with the body imported last."""
        state, emitter = self.state, self.emitter
        initial = [*self.initial, *(value_of(self.before[cell]) for cell in self.cells)]
        final = [*self.outputs, *(value_of(self.end[cell]) for cell in self.cells)]
        outer, emitter.scope = emitter.scope, self.scope
        forever = isinstance(self.again, ConstValue) and self.again.value is True
        again = emitter.constant(True) if forever else self.parts.scalars.ssa(self.again, bool)
        yielded = [ssa for v, a in zip(final, self._carried()) for ssa in operands(state, v, a, self.end)]
        emitter.op("torch.prim.Loop.condition", [], [again, *yielded])
        emitter.scope = outer
        passed_in = [ssa for v, a in zip(initial, self._carried()) for ssa in operands(state, v, a, self.before)]
        carried_types = [found for a in self._carried() for found in types(state, a)]
        trip = self.parts.scalars.ssa(self.trip, int)
        condition = self.parts.scalars.ssa(self.condition, bool)
        loop = emitter.op("torch.prim.Loop", carried_types, [trip, condition, *passed_in], regions=1)
        self.block.append_to(loop.regions[0])
        emitter.discard(self.operation)
        self.parts.growing.capacity.repeated(self.added, self.lists.most, self.lists.bounded)
        results = iter(loop.results)
        state.heap.contents = {**self.end, **self.before}
        rebuilt = [rebuild(state, a, lambda: next(results)) for a in self._carried()]
        if forever and isinstance(self.condition, ConstValue) and self.condition.value:
            number, around = self.parts.growing.tensors.symbolic, zip(initial, self.entry, final, rebuilt)
            rebuilt = [counted(state, number, self.trip, *values) for values in around]
        for cell, value in zip(self.cells, rebuilt[len(self.head) :]):
            state.heap.contents[cell] = contents_of(value)
        return rebuilt[: len(self.head)]


def same_contents(a: tuple[Value, ...], b: tuple[Value, ...]) -> bool:
    if len(a) != len(b) or any(x is not y for x, y in zip(a, b)):
        return False
    return not isinstance(a, Items) or a is b or (isinstance(b, Items) and (a.keys, a.later) == (b.keys, b.later))
