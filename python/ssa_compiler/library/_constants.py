"""Ops that compute constants: where their arguments are known, the importer puts in what they give."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from ..semantics.dtypes import element_types
from ._bits import LIBRARY

__all__ = ["constant"]


def _roots_of_unity(n: int) -> Tensor:
    """The cosines and sines of multiples of an nth of a turn: float64 [2, n]."""
    # Of whole quarters they are exact, and those of the first eighth decide all others.
    eighth = torch.arange(n, dtype=torch.int64) * 8
    octant = eighth // n
    rest = torch.where(octant % 2 == 1, (octant + 1) * n - eighth, eighth - octant * n)
    angle = rest.to(torch.float64) * (torch.pi / 4.0 / n)
    cosine, sine = torch.cos(angle), torch.sin(angle)
    swapped = (octant + 1) // 2 % 2 == 1
    x, y = torch.where(swapped, sine, cosine), torch.where(swapped, cosine, sine)
    return torch.stack([torch.where((octant >= 2) & (octant < 6), -x, x), torch.where(octant >= 4, -y, y)])


LIBRARY.define("roots_of_unity(int n) -> Tensor")  # type: ignore[no-untyped-call]
LIBRARY.impl("roots_of_unity", _roots_of_unity, "CompositeExplicitAutograd")  # type: ignore[no-untyped-call]

_DTYPES = {entry.number: entry.dtype for entry in element_types()}
_MOST = 4096
"""Elements of a constant that a program would compute otherwise."""


def _numbers(operator: Callable[..., Tensor], *, ints: bool) -> Callable[..., Tensor | None]:
    """Return what computes numbers at equal distances, if they are known and few; those between ints only if `ints`.

    Eager rounds them as no other program does, those of `arange` by the size of the processor's vectors.
    """

    def computed(*arguments: Any) -> Tensor | None:
        *numbers, dtype, _layout, device, _pinned = arguments
        known = all(type(number) in (int, float) for number in numbers)
        if device is not None and torch.device(device).type != "cpu":
            return None
        if not known or not (ints or any(type(number) is float for number in numbers)):
            return None
        try:
            found = operator(*numbers, dtype=_DTYPES.get(dtype, dtype))
        except (RuntimeError, ValueError):  # which is imported as any other op is
            return None
        return found if found.numel() <= _MOST else None

    return computed


_CONSTANTS: dict[str, Callable[..., Tensor | None]] = {
    "ssa_compiler::roots_of_unity": _roots_of_unity,
    **dict.fromkeys(
        ("aten::arange", "aten::arange.start", "aten::arange.start_step"), _numbers(torch.arange, ints=False)
    ),
    "aten::linspace": _numbers(torch.linspace, ints=True),
    "aten::logspace": _numbers(torch.logspace, ints=True),
}


def constant(operator: str, arguments: list[Any]) -> Tensor | None:
    """Return what an operator gives, None if it is none that computes a constant.

    Args:
        operator: as PyTorch writes it.
        arguments: its arguments, Python values.
    """
    function = _CONSTANTS.get(operator)
    return None if function is None else function(*arguments)
