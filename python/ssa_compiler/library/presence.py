"""Values that are None where eager raises an error: partial evaluation calls these functions, for their types."""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

__all__ = ["PRESENT", "optional", "tensors"]


def _with_type(value, message):
    if value is None:
        raise TypeError(message)
    return value


def _with_attributes(value, message):
    if value is None:
        raise AttributeError(message)
    return value


def _assigned(value, message):
    if value is None:
        raise UnboundLocalError(message)
    return value


def _with_key(value, message):
    if value is None:
        raise KeyError(message)
    return value


def _with_value(value, message):
    if value is None:
        raise ValueError(message)
    return value


def tensors(values):
    """Return a list of tensors of one of which none may be None."""
    made = []
    for place, value in enumerate(values):
        if value is None:
            raise TypeError(f"expected Tensor as element {place} in argument 0, but got NoneType")
        made.append(value)
    return made


def optional(value):
    """Return a value as one that may be None, which its type says."""
    return value


PRESENT = {
    TypeError: _with_type,
    AttributeError: _with_attributes,
    UnboundLocalError: _assigned,
    KeyError: _with_key,
    ValueError: _with_value,
}
"""Functions of a value and a message that return the value, by the error that they raise if it is None."""
