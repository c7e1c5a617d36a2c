"""Complex numbers among the operands of an op, for which the IR has no constants: they become tensors without
dimensions.

To PyTorch such a tensor counts as a number of its kind does, if it is of the dtype that the result has.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from ..values.values import ConstValue, TensorValue
from .tensor_emitter import TensorEmitter

__all__ = ["has_complex", "takes_tensors", "with_tensors", "without_complex"]


def has_complex(args: list[Any]) -> bool:
    """Whether an argument is a complex number."""
    return any(isinstance(value, ConstValue) and isinstance(value.value, complex) for value in args)


def with_tensors(op: Any, numbers: list[int]) -> Any:
    """Return the overload of an op that takes tensors instead of these operands, and otherwise the same; None if there
    is none.

    Args:
        op: an OpOverload.
        numbers: positions of its operands.
    """

    def shape(candidate: Any, replaced: list[int]) -> list[str]:
        arguments = candidate._schema.arguments
        return [f"{a.name}: {'Tensor' if n in replaced else a.type}" for n, a in enumerate(arguments)]

    packet = op.overloadpacket
    wanted = shape(op, numbers)
    overloads = (getattr(packet, name) for name in packet.overloads())
    return next((candidate for candidate in overloads if shape(candidate, []) == wanted), None)


def without_complex(tensors: TensorEmitter, op: Any, args: list[Any], out: Any) -> tuple[Any, list[Any]]:
    """Return an op, and its arguments without complex numbers.

    Args:
        tensors: emits ops.
        op: the OpOverload.
        args: its arguments.
        out: its outcome.
    Returns:
        The overload that takes tensors instead; the op itself if there is none. Then it has to be emitted in the form
        that runs on copies (`takes_tensors`).
    """
    numbers = [n for n, value in enumerate(args) if isinstance(value, ConstValue) and isinstance(value.value, complex)]
    if not numbers:
        return op, args
    dtypes = [leaf.dtype for leaf in tree_leaves(out) if isinstance(leaf, torch.Tensor) and leaf.dtype.is_complex]
    dtype = dtypes[0] if dtypes else torch.complex128
    overload = with_tensors(op, numbers)
    if overload is None:
        dtype = torch.complex128  # it becomes the same number again
    made = list(args)
    for number in numbers:
        made[number] = tensors.literal(torch.tensor(args[number].value, dtype=dtype))
    return overload or op, made


def takes_tensors(op: Any, args: list[Any]) -> list[str]:
    """Return the names of the arguments that are numbers to an op, and tensors here."""
    return [
        spec.name
        for spec, value in zip(op._schema.arguments, args)
        if "number" in str(spec.type) and isinstance(value, TensorValue)
    ]
