"""What eager refuses of the sizes and dtypes of indices, masks and of what is stored there, and FakeTensors take.

Ops that move elements have checks of their own in eager's kernels, of which those for FakeTensors leave out some. They
compute next to nothing, so eager is asked: the op runs on real tensors of zeros, where all sizes are known.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from .fakes import ask_eager
from .state import ProgramRaises, State

__all__ = ["check_operands"]

_NAMES = frozenset({"index", "indices", "mask", "source", "src"})
_fitting: set[Any] = set()
"""Ops with what is known of operands that eager takes: a loop's body is imported several times, and the op costs what it costs."""
_MOST_FITTING = 10_000


def check_operands(state: State, op: Any, python: Sequence[Any]) -> None:
    """Raise what eager raises for an op that moves elements, whatever is in its tensors.

    Args:
        state: the interpretation.
        op: an OpOverload that is about to be imported.
        python: its arguments: FakeTensors, symbols, constants.
    Raises:
        ProgramRaises: eager does raise.
    """
    if op.namespace != "aten" or torch.Tag.pointwise in op.tags or op._schema.name == "aten::copy_":
        return
    named = list(zip(op._schema.arguments, python))
    if any(isinstance(value, list) and any(map(_is_number, value)) for _, value in named):
        return  # `x[i] = v` is a copy into a view
    if any(spec.name in _NAMES and "Tensor" in str(spec.type) and value is not None for spec, value in named):
        asked = (op, *map(_look, python))
        if asked in _fitting:
            return
        outcome = ask_eager(state, op, python, RuntimeError())
        if isinstance(outcome, ProgramRaises):
            raise outcome
        if len(_fitting) >= _MOST_FITTING:
            _fitting.clear()
        _fitting.add(asked)


def _look(value: Any) -> Any:
    """What decides of an argument whether eager takes it; of what has symbols in it, eager is not asked."""
    if isinstance(value, torch.Tensor):
        return tuple(map(str, value.shape)), tuple(map(str, value.stride())), value.dtype
    return tuple(map(_look, value)) if isinstance(value, (list, tuple)) else (type(value), repr(value))


def _is_number(index: Any) -> bool:
    return isinstance(index, torch.Tensor) and index.dim() == 0 and index.dtype not in (torch.bool, torch.uint8)
