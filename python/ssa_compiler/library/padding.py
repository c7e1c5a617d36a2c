"""Padding with a constant by amounts that are dynamic, and that may take elements away."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, List, Optional  # noqa: UP035 - TorchScript

import torch
from torch import Tensor

from ._registry import implements

__all__: list[str] = []

# ruff: noqa: UP006, UP045 - TorchScript reads these annotations


def _pads_dynamically(arguments: Mapping[str, Any]) -> bool:
    """Whether an amount is dynamic, and the result lies in memory as a contiguous tensor does."""
    amounts, tensor = arguments["pad"], arguments["self"]
    fits = len(amounts) % 2 == 0 and len(amounts) // 2 <= tensor.dim()
    plain = tensor.dim() < 4 or bool(tensor.is_contiguous())
    return bool(fits and plain and any(not isinstance(amount, int) for amount in amounts))


def _pads_with_constant_dynamically(arguments: Mapping[str, Any]) -> bool:
    return bool(arguments["mode"] == "constant" and _pads_dynamically(arguments))


def _padded(self: Tensor, pad: List[int], value: float) -> Tensor:
    """Take away what is to go, and put the rest into a tensor that is full of the value."""
    kept = self
    shape: List[int] = []
    for dim in range(self.dim()):
        shape.append(self.size(dim))
    for number in range(len(pad) // 2):
        dim = self.dim() - 1 - number
        before, after = pad[2 * number], pad[2 * number + 1]
        first, last = max(-before, 0), self.size(dim) - max(-after, 0)
        if first > last:
            raise RuntimeError("narrow(): the padding takes away more elements than there are")
        kept = torch.ops.aten.slice(kept, dim, first, last)
        shape[dim] = self.size(dim) + before + after
    result = torch.full(shape, value, dtype=self.dtype, device=self.device)
    place = result
    for number in range(len(pad) // 2):
        dim = self.dim() - 1 - number
        start = max(pad[2 * number], 0)
        place = torch.ops.aten.slice(place, dim, start, start + kept.size(dim))
    place.copy_(kept)
    return result


@implements("aten::pad", where=_pads_with_constant_dynamically, laid_out=True)
def pad_constant(self: Tensor, pad: List[int], value: Optional[float]) -> Tensor:
    """A tensor that goes on at its ends with a number, or ends before."""
    return _padded(self, pad, 0.0 if value is None else value)


@implements("aten::constant_pad_nd", where=_pads_dynamically, laid_out=True)
def constant_pad_nd(self: Tensor, pad: List[int], value: float) -> Tensor:
    """The same where it is a part of another op."""
    return _padded(self, pad, value)
