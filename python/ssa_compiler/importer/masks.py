"""Masks as indices: those of bytes, and those without dimensions, as PyTorch's Python front end understands them.

`x[m]` with a mask `m` of no dimensions is `x[None][m[None]]`: no row or one. TorchScript leaves that to `aten::index`, which
cannot do it. A mask of bytes stands for the bools `m != 0`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import sympy
import torch

from .containers import Containers
from .symbols import expr_of
from .values import ConstValue, TensorValue, Value

if TYPE_CHECKING:
    from .aten import TensorOps

__all__ = ["plain_masks"]

_FILLS = "RuntimeError: masked_fill_ only supports boolean masks, but got mask with dtype unsigned char"


def plain_masks(tensors: TensorOps, containers: Containers, arguments: Sequence[Value]) -> list[Value]:
    """Return the arguments of `index` or `index_put` with masks of bools, each of one dimension at least.

    Args:
        tensors: emits ops.
        containers: opens and makes lists.
        arguments: the tensor, the list of indices, and what else there is.
    Raises:
        ProgramRaises: a number is stored at a mask of bytes, which eager refuses.
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


def _call(tensors: TensorOps, op: Any, *arguments: Any) -> TensorValue:
    values = [value if isinstance(value, Value) else ConstValue(value) for value in arguments]
    (result,) = tensors.call(op, values)
    return result
