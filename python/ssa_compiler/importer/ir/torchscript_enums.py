"""dtypes, layouts and memory formats, which are ints to TorchScript and none to Python."""

from __future__ import annotations

from typing import Any

import torch

from .emitter import DTYPE_NUMBERS

__all__ = ["MEMORY_FORMATS", "Numbered", "python_argument", "unnumbered"]

MEMORY_FORMATS = (torch.contiguous_format, torch.preserve_format, torch.channels_last, torch.channels_last_3d)
"""The memory formats, each at its TorchScript number."""
_DTYPES = {number: dtype for dtype, number in DTYPE_NUMBERS.items()}


class Numbered(int):
    """The number of a dtype or a layout; its text is that of what it stands for.

    Attributes:
        meaning: what it stands for.
    """

    meaning: Any

    def __new__(cls, number: int, meaning: Any) -> Numbered:
        made = super().__new__(cls, number)
        made.meaning = meaning
        return made

    def __repr__(self) -> str:
        return repr(self.meaning)

    def __reduce__(self) -> tuple[Any, ...]:
        return Numbered, (int(self), self.meaning)


def unnumbered(value: Any) -> Any:
    """Return a constant as Python has it."""
    return value.meaning if isinstance(value, Numbered) else value


def python_argument(value: Any, argument: Any) -> Any:
    """Turn a TorchScript constant into what torch.ops takes: dtypes, layouts and memory formats are ints there."""
    if not isinstance(value, int) or isinstance(value, bool):
        return value
    real_type = str(argument.real_type)
    if "ScalarType" in real_type:
        return _DTYPES.get(value, value)
    if "MemoryFormat" in real_type:
        return MEMORY_FORMATS[value]
    if "Layout" in real_type:
        return torch.strided if value == 0 else value
    return value
