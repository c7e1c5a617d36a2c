"""Annotations of variables, of which TorchScript knows some: `rows: Dict[str, list] = {}` says no more than `{}`."""

from __future__ import annotations

import ast
import types
import typing
from typing import Any

import torch

from .declared_classes import declared_name

__all__ = ["annotated_type"]

_SIMPLE = (torch.Tensor, torch.device, torch.dtype, bool, int, float, complex, str, None, type(None))
_GENERIC = (list, dict, tuple, typing.Union, types.UnionType)


def annotated_type(scope: Any, node: ast.expr) -> Any:
    """Return the type that an annotation means, if TorchScript takes it for that; else None.

    Args:
        scope: the function.
        node: the annotation.
    """
    names = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    try:
        meanings = {name: scope.lookup(name) for name in names}
        kind = eval(compile(ast.fix_missing_locations(ast.Expression(node)), "annotation", "eval"), meanings)
    except Exception:  # noqa: BLE001 - Python does not evaluate it
        return None
    return kind if kind is not None and not isinstance(kind, str) and _is_type(kind) else None


def _is_type(kind: Any) -> bool:
    if any(kind is each for each in _SIMPLE):
        return True
    parts = typing.get_args(kind)
    if typing.get_origin(kind) in _GENERIC and parts:
        return all(map(_is_type, parts))
    return isinstance(kind, type) and not parts and declared_name(kind) is not None
