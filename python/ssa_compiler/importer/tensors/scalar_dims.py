"""Dynamic dimension numbers, of tensors without dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch.utils._pytree import tree_leaves

from ..fake.dim_errors import NAMES, dimension_error
from ..values.values import ConstValue, ScalarValue, TensorValue, tensor_values
from .scalar_ops import ScalarOps

__all__ = ["check_dimensions"]


def check_dimensions(scalars: ScalarOps, op: Any, arguments: Sequence[Any]) -> None:
    """Make the program raise for a dynamic dimension number that an op of a tensor without dimensions does not take.

    Others have to know their dimensions; such a tensor has none, and its op needs no number.

    Args:
        scalars: emits ops on numbers.
        op: an OpOverload.
        arguments: its operands; lists are open.
    """
    tensors = [value for argument in arguments for value in tensor_values(argument)]
    if not tensors or any(tensor.fake.dim() for tensor in tensors):
        return
    specs, values = op._schema.arguments, [_numbered(scalars, argument) for argument in arguments]
    for number, (spec, argument) in enumerate(zip(specs, arguments)):
        if not NAMES.search(spec.name) or "int" not in str(spec.type):
            continue

        def asked(dim: int, number: int = number) -> str | None:
            """What eager says of one number in the place of all that are dynamic."""
            tried = list(values)
            tried[number] = _numbered(scalars, arguments[number], dim)
            keywords = {spec.name: value for spec, value in zip(specs, tried) if spec.kwarg_only}
            return dimension_error(op, [value for spec, value in zip(specs, tried) if not spec.kwarg_only], keywords)

        unknown = [value for value in tree_leaves(argument) if isinstance(value, ScalarValue)]
        if unknown and asked(-2) and asked(1) and not asked(-1) and not asked(0):
            message = "IndexError: Dimension out of range (expected to be in range of [-1, 0])"
            for value in unknown:
                scalars.require_between(value, ConstValue(-1), ConstValue(0), message)


def _numbered(scalars: ScalarOps, argument: Any, number: int = 0) -> Any:
    """An operand with a number for dynamic ones."""
    if isinstance(argument, list):
        return [_numbered(scalars, element, number) for element in argument]
    if isinstance(argument, ScalarValue):
        return scalars.kind(argument)(number)
    return argument.fake if isinstance(argument, TensorValue) else getattr(argument, "value", None)
