"""Ops that compute constants: where their arguments are known, the importer puts in what they give."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

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

_CONSTANTS = {"ssa_compiler::roots_of_unity": _roots_of_unity}


def constant(operator: str, arguments: list[Any]) -> Tensor | None:
    """Return what an operator gives, None if it is none that computes a constant.

    Args:
        operator: as PyTorch writes it.
        arguments: its arguments, Python values.
    """
    function = _CONSTANTS.get(operator)
    return None if function is None else function(*arguments)
