"""Ops that eager rejects for tensors without elements along some dimensions, and FakeTensors take."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy

from ..values.state import State
from ..values.symbols import expr_of

__all__ = ["check_elements"]

_CONVOLUTIONS = frozenset(
    f"aten::{name}"
    for name in (
        "convolution",
        *(f"conv{rank}d" for rank in (1, 2, 3)),
        *(f"conv{rank}d.padding" for rank in (1, 2, 3)),
    )
)


def check_elements(state: State, op: Any, python: Sequence[Any]) -> None:
    """Raise, or take for granted that it does not happen, what eager raises for a convolution over nothing.

    Args:
        state: the interpretation.
        op: an OpOverload.
        python: one Python value per schema argument.
    Raises:
        ProgramRaises: eager does raise.
    """
    if op.name() not in _CONVOLUTIONS:
        return
    image, weight = python[:2]
    spatial = weight.dim() - 2
    leading = [expr_of(size) for size in image.shape[: image.dim() - spatial]]
    if any(size == 0 for size in leading):
        return
    for size in map(expr_of, image.shape[image.dim() - spatial :]):
        if size == 0:
            shape = [size if isinstance(size, int) else "?" for size in image.shape]
            text = f"Only zero batch or zero channel inputs are supported, but got input shape: {shape}"
            state.check(sympy.Or(*(sympy.Eq(other, 0) for other in leading)), f"RuntimeError: {text}")
        if not size.is_Integer:
            state.require(sympy.Or(sympy.Ne(size, 0), *(sympy.Eq(other, 0) for other in leading)), op.name())
