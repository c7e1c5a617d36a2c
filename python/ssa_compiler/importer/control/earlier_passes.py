"""What loops came to when they were imported before, in an earlier pass over the loop around them.

Of a nest of depth d the innermost body would be imported 3 ** d times otherwise: to find which lists and variables it
changes, what these are then, and to see that nothing new comes of that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...errors import SsaCompilerError
from ..values.dict_items import value_of
from ..values.lattice import Abstract, AnyScalar, AnyTensor, Elements, NoneOr, Same, abstract
from ..values.lattice_join import join
from ..values.state import State
from ..values.values import Site
from .loop_lists import LoopLists
from .loop_pass import Heap, LoopPass

__all__ = ["EarlierPasses"]


class EarlierPasses:
    """What was known at the heads of loops in the end.

    Args:
        state: the interpretation.
    """

    def __init__(self, state: State) -> None:
        self._state = state
        self._heads: dict[Site, list[Abstract]] = {}
        self._contents: dict[Site, dict[Site, Abstract]] = {}
        self._written: dict[Site, set[Site]] = {}
        self._counts: dict[Site, dict[Site, float]] = {}

    def keep(self, site: Site, last: LoopPass) -> None:
        """Remember a loop.

        Args:
            site: the loop's.
            last: the pass after which it was settled.
        """
        self._heads[site], self._written[site] = last.head, last.written
        self._contents[site] = dict(zip(last.cells, last.contents))
        self._counts[site] = dict(last.lists.counts)

    def written(self, site: Site) -> set[Site]:
        """Return the storages that an iteration writes, and that something at the head of the next one may alias."""
        return set(self._written.get(site, ()))

    def head(self, site: Site, plain: Sequence[Abstract], before: Heap) -> list[Abstract]:
        """Return what to assume of the values that a loop carries.

        Tensors of which more is known, such as views, begin with all that is known of them.

        Args:
            site: the loop's.
            plain: what is known of the values in front of the loop.
            before: the contents of lists there.
        """
        earlier = self._heads.get(site, ())
        return [
            self._joined(known, earlier[number], before) if number < len(earlier) else known
            for number, known in enumerate(plain)
        ]

    def contents(self, site: Site, before: Heap, lists: LoopLists) -> tuple[list[Site], list[Abstract]]:
        """Return the lists, dicts and objects that a loop changes, and what to assume of what they hold.

        Args:
            site: the loop's.
            before: the contents in front of the loop; lists get the capacity that they had in the end.
            lists: reserves it.
        """
        lists.foresee(before, self._counts.get(site, {}))
        cells, found = [], []
        for cell, earlier in self._contents.get(site, {}).items():
            if cell in before:
                cells.append(cell)
                found.append(self._widened(abstract(value_of(before[cell])), earlier, before))
        return cells, found

    def _widened(self, known: Abstract, earlier: Abstract, before: Heap) -> Abstract:
        """What is known of a value, and what was known of parts that changed."""
        if isinstance(known, Elements) and isinstance(earlier, Elements):
            if replace(known, elements=(), cells=()) != replace(earlier, elements=(), cells=()):
                return known
            if len(known.elements) != len(earlier.elements):
                return known
            parts = (self._widened(*pair, before) for pair in zip(known.elements, earlier.elements))
            return replace(known, elements=tuple(parts))
        if isinstance(known, NoneOr) and isinstance(earlier, NoneOr):
            return NoneOr(self._widened(known.value, earlier.value, before))
        return known if isinstance(earlier, Same) else self._joined(known, earlier, before)

    def _joined(self, known: Abstract, earlier: Abstract, before: Heap) -> Abstract:
        simple = isinstance(earlier, AnyTensor) and not earlier.maybe and earlier.root is None
        if simple or isinstance(earlier, AnyScalar):
            try:
                return join(self._state, known, earlier, "loop", before, before)
            except SsaCompilerError:  # this time something else is carried
                pass
        return known
