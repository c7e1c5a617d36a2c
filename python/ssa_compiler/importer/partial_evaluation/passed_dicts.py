"""Dicts that the program is passed and does not change, of which more is known: what there is by each key."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from .values import DictValue, TensorValue, Value

__all__ = ["with_parts"]


def with_parts(program: Any, value: Value, examples: Sequence[Any], part: Callable[[Sequence[Any]], Value]) -> Value:
    """Return what is known of a container, with what there is by the keys of a dict of tensors.

    Args:
        program: the program, which knows what it puts where.
        value: what is known of the container.
        examples: those that are passed.
        part: returns what is known of an element, given examples.
    """
    if not isinstance(value, DictValue) or not isinstance(value.element, TensorValue):
        return value
    if any(place in program.elements for place in value.places):
        return value
    keys = [key for key in examples[0] if type(key) is str and all(key in each for each in examples)]
    return dataclasses.replace(value, parts=tuple((key, part([each[key] for each in examples])) for key in keys))
