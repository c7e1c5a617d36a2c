"""`x.tolist()`: the numbers of a tensor as lists, or as one list whose length is dynamic."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch

from ..ir.emitter import DTYPE_NUMBERS
from ..tensors.scalar_ops import ScalarOps
from ..tensors.tensor_ops import TensorOps
from ..values.dynamic_list_value import SCALAR_DTYPES, DynamicListValue
from ..values.symbols import expr_of
from ..values.values import ConstValue, TensorValue, Value
from .containers import Containers

__all__ = ["to_list"]

_MOST_NUMBERS = 64
"""Elements that are read one by one."""


def to_list(tensors: TensorOps, scalars: ScalarOps, containers: Containers, value: TensorValue, declared: Any) -> Value:
    """Import a prim::tolist.

    Args:
        tensors: emits tensor ops.
        scalars: reads numbers.
        containers: makes lists.
        value: the tensor.
        declared: the TorchScript type of the result, as the program says.
    Raises:
        UnsupportedOpError: the tensor does not have that type, or too many elements.
    """
    state, fake = tensors.state, value.fake
    kind: type = bool if fake.dtype == torch.bool else float if fake.dtype.is_floating_point else int
    depth = 0
    while declared.kind() == "ListType":
        declared, depth = declared.getElementType(), depth + 1
    if depth != fake.dim() or declared.annotation_str != kind.__name__:
        found = "List[" * fake.dim() + kind.__name__ + "]" * fake.dim()
        raise state.unsupported_op(f"tolist of a tensor that makes a {found}; annotate it so")
    count = fake.numel()
    if isinstance(count, int) and count <= _MOST_NUMBERS:
        return _nested(tensors, scalars, containers, value, kind)
    if fake.dim() != 1:
        raise state.unsupported_op(
            f"tolist of a tensor with dimensions and more than {_MOST_NUMBERS} elements; flatten() it"
        )
    dtype, copies = ConstValue(DTYPE_NUMBERS[SCALAR_DTYPES[kind]]), ConstValue(True)
    contiguous = ConstValue(torch.contiguous_format)
    (buffer,) = tensors.call(torch.ops.aten.to.dtype, [value, dtype, ConstValue(False), copies, contiguous])
    with state.symbols.mode, torch.no_grad():
        buffer = replace(buffer, fake=buffer.fake.cpu())  # numbers are on no device
    return containers.new_list([DynamicListValue(buffer, tensors.symbolic(expr_of(fake.shape[0])), kind)])


def _nested(tensors: TensorOps, scalars: ScalarOps, containers: Containers, value: TensorValue, kind: type) -> Value:
    if value.fake.dim() == 0:
        return scalars.item(value, kind)
    parts = []
    for number in range(value.fake.shape[0]):
        (part,) = tensors.call(torch.ops.aten.select.int, [value, ConstValue(0), ConstValue(number)])
        parts.append(_nested(tensors, scalars, containers, part, kind))
    return containers.new_list(parts)
