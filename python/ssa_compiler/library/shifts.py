"""Elements moved along dimensions: `roll` of all elements, and padding that repeats what is there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, List  # noqa: UP035 - TorchScript

import torch
from torch import Tensor

from ._registry import implements

__all__: list[str] = []

# ruff: noqa: UP006 - TorchScript reads these annotations


def _has_no_dims(arguments: Mapping[str, Any]) -> bool:
    return not arguments["dims"] and len(arguments["shifts"]) == 1


@implements("aten::roll", where=_has_no_dims)
def roll(self: Tensor, shifts: List[int]) -> Tensor:
    """The elements in order, each moved by some places and from the end to the start."""
    return torch.roll(self.reshape(-1), shifts, [0]).reshape(self.shape)


def _repeats(arguments: Mapping[str, Any]) -> bool:
    """Whether each size after a padding that repeats elements is known, and torch-mlir has no op for it."""
    amounts, shape = arguments["pad"], arguments["self"].shape
    mode = arguments["mode"]
    known = all(isinstance(number, int) for number in [*amounts, *shape]) and 0 not in shape
    fits = mode == "circular" or (mode == "replicate" and any(isinstance(n, int) and n < 0 for n in amounts))
    return bool(fits and known and len(amounts) % 2 == 0 and len(amounts) // 2 <= len(shape))


@implements("aten::pad", where=_repeats)
def pad(self: Tensor, pad: List[int], mode: str) -> Tensor:
    """A tensor that goes on at its ends: from the start again, or with its last element; cut where less is asked
    for.
    """
    result = self
    for number in range(len(pad) // 2):
        dim = self.dim() - 1 - number
        before, after = pad[2 * number], pad[2 * number + 1]
        if mode == "circular":
            if before > self.size(dim) or after > self.size(dim):
                raise RuntimeError("Padding value causes wrapping around more than once.")
            first = max(-before, 0)  # what is cut is no part of what repeats
            n = self.size(dim) - first - max(-after, 0)
            place = torch.arange(-max(before, 0), n + max(after, 0), device=self.device)
            place = torch.remainder(place, n) + first
        else:
            place = torch.arange(-before, self.size(dim) + after, device=self.device).clamp(0, self.size(dim) - 1)
        result = result.index_select(dim, place)
    return result
