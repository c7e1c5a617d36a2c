"""Strings that hold run-time values: messages of exceptions and what is printed.

Such a string is kept as pieces: literal text, and values with the format that Python gives them. When the program
raises, a call of Python puts the pieces together, so that the message says the numbers of the run.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ...abi.numbered_messages import numbered_message
from ...abi.results import shown
from ...errors import SourceLocation, program_error
from ...semantics.ignored_functions import RAISING
from ...semantics.kept_exceptions import raising
from .values import ConstValue, RuntimeStr, ScalarValue, TupleValue, Value

__all__ = ["RaiseCall", "Template", "made_text", "pieces_of"]

_PERCENT = re.compile(r"%(?:%|[-+ #0]*\d*(?:\.\d+)?[a-zA-Z])")

Pieces = tuple[Any, ...]


def made_text(name: str, arguments: Sequence[Value]) -> Value | None:
    """Return the outcome of an op that makes a string of something dynamic.

    Args:
        name: `add`, `format`, `percentFormat` or `str`.
        arguments: its operands.
    Returns:
        None if it is another op, or a format that cannot be followed.
    """
    if name == "add":
        return _text([piece for argument in arguments for piece in pieces_of(argument)])
    if name == "str":
        return _text(pieces_of(arguments[0]))
    template = arguments[0].value if arguments and isinstance(arguments[0], ConstValue) else None
    if not isinstance(template, str):
        return None
    values = arguments[1:]
    if name == "format":
        return _formatted(template, values)
    if len(values) == 1 and isinstance(values[0], TupleValue):
        values = values[0].elements
    return _percent(template, values) if name == "percentFormat" else None


def _joined(pieces: Sequence[Any]) -> str:
    """Put pieces together, values being Python's."""
    return "".join(piece if isinstance(piece, str) else shown(*piece) for piece in pieces)


def pieces_of(value: Value, form: str = "{}") -> Pieces:
    """Return the pieces of a value's text, by a format as of `shown`."""
    if isinstance(value, ConstValue):
        return (shown(form, value.value),)
    if isinstance(value, RuntimeStr):
        return value.pieces or (value.text,)
    return ((form, value),)


def _text(pieces: Sequence[Any]) -> Value:
    if all(isinstance(piece, str) for piece in pieces):
        return ConstValue("".join(pieces))
    return RuntimeStr("".join(piece if isinstance(piece, str) else "?" for piece in pieces), tuple(pieces))


def _formatted(template: str, values: Sequence[Value]) -> Value | None:
    """`template.format(*values)`."""
    pieces: list[Any] = []
    following = 0
    try:
        for literal, field, spec, conversion in string.Formatter().parse(template):
            pieces.append(literal)
            if field is None:
                continue
            number, following = (int(field), following) if field else (following, following + 1)
            form = "{" + (f"!{conversion}" if conversion else "") + (f":{spec}" if spec else "") + "}"
            pieces += pieces_of(values[number], form)
    except (ValueError, IndexError):
        return None
    return _text(pieces)


def _percent(template: str, values: Sequence[Value]) -> Value | None:
    """`template % values`."""
    pieces: list[Any] = []
    end, rest = 0, list(values)
    for found in _PERCENT.finditer(template):
        pieces.append(template[end : found.start()])
        end = found.end()
        if found.group() == "%%":
            pieces.append("%")
        elif rest:
            pieces += pieces_of(rest.pop(0), found.group())
        else:
            return None
    return _text([*pieces, template[end:]])


class Template:
    """A string that a call of Python puts together from the values of the run.

    Attributes:
        values: what it needs, in order.
    """

    def __init__(self, pieces: Sequence[Any]) -> None:
        """Create it from the pieces of a `RuntimeStr`."""
        self._forms = [piece if isinstance(piece, str) else piece[:1] for piece in pieces]
        self.values: list[Value] = [piece[1] for piece in pieces if not isinstance(piece, str)]

    def fill(self, values: Iterator[Any]) -> str:
        """Return the string, taking as many of the values as it needs."""
        return _joined([form if isinstance(form, str) else (*form, next(values)) for form in self._forms])

    def message(self, start: str, end: str) -> str:
        """Return the string between two others as an assertion's message, "" if some values are no numbers."""
        found = [value.kind for value in self.values if isinstance(value, ScalarValue)]
        if len(found) != len(self.values) or not {int, float, bool}.issuperset(found):
            return ""
        kinds = (kind.__name__ for kind in found)
        pieces = [form if isinstance(form, str) else (*form, next(kinds)) for form in self._forms]
        return numbered_message([start, *pieces, end])


class RaiseCall:
    """The node of a call of Python that raises an exception whose message has run-time values in it."""

    def __init__(self, pieces: Sequence[Any], kind: str, location: SourceLocation | None) -> None:
        """Create it.

        Args:
            pieces: those of the message.
            kind: the name of the exception, may be empty.
            location: the user's line.
        """
        self._text = Template(pieces)
        self.values = self._text.values
        self._start = f"{kind}: " if kind else ""
        self._end = f" [{location}]" if location else ""

    def pyobj(self) -> Callable[..., None]:
        """Return what is called with the values."""
        if self.message:
            return raising(self.message)

        def raise_error(*values: Any) -> None:
            raise program_error(self._start + self._text.fill(iter(values)) + self._end)

        return raise_error

    @property
    def message(self) -> str:
        """What an assertion says in place of the call, "" if it would have to say more than numbers."""
        return self._text.message(self._start, self._end)

    def pyname(self) -> str:
        """Return a name that no function of a user's has."""
        return RAISING

    def outputsSize(self) -> int:
        """Return the number of results."""
        return 0
