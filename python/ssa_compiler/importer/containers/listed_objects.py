"""Objects in lists whose length is dynamic.

Such a list has a column for each attribute (`tuple_lists.py`): it holds what the objects hold, and not the objects. So
an object that is put into one, or read from one, cannot be changed any more. Of objects that are returned it has to be
known that no two are one. A list that is filled in a loop has no object twice if each iteration makes the object that
it puts there, or reads it at the number of the iteration.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..values.dict_items import Items
from ..values.plan import Form
from ..values.state import State
from ..values.symbols import expr_of
from ..values.values import ObjectRef, ScalarValue, Site, Value
from .list_forms import ListContainers
from .number_lists import exclude

__all__ = ["ListedObjects", "is_permutation"]


@dataclass(frozen=True)
class _Read:
    """Where an object was read.

    Attributes:
        owner: the list.
        loop: the body of the loop of whose iterations the index is the number, if it is one.
    """

    owner: Site
    loop: Site | None


class ListedObjects:
    """Puts objects into columns, and makes objects of these.

    Attributes:
        permutations: the lists of ints of which no two are equal.
    """

    def __init__(self, state: State, containers: ListContainers) -> None:
        self._state, self._containers = state, containers
        self._reads: dict[Site, _Read] = {}
        self.permutations: set[Site] = set()
        self._puts: dict[tuple[Site, Site], list[Site]] = {}

    def split(self, target: Site, form: Form, elements: Sequence[Value]) -> list[list[Value]]:
        """Put objects into a list; returns what each column gets.

        Raises:
            UnsupportedProgramError: it is not known at import which objects they are, or others have to see them.
        """
        heap, rows = self._state.heap, []
        for element in elements:
            if not isinstance(element, ObjectRef) or element.type_name != form.type_name:
                raise self._state.unsupported(
                    "a list of dynamic length with objects of several classes, or that may be None; keep a flag in the object"
                )
            contents = heap.contents[element.cell]
            assert isinstance(contents, Items)
            assert tuple(contents.keys) == form.fields
            if element.cell in heap.caller_owned or element.cell in heap.module_owned:
                raise self._state.unsupported(
                    "an object of the caller's or of the module's in a list of dynamic length; put its attributes there"
                )
            rows.append(tuple(contents))
            heap.frozen.add(element.cell)
            self._put(target, element.cell)
        return [[row[place] for row in rows] for place in range(form.columns)]

    def _put(self, target: Site, cell: Site) -> None:
        """Note that an object is in a list, and whether that list may have it twice."""
        heap, read = self._state.heap, self._reads.get(cell)
        source = cell if read is None else read.owner
        before, here = self._puts.setdefault((source, target), []), self._state.place()
        others = [each for each in heap.shared.get(cell, ()) if each not in heap.keys and each != target]
        loops = _loops(here, target)
        is_new = all(cell[: len(loop)] == loop for loop in loops) and source != target
        if read is not None and loops:
            is_new &= loops == [read.loop]
        elsewhere = not before and read is not None and source in heap.sharing(target)
        if not is_new or elsewhere or any(self._is_put_elsewhere(each, target, here) for each in (source, *others)):
            heap.share(target, target)
        for other in others:
            if not all(exclude(place, here) for place in self._puts.get((cell, other), ())):
                heap.share(other, target)
        before.append(here)
        heap.share(cell, target)
        if read is not None:
            heap.share(source, target)

    def note_number(self, target: Value, index: Value, found: Value) -> None:
        """Note an int that is another one in each iteration: what a permutation has at the number of the iteration."""
        loop = self._state.inductions.get(expr_of(index.sym)) if isinstance(index, ScalarValue) else None
        if loop is not None and getattr(target, "cell", ()) in self.permutations and isinstance(found, ScalarValue):
            self._state.inductions[expr_of(found.sym)] = loop

    def put_all(self, target: Site, source: Site) -> None:
        """Note that all objects in a list are in another one, too, and whether that one may have any of them twice."""
        heap, here = self._state.heap, self._state.place()
        group = {source, *heap.sharing(source, without=target)}
        is_new = all(each[: len(loop)] == loop for each in group for loop in _loops(here, target))
        known = {each for each in group if (each, target) in self._puts}
        if not is_new or source == target or heap.shared.get(target, set()) & (group - known):
            heap.share(target, target)
        if any(self._is_put_elsewhere(each, target, here) for each in known):
            heap.share(target, target)
        self._puts.setdefault((source, target), []).append(here)
        heap.share(source, target)

    def _is_put_elsewhere(self, source: Site, target: Site, here: Site) -> bool:
        """Whether an object, or those in a list, may be put into a list at another place in the same run."""
        return not all(place == here or exclude(place, here) for place in self._puts.get((source, target), ()))

    def element(self, target: Any, form: Form, parts: Sequence[Value], index: Value) -> Value:
        """Return an object that is read from a list.

        Args:
            target: the list.
            form: its form.
            parts: what the columns have there.
            index: where it is read.
        """
        cell = self._containers.new_dict(form.fields, parts).cell
        self._state.heap.frozen.add(cell)
        self._state.heap.share(cell, target.cell)
        loop = self._state.inductions.get(expr_of(index.sym)) if isinstance(index, ScalarValue) else None
        self._reads[cell] = _Read(target.cell, loop)
        return ObjectRef(cell, form.type_name)


def _loops(place: Site, made: Site) -> list[Site]:
    """The bodies of loops around a place that are not around another one."""
    bodies = [place[: end + 1] for end, step in enumerate(place) if step == "body"]
    return [body for body in bodies if made[: len(body)] != body]


def is_permutation(name: str) -> bool:
    """Whether a function is the one by which partial evaluation says that no two ints in a list are equal.

    Args:
        name: its qualified name, in which TorchScript puts a part of its own if it has been scripted before.
    """
    return re.sub(r"\.___torch_mangle_\d+", "", name).endswith(".partial_evaluation.ordering.permutation")
