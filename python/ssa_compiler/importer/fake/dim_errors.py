"""Numbers out of range that some ops take without a word on FakeTensors, or that Python's syntax rejects with its own
error.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch.utils._pytree import tree_leaves, tree_map

from .concrete_run import try_op

__all__ = ["NAMES", "dimension_error", "number_error"]

NAMES = re.compile(r"dim|axis")
"""What parameters are called that are numbers of dimensions."""


def _numbers(op: Any, positional: Sequence[Any], keywords: dict[str, Any]) -> Iterator[int]:
    """The dimension numbers among an op's arguments, as far as they are known."""
    in_order = iter(positional)
    for argument in op._schema.arguments:
        value = keywords[argument.name] if argument.kwarg_only else next(in_order)
        if NAMES.search(argument.name) and "int" in str(argument.type):
            yield from (number for number in tree_leaves(value) if type(number) is int)


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


def number_error(op: Any, positional: Sequence[Any]) -> str | None:
    """Return what eager raises for the step of `x[::step]` or the index of `x[i]`, None if it takes them.

    The op itself raises something else for a step, and on FakeTensors of PyTorch 2.11 nothing for an index.

    Args:
        op: an OpOverload.
        positional: its positional arguments.
    """
    if op is torch.ops.aten.select.int:
        base, dim, index = positional
        size = base.shape[dim] if base.dim() else None
        if type(size) is int and type(index) is int and not -size <= index < size:
            shape = [str(each) if isinstance(each, int) else "?" for each in base.shape]
            where = f"out of range for tensor of size [{', '.join(shape)}] at dimension {dim % base.dim()}"
            return f"IndexError: select(): index {index} {where}"
    step = positional[4] if op is torch.ops.aten.slice.Tensor and len(positional) > 4 else 1
    if type(step) is not int or step > 0:
        return None
    return "ValueError: " + ("step must be greater than zero" if step else "slice step cannot be zero")
