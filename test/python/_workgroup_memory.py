"""Memory of the kernels that `_workgroup` runs, and who accesses it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

__all__ = ["DTYPES", "Memory", "RaceError", "View", "dense", "tensor_of", "view_of"]

DTYPES = {"f32": np.float32, "f64": np.float64, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64}


class RaceError(AssertionError):
    """Threads that do not wait for each other."""


@dataclass
class Memory:
    """A buffer, and who accessed its elements since the last barrier.

    Attributes:
        bytes: its contents.
        writers, readers: by the byte at which an element begins.
    """

    bytes: np.ndarray[Any, Any]
    writers: dict[int, tuple[int, Any]] = field(default_factory=dict)
    readers: dict[int, set[int]] = field(default_factory=dict)


@dataclass
class View:
    """A memref: where elements of a dtype lie in a buffer. Offsets and strides count elements; `first` is a byte."""

    memory: Memory
    dtype: Any
    first: int
    offset: int
    sizes: list[int]
    strides: list[int]

    def place(self, indices: Sequence[int]) -> int:
        for index, size in zip(indices, self.sizes, strict=True):
            assert 0 <= index < size, f"index {index} of {size}"
        at = self.offset + sum(index * stride for index, stride in zip(indices, self.strides))
        return self.first + at * np.dtype(self.dtype).itemsize

    def element(self, byte: int) -> Any:
        return self.memory.bytes[byte : byte + np.dtype(self.dtype).itemsize].view(self.dtype)


def dense(sizes: Sequence[int]) -> list[int]:
    strides, step = [], 1
    for size in reversed(sizes):
        strides.append(step)
        step *= size
    return strides[::-1]


def view_of(tensor: torch.Tensor) -> View:
    data = tensor.contiguous().view(torch.uint8) if tensor.dim() else tensor.reshape(1).view(torch.uint8)
    name = {torch.bool: "i8", torch.uint8: "i8"}.get(tensor.dtype) or re.sub(
        r"int", "i", re.sub("float", "f", str(tensor.dtype)[6:])
    )
    return View(Memory(data.numpy().reshape(-1).copy()), DTYPES[name], 0, 0, list(tensor.shape), dense(tensor.shape))


def tensor_of(view: View, dtype: torch.dtype | None) -> torch.Tensor:
    found = torch.from_numpy(view.memory.bytes.view(view.dtype).reshape(view.sizes).copy())
    return found if dtype is None else found.view(dtype) if found.element_size() == dtype.itemsize else found
