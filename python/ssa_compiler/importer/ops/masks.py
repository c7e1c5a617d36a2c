"""Masks as indices, as PyTorch's Python front end understands them, and what they stand for: the places where they
hold.

`x[m]` with a mask `m` of no dimensions is `x[None][m[None]]`: no row or one. TorchScript leaves that to `aten::index`,
which cannot do it. A mask of bytes stands for the bools `m != 0`.

A mask of bools stands for as many lists of positions as it has dimensions, those of `nonzero(m)`, so that `x[m]`
becomes `x[i, j]`. A mask remains one only where the same is stored at all places at which it holds (`x[m] = 1.`):
whoever compiles that chooses for each element, and need not know how many places there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy
import torch

from ...errors import UnsupportedOpError, program_error_name
from ..containers.containers import Containers
from ..tensors.indexing import stored_value
from ..tensors.tensor_ops import TensorOps
from ..values.diagnostics import ProgramRaises
from ..values.symbols import expr_of
from ..values.values import ConstValue, OptionalValue, TensorValue, Value

__all__ = ["as_fill", "as_stored", "masks_as_positions", "over_all", "plain_masks", "present_indices"]

_NONE = "unsupported: an index that is None in some runs; write x[None] in a branch of its own"
_FILLS = "RuntimeError: masked_fill_ only supports boolean masks, but got mask with dtype unsigned char"


def present_indices(containers: Containers, arguments: Sequence[Value]) -> list[Value]:
    """Return the arguments of `index` or `index_put` with indices that are not None: a call for which one is raises.

    In eager `x[None]` has one more dimension; TorchScript takes a None that is a variable for a full slice.

    Args:
        containers: opens and makes lists.
        arguments: the tensor, the list of indices, and what else there is.
    """
    base, indices, *rest = arguments
    elements = containers.elements(indices)
    optional = [index for index in elements if isinstance(index, OptionalValue)]
    for index in optional:
        containers.values.require(index.present, f"{program_error_name(UnsupportedOpError)}: {_NONE}")
    found = [index.value if isinstance(index, OptionalValue) else index for index in elements]
    return [base, containers.new_list(found), *rest] if optional else list(arguments)


def plain_masks(tensors: TensorOps, containers: Containers, arguments: Sequence[Value]) -> list[Value]:
    """Return the arguments of `index` or `index_put` with masks of bools, each of one dimension at least.

    Args:
        tensors: emits ops.
        containers: opens and makes lists.
        arguments: the tensor, the list of indices, and what else there is.
    Raises:
        ProgramRaises: a number is stored at a mask of bytes, which eager rejects.
    """
    base, indices, *rest = arguments
    if not isinstance(base, TensorValue):
        return list(arguments)
    given = [value for value in containers.elements(indices) if isinstance(value, TensorValue)]
    dtypes = {index.fake.dtype for index in given}
    if rest and dtypes <= {torch.bool, torch.uint8} and torch.uint8 in dtypes:
        if isinstance(rest[0], TensorValue):
            tensors.state.check(sympy.Ne(expr_of(rest[0].fake.numel()), 1), _FILLS)
    found, dim = [], 0
    for index in containers.elements(indices):
        if isinstance(index, TensorValue) and index.fake.dtype in (torch.bool, torch.uint8):
            if index.fake.dtype == torch.uint8:
                index = _call(tensors, torch.ops.aten.ne.Scalar, index, 0)
            if index.fake.dim() == 0:
                index = _call(tensors, torch.ops.aten.unsqueeze.default, index, 0)
                base = _call(tensors, torch.ops.aten.unsqueeze.default, base, dim)
            dim += index.fake.dim()
        else:
            dim += 1
        found.append(index)
    return [base, containers.new_list(found), *rest]


def masks_as_positions(tensors: TensorOps, containers: Containers, arguments: Sequence[Value]) -> list[Value]:
    """Return the arguments of `index` or `index_put` with the positions where masks hold in place of the masks.

    Args:
        tensors: emits ops.
        containers: opens and makes lists.
        arguments: the tensor, the list of indices, and what else there is; masks are of bools and have dimensions.
    Raises:
        ProgramRaises: the mask has other sizes than what it indexes.
    """
    base, indices, *rest = arguments
    given = containers.elements(indices)
    masks = [index for index in given if _is_mask(index)]
    if not isinstance(base, TensorValue) or not masks:
        return list(arguments)
    _check_sizes(tensors, given, base)
    if rest and _stores_same(base, given, rest):
        return list(arguments)
    aten, dim = torch.ops.aten, 0
    found: list[Value] = []
    for index in given:
        if not isinstance(index, TensorValue) or not _is_mask(index):
            found.append(index)
            dim += 1
            continue
        rank = index.fake.dim()
        if rank > 1 and not rest and len(masks) == 1:
            # What is read may be flattened, and one list of positions is found faster than several.
            base = _call(tensors, aten.flatten.using_ints, base, dim, dim + rank - 1)
            index, rank = _call(tensors, aten.flatten.using_ints, index, 0, -1), 1
        places = _call(tensors, aten.nonzero.default, index)
        found += [_call(tensors, aten.select.int, places, 1, column) for column in range(rank)]
        dim += rank
    return [base, containers.new_list(found), *rest]


def as_stored(tensors: TensorOps, containers: Containers, arguments: Sequence[Value]) -> list[Value]:
    """Return the arguments of what `x[...] = v` becomes with as many dimensions of `v` as are stored.

    Python drops leading dimensions of size 1, and broadcasts what `copy_` is to store (`stored_value`).

    Args:
        tensors: emits ops.
        containers: opens lists.
        arguments: those of `copy_`, or of `index_put_` with its list of indices.
    """
    made = list(arguments)
    base, position = made[0], 2 if len(made) > 3 else 1
    value = made[position]
    if not isinstance(base, TensorValue) or not isinstance(value, TensorValue):
        return made
    rank = base.fake.dim()
    if position == 2:
        given = [index for index in containers.elements(made[1]) if isinstance(index, TensorValue)]
        rank -= sum(index.fake.dim() if _is_mask(index) else 1 for index in given)
        rank += max((1 if _is_mask(index) else index.fake.dim() for index in given), default=0)
    while value.fake.dim() > max(rank, 0) and isinstance(value.fake.shape[0], int) and value.fake.shape[0] == 1:
        value = _call(tensors, torch.ops.aten.select.int, value, 0, 0)
    made[position] = stored_value(tensors, base, value) if position == 1 else value
    return made


def as_fill(tensors: TensorOps, containers: Containers, op: Any, arguments: Sequence[Value]) -> tuple[Any, list[Value]]:
    """Return `index_put` of one element of another dtype at a mask as what it is in eager, `masked_fill` with a number.

    Args:
        tensors: emits ops.
        containers: opens lists.
        op: the OpOverload.
        arguments: its arguments.
    Returns:
        The op and its arguments, as they were if they are others.
    """
    base, indices, value, *_ = arguments
    given = containers.elements(indices)
    if not isinstance(base, TensorValue) or not isinstance(value, TensorValue) or not any(map(_is_mask, given)):
        return op, list(arguments)
    one = isinstance(value.fake.numel(), int) and value.fake.numel() == 1
    if not one or value.fake.dtype == base.fake.dtype or not _stores_same(base, given, list(arguments[2:])):
        return op, list(arguments)
    mask = over_all(tensors, base, given)
    for _ in range(value.fake.dim()):
        value = _call(tensors, torch.ops.aten.select.int, value, 0, 0)
    aten = torch.ops.aten
    fill = aten.masked_fill_.Tensor if op._schema.is_mutable else aten.masked_fill.Tensor
    return fill, [base, mask, value]


def over_all(tensors: TensorOps, base: TensorValue, given: Sequence[Value]) -> TensorValue:
    """Return the only tensor among indices, a mask, with dimensions of size 1 for those of `base` behind it.

    Args:
        tensors: emits ops.
        base: what is indexed.
        given: the indices.
    """
    mask = next(index for index in given if isinstance(index, TensorValue))
    for _ in range(base.fake.dim() - len(given) + 1 - mask.fake.dim()):
        mask = _call(tensors, torch.ops.aten.unsqueeze.default, mask, -1)
    return mask


def _is_mask(index: Value) -> bool:
    return isinstance(index, TensorValue) and index.fake.dtype == torch.bool


def _stores_same(base: TensorValue, given: Sequence[Value], rest: Sequence[Value]) -> bool:
    """Whether `index_put` stores at each place where its only index, a mask, holds the same."""
    tensors = [index for index in given if isinstance(index, TensorValue)]
    values, accumulate = rest[0], rest[1]
    if len(tensors) != 1 or not isinstance(values, TensorValue):
        return False
    if not isinstance(accumulate, ConstValue) or accumulate.value:
        return False
    behind = base.fake.dim() - next(n for n, index in enumerate(given) if index is tensors[0]) - tensors[0].fake.dim()
    return values.fake.dim() <= behind or expr_of(values.fake.shape[values.fake.dim() - behind - 1]) == 1


def _check_sizes(tensors: TensorOps, given: Sequence[Value], base: TensorValue) -> None:
    """Make the program raise where there are more indices than dimensions, or a mask has other sizes than what it
    indexes.
    """
    indexed = tuple(base.fake.shape)
    spans = [index.fake.dim() if isinstance(index, TensorValue) and _is_mask(index) else 1 for index in given]
    if sum(spans) > len(indexed):
        raise ProgramRaises(f"IndexError: too many indices for tensor of dimension {len(indexed)}")
    for position, index in enumerate(given):
        if not isinstance(index, TensorValue) or not _is_mask(index):
            continue
        sizes, dim = tuple(index.fake.shape), sum(spans[:position])
        for number, (size, wanted) in enumerate(zip(sizes, indexed[dim:])):
            tensors.state.check(
                sympy.Eq(expr_of(size), expr_of(wanted)),
                f"IndexError: The shape of the mask {_shown(sizes)} at index {number} does not match the shape of the "
                f"indexed tensor {_shown(indexed)} at index {dim + number}",
            )


def _shown(sizes: Sequence[Any]) -> str:
    return f"[{', '.join(str(size) if isinstance(size, int) else '?' for size in sizes)}]"


def _call(tensors: TensorOps, op: Any, *arguments: Any) -> TensorValue:
    values = [value if isinstance(value, Value) else ConstValue(value) for value in arguments]
    (result,) = tensors.call(op, values)
    return result
