"""Messages of assertions that say numbers of the run, such as `f"n is {n}"`.

They are text of their own form, so that they pass through MLIR as messages do: the pieces as JSON, behind a mark.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from .results import shown

__all__ = ["NOTE", "filled", "is_numbered", "numbered_message"]

NOTE = "kernel.note"
"""The function `(word, bits)` of the linalg stage that keeps a number for the message of the assertion behind it."""
_MARK = "\x01"

Number = tuple[str, str]
"""How a number is shown, as by `shown`, and its kind: "int", "float" or "bool"."""


def numbered_message(pieces: Sequence[str | Number]) -> str:
    """Return the message made of literal text and numbers, in order."""
    return _MARK + json.dumps(pieces)


def is_numbered(message: str) -> bool:
    """Whether a message says numbers of the run."""
    return message.startswith(_MARK)


def filled(message: str, number_of: Callable[[int, str], bool | int | float]) -> str:
    """Return the text of a message.

    Args:
        message: of an assertion, with numbers or without.
        number_of: returns a number, by its position among those of the message and its kind.
    """
    if not is_numbered(message):
        return message
    text, position = "", 0
    for piece in json.loads(message.removeprefix(_MARK)):
        if isinstance(piece, str):
            text += piece
            continue
        form, kind = piece
        text += shown(form, number_of(position, kind))
        position += 1
    return text
