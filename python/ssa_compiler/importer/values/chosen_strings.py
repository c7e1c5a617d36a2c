"""Strings that control flow chooses: which one it is, as a number, and the values that are put into each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from .lattice import Abstract, Elements, Missing, Same, abstract
from .values import ConstValue, RuntimeStr, ScalarValue, Uninitialized, Value

if TYPE_CHECKING:
    from .state import State

__all__ = ["ChosenStr", "alternatives", "joinable", "literals", "rebuilt", "text_parts"]

_MOST = 16

Template = tuple[Any, ...]
"""A string: literal texts, and for each value its format and type."""


@dataclass(eq=False)
class ChosenStr(RuntimeStr):
    """One of several strings.

    Attributes:
        parts: which it is, a number of `State.texts`, and the values in all of them.
        templates: the strings that it may be.
    """

    parts: tuple[Value, ...] = ()
    templates: tuple[Template, ...] = ()


def _slots(template: Template) -> list[type]:
    """The types of the values in a string."""
    return [piece[1] for piece in template if not isinstance(piece, str)]


def _template(value: Value) -> tuple[Template, tuple[Value, ...]] | None:
    """The template of a string, and the values in it; None if that is not known."""
    if isinstance(value, ConstValue):
        return ((value.value,), ()) if type(value.value) is str else None
    if not isinstance(value, RuntimeStr) or not value.pieces:
        return None
    found = [piece[1] for piece in value.pieces if not isinstance(piece, str)]
    if not all(isinstance(each, ScalarValue) for each in found):
        return None
    made = tuple(piece if isinstance(piece, str) else (piece[0], piece[1].kind) for piece in value.pieces)
    return made, tuple(found)


def _number(state: State, template: Template) -> int:
    return state.texts.setdefault(template, len(state.texts))


def joinable(state: State, a: Abstract, b: Abstract) -> tuple[Elements, Elements] | None:
    """Return two strings as parts that can be joined one by one; None if they are no strings, or not known.

    Args:
        state: the interpretation.
        a: what is known of one.
        b: what is known of the other.
    """
    both = [_opened(state, each) for each in (a, b)]
    if any(each is None for each in both):
        return None
    templates = {template for each in both if each is not None for template in each.keys}
    ordered = tuple(sorted(templates, key=lambda template: _number(state, template)))
    if len(ordered) > _MOST:
        return None
    first, second = (_padded(each, ordered) for each in both if each is not None)
    return first, second


def _opened(state: State, a: Abstract) -> Elements | None:
    if isinstance(a, Elements):
        return a if a.kind is str else None
    found = _template(a.value) if isinstance(a, Same) else None
    if found is None:
        return None
    template, values = found
    parts = (ConstValue(_number(state, template)), *values)
    return Elements(str, tuple(map(abstract, parts)), keys=(template,))


def _padded(a: Elements, templates: tuple[Template, ...]) -> Elements:
    """A string among more that it may be."""
    given = dict(_grouped(a.elements[1:], a.keys))
    slots = [given.get(each, tuple(Missing("str") for _ in _slots(each))) for each in templates]
    return replace(a, elements=(a.elements[0], *(part for group in slots for part in group)), keys=templates)


def _grouped(parts: Sequence[Any], templates: Sequence[Template]) -> Iterator[tuple[Template, tuple[Any, ...]]]:
    """The values in each string."""
    rest = iter(parts)
    for template in templates:
        yield template, tuple(next(rest) for _ in _slots(template))


def text_parts(state: State, value: Value, templates: tuple[Template, ...]) -> tuple[Value, ...]:
    """Return the parts of a string that is passed as one of several.

    Args:
        state: the interpretation.
        value: the string.
        templates: those that it may be.
    """
    if isinstance(value, ChosenStr):
        which, given = value.parts[0], dict(_grouped(value.parts[1:], value.templates))
    else:
        found = _template(value)
        assert found is not None
        which, given = ConstValue(_number(state, found[0])), dict([found])
    slots = [given.get(each, tuple(Uninitialized("str") for _ in _slots(each))) for each in templates]
    return (which, *(part for group in slots for part in group))


def rebuilt(state: State, parts: tuple[Value, ...], templates: tuple[Template, ...]) -> Value:
    """Return the string that is made of parts."""
    made = ChosenStr("?", (), parts, templates)
    found = [value for number, value in alternatives(state, made) if isinstance(parts[0], ConstValue)]
    return found[0] if len(found) == 1 else made


def alternatives(state: State, value: RuntimeStr) -> list[tuple[int, RuntimeStr]]:
    """Return the strings that a string may be, by their number; one of which the pieces are known is alone.

    Args:
        state: the interpretation.
        value: the string.
    """
    if not isinstance(value, ChosenStr):
        return [(0, value)] if value.pieces else []
    made = []
    for template, values in _grouped(value.parts[1:], value.templates):
        rest = iter(values)
        pieces = tuple(piece if isinstance(piece, str) else (piece[0], next(rest)) for piece in template)
        text = "".join(piece if isinstance(piece, str) else "?" for piece in pieces)
        number = _number(state, template)
        which = value.parts[0]
        if not isinstance(which, ConstValue) or which.value == number:
            made.append((number, RuntimeStr(text, pieces)))
    return made


def literals(state: State, value: ChosenStr) -> list[tuple[int, ConstValue]]:
    """Return the strings that a string may be, by their number; none if values are put into one of them.

    Args:
        state: the interpretation.
        value: the string.
    """
    if any(map(_slots, value.templates)):
        return []
    return [(number, ConstValue(found.text)) for number, found in alternatives(state, value)]
