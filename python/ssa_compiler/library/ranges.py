"""Numbers at equal distances between two that are dynamic, rounded as in eager: `linspace` and `logspace`.

torch-mlir computes with float32, whatever is asked for, and from the start on; eager computes the second half from the
end, and multiplies and adds with one rounding. What is known at import is a constant (`_constants.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Optional

import torch
from torch import Tensor

from ..semantics.dtypes import element_types
from ._registry import implements

__all__: list[str] = []

_REAL = {entry.dtype for entry in element_types() if entry.number <= 7 or entry.dtype == torch.bfloat16}
_NUMBERS = {entry.number for entry in element_types() if entry.dtype in _REAL}


def _is_made(arguments: Mapping[str, Any]) -> bool:
    """Whether the dtype is a real one and the number of elements known."""
    numbers = [arguments[name] for name in ("start", "end")]
    dtype = torch.get_default_dtype() if arguments["dtype"] is None else arguments["dtype"]
    is_complex = any(isinstance(number, complex) for number in numbers)
    return isinstance(arguments["steps"], int) and dtype in (*_REAL, *_NUMBERS) and not is_complex


def _number(number: float, dtype: Optional[torch.dtype], device: Optional[torch.device]) -> Tensor:  # noqa: UP045
    """A number that may be an int, of a dtype or the default one."""
    return torch.full([1], number, dtype=torch.zeros([1], dtype=dtype).dtype, device=device)


def _fused(a: Tensor, b: Tensor, c: Tensor) -> Tensor:
    """a * b + c of float64 numbers, rounded once; b are ints of at most 26 bits."""
    high = a * 134217729.0
    high = high - (high - a)
    product = a * b
    error = (high * b - product) + (a - high) * b
    total = c + product
    part = total - c
    rest = (c - (total - part)) + (product - part)
    exact = total + (rest + error)
    return torch.where(torch.isfinite(exact), exact, total)


def _spaced(start: Tensor, step: Tensor, number: Tensor) -> Tensor:
    """start + step * number, of start's dtype."""
    if start.dtype == torch.float16 or start.dtype == torch.bfloat16:
        return start + step.to(start.dtype) * number.to(start.dtype)
    return _fused(step, number.to(torch.float64), start.to(torch.float64)).to(start.dtype)


def _step(start: Tensor, end: Tensor, steps: int) -> Tensor:
    """What two neighbours differ by, as a float64 number; of floats it has their precision."""
    if torch.is_floating_point(start):
        return ((end - start) / torch.full([1], steps - 1, dtype=start.dtype, device=start.device)).to(torch.float64)
    return (end.to(torch.float64) - start.to(torch.float64)) / float(steps - 1)


@implements("aten::linspace", where=_is_made)
def linspace(
    start: float,
    end: float,
    steps: int,
    dtype: Optional[torch.dtype],  # noqa: UP045 - TorchScript
    device: Optional[torch.device],  # noqa: UP045 - TorchScript
) -> Tensor:
    """The first half is computed from the start, the second from the end."""
    if steps < 0:
        raise RuntimeError("number of steps must be non-negative")
    first = _number(start, dtype, device)
    last = _number(end, dtype, device)
    if steps < 2:
        return first.expand([steps]).clone()
    step = _step(first, last, steps)
    number = torch.arange(steps, dtype=torch.int64, device=device)
    after = steps - 1 - number
    return torch.where(number < steps // 2, _spaced(first, step, number), _spaced(last, -step, after))


@implements("aten::logspace", where=_is_made)
def logspace(
    start: float,
    end: float,
    steps: int,
    base: float,
    dtype: Optional[torch.dtype],  # noqa: UP045 - TorchScript
    device: Optional[torch.device],  # noqa: UP045 - TorchScript
) -> Tensor:
    """The powers of a base, with exponents of float64."""
    if steps < 0:
        raise RuntimeError("number of steps must be non-negative")
    first, last = _number(start, dtype, device), _number(end, dtype, device)
    if steps < 2:
        only = torch.full([1], start, dtype=torch.float64, device=device)
        return torch.pow(base, only).to(first.dtype).expand([steps]).clone()
    step = (last - first).to(torch.float64) / float(steps - 1)
    number = torch.arange(steps, dtype=torch.int64, device=device)
    low = first.to(torch.float64) + step * number.to(torch.float64)
    high = last.to(torch.float64) - step * (steps - 1 - number).to(torch.float64)
    return torch.pow(base, torch.where(number < steps // 2, low, high)).to(first.dtype)
