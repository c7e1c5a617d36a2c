"""Messages that show tuples and lists: with the elements in the place of these, they say numbers only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...abi.results import TORCH_SIZE
from ..containers.containers import Containers
from ..containers.list_classes import LIST
from ..values.dynamic_list_value import is_growing
from ..values.heap import TUPLE
from ..values.runtime_strings import pieces_of
from ..values.values import ConstValue, ListRef, ObjectRef, ScalarValue, TupleValue, Value

__all__ = ["plain_pieces"]

_WHOLE = frozenset({"{}", "{!s}", "{!r}", "%s", "%r"})
"""Formats that show a tuple or list as `str` does."""
_BRACKETS = {LIST: ("[", "]"), TUPLE: ("(", ")"), TORCH_SIZE: ("torch.Size([", "])")}
_PLAIN = (bool, int, float, str, type(None))


def plain_pieces(containers: Containers, pieces: Sequence[Any]) -> list[Any]:
    """Return the pieces of a message with the elements of tuples and lists of known length in the place of these.

    Args:
        containers: knows the elements.
        pieces: those of a `RuntimeStr`.
    """
    made: list[Any] = []
    for piece in pieces:
        shown = None if isinstance(piece, str) or piece[0] not in _WHOLE else _shown(containers, piece[1])
        made += [piece] if shown is None else shown
    return made


def _shown(containers: Containers, value: Value) -> list[Any] | None:
    """The pieces of a tuple or list; None if it is none whose elements are known and can be shown so."""
    elements = _elements(containers, value)
    if elements is None:
        return None
    start, end = _BRACKETS[containers.classes.of(value)]
    made: list[Any] = [start]
    for number, element in enumerate(elements):
        inner = _shown(containers, element)
        if inner is None and not _is_plain(element):
            return None
        made += [", "] * (number > 0)
        made += pieces_of(element, "{!r}") if inner is None else inner
    return [*made, f",{end}" if len(elements) == 1 and end == ")" else end]


def _elements(containers: Containers, value: Value) -> Sequence[Value] | None:
    if isinstance(value, TupleValue):
        return None if value.fields else value.elements
    if not isinstance(value, ListRef) or isinstance(value, ObjectRef):
        return None
    heap = containers.state.heap
    if value.cell in heap.forms or is_growing(heap.contents[value.cell]):
        return None
    return containers.elements(value)


def _is_plain(value: Value) -> bool:
    return isinstance(value, ScalarValue) or (isinstance(value, ConstValue) and type(value.value) in _PLAIN)
