"""Fields of dataclasses that are annotated `tuple` or `list` only: their types are those of their defaults."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import torch

__all__ = ["types_of_defaults"]

_BARE: dict[Any, type] = {tuple: tuple, list: list, "tuple": tuple, "list": list}
_PLAIN = (bool, int, float, str, torch.Tensor)


def types_of_defaults(kind: type) -> Mapping[str, Any]:
    """Return the types of the fields of a dataclass whose annotations do not say what is in them, as far as their
    defaults do.
    """
    if not dataclasses.is_dataclass(kind):
        return {}
    found = {field.name: _type(field) for field in dataclasses.fields(kind) if field.type in (*_BARE,)}
    return {name: made for name, made in found.items() if made is not None}


def _type(field: dataclasses.Field[Any]) -> Any:
    default = field.default
    if field.default_factory is not dataclasses.MISSING:
        try:
            default = field.default_factory()
        except Exception:  # noqa: BLE001 - a factory of the user's may raise whatever it likes
            return None
    if type(default) is not _BARE[field.type] or not default:
        return None
    return _type_of(default)


def _type_of(value: Any) -> Any:
    if isinstance(value, _PLAIN):
        return torch.Tensor if isinstance(value, torch.Tensor) else type(value)
    parts = [_type_of(part) for part in value] if isinstance(value, (tuple, list)) and value else [None]
    if None in parts:
        return None
    if isinstance(value, tuple):
        return tuple[tuple(parts)]  # type: ignore[misc]
    return list[parts[0]] if len(set(parts)) == 1 else None  # type: ignore[valid-type]
