"""Lists and dicts that meet, of which one was made empty: `return []` in a function that returns a list of ints
elsewhere.

To TorchScript an empty list holds tensors. What it may hold is what the lists hold that come to the same place as it: a
variable, a result, an element.
"""

from __future__ import annotations

from typing import Any

from .values import DictValue, Known, ListValue, OptionalValue, TupleValue, Value, annotation, joined
from .wanted_records import meet

__all__ = ["settle", "unified"]


def unified(program: Any, a: Value | None, b: Value | None) -> Value:
    """Return what is known of a value that is one of two; lists of several types in them become lists of one.

    Args:
        program: the program, which learns what the lists hold.
        a: the one; None if there is none.
        b: the other.
    """
    found = joined(a, b, program.samples.of)
    meet(program, a, b)
    for part in (a, b):
        settle(program, part, found)
    return found


def settle(program: Any, part: Value | None, whole: Value | None) -> None:
    """Let the lists and dicts in a value hold what those do that it is one of, and None in it be of the type of what
    is not None there.

    Args:
        program: the program.
        part: a value.
        whole: what is known of a value that is this or another one.
    """
    if isinstance(part, Known) and part.place is not None:
        if isinstance(whole, OptionalValue) and annotation(whole) is not None:
            program.learn(part.place, whole)
    elif isinstance(part, OptionalValue) or isinstance(whole, OptionalValue):
        inner = [each.element if isinstance(each, OptionalValue) else each for each in (part, whole)]
        settle(program, *inner)
    elif isinstance(part, TupleValue) and isinstance(whole, TupleValue):
        for one, other in zip(part.elements, whole.elements):
            settle(program, one, other)
    elif isinstance(part, ListValue) and isinstance(whole, ListValue):
        _settle_elements(program, part, part.element, whole.element)
    elif isinstance(part, DictValue) and isinstance(whole, DictValue):
        _settle_elements(program, part, part.element, whole.element)
        if annotation(DictValue(part.key, None)) != annotation(DictValue(whole.key, None)) and whole.key is not None:
            for place in part.places if annotation(whole.key) is not None else ():
                program.learn((place, "key"), whole.key)


def _settle_elements(program: Any, part: ListValue | DictValue, own: Value | None, wanted: Value | None) -> None:
    """Let a container hold what is wanted, if that is of another type."""
    if wanted is None or annotation(wanted) is None:
        return
    if annotation(own) != annotation(wanted):
        for place in part.places:
            program.learn(place, wanted)
    if own is not None:
        settle(program, own, wanted)
