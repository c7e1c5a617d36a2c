"""What `x[...] = number` is in eager: which op stores the number depends on PyTorch.

TorchScript makes a tensor of the number, and copies it or puts it at indices. So did eager until 2.14: 2.15 calls
`fill_`, `masked_fill_` or `index_fill_` with the number, which look at other things before they store it. Eager is
asked which it is, on a small tensor with the same kinds of indices.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import torch

from ..containers.containers import Containers
from ..fake.dispatched import last_called
from ..ir.locations import highlighted
from ..tensors.overlap import repeated_dims
from ..tensors.scalar_ops import ScalarOps
from ..tensors.tensor_ops import TensorOps
from ..values.values import ConstValue, TensorValue, Value
from .masks import over_all

__all__ = ["as_eager_stores", "stored_number"]


def stored_number(node: Any, scalars: ScalarOps, lookup: Callable[[Any], Value]) -> Value | None:
    """Return the int or float that an assignment stores; None if it stores a tensor of the program's or a bool.

    Args:
        node: the `copy_` or `index_put_` of the assignment.
        scalars: knows numbers.
        lookup: gives what a value of the graph is.
    """
    made = list(node.inputs())[1 if node.kind() == "aten::copy_" else 2].node()
    if made.kind() != "aten::tensor" or highlighted(made):
        return None
    number = lookup(next(made.inputs()))
    return number if scalars.are_numbers([number]) and scalars.kind(number) in (int, float) else None


def as_eager_stores(
    tensors: TensorOps, containers: Containers, op: Any, arguments: Sequence[Value], number: Value
) -> tuple[Any, list[Value]]:
    """Return `copy_` or `index_put_` of a number as what eager makes of it, where that makes a difference.

    Args:
        tensors: emits ops.
        containers: opens lists.
        op: the OpOverload.
        arguments: its arguments.
        number: the number.
    Returns:
        The op and its arguments, as they were if they are others.
    """
    base = arguments[0]
    if not isinstance(base, TensorValue):
        return op, list(arguments)
    aten = torch.ops.aten
    if op._schema.name == "aten::copy_":
        # They differ in whether a view may show elements several times.
        filled = bool(repeated_dims(base.fake)) and _eager_calls(1, None) is aten.fill_.Scalar
        return (aten.fill_.Scalar, [base, number]) if filled else (op, list(arguments))
    given = containers.elements(arguments[1])
    found = [(place, index) for place, index in enumerate(given) if isinstance(index, TensorValue)]
    if len(found) != 1:
        return op, list(arguments)
    ((place, index),) = found
    called = _eager_calls(base.fake.dim(), (place, index.fake.dtype, index.fake.dim()))
    if called is aten.masked_fill_.Scalar and index.fake.dtype == torch.bool:
        return called, [base, over_all(tensors, base, given), number]
    if called is aten.index_fill_.int_Scalar and 0 in base.fake.shape:
        # They differ in whether an index is looked at that stands for no elements.
        return called, [base, ConstValue(place), index, number]
    return op, list(arguments)


@cache
def _eager_calls(rank: int, index: tuple[int, torch.dtype, int] | None) -> Any:
    """The OpOverload that stores a number in a tensor.

    Args:
        rank: how many dimensions the tensor has.
        index: where the tensor is among the indices, its dtype and how many dimensions it has; None without one.
    """
    base = torch.ones([1] * rank)
    indices: list[Any] = [...]
    if index is not None:
        place, dtype, dims = index
        indices = [*[slice(None)] * place, torch.zeros([1] * dims, dtype=dtype)]
    return last_called(lambda: base.__setitem__(tuple(indices), 1.0))
