"""Pooling with one window along a dimension, of a tensor whose other sizes are dynamic.

IREE 3.13.0 drops the dimension of the result that has one element, and takes the number of elements in a window from
the tensor then, all of it. MLIR's verifier would tell where all sizes are known. A tensor that is cut to the window has
no more.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from iree.compiler import ir

from ..ir.bindings import build, constant_integer, torch_integer
from ..ir.types import element_of, sizes
from .masks import listed

__all__ = ["cut_to_windows", "is_pooling", "reads_beyond_window"]

_POOLING = re.compile(r"torch\.aten\.(?P<kind>max|avg)_pool(?P<rank>[123])d(?P<indices>_with_indices)?")


@dataclass(frozen=True)
class _Window:
    """A dimension with one window.

    Attributes:
        dimension: its number.
        size: the number of elements of the tensor, None if it is not known.
        window: the number of elements that a window spans, None if it is not known.
        padded: whether elements are added at the ends, or may be.
    """

    dimension: int
    size: int | None
    window: int | None
    padded: bool


def is_pooling(op: ir.Operation) -> bool:
    """Whether an op takes the largest element, or the mean, of windows."""
    return _POOLING.fullmatch(op.name) is not None


def _single_windows(op: ir.Operation) -> list[_Window]:
    """The dimensions of which IREE might take more elements than one window has."""
    match = _POOLING.fullmatch(op.name)
    if match is None:
        return []
    given, made, rank = sizes(op.operands[0]), sizes(op.results[0]), int(match["rank"])
    if "?" not in (*given, *made):
        return []

    def setting(number: int, position: int) -> int | None:
        items = listed(op.operands[number])
        return constant_integer(items[position if len(items) > 1 else 0])

    found = []
    for position in range(rank):
        dimension = len(given) - rank + position
        if made[dimension] != "1":
            continue
        size = int(given[dimension]) if given[dimension] != "?" else None
        kernel, dilation = setting(1, position), setting(4, position) if match["kind"] == "max" else 1
        window = None if kernel is None or dilation is None else (kernel - 1) * dilation + 1
        padded = setting(3, position) != 0
        if padded or size is None or size != window:
            found.append(_Window(dimension, size, window, padded))
    return found


def reads_beyond_window(op: ir.Operation) -> bool:
    """Whether IREE reads more than the window, and a cut does not help."""
    windows = _single_windows(op)
    if op.name.endswith("_with_indices"):
        return bool(windows)  # they count in the whole tensor
    return any(w.padded or w.size is None or w.window is None or w.size < w.window for w in windows)


def cut_to_windows(op: ir.Operation) -> int:
    """Cut the tensor that a pooling op reads to the window, where there is one.

    Returns:
        1 if it was rewritten, else 0.
    """
    windows = _single_windows(op)
    if not windows or reads_beyond_window(op):
        return 0
    where = ir.InsertionPoint(op)
    value = op.operands[0]
    for window in windows:
        assert window.window is not None
        shape = sizes(value)
        shape[window.dimension] = str(window.window)
        element = element_of(value.type)
        type_ = ir.Type.parse(f"!torch.vtensor<[{','.join(shape)}],{element}>", op.context)
        bounds = [torch_integer(number, where) for number in (window.dimension, 0, window.window, 1)]
        value = build("torch.aten.slice.Tensor", [type_], [value, *bounds], where).results[0]
    op.operands[0] = value
    return 1
