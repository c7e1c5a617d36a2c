"""`x[..., [0, 2]]`: TorchScript takes no list or tensor behind an ellipsis, which is slices where the rank is known."""

from __future__ import annotations

import ast

import torch

from .values import Known, ListValue, Scalar, TensorValue, TupleValue, Value

__all__ = ["expanded"]


def expanded(owner: Value, index: Value, node: ast.expr) -> ast.expr:
    """Return the index of a tensor, with slices for an ellipsis that has tensors or lists beside it.

    Args:
        owner: what is indexed.
        index: the index.
        node: its expression.
    """
    if not isinstance(owner, TensorValue) or owner.rank is None or not isinstance(node, ast.Tuple):
        return node
    parts = _parts(index)
    places = [place for place, part in enumerate(node.elts) if isinstance(part, ast.Constant) and part.value is ...]
    if len(places) != 1 or len(parts) != len(node.elts) or not any(map(_is_gathered, parts)):
        return node
    counts = [_dimensions(part) for place, part in enumerate(parts) if place != places[0]]
    if None in counts:
        return node
    slices = [ast.Slice(None, None, None)] * (owner.rank - sum(count for count in counts if count is not None))
    (place,) = places
    made = ast.Tuple([*node.elts[:place], *slices, *node.elts[place + 1 :]], node.ctx)
    return ast.fix_missing_locations(ast.copy_location(made, node))


def _parts(index: Value) -> list[Value]:
    if isinstance(index, TupleValue):
        return list(index.elements)
    return list(map(Known, index.object)) if isinstance(index, Known) and isinstance(index.object, tuple) else []


def _is_gathered(part: Value) -> bool:
    """Whether an index picks elements: it is a tensor or a list."""
    if isinstance(part, Known):
        return isinstance(part.object, (torch.Tensor, list))
    return isinstance(part, (TensorValue, ListValue))


def _dimensions(part: Value) -> int | None:
    """How many dimensions an index is for; None if it is not known."""
    if isinstance(part, Known):
        if part.object is None:
            return 0
        if isinstance(part.object, torch.Tensor):
            return part.object.dim() if part.object.dtype in (torch.bool, torch.uint8) else 1
        return None if isinstance(part.object, bool) or part.object is ... else 1
    if isinstance(part, TensorValue):
        return part.rank if part.dtype in (torch.bool, torch.uint8) else 1 if part.dtype is not None else None
    if isinstance(part, Scalar):
        return 1 if part.kind in (int, slice) else None
    return 1 if isinstance(part, ListValue) else None
