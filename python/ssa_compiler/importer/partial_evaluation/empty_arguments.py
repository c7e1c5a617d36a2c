"""Lists and dicts that are passed without elements: what these are is what the parameter declares."""

from __future__ import annotations

import inspect
from dataclasses import replace
from typing import Any, get_type_hints

from .values import DictValue, ListValue, Value, type_value

__all__ = ["declared_elements", "with_declared"]


def declared_elements(function: Any) -> dict[str, Value]:
    """Return what is known of the parameters of a function that are declared as lists and dicts.

    Args:
        function: the function.
    """
    try:
        hints = get_type_hints(inspect.unwrap(function))
    except Exception:  # noqa: BLE001 - annotations may be anything, also what is not there
        return {}
    values = {name: type_value(hint) for name, hint in hints.items()}
    return {name: value for name, value in values.items() if isinstance(value, (ListValue, DictValue))}


def with_declared(value: Value, declared: Value | None) -> Value:
    """Return what is known of an argument, with the elements that are declared if it has none.

    Args:
        value: what is known of the argument.
        declared: of its parameter.
    """
    if isinstance(value, ListValue) and isinstance(declared, ListValue) and value.element is None:
        return replace(value, element=declared.element)
    if isinstance(value, DictValue) and isinstance(declared, DictValue) and value.element is None:
        return replace(value, key=declared.key, element=declared.element)
    return value
