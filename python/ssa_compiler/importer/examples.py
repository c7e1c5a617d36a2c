"""Ops asked what they do with dtypes and numbers, by running them on small tensors: FakeTensors do not tell."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import torch

from ..errors import eager_error_name
from .trials import try_op
from .values import ConstValue, TensorValue, Value

__all__ = ["Described", "describe", "refuses", "run_example"]

Described = tuple[Any, ...]
_COMMON = {torch.float32, torch.float64}
"""Dtypes that almost every op has kernels for, if all its tensors have the same."""
_ABOUT_DTYPES = re.compile(
    r"not implemented for '|(?i:bool|complex|half|integ|dtype).*not supported|not supported.*(?i:bool)"
    r"|does not support (?i:bool|complex|half|integ)|Expected object of scalar type"
)
_SIZES = (3, 12)
"""How many elements examples have along each dimension: windows may be larger than the smaller ones, or want an even number."""


def describe(arguments: Sequence[Value]) -> Described:
    """Return what decides how an op takes numbers and dtypes: its tensors' dtypes, ranks and devices, and constants, and lists of such."""
    return tuple(
        ("list", describe(value))
        if isinstance(value, list)
        else (value.fake.dtype, value.fake.dim(), value.fake.device.type)
        if isinstance(value, TensorValue)
        else ("constant", value.value)
        if isinstance(value, ConstValue) and isinstance(value.value, (bool, int, float, str, torch.dtype, type(None)))
        else None
        for value in arguments
    )


@cache
def refuses(op: Any, described: Described) -> str:
    """Return what an op raises for the dtypes of its operands, "ExceptionName: text"; "" if it takes them, or may.

    Args:
        op: an OpOverload.
        described: its operands, from `describe`.
    """
    tensors = [one for one in described if one is not None and isinstance(one[0], torch.dtype)]
    dtypes = {dtype for dtype, _, _ in tensors}
    if (len(dtypes) < 2 and dtypes <= _COMMON) or any(device != "cpu" for _, _, device in tensors):
        return ""
    for size in _SIZES:
        try:
            run_example(op, described, {}, size)
        except (RuntimeError, NotImplementedError) as error:
            text = str(error).splitlines()[0] if str(error) else ""
            if _ABOUT_DTYPES.search(text):
                return f"{eager_error_name(error)}: {text}"
        except Exception:  # the example does not suit the op
            continue
        else:
            return ""
    return ""


def run_example(op: Any, described: Described, given: Mapping[int, Any], size: int = _SIZES[0]) -> Any:
    """Run an op on CPU tensors of a few elements along each dimension.

    Args:
        op: an OpOverload.
        described: its operands, from `describe`.
        given: other operands, by number.
        size: how many elements.
    Raises:
        NotImplementedError: it draws random numbers.
        Exception: what the op raises, also because the example does not suit it.
    """
    if torch.Tag.nondeterministic_seeded in op.tags:
        raise NotImplementedError
    examples = [given[n] if n in given else _example(one, size) for n, one in enumerate(described)]
    named = {spec.name: value for spec, value in zip(op._schema.arguments, examples) if spec.kwarg_only}
    return try_op(op, examples[: len(examples) - len(named)], named)


def _example(described: Any, size: int) -> Any:
    if described is None:
        return 1
    if described[0] == "constant":
        return described[1]
    if described[0] == "list":
        return [_example(one, size) for one in described[1]]
    dtype, rank, _ = described
    shape = [size if rank < 5 else 2] * rank
    if dtype is torch.bool:
        return torch.ones(shape, dtype=dtype)
    if dtype is torch.int64:
        return torch.zeros(shape, dtype=dtype)  # indices
    return (torch.arange(math.prod(shape)) % 7 + 1).reshape(shape).to(dtype)
