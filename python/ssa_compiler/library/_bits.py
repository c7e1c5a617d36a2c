"""`ssa_compiler::bits`: the bits of floating-point numbers as integers. TorchScript has no `view` that takes a dtype."""

from __future__ import annotations

import torch
from torch import Tensor

__all__ = ["LIBRARY"]

_INTEGERS = {
    torch.float16: torch.int16,
    torch.bfloat16: torch.int16,
    torch.float32: torch.int32,
    torch.float64: torch.int64,
}


def _bits(x: Tensor) -> Tensor:
    return x.view(_INTEGERS[x.dtype])


LIBRARY = torch.library.Library("ssa_compiler", "FRAGMENT")  # type: ignore[no-untyped-call]
"""Keeps the definition alive."""

LIBRARY.define("bits(Tensor(a) x) -> Tensor(a)")  # type: ignore[no-untyped-call]
LIBRARY.impl("bits", _bits, "CompositeImplicitAutograd")  # type: ignore[no-untyped-call]
