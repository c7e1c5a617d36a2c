"""Lists, dicts and objects among the arguments whose contents a program changes: `cache.append(key)`,
`states["h"] = h`.

Inside the program a container is a cell of the heap. What its cell holds at the end that it did not hold at the start
becomes results of `@main`, and is put into the caller's own container after the call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from ...abi.container_writeback import ChangedContainer
from ...abi.results import OutputSpec, Step
from ..values.dynamic_list_value import is_growing
from ..values.heap import CallerContainer
from ..values.plan import SHARED, AnotherPlan
from ..values.state import State
from ..values.values import Site, Value

__all__ = ["changed_containers", "lend"]


def changed_containers(
    state: State, output: Callable[[Value], OutputSpec], rows: Callable[[Value], OutputSpec]
) -> tuple[ChangedContainer, ...]:
    """Collect what the containers of the caller hold now.

    Args:
        state: the interpretation, at its end.
        output: makes a value a result of `@main`.
        rows: the same for the contents of a list whose length is dynamic.
    """
    found = []
    for cell, caller_owned in state.heap.caller_owned.items():
        now, keys = state.heap.contents[cell], state.heap.keys.get(cell)
        if is_growing(now):
            if now[0].kind is torch.Tensor and caller_owned.elements:  # type: ignore[attr-defined]
                raise state.unsupported(
                    f"a list of tensors of the caller's, '{caller_owned.path}', that gets a dynamic length; change a copy "
                    "and return it"
                )
            if caller_owned.repeated:
                raise AnotherPlan.without({SHARED})
            found.append(ChangedContainer(caller_owned.route, caller_owned.path, (), elements=rows(now[0])))
            continue
        if keys is None:
            names, before = tuple(range(len(now))), dict(enumerate(caller_owned.elements))
        else:
            names, before = keys, dict(zip(caller_owned.keys, caller_owned.elements))
        whole = keys is None and len(now) != len(caller_owned.elements)
        kept = _kept(caller_owned.keys, names) if keys is not None else names
        items = [(n, value) for n, value in zip(names, now) if whole or n not in kept or before[n] is not value]
        removed = tuple(name for name in before if name not in kept) if keys is not None else ()
        if caller_owned.repeated and (items or removed or whole):
            raise AnotherPlan.without({SHARED})
        if items or removed or whole:
            outputs = tuple((name, output(value)) for name, value in items)
            found.append(
                ChangedContainer(caller_owned.route, caller_owned.path, outputs, removed, len(now) if whole else None)
            )
    return tuple(found)


def _kept(before: Sequence[Any], now: Sequence[Any]) -> Sequence[Any]:
    """The keys that a dict need not lose to have its keys in the order `now`: what comes first and is in the old
    order.
    """
    rest = iter(before)
    for count, key in enumerate(now):
        if key not in rest:  # which goes on to behind it
            return now[:count]
    return now


def lend(state: State, cell: Site, route: Sequence[Step], path: str, repeated: bool) -> None:
    """Note a container of the caller's.

    Args:
        state: the interpretation.
        cell: its cell.
        route: where it comes from.
        path: its name as the user sees it.
        repeated: whether the example is passed in another place as well.
    """
    state.heap.caller_owned[cell] = CallerContainer(
        tuple(route), path, state.heap.contents[cell], state.heap.keys.get(cell, ()), repeated
    )
