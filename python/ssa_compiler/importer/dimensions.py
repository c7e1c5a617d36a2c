"""Numbers out of range that some ops take without a word on FakeTensors, or that Python's syntax refuses with its own error."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch.utils._pytree import tree_leaves, tree_map

from .scalars import ScalarOps
from .trials import try_op
from .values import ConstValue, ScalarValue, TensorValue, tensor_values

__all__ = ["check_dimensions", "dimension_error", "step_error"]

_NAMES = re.compile(r"dim|axis")


def _numbers(op: Any, positional: Sequence[Any], keywords: dict[str, Any]) -> Iterator[int]:
    """The dimension numbers among an op's arguments, as far as they are known."""
    in_order = iter(positional)
    for argument in op._schema.arguments:
        value = keywords[argument.name] if argument.kwarg_only else next(in_order)
        if _NAMES.search(argument.name) and "int" in str(argument.type):
            yield from (number for number in tree_leaves(value) if type(number) is int)


def check_dimensions(scalars: ScalarOps, op: Any, arguments: Sequence[Any]) -> None:
    """Make the program raise for a dimension number known only at run time that an op of a tensor without dimensions does not take.

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
        if not _NAMES.search(spec.name) or "int" not in str(spec.type):
            continue

        def asked(dim: int, number: int = number) -> str | None:
            """What eager says of one number in the place of all that are known only at run time."""
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
    """An operand with a number for those known only at run time."""
    if isinstance(argument, list):
        return [_numbered(scalars, element, number) for element in argument]
    if isinstance(argument, ScalarValue):
        return scalars.kind(argument)(number)
    return argument.fake if isinstance(argument, TensorValue) else getattr(argument, "value", None)


def dimension_error(op: Any, positional: Sequence[Any], keywords: dict[str, Any]) -> str | None:
    """Return what eager says of a dimension number that is out of range, None if there is none.

    Which dimensions an op has depends on ranks only, so eager is asked with tensors of one element.

    Args:
        op: an OpOverload.
        positional: its positional arguments, tensors among them fake.
        keywords: its keyword arguments.
    """
    tensors = [leaf for leaf in tree_leaves((list(positional), keywords)) if isinstance(leaf, torch.Tensor)]
    ranks = [max(tensor.dim(), 1) for tensor in tensors]
    if not ranks or all(-min(ranks) <= number < min(ranks) for number in _numbers(op, positional, keywords)):
        return None

    def small(leaf: Any) -> Any:
        return torch.zeros([1] * leaf.dim(), dtype=leaf.dtype) if isinstance(leaf, torch.Tensor) else leaf

    try:
        try_op(op, *tree_map(small, (list(positional), keywords)))
    except IndexError as error:
        first = str(error).partition("\n")[0]
        return first if first.startswith("Dimension out of range") else None
    except Exception:  # noqa: BLE001 - what else eager dislikes of such tensors says nothing of the program's
        return None
    return None


def step_error(op: Any, positional: Sequence[Any]) -> str | None:
    """Return what eager raises for the step of `x[::step]`, None if it takes it; the op itself raises something else.

    Args:
        op: an OpOverload.
        positional: its positional arguments.
    """
    step = positional[4] if op is torch.ops.aten.slice.Tensor and len(positional) > 4 else 1
    if type(step) is not int or step > 0:
        return None
    return "ValueError: " + ("step must be greater than zero" if step else "slice step cannot be zero")
