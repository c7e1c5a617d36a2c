"""Which lists, dicts and objects that a branch or an iteration of a loop has made have one name behind it: there the
value that joins them is the object itself, which may be changed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ..values.state import State
from ..values.values import ChosenRef, DictRef, ListRef, OptionalValue, Site, TupleValue, Value

__all__ = ["is_named", "last_named", "unshared"]

Environment = Mapping[str, Value]
Heap = Mapping[Site, tuple[Value, ...]]


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


def last_named(
    state: State, environments: Sequence[Environment], node: Any, paths: Sequence[tuple[Sequence[Value], Heap]]
) -> set[Site]:
    """Return the lists to which, behind a branch or from a loop on, nothing refers but what that yields or carries.

    Args:
        state: the interpretation.
        environments: what the names of TorchScript are, of each function that is being imported.
        node: the prim::If or prim::Loop.
        paths: what each branch yields, and the contents of containers at its end; what a loop is passed, and those
            before it.
    """
    heap, found = state.heap, set[Site]()
    others: tuple[Collection[Site], ...] = (heap.frozen, heap.copied, heap.views, heap.tuples, heap.origins)
    others += (heap.caller_owned, heap.module_owned)
    lists = [[value.cell for value in values if isinstance(value, ListRef)] for values, _ in paths]
    if not any(lists):
        return found
    held = [element for _, each in paths for contents in each.values() for element in contents]
    held += [value for environment in environments[:-1] for value in environment.values()]
    for cell in {cell for cells in lists for cell in cells}:
        if any(cells.count(cell) > 1 for cells in lists) or any(cell in each for each in others):
            continue
        if any(_holds(value, cell) for value in held) or not all(cell in each for _, each in paths):
            continue
        names = {name for name, value in environments[-1].items() if _holds(value, cell)}
        if not any(_is_read_later(value, node) for value in _visible(node, names)):
            found |= {cell, *_parts(heap.forms, paths[0][1], cell)}
    return found


def is_named(heap: Heap, environments: Sequence[Environment], nodes: Sequence[Any], cell: Site) -> bool:
    """Whether anything may refer to a list or dict from here on.

    Args:
        heap: the contents of containers.
        environments: what the names of TorchScript are, of each function that is being imported.
        nodes: the node of each of these that is being imported.
        cell: the list or dict.
    """
    if any(_holds(element, cell) for contents in heap.values() for element in contents):
        return True
    for environment, node in zip(environments, nodes):
        names = {name for name, value in environment.items() if _holds(value, cell)}
        for value in _visible(node, names) if names else ():
            if not all(use.user.isBefore(node) for use in value.uses()) or _is_read_later(value, node):
                return True
    return False


def _parts(forms: Collection[Site], heap: Heap, cell: Site) -> set[Site]:
    """The lists that a list is made of."""
    found: set[Site] = set()
    for part in heap[cell] if cell in forms else ():
        if isinstance(part, ListRef):
            found |= {part.cell, *_parts(forms, heap, part.cell)}
    return found


def _holds(value: Any, cell: Site) -> bool:
    """Whether a value is a container, or a tuple or option of it."""
    if isinstance(value, OptionalValue):
        return _holds(value.value, cell)
    if isinstance(value, TupleValue):
        return any(_holds(element, cell) for element in value.elements)
    if isinstance(value, ChosenRef):
        return any(each.cell == cell for each in value.choices)
    return isinstance(value, (ListRef, DictRef)) and value.cell == cell


def _visible(node: Any, names: Collection[str]) -> list[Any]:
    """TorchScript's values of these names that a node sees; others are out of scope, or of an earlier pass."""
    found, block = [], node.owningBlock()
    while True:
        earlier = [each for each in block.nodes() if each.isBefore(node)]
        values = [*block.inputs(), *(output for each in earlier for output in each.outputs())]
        found += [value for value in values if value.debugName() in names]
        if (owner := block.owningNode()) is None or owner.kind() not in ("prim::If", "prim::Loop"):
            return found
        block = owner.owningBlock()


def _is_read_later(value: Any, node: Any) -> bool:
    """Whether a value is read behind a branch, in a loop or behind it, or in the next iteration of a loop around it."""
    users, block = [use.user for use in value.uses()], node.owningBlock()
    if any(user.isAfter(node) or (node.kind() == "prim::Loop" and _is_inside(user, node)) for user in users):
        return True
    while (owner := block.owningNode()) is not None and owner.kind() in ("prim::If", "prim::Loop"):
        is_from_outside = owner.kind() == "prim::Loop" and value.node().isBefore(owner)
        if is_from_outside and any(_is_inside(user, owner) for user in users):
            return True
        block = owner.owningBlock()
    return False


def _is_inside(user: Any, node: Any) -> bool:
    """Whether a node is in a block of another one."""
    return not user.isBefore(node) and not user.isAfter(node) and _identity(user) != _identity(node)


def _identity(node: Any) -> Any:
    """What tells a node from the nodes in its blocks that read the same list."""
    return node.kind(), [[value.debugName() for value in values] for values in (node.inputs(), node.outputs())]
