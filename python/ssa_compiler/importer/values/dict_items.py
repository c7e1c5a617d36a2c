"""What a dict holds, keys included: where control flow meets, a key may be there or not.

Such a key is a *later* one: its element is an `OptionalValue`, of which None says that the dict has no such key. The
keys that are there have the order of `Items.keys` on every path, which makes it known.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from .values import NONE, ConstValue, OptionalValue, TupleValue, Value

__all__ = [
    "Items",
    "Later",
    "aligned",
    "contents_of",
    "is_absent",
    "is_items",
    "marked",
    "merged",
    "of_marked",
    "settled",
    "value_of",
]

_ITEMS = "items of a dict"
"""The `type_name` of a tuple that stands for what a dict holds; its `fields` are the keys."""


@dataclass(frozen=True)
class Later:
    """A key that may be missing, where several paths meet."""

    key: Any


class Items(tuple[Value, ...]):
    """The elements of a dict.

    Attributes:
        keys: its keys, in their order.
        later: those that are missing if their element is None.
    """

    keys: tuple[Any, ...]
    later: frozenset[Any]

    def __new__(cls, elements: Iterable[Value], keys: tuple[Any, ...], later: Iterable[Any] = ()) -> Items:
        """Make it."""
        made = super().__new__(cls, elements)
        made.keys, made.later = keys, frozenset(later)
        return made


def is_absent(element: Value) -> bool:
    """Whether the element of a later key says that the key is missing."""
    return isinstance(element, ConstValue) and element.value is None


def settled(items: Items) -> Items:
    """Leave out keys that are surely missing, and take those for plain ones that are surely there."""
    if not items.later:
        return items
    pairs = [(k, e) for k, e in zip(items.keys, items) if k not in items.later or not is_absent(e)]
    later = {key for key, element in pairs if key in items.later and isinstance(element, OptionalValue)}
    return Items([element for _, element in pairs], tuple(key for key, _ in pairs), later)


def marked(items: Items) -> tuple[Any, ...]:
    """Return the keys of a dict, later ones as `Later`."""
    return tuple(Later(k) if k in items.later else k for k in items.keys) if items.later else items.keys


def is_items(type_name: str) -> bool:
    """Whether a tuple of this class is what `value_of` makes."""
    return type_name == _ITEMS


def value_of(contents: tuple[Value, ...]) -> TupleValue:
    """Return contents of a container as a value, of which joins know the keys."""
    if not isinstance(contents, Items):
        return TupleValue(contents)
    items = settled(contents)
    return TupleValue(items, marked(items), _ITEMS)


def contents_of(value: Value) -> tuple[Value, ...]:
    """Return the contents that `value_of` made a value of."""
    assert isinstance(value, TupleValue)
    return of_marked(value.elements, value.fields) if value.type_name == _ITEMS else value.elements


def of_marked(elements: Sequence[Value], keys: tuple[Any, ...]) -> Items:
    """Return the contents of a dict with keys as `marked` returns them."""
    later = [key.key for key in keys if isinstance(key, Later)]
    return Items(elements, tuple(map(_plain, keys)) if later else keys, later)


def aligned(elements: Sequence[Any], keys: Sequence[Any], wanted: Sequence[Any], missing: Any = NONE) -> list[Any]:
    """Return what a dict has for other keys.

    Args:
        elements: its elements.
        keys: its keys, as `marked` returns them.
        wanted: the others, among which are all of its own.
        missing: what stands for a missing element.
    """
    own = {_plain(key): element for key, element in zip(keys, elements)}
    return [own.get(_plain(key), missing) for key in wanted]


def merged(one: Sequence[Any], other: Sequence[Any]) -> tuple[Any, ...] | None:
    """Return the keys that either of two dicts may have; None if these have them in different orders.

    Args:
        one: keys as `marked` returns them.
        other: the keys of another dict.
    """
    sides = [{_plain(key): key for key in keys} for keys in (one, other)]
    common = [key for key in sides[0] if key in sides[1]]
    if common != [key for key in sides[1] if key in sides[0]]:
        return None
    rest = [iter(side) for side in sides]
    found: list[Any] = []
    for shared in [*common, None]:
        for keys in rest:  # up to the shared key, which is taken, too
            found += map(Later, takewhile(lambda key: key not in common, keys))
        found += [] if shared is None else [_joined(*(side[shared] for side in sides))]
    return tuple(found)


def _joined(one: Any, other: Any) -> Any:
    return one if isinstance(one, Later) else other


def _plain(key: Any) -> Any:
    return key.key if isinstance(key, Later) else key
