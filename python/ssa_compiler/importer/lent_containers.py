"""Lists, dicts and objects among the arguments whose contents a program changes: `cache.append(key)`, `states["h"] = h`.

Inside the program a container is a cell of the heap. What its cell holds at the end that it did not hold at the start becomes
results of `@main`, and is put into the caller's own container after the call.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import ArgumentValueError
from .growing import is_growing
from .outputs import OutputSpec, ResultBuilder, Step, find_argument
from .state import SHARED, Lent, Retry, State
from .values import Site, Value

__all__ = ["ChangedContainer", "change_containers", "changed_containers", "check_own_containers", "lend"]


@dataclass(frozen=True)
class ChangedContainer:
    """A container that has other contents after the call.

    Attributes:
        route: the position of the argument that it is, or is in, and the steps that lead to it.
        path: its name as the user sees it, `states["h"]`.
        items: the elements that changed, by index, key or attribute.
        removed: keys that a dict lost.
        length: how many elements a list has then, if that changed; `items` are all of them.
    """

    route: tuple[Step, ...]
    path: str
    items: tuple[tuple[Any, OutputSpec], ...]
    removed: tuple[Any, ...] = ()
    length: int | None = None


def changed_containers(state: State, output: Callable[[Value], OutputSpec]) -> tuple[ChangedContainer, ...]:
    """Collect what the containers of the caller hold now.

    Args:
        state: the interpretation, at its end.
        output: makes a value a result of `@main`.
    """
    found = []
    for cell, lent in state.lent.items():
        now, keys = state.heap[cell], state.keys.get(cell)
        if is_growing(now):
            raise state.refuse(
                f"a list of the caller's, '{lent.path}', that gets a length known only at run time; change a copy and return it"
            )
        if keys is None:
            names, before = tuple(range(len(now))), dict(enumerate(lent.elements))
        else:
            names, before = keys, dict(zip(lent.keys, lent.elements))
        whole = keys is None and len(now) != len(lent.elements)
        kept = _kept(lent.keys, names) if keys is not None else names
        items = [(n, value) for n, value in zip(names, now) if whole or n not in kept or before[n] is not value]
        removed = tuple(name for name in before if name not in kept) if keys is not None else ()
        if lent.repeated and (items or removed or whole):
            raise Retry({SHARED})
        if items or removed or whole:
            outputs = tuple((name, output(value)) for name, value in items)
            found.append(ChangedContainer(lent.route, lent.path, outputs, removed, len(now) if whole else None))
    return tuple(found)


def _kept(before: Sequence[Any], now: Sequence[Any]) -> Sequence[Any]:
    """The keys that a dict need not lose to have its keys in the order `now`: what comes first and is in the old order."""
    rest = iter(before)
    for count, key in enumerate(now):
        if key not in rest:  # which goes on to behind it
            return now[:count]
    return now


def _step(owner: Any, step: Step) -> Any:
    kind, name = step
    return owner[name] if kind == "item" else getattr(owner, name)


def _containers(spec: Any, value: Any) -> Iterator[Any]:
    """All lists, dicts and objects in an argument, each as often as it is there."""
    if hasattr(spec, "elements"):
        parts = list(zip(spec.elements, value))
    elif hasattr(spec, "items"):
        kind = "attribute" if hasattr(spec, "kind") else "item"
        parts = [(part, _step(value, (kind, name))) for name, part in spec.items]
    else:
        return
    if not isinstance(value, tuple):
        yield value
    for part, element in parts:
        yield from _containers(part, element)


def check_own_containers(changed: Sequence[ChangedContainer], specs: Sequence[Any], values: Sequence[Any]) -> None:
    """Check that what is changed is passed once: inside the program each argument is a container of its own.

    Args:
        changed: `ImportedProgram.containers`.
        specs: the spec of each of the user's parameters.
        values: their values.
    Raises:
        ArgumentValueError: it is passed twice.
    """
    counts = Counter(id(found) for spec, value in zip(specs, values) for found in _containers(spec, value))
    for change in changed:
        if counts[id(find_argument(change.route, values))] > 1:
            raise ArgumentValueError(
                f"argument '{change.path}': the program changes its contents, and it is passed in two places: pass a copy"
            ).as_mismatch()


def change_containers(changed: Sequence[ChangedContainer], values: Sequence[Any], builder: ResultBuilder) -> None:
    """Put the new contents into the caller's containers.

    Args:
        changed: `ImportedProgram.containers`.
        values: the values of the user's parameters.
        builder: builds what they get. The user's result has been built: what a route leads to may change here.
    """
    targets = [find_argument(change.route, values) for change in changed]
    contents = [{name: builder.build(spec) for name, spec in change.items} for change in changed]
    for change, target, items in zip(changed, targets, contents, strict=True):
        if change.length is not None:
            target[:] = items.values()
            continue
        for name in change.removed:
            del target[name]
        for name, value in items.items():
            if isinstance(target, (list, dict)):
                target[name] = value
            else:
                setattr(target, name, value)


def lend(state: State, cell: Site, route: Sequence[Step], path: str, repeated: bool) -> None:
    """Note a container of the caller's.

    Args:
        state: the interpretation.
        cell: its cell.
        route: where it comes from.
        path: its name as the user sees it.
        repeated: whether the example is passed in another place as well.
    """
    state.lent[cell] = Lent(tuple(route), path, state.heap[cell], state.keys.get(cell, ()), repeated)
