"""Tensors without dimensions that ops take for a number: `x.masked_fill(m, torch.tensor(-1e9))`.

Eager reads the number and raises if the dtype of what it is stored in does not hold it. Which ops do so is asked of
them: they raise for a number that is too large. A tensor of the same dtype stays one, for nobody can tell.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import torch

from ..fake.dtype_probe import Described, describe, run_example
from ..tensors.scalar_ops import ScalarOps
from ..values.values import TensorValue, Value

__all__ = ["take_numbers"]

_LARGE = 1e300


def take_numbers(scalars: ScalarOps, op: Any, arguments: list[Value]) -> tuple[Any, list[Value]]:
    """Return an op and its arguments with numbers for the tensors that eager takes for such.

    Args:
        scalars: emits ops on numbers.
        op: the OpOverload.
        arguments: one value per schema argument.
    """
    first = arguments[0] if arguments else None
    if not isinstance(first, TensorValue):
        return op, arguments
    for number, value in enumerate(arguments[1:], 1):
        if not isinstance(value, TensorValue) or value.fake.dim() or value.fake.dtype == first.fake.dtype:
            continue
        if value.fake.dtype.is_complex or first.fake.dtype.is_complex:
            continue
        other = _with_number(op, number)
        if other is not None and _reads(op, number, describe(arguments)):
            kind = float if value.fake.dtype.is_floating_point else int
            given = [*arguments[:number], scalars.item(value, kind), *arguments[number + 1 :]]
            return take_numbers(scalars, other, given)
    return op, arguments


@cache
def _with_number(op: Any, number: int) -> Any:
    """The overload that differs in one operand only, which is a number; None if there is none."""
    packet, wanted = op.overloadpacket, [(spec.name, str(spec.type)) for spec in op._schema.arguments]
    wanted[number] = (wanted[number][0], "number")
    for name in packet.overloads():
        candidate = getattr(packet, name)
        if [(spec.name, str(spec.type)) for spec in candidate._schema.arguments] == wanted:
            return candidate
    return None


@cache
def _reads(op: Any, number: int, described: Described) -> bool:
    """Whether an op raises for a tensor without dimensions whose number a float32 does not hold."""
    floats = ((torch.float32, *described[0][1:]), *described[1:])
    try:
        run_example(op, floats, {number: torch.tensor(_LARGE, dtype=torch.float64)})
    except RuntimeError as error:
        return "overflow" in str(error)
    except Exception:  # the example does not suit the op
        return False
    return False
