"""Containers of the caller's or the module's whose contents a program changes: `cache.append(key)`, `states["h"] = h`.

What they hold at the end that they did not hold at the start is among the results of `@main`, and is put into the
caller's own list, dict or object after the call.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import ArgumentValueError
from .module_state import ContainerSpec
from .results import OutputSpec, ResultBuilder, Step, find_argument

__all__ = ["ChangedContainer", "change_containers", "check_own_containers"]


@dataclass(frozen=True)
class ChangedContainer:
    """A container that has other contents after the call.

    Attributes:
        route: the position of the argument that it is, or is in, and the steps that lead to it.
        path: its name as the user sees it, `states["h"]`.
        items: the elements that changed, by index, key or attribute.
        removed: keys that a dict lost.
        length: how many elements a list has then, if that changed; `items` are all of them.
        elements: all elements of a list whose length is dynamic then; None for others.
        objects: ints for some of the `items`: the number of the argument of `@main` that is the element, negative if it
            is another object.
        later: keys that a dict has only if their element is not None.
    """

    route: tuple[Step, ...]
    path: str
    items: tuple[tuple[Any, OutputSpec], ...]
    removed: tuple[Any, ...] = ()
    length: int | None = None
    elements: OutputSpec | None = None
    objects: tuple[tuple[Any, OutputSpec], ...] = ()
    later: frozenset[Any] = frozenset()


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


def check_own_containers(
    changed: Sequence[ChangedContainer], specs: Sequence[Any], values: Sequence[Any], constants: Iterable[Any] = ()
) -> None:
    """Check that what is changed is passed once: inside the program each argument is a container of its own.

    Args:
        changed: `ImportedProgram.containers`.
        specs: `ImportedProgram.specs`.
        values: what is passed for them.
        constants: the lists and dicts of the module that the program read as constants.
    Raises:
        ArgumentValueError: it is passed twice.
    """
    counts = Counter(id(found) for spec, value in zip(specs, values) for found in _containers(spec, value))
    counts.update(map(id, constants))
    for change in changed:
        if counts[id(find_argument(change.route, values))] > 1:
            raise ArgumentValueError(
                f"argument '{change.path}': the program changes its contents, and it is passed in two places: pass a copy"
            ).as_mismatch()


def change_containers(
    changed: Sequence[ChangedContainer],
    held: Sequence[ContainerSpec],
    values: Sequence[Any],
    leaves: Sequence[Any],
    builder: ResultBuilder,
) -> None:
    """Put the new contents into the caller's and the module's containers, and bind the module's attributes.

    Args:
        changed: `ImportedProgram.containers`.
        held: `ImportedProgram.held`.
        values: the values of the user's parameters, and of the module's containers.
        leaves: the arguments of `@main`.
        builder: builds what they get. The user's result has been built: what a route leads to may change here.
    """
    targets = [find_argument(change.route, values) for change in changed]
    contents = [{name: builder.build(spec) for name, spec in change.items} for change in changed]
    for change, items in zip(changed, contents, strict=True):
        numbers = {name: builder.build(spec) for name, spec in change.objects}
        items.update({name: leaves[number] for name, number in numbers.items() if number is not None and number >= 0})
    rows = [builder.build(change.elements) if change.elements is not None else None for change in changed]
    bound = [(container, builder.build(container.result)) for container in held if container.result is not None]
    for change, target, items, elements in zip(changed, targets, contents, rows, strict=True):
        if elements is not None:
            target[:] = elements
        elif change.length is not None:
            target[:] = items.values()
        else:
            missing = {name for name in change.later if items[name] is None}
            kept = {name: value for name, value in items.items() if name not in missing}
            _change(target, (*change.removed, *(name for name in missing if name in target)), kept)
    for container, value in bound:
        container.store(value)


def _change(target: Any, removed: Sequence[Any], items: Mapping[Any, Any]) -> None:
    """Take keys from a dict, and give a container other elements."""
    for name in removed:
        del target[name]
    for name, value in items.items():
        if isinstance(target, (list, dict)):
            target[name] = value
        else:
            setattr(target, name, value)
