"""Members of enums that control flow chooses, or that stand in a list: which one it is, as a number."""

from __future__ import annotations

import enum
from typing import Any

from ...abi.enum_members import member_number, members_of
from .lattice import Abstract, Elements, Same, abstract
from .values import ConstValue, MemberValue, ScalarValue, Value

__all__ = [
    "alternatives",
    "equal",
    "is_members",
    "joinable",
    "kind_of",
    "member",
    "number_of",
    "numbered",
    "same",
]

_EQUALS = (object.__eq__, int.__eq__, str.__eq__)
"""Comparisons to which two members of one enum are equal if they are the same one."""


def kind_of(value: Value) -> type[enum.Enum] | None:
    """Return the enum that a value is a member of; None if it is none that has a number."""
    if isinstance(value, MemberValue):
        return value.kind
    thing = value.value if isinstance(value, ConstValue) else None
    return type(thing) if isinstance(thing, enum.Enum) and member_number(thing) is not None else None


def number_of(value: Value) -> Value:
    """Return which of the members of its enum a member is, an int."""
    if isinstance(value, MemberValue):
        return value.number
    assert isinstance(value, ConstValue)
    return ConstValue(member_number(value.value))


def member(kind: type[enum.Enum], number: Value) -> Value:
    """Return the member of an enum that has a number."""
    if isinstance(number, ConstValue):
        return ConstValue(members_of(kind)[number.value])
    assert isinstance(number, ScalarValue)
    return MemberValue(kind, number)


def alternatives(kind: type[enum.Enum]) -> list[tuple[int, Value]]:
    """Return the members of an enum, each with its number."""
    return [(number, ConstValue(each)) for number, each in enumerate(members_of(kind))]


def joinable(a: Abstract, b: Abstract) -> tuple[Elements, Elements] | None:
    """Return two members of one enum as numbers, which can be joined; None if they are no such members.

    Args:
        a: what is known of one.
        b: what is known of the other.
    """
    first, second = _opened(a), _opened(b)
    if first is None or second is None or first.kind is not second.kind:
        return None
    return first, second


def _opened(a: Abstract) -> Elements | None:
    if isinstance(a, Elements):
        return a if is_members(a.kind) else None
    kind = kind_of(a.value) if isinstance(a, Same) else None
    return None if kind is None or not isinstance(a, Same) else Elements(kind, (abstract(number_of(a.value)),))


def is_members(kind: Any) -> bool:
    """Whether what is joined one by one is the number of a member of an enum."""
    return isinstance(kind, type) and issubclass(kind, enum.Enum)


def same(numbers: Any, one: Value, other: Value) -> Value | None:
    """Return whether two members of one enum are the same one; None if they are of two.

    Args:
        numbers: emits operations on numbers.
        one: a member.
        other: another value.
    """
    kind = kind_of(one)
    if kind is None or kind_of(other) is not kind:
        return None
    found: Value = numbers.emit("eq", [number_of(one), number_of(other)])
    return found


def equal(numbers: Any, one: Value, other: Value) -> Value | None:
    """Return whether two values, of which one is a member of an enum, are equal; None if that cannot be told.

    Args:
        numbers: emits operations on numbers.
        one: the one.
        other: the other.
    """
    kinds = kind_of(one), kind_of(other)
    if any(kind is not None and kind.__eq__ not in _EQUALS for kind in kinds):
        return None
    if kinds[0] is kinds[1]:
        return same(numbers, one, other)
    is_identity = any(kind is not None and kind.__eq__ is object.__eq__ for kind in kinds)
    known = all(isinstance(each, (ConstValue, ScalarValue, MemberValue)) for each in (one, other))
    return ConstValue(False) if is_identity and known else None


def numbered(numbers: Any, value: MemberValue) -> Value | None:
    """Return the value of a member, if that is an int which grows evenly from member to member; None otherwise.

    Args:
        numbers: emits operations on numbers.
        value: the member.
    """
    found = [each.value for each in members_of(value.kind)]
    if not all(type(each) is int for each in found):
        return None
    if len(found) == 1:
        return ConstValue(found[0])
    start, step = found[0], found[1] - found[0]
    if step == 0 or found != [*range(start, start + step * len(found), step)]:
        return None
    scaled = numbers.emit("mul", [value.number, ConstValue(step)])
    made: Value = numbers.emit("add", [scaled, ConstValue(start)])
    return made
