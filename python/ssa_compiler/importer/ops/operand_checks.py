"""What eager rejects of the sizes and dtypes of indices, masks and of what is stored there, and FakeTensors take.

Ops that move elements have checks of their own in eager's kernels, of which those for FakeTensors leave out some. They
compute next to nothing, so eager is asked: the op runs on real tensors of zeros, where all sizes are known. What is
stored into a part of a tensor has to have the part's sizes, which are compared at run time if they are known only then.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy
import torch

from ..fake.fake_run import ask_eager
from ..tensors.tensor_ops import TensorOps
from ..values.diagnostics import ProgramRaises
from ..values.state import State
from ..values.symbols import expr_of
from ..values.values import ScalarValue

__all__ = ["check_operands", "check_stored"]

_NAMES = frozenset({"index", "indices", "mask", "source", "src"})
_PARTS = {"aten::select_scatter": torch.ops.aten.select.int, "aten::slice_scatter": torch.ops.aten.slice.Tensor}
"""Ops that store into a part of a tensor, and the views that are this part."""
_fitting: set[Any] = set()
"""Ops with what is known of operands that eager takes: a loop's body is imported several times, and the op costs what
it costs.
"""
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


def check_stored(tensors: TensorOps, op: Any, args: Sequence[Any]) -> None:
    """Make the program raise what eager raises where what is stored into a part of a tensor has other sizes than the
    part.

    Args:
        tensors: emits ops.
        op: an OpOverload that is about to be imported.
        args: its arguments, a Value each.
    Raises:
        ProgramRaises: it surely has.
    """
    view = _PARTS.get(op.name())
    if view is None:
        return
    whole, source, *place = args
    sizes = (*whole.fake.shape, *source.fake.shape)
    if not any(isinstance(value, ScalarValue) for value in place) and all(type(size) is int for size in sizes):
        return  # eager was asked
    (part,) = tensors.call_arguments(view, [whole, *place])
    text = "RuntimeError: expected src to have a size equal to the slice of self"
    tensors.state.check(sympy.true if source.fake.dim() == part.fake.dim() else sympy.false, text)
    for size, wanted in zip(source.fake.shape, part.fake.shape):
        tensors.state.check(sympy.Eq(expr_of(size), expr_of(wanted)), text)


def _look(value: Any) -> Any:
    """What decides of an argument whether eager takes it; of what has symbols in it, eager is not asked."""
    if isinstance(value, torch.Tensor):
        return tuple(map(str, value.shape)), tuple(map(str, value.stride())), value.dtype
    return tuple(map(_look, value)) if isinstance(value, (list, tuple)) else (type(value), repr(value))


def _is_number(index: Any) -> bool:
    return isinstance(index, torch.Tensor) and index.dim() == 0 and index.dtype not in (torch.bool, torch.uint8)
