"""What is known of values that may be None where a condition holds, or does not."""

from __future__ import annotations

from typing import Any

import sympy

from ..values.dict_items import Items
from ..values.symbols import expr_of
from ..values.values import NONE, OptionalValue, Value

__all__ = ["refined", "refined_contents"]


def refined(value: Value, fact: Any) -> Value:
    """What a value that may be None is where something holds: `y if x is not None else x` is never x."""
    if not isinstance(value, OptionalValue):
        return value
    present = expr_of(value.present.sym)
    if present == fact:
        return value.value
    return NONE if present == sympy.Not(fact) else value


def refined_contents(contents: tuple[Value, ...], fact: Any) -> tuple[Value, ...]:
    """What a dict holds where something holds: `if "k" not in d: d["k"] = x` sets a key that the other path has."""
    if not isinstance(contents, Items) or not contents.later:
        return contents
    return Items([refined(element, fact) for element in contents], contents.keys, contents.later)
