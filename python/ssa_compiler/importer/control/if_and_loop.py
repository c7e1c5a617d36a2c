"""Importing prim::If and prim::Loop.

A branch on a known condition is imported alone. Otherwise both branches are imported into regions of a
`torch.prim.If`; a branch that surely raises becomes an assertion, and the other one is imported in line. A loop's body
is imported again and again, each time knowing less about what it carries, until the end of the body knows no less than
its head (`join`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import sympy
from torch_mlir import ir

from ...errors import UnsupportedOpError, UnsupportedProgramError
from ..containers.dynamic_lists import DynamicLists
from ..containers.list_forms import FormsNeeded, in_columns, in_one_form, in_parts
from ..tensors.scalar_ops import ScalarOps
from ..values.diagnostics import OtherForm, ProgramRaises, Unjoinable
from ..values.dict_items import contents_of, value_of
from ..values.dynamic_list_value import is_growing
from ..values.join import operands, rebuild, types
from ..values.lattice import Abstract, abstract
from ..values.lattice_join import join
from ..values.state import State
from ..values.symbols import expr_of
from ..values.values import ConstValue, ScalarValue, Site, Value
from .dict_loops import KeyLoop
from .earlier_passes import EarlierPasses
from .join_owners import last_named, unshared
from .loop_forecast import forecast
from .loop_lists import BetterUnrolled, LoopLists
from .loop_pass import FOREVER, Heap, LoopParts, LoopPass, same_contents
from .refinement import refined, refined_contents
from .trip_counts import Iteration, Trips
from .unrolling import LargeLoopError, Unrolling

__all__ = ["Control"]

_MOST_PASSES, _PASSES_FOR_EACH = 50, 4
_MOST_UNROLLED = 256
_READILY_UNROLLED = 4
"""A loop over so many numbers is written out."""


@dataclass
class _Branch:
    """An imported branch: its block, what it yields, the heap at its end; `raises` if its end is not reached.

    `emitted`: whether its code raises that, or is seen before that is raised, so that it has to stay.
    """

    block: Any
    scope: Any
    outputs: list[Value]
    heap: Heap
    raises: str | None = None
    emitted: bool = False


class _WrittenOut(UnsupportedProgramError):
    """A loop is better written out."""


class Control:
    """Emits structured control flow. `run_block(block, inputs)` imports a TorchScript block and returns its outputs."""

    def __init__(
        self,
        state: State,
        scalars: ScalarOps,
        growing: Callable[[Any], DynamicLists],
        run_block: Callable[[Any, Sequence[Value]], list[Value]],
        environments: Sequence[Mapping[str, Value]],
    ) -> None:
        """Create it.

        Args:
            state: the interpretation.
            scalars: emits scalar ops.
            growing: makes, given `choose`, the ops on lists whose length is dynamic.
            run_block: imports a TorchScript block.
            environments: what the names of TorchScript are, of each function that is being imported.
        """
        self.state, self._environments = state, environments
        self.emitter = state.emitter
        self.scalars = scalars
        self.run_block = run_block
        self.growing = growing(self.choose)
        self.unrolling = Unrolling(state, run_block, self.choose)
        self._earlier = EarlierPasses(state)
        self._small: set[Site] = set()

    # Branches.

    def branch(self, condition: Value, node: Any) -> list[Value]:
        """Import a prim::If."""
        then, otherwise = node.blocks()
        if isinstance(condition, ConstValue):
            chosen = then if condition.value else otherwise
            with self.state.at("then" if condition.value else "else"):
                return self.run_block(chosen, [])

        def run(block: Any) -> Callable[[], list[Value]]:
            return lambda: self.run_block(block, [])

        return self.choose(condition, run(then), run(otherwise), node)

    def choose(
        self,
        condition: Value,
        then: Callable[[], list[Value]],
        otherwise: Callable[[], list[Value]],
        node: Any = None,
    ) -> list[Value]:
        """Import two alternatives under a condition; one alone if that is known.

        Args:
            condition: a bool.
            then: imports the first alternative into the current block and returns its values.
            otherwise: the same for the second.
            node: the prim::If, if it is one.
        Raises:
            Unjoinable: what they make has no common type.
        """
        state = self.state
        if isinstance(condition, ConstValue):
            return then() if condition.value else otherwise()
        assert isinstance(condition, ScalarValue)
        before, capacity = dict(state.heap.contents), self.growing.capacity
        added = dict(capacity.added)
        draft = self.emitter.draft("torch.prim.If", 2)
        branches, counts = [], []
        for name, run, region in zip(("then", "else"), (then, otherwise), draft.regions):
            state.heap.contents, capacity.added = dict(before), dict(added)
            branches.append(self._import_branch(name, run, region))
            counts.append(capacity.added)
        first, second = branches
        fact = expr_of(condition.sym)
        first.outputs = [refined(value, fact) for value in first.outputs]
        second.outputs = [refined(value, sympy.Not(fact)) for value in second.outputs]
        capacity.added = added
        if first.raises is not None or second.raises is not None:
            self._keep_raising(condition, draft, branches)
        if first.raises is not None and second.raises is not None:
            state.heap.contents = before
            self.emitter.assertion(condition.ssa, second.raises)
            raise ProgramRaises(first.raises, emitted=first.emitted)
        if first.raises is not None or second.raises is not None:
            state.heap.contents = before
            return self._assert_and_continue(condition, first.raises, second.raises, then, otherwise)
        capacity.either(*counts)
        try:
            return self._finish(condition, draft, before, first, second, node)
        except (UnsupportedOpError, UnsupportedProgramError) as rejection:
            raise Unjoinable(rejection) from rejection

    def _keep_raising(self, condition: ScalarValue, draft: Any, branches: Sequence[_Branch]) -> None:
        """Emit an If of the branches whose code raises, without the others and without results."""
        if any(branch.emitted for branch in branches):
            final = self.emitter.op("torch.prim.If", [], [condition.ssa], regions=2)
            for branch, region in zip(branches, final.regions):
                if branch.emitted:
                    branch.block.append_to(region)
                block = branch.block if branch.emitted else ir.Block.create_at_start(region)
                with self.emitter.region(block):
                    self.emitter.op("torch.prim.If.yield")
        self.emitter.discard(draft)

    def _import_branch(self, name: str, run: Callable[[], list[Value]], region: Any) -> _Branch:
        state = self.state
        block = ir.Block.create_at_start(region)
        try:
            with state.region(), state.at(name), self.emitter.region(block) as scope:
                return _Branch(block, scope, run(), state.heap.contents)
        except ProgramRaises as raised:
            return _Branch(block, None, [], state.heap.contents, raised.text, raised.emitted or _is_seen(block))

    def _assert_and_continue(
        self,
        condition: ScalarValue,
        first: str | None,
        second: str | None,
        then: Callable[[], list[Value]],
        otherwise: Callable[[], list[Value]],
    ) -> list[Value]:
        """One alternative surely raises: assert that the other one is taken, and import that in line."""
        if first is not None:
            negated = self.scalars.emit("__not__", [condition])
            self.emitter.assertion(self.scalars.ssa(negated, bool), first)
            with self.state.at("else"):
                return otherwise()
        assert second is not None
        self.emitter.assertion(condition.ssa, second)
        with self.state.at("then"):
            return then()

    def _finish(
        self, condition: ScalarValue, draft: Any, before: Heap, first: _Branch, second: _Branch, node: Any
    ) -> list[Value]:
        """Join the two branches and emit the If."""
        state, emitter = self.state, self.emitter
        state.heap.contents = dict(before)
        changed = [cell for cell in before if not same_contents(first.heap[cell], second.heap[cell])]
        fact = expr_of(condition.sym)
        for branch, known in ((first, fact), (second, sympy.Not(fact))):
            branch.heap |= {cell: refined_contents(branch.heap[cell], known) for cell in changed}
        forms = FormsNeeded()
        for cell in changed:
            either = [*first.heap[cell], *second.heap[cell]]
            both = {**first.heap, **second.heap}
            with forms.next():
                if len(first.heap[cell]) != len(second.heap[cell]):
                    in_columns(state, cell, either, both)
                if len(first.heap[cell]) != len(second.heap[cell]) or is_growing(either[:1]) or is_growing(either[-1:]):
                    in_parts(state, cell, either, both)
        values_first = [*first.outputs, *(value_of(first.heap[cell]) for cell in changed)]
        values_second = [*second.outputs, *(value_of(second.heap[cell]) for cell in changed)]
        for one, other in zip(first.outputs, second.outputs):
            with forms.next():
                in_one_form(state, abstract(one), abstract(other), first.heap, second.heap)
        forms.check()
        if node is not None:
            yielded_by = [(branch.outputs, branch.heap) for branch in (first, second)]
            state.heap.unshared |= last_named(state, self._environments, node, yielded_by)
        for branch, values in ((first, values_first), (second, values_second)):
            state.heap.unshared |= unshared(state, values, branch.heap, before)
        try:
            joined = [
                join(state, abstract(a), abstract(b), "if", first.heap, second.heap)
                for a, b in zip(values_first, values_second)
            ]
        finally:
            state.heap.unshared.clear()
        state.heap.contents = {**first.heap, **second.heap, **before}
        for branch, values in ((first, values_first), (second, values_second)):
            outer, emitter.scope = emitter.scope, branch.scope
            yielded = [ssa for value, a in zip(values, joined) for ssa in operands(state, value, a, branch.heap)]
            emitter.op("torch.prim.If.yield", [], yielded)
            emitter.scope = outer
        result_types = [found for a in joined for found in types(state, a)]
        final = emitter.op("torch.prim.If", result_types, [condition.ssa], regions=2)
        for branch, region in zip((first, second), final.regions):
            branch.block.append_to(region)
        emitter.discard(draft)
        results = iter(final.results)
        for cell in before:
            if cell not in changed:
                state.heap.contents[cell] = first.heap[cell]
        rebuilt = [rebuild(state, a, lambda: next(results)) for a in joined]
        count = len(first.outputs)
        for cell, contents in zip(changed, rebuilt[count:]):
            state.heap.contents[cell] = contents_of(contents)
        return rebuilt[:count]

    def select(self, index: Value, values: Sequence[Value]) -> Value:
        """Choose one of several values by a dynamic index (`list[i]`)."""
        assert isinstance(index, ScalarValue)
        count = len(values)
        symbol = index.sym
        self.state.check((symbol >= -count).node.expr, "IndexError: list index out of range")
        self.state.check((symbol < count).node.expr, "IndexError: list index out of range")
        if count == 0:
            raise ProgramRaises("IndexError: list index out of range")
        if not self.state.symbols.known(sympy.Ge(symbol.node.expr, 0)):
            negative = self.scalars.emit("lt", [index, ConstValue(0)])
            (index,) = self.choose(
                negative, lambda: [self.scalars.emit("add", [index, ConstValue(count)])], lambda: [index]
            )

        def pick(low: int, high: int) -> list[Value]:
            """Choose among the values from `low` to before `high` by halves, so that branches nest to depth log(n)."""
            if high - low == 1:
                return [values[low]]
            middle = (low + high) // 2
            below = self.scalars.emit("lt", [index, ConstValue(middle)])
            return self.choose(below, lambda: pick(low, middle), lambda: pick(middle, high))

        return pick(0, count)[0]

    # Loops.

    def loop(
        self,
        trips: Trips,
        initial: Sequence[Value],
        node: Any,
        iteration: Iteration,
    ) -> list[Value]:
        """Import a prim::Loop.

        Args:
            trips: how often it runs.
            initial: the values that the loop carries.
            node: the loop.
            iteration: the lists that a for loop goes through.
        """
        state = self.state
        (body,) = node.blocks()
        trip = trips.limit
        if isinstance(trips.condition, ConstValue) and not trips.condition.value:
            return list(initial)
        if isinstance(trip, ConstValue) and trip.value <= 0:
            return list(initial)
        if iteration.visits is not None:
            keys = KeyLoop(state, self.choose, self.run_block, iteration.check, body, iteration.counters)
            return keys.run(iteration.visits, list(initial))
        if _is_single(trips):
            return self.unrolling.run(1, list(initial), body, iteration)
        structural = trip.value if isinstance(trip, ConstValue) and trip.structural else None
        if structural is not None and not (iteration.numbers and structural > _READILY_UNROLLED):
            return self.unrolling.run(structural, list(initial), body, iteration)
        site = state.site()
        take_back = state.checkpoint()
        try:
            return self._looped_or_unrolled(site, structural, trips, initial, body, iteration)
        except LargeLoopError:
            take_back()
            state.large_loops.add(site)
            return self._looped_or_unrolled(site, structural, trips, initial, body, iteration)

    def _looped_or_unrolled(
        self,
        site: Site,
        structural: int | None,
        trips: Trips,
        initial: Sequence[Value],
        body: Any,
        iteration: Iteration,
    ) -> list[Value]:
        state, trip = self.state, trips.limit
        before, added = dict(state.heap.contents), dict(self.growing.capacity.added)
        try:
            with self.emitter.attempt():
                results = self._as_loop(site, trips, initial, before, body)
                iteration.check(None)
                if structural is not None and site in self._small:
                    raise _WrittenOut("a loop over numbers that is small")
                return results
        except (UnsupportedOpError, UnsupportedProgramError) as rejection:
            # A list of as many values as there are iterations; a dimension that is the number of the iteration.
            known = iteration.length if iteration.length is not None else getattr(trip, "value", FOREVER)
            plain = rejection.plain() if isinstance(rejection, Unjoinable) else rejection
            form = getattr(plain, "form", None)
            # A large loop that builds a list of tuples stays one; lists of tensors of other shapes are better known.
            stays = site in state.kept_loops and form is not None and form.columns and form not in state.plan.forms
            if known > _MOST_UNROLLED or stays:
                raise
            state.kept_loops.discard(site)
            state.heap.contents, self.growing.capacity.added = before, added
            is_limited = isinstance(plain, BetterUnrolled) and not state.plan.unrolls
            try:
                with self.emitter.attempt():
                    return self.unrolling.run(known, list(initial), body, iteration, is_limited=is_limited)
            except LargeLoopError:
                self.growing.capacity.added = added
                raise
            except (UnsupportedOpError, UnsupportedProgramError) as other:
                plain = other.plain() if isinstance(other, Unjoinable) else other
                # What asks for a list in another form may be all that is in the way.
                raise (other if isinstance(plain, OtherForm) else rejection) from None

    def _as_loop(self, site: Site, trips: Trips, initial: Sequence[Value], before: Heap, body: Any) -> list[Value]:
        """Import a loop as a loop; without a forecast if it is rejected with one, for the message."""
        state, added = self.state, dict(self.growing.capacity.added)
        frames = list(state.locations.frames)
        plain = [abstract(value) for value in initial]
        head = self._earlier.head(site, plain, before)
        if head == plain:
            head = forecast(state, site, initial, plain, before, body)
            if head != plain:
                try:
                    with self.emitter.attempt():
                        return self._fixed_point(site, trips, initial, dict(before), body, plain, head)
                except (UnsupportedOpError, UnsupportedProgramError):
                    state.heap.contents, self.growing.capacity.added = dict(before), added
                    state.locations.frames[:] = frames
                    head = plain
        return self._fixed_point(site, trips, initial, dict(before), body, plain, head)

    def _fixed_point(
        self,
        site: Site,
        trips: Trips,
        initial: Sequence[Value],
        before: Heap,
        body: Any,
        plain: list[Abstract],
        head: list[Abstract],
    ) -> list[Value]:
        """Import a loop's body until what is known at its head holds at its end."""
        # What is known at the head: the carried values, then the contents of lists that the body changes.
        written = self._earlier.written(site)
        lists = LoopLists(self.state, self.growing, site, trips)
        cells, contents = self._earlier.contents(site, before, lists)
        passed = [(initial, self.state.heap.contents)]
        named = last_named(self.state, self._environments, body.owningNode(), passed)
        parts = LoopParts(self.state, self.scalars, self.growing, self.run_block, frozenset(named))
        for _ in range(_MOST_PASSES + _PASSES_FOR_EACH * len(initial)):  # what changes may go from one to the next
            again = LoopPass(parts, site, trips, list(initial), before, head, cells, contents, written, lists, plain)
            again.run(body)
            wrong = self.state.ranges.withdraw(self.state.storages.written, (*site, "body"))
            self.state.plan = replace(self.state.plan, retries=self.state.plan.retries | wrong)
            if again.settled() and not wrong:
                self._earlier.keep(site, again)
                (self._small.add if lists.is_small() else self._small.discard)(site)
                return again.finish()
            head, cells, contents, written = again.widened()
            plain = head
            self.emitter.discard(again.operation)
        raise self.state.defect("a loop whose carried values find no common type")


def _is_single(trips: Trips) -> bool:
    """Whether a loop runs once: `for _ in range(1)` with `continue` in it, and what is written so for it."""
    begins = isinstance(trips.condition, ConstValue) and bool(trips.condition.value)
    return begins and isinstance(trips.most, ConstValue) and trips.most.value == 1


def _is_seen(block: Any) -> bool:
    """Whether a block does something that is seen though what it computes is not: prints, draws, or raises by
    itself.
    """
    ops = [view.operation for view in block.operations]
    return any(
        "tssa.random" in op.attributes
        or op.name == "torch.runtime.assert"
        or any(_is_seen(inner) for region in op.regions for inner in region.blocks)
        for op in ops
    )
