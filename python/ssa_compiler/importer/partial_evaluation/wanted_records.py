"""Dicts that have to be records, from the next evaluation of the program on."""

from __future__ import annotations

import dataclasses
from typing import Any, NoReturn

from ...abi.records import attribute_name, can_be_record, choice_numbers, is_ordered, record_keys, sequence_kind
from .interfaces import Evaluated
from .learned_types import forget_types
from .rejections import NotCompiledError, RejectionError
from .values import (
    NEVER,
    UNKNOWN,
    DictValue,
    Known,
    ObjectValue,
    OptionalValue,
    Scalar,
    TensorValue,
    TupleValue,
    Value,
    annotation,
    joined,
)

__all__ = ["WANTED", "check_type", "keys_of", "meet", "met", "read_key", "reject_key", "want", "want_at"]

WANTED = "record"
_MET = "record of another class"


def keys_of(value: Value) -> tuple[str, ...] | None:
    """Return the keys that a record has when it is made, None if a value is none."""
    is_one = isinstance(value, ObjectValue) and sequence_kind(value.kind) is None
    return record_keys(value.kind) if is_one else None  # type: ignore[attr-defined]


def want(program: Evaluated, value: DictValue) -> None:
    """Let dicts be records."""
    for place in value.places:
        want_at(program, place)


def want_at(program: Evaluated, place: Any) -> None:
    """Let the dict that is made at a place be a record."""
    program.elements[WANTED, place] = UNKNOWN


def meet(program: Any, a: Value | None, b: Value | None) -> None:
    """Let dicts that come to the same place be of one class, if one of them is a record.

    Args:
        program: the program.
        a: what comes there.
        b: what else does.
    """
    if isinstance(a, OptionalValue) or isinstance(b, OptionalValue):
        inner = [each.element if isinstance(each, OptionalValue) else each for each in (a, b)]
        return meet(program, *inner)
    if isinstance(a, TupleValue) and isinstance(b, TupleValue):
        for pair in zip(a.elements, b.elements):
            meet(program, *pair)
    for one, other in ((a, b), (b, a)):
        if _keys(one) is not None and isinstance(other, DictValue):
            want(program, other)
    if isinstance(a, ObjectValue) and isinstance(b, ObjectValue) and a.kind is not b.kind:
        if _keys(a) is not None and _keys(a) == _keys(b) and _are_alike(program.classes, a.kind, b.kind):
            kinds = met(program, a.kind), met(program, b.kind)
            if kinds[0] is not kinds[1]:
                program.elements[_MET, kinds[1]] = Known(kinds[0])
                forget_types(program.elements)


def _keys(value: Value | None) -> tuple[str, ...] | None:
    """The keys of a record that the program has; None of anything else, and of what stands for one of several types."""
    is_choice = isinstance(value, ObjectValue) and choice_numbers(value.kind) is not None
    return None if value is None or is_choice else keys_of(value)


def _are_alike(classes: Any, a: type, b: type) -> bool:
    """Whether each element of two records has one type, but for some that are None in one of them."""
    if is_ordered(a) is not is_ordered(b):
        return False
    names = [attribute_name(key) for key in record_keys(a) or ()]
    return all(_is_alike(classes.attribute(a, name), classes.attribute(b, name)) for name in names)


def _is_alike(a: Value | None, b: Value | None) -> bool:
    if isinstance(a, TensorValue) and isinstance(b, TensorValue):
        return a.rank == b.rank
    both = joined(a, b, lambda tensor: None)
    return annotation(both) is not None and (isinstance(both, OptionalValue) or annotation(a) == annotation(b))


def met(program: Evaluated, kind: type) -> type:
    """Return the class of records that those of a class are of, as they come to the same place."""
    while isinstance(found := program.elements.get((_MET, kind)), Known):
        kind = found.object
    return kind


def read_key(value: DictValue) -> Value:
    """What is known of the keys of a dict, as it is gone through."""
    return dataclasses.replace(value.key, key_of=value.places) if isinstance(value.key, Scalar) else value.key or NEVER


def reject_key(program: Evaluated, key: Value, error: type[RejectionError] = NotCompiledError) -> NoReturn:
    """Reject a dynamic key of a record; one of another dict is known if that dict is a record as well.

    Args:
        program: the program.
        key: the key.
        error: what is raised.
    Raises:
        RejectionError: always.
    """
    for place in key.key_of if isinstance(key, Scalar) else ():
        want_at(program, place)
    raise error("a dynamic key of a dict whose elements are of several types")


def check_type(program: Evaluated, container: DictValue, key: Value, value: Value | None) -> None:
    """Let a dict be a record that gets elements of several types.

    Raises:
        NotCompiledError: it is none yet, but is at the next evaluation.
    """
    general = None if value is None else program.widened(value)
    mixed = general is not None and annotation(joined(container.element, general, program.samples.of))
    if general is not None and mixed is None and isinstance(key, Known) and can_be_record([key.object]):
        want(program, container)
        raise NotCompiledError("a dict whose elements are of several types")
