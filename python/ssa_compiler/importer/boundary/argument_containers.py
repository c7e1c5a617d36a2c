"""Lists, dicts and objects among the arguments whose contents a program changes: `cache.append(key)`,
`states["h"] = h`.

Inside the program a container is a cell of the heap. What its cell holds at the end that it did not hold at the start
becomes results of `@main`, and is put into the caller's own container after the call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch

from ...abi.container_writeback import ChangedContainer
from ...abi.results import OutputSpec, Step
from ..values.dict_items import Items
from ..values.dynamic_list_value import is_growing
from ..values.heap import ANOTHER, CallerContainer
from ..values.plan import SHARED, AnotherPlan
from ..values.state import State
from ..values.values import ConstValue, OptionalValue, Site, TensorValue, Value

__all__ = ["changed_containers", "lend"]

_OBJECTS = "objects in containers"
"""The key of the `AnotherPlan` under which the elements of the caller's containers are followed."""


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
    given = frozenset().union(*(argument.storages for argument in state.arguments.values()))
    for cell, caller_owned in state.heap.caller_owned.items():
        now, keys = state.heap.contents[cell], state.heap.keys.get(cell)
        if is_growing(now):
            rows_now: Any = now[0]
            # The list gets copies, which a tensor that somebody else holds is told from later.
            if rows_now.kind is torch.Tensor and (caller_owned.elements or rows_now.buffer.storages & given):
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
            length = len(now) if whole else None
            sources = _sources(state, cell, dict(zip(names, now)), dict(items))
            objects = tuple((name, output(source)) for name, source in sources.items())
            later = state.heap.later_keys(cell) & {name for name, _ in items}
            path = caller_owned.path
            found.append(
                ChangedContainer(caller_owned.route, path, outputs, removed, length, objects=objects, later=later)
            )
    return tuple(found)


def _sources(state: State, cell: Site, now: dict[Any, Value], items: dict[Any, Value]) -> dict[Any, Value]:
    """Return which objects the changed elements of a container are that control flow chose.

    Raises:
        AnotherPlan: that has to be followed from the start.
    """
    tensors = {name: value.value if isinstance(value, OptionalValue) else value for name, value in items.items()}
    chosen = [name for name, value in tensors.items() if isinstance(value, TensorValue) and value.chosen]
    if not chosen:
        return {}
    if _OBJECTS not in state.plan.retries:
        raise AnotherPlan.without({_OBJECTS})
    sources = state.heap.contents[("source", cell)]
    numbers = dict(zip(sources.keys if isinstance(sources, Items) else now, sources))
    surely_another = [n for n in chosen if isinstance(numbers[n], ConstValue) and numbers[n].value == ANOTHER]
    return {name: numbers[name] for name in chosen if name not in surely_another}


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
    if _OBJECTS in state.plan.retries:
        state.heap.object_number = partial(_object_number, state)
        state.heap.follow(cell)


def _object_number(state: State, value: Value) -> int:
    """The number of the argument of `@main` that is the very object; `ANOTHER` for other values."""
    if not isinstance(value, TensorValue) or value.renewed or id(value) in state.originals:
        return ANOTHER
    arguments = enumerate(state.emitter.entry.arguments)
    return next((number for number, argument in arguments if argument == value.ssa), ANOTHER)
