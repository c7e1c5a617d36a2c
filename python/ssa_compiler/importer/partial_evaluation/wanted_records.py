"""Dicts that have to be records, from the next evaluation of the program on."""

from __future__ import annotations

import dataclasses
from typing import Any, NoReturn

from .interfaces import Evaluated
from .rejections import NotCompiledError, RejectionError
from .values import NEVER, UNKNOWN, DictValue, Scalar, Value

__all__ = ["WANTED", "read_key", "reject_key", "want", "want_at"]

WANTED = "record"


def want(program: Evaluated, value: DictValue) -> None:
    """Let dicts be records."""
    for place in value.places:
        want_at(program, place)


def want_at(program: Evaluated, place: Any) -> None:
    """Let the dict that is made at a place be a record."""
    program.elements[WANTED, place] = UNKNOWN


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
