"""What eager rejects of tensors without elements, and FakeTensors take: `x.max()`, `argmax` along no elements, images
without pixels.

Eager is asked: an op runs on real tensors of the sizes at hand with 0 for one that may be 0. If it raises then,
whatever the other sizes are, and does not if no size is 0, the program raises that at run time. Of ops on several
tensors, whose sizes depend on one another, only those are asked whose sizes are known, and that take no indices, which
zeros need not be; what they raise has to be the same whatever the numbers are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import sympy
import torch
from torch.utils._python_dispatch import _disable_current_modes
from torch.utils._pytree import tree_leaves, tree_map

from ...errors import program_error_name
from ..ir.torchscript_enums import python_argument
from ..values.symbols import expr_of
from .concrete_run import kept_random_numbers

if TYPE_CHECKING:
    from ..values.state import State

__all__ = ["check_sizes"]

_ERRORS = (IndexError, ValueError, TypeError, NotImplementedError, RuntimeError)
_OTHERS = (3, 1, 0)
"""What the other sizes are while one is 0."""
_LARGEST = 1 << 20
_SAMPLE = 3
"""A size that is not 0, for a dynamic size."""
_NEVER = (torch.Tag.pointwise, torch.Tag.nondeterministic_seeded, torch.Tag.view_copy, torch.Tag.inplace_view)
_answers: dict[Any, str | None] = {}


def check_sizes(state: State, op: Any, python: Sequence[Any]) -> None:
    """Make the program raise what eager raises where the tensor that an op takes has no elements.

    Args:
        state: the interpretation.
        op: an OpOverload that is about to be imported.
        python: its arguments: FakeTensors, symbols, constants.
    Raises:
        ProgramRaises: it surely has none, and eager raises.
    """
    leaves = tree_leaves(list(python))
    tensors = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
    symbolic = any(isinstance(leaf, (torch.SymInt, torch.SymFloat, torch.SymBool)) for leaf in leaves)
    if not tensors or symbolic or op.is_view or op._schema.is_mutable or set(_NEVER) & set(op.tags):
        return
    if op.namespace != "aten" or any(tensor.layout != torch.strided for tensor in tensors):
        return
    if len(tensors) > 1:
        text = _rejection_of_known(op, python, tensors)
        if text is not None:
            state.check(False, text)
        return
    sizes = [expr_of(size) for size in tensors[0].shape]
    may_be = [size for size in dict.fromkeys(sizes) if _may_be_zero(state, size)]
    for size in may_be:
        if (text := _rejection(op, python, tensors[0], sizes, size)) is not None:
            state.check(sympy.Ne(size, 0), text)


def _may_be_zero(state: State, size: Any) -> bool:
    return size == 0 if size.is_Integer else state.symbols.bounds(size)[0] <= 0 and size.is_Symbol


def _rejection(op: Any, python: Sequence[Any], tensor: torch.Tensor, sizes: list[Any], zero: Any) -> str | None:
    """What eager raises where one size is 0, whatever the others are; None if it does not."""

    def numbers(at_zero: int, other: int) -> list[int]:
        return [at_zero if size == zero else int(size) if size.is_Integer else other for size in sizes]

    shapes = [numbers(0, other) for other in (_OTHERS if any(not size.is_Integer for size in sizes) else _OTHERS[:1])]
    answers = [_asked(op, python, tensor, shape) for shape in shapes]
    if None in answers or (zero.is_Symbol and _asked(op, python, tensor, numbers(_SAMPLE, _SAMPLE)) is not None):
        return None
    return answers[0]


def _rejection_of_known(op: Any, python: Sequence[Any], tensors: Sequence[torch.Tensor]) -> str | None:
    """What eager raises for several tensors of numbers of which one has no elements; None if it does not, or it is not
    known.
    """
    sizes = [size for tensor in tensors for size in tensor.shape]
    floats = all(tensor.is_floating_point() or tensor.is_complex() for tensor in tensors)
    if not floats or not all(type(size) is int for size in sizes) or all(sizes):
        return None
    shapes = {id(tensor): list(tensor.shape) for tensor in tensors}
    answer = _ask(op, python, shapes)
    if answer is not None and any(_ask(op, python, shapes, filled) != answer for filled in (torch.ones, _diagonal)):
        return None  # it is the numbers that eager rejects: a matrix of zeros is singular
    return answer


def _diagonal(shape: list[int], *, dtype: torch.dtype) -> torch.Tensor:
    """Zeros, and ones on the diagonals of matrices."""
    made = torch.zeros(shape, dtype=dtype)
    if made.dim() > 1:
        made.diagonal(0, -2, -1).fill_(1)
    return made


def _asked(op: Any, python: Sequence[Any], tensor: torch.Tensor, shape: list[int]) -> str | None:
    """What eager raises for a tensor of zeros of a shape, None if nothing."""
    key = (op, str([leaf for leaf in tree_leaves(list(python)) if leaf is not tensor]), tensor.dtype, tuple(shape))
    if key not in _answers:
        _answers[key] = _ask(op, python, {id(tensor): shape})
    return _answers[key]


def _ask(
    op: Any,
    python: Sequence[Any],
    shapes: dict[int, list[int]],
    filled: Callable[..., torch.Tensor] = torch.zeros,
) -> str | None:
    """What eager raises for tensors of these shapes, by the FakeTensors that they stand for; of zeros unless filled
    otherwise.
    """
    if sum(map(math.prod, shapes.values())) > _LARGEST:
        return None
    given = [python_argument(value, argument) for argument, value in zip(op._schema.arguments, python)]
    with _disable_current_modes(), torch.no_grad(), kept_random_numbers(op):
        given = tree_map(lambda leaf: filled(shapes[id(leaf)], dtype=leaf.dtype) if id(leaf) in shapes else leaf, given)
        positional = [value for spec, value in zip(op._schema.arguments, given) if not spec.kwarg_only]
        keywords = {spec.name: value for spec, value in zip(op._schema.arguments, given) if spec.kwarg_only}
        try:
            op(*positional, **keywords)
        except _ERRORS as error:
            lines = [line.strip() for line in str(error).splitlines() if line.strip()]
            return f"{program_error_name(type(error))}: {lines[0] if lines else op.name()}"
    return None
