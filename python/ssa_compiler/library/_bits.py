"""`ssa_compiler::bits` and `from_bits`: the bits of floating-point numbers as integers, and back.

TorchScript has no `view` that takes a dtype.
"""

from __future__ import annotations

import torch
from torch import Tensor

__all__ = ["LIBRARY"]

_INTEGERS = {torch.float32: torch.int32, torch.float64: torch.int64}
_FLOATS = {integer: number for number, integer in _INTEGERS.items()}


def _bits(x: Tensor) -> Tensor:
    return x.view(_INTEGERS[x.dtype])


def _from_bits(x: Tensor) -> Tensor:
    return x.view(_FLOATS[x.dtype])


LIBRARY = torch.library.Library("ssa_compiler", "FRAGMENT")  # type: ignore[no-untyped-call]
"""Keeps the definitions alive."""

for _name, _function in (("bits", _bits), ("from_bits", _from_bits)):
    LIBRARY.define(f"{_name}(Tensor(a) x) -> Tensor(a)")  # type: ignore[no-untyped-call]
    LIBRARY.impl(_name, _function, "CompositeImplicitAutograd")  # type: ignore[no-untyped-call]
