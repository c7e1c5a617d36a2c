"""Expressions for some value of a type, for variables and attributes that have none yet."""

from __future__ import annotations

from .declared_classes import declared_class
from .enum_classes import is_enum

__all__ = ["DEFAULTS", "default_of"]

DEFAULTS = {bool: "False", int: "0", float: "0.0", complex: "0j", str: "''"}
"""An expression for some value of a type."""
_DEFAULTS = {kind.__name__: text for kind, text in DEFAULTS.items()}


def default_of(text: str | None) -> str | None:
    """Return an expression for some value of a type, as TorchScript writes it; None if there is none.

    Args:
        text: the type.
    """
    kind = None if text is None else declared_class(text)
    if kind is not None and is_enum(kind):
        return f"{text}.{next(iter(kind.__members__))}"
    return _DEFAULTS.get(text or "")
