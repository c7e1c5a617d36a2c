"""The negative log likelihood, of which cross entropy consists."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from ._registry import implements

__all__: list[str] = []


def _applies(arguments: Mapping[str, Any]) -> bool:
    """Whether the numbers are not of half precision, where eager rounds in between, and there may be some."""
    self, target = arguments["self"], arguments["target"]
    sizes = [size for size in target.shape if isinstance(size, int)]
    return self.dtype in (torch.float32, torch.float64) and target.dtype == torch.int64 and 0 not in sizes


def _likelihood(
    self: Tensor, target: Tensor, weight: Tensor | None, reduction: int, ignore_index: int
) -> tuple[Tensor, Tensor]:
    """Of log probabilities (N, C, ...) and classes (N, ...): the loss of each, their sum or mean, and the sum of the weights.

    Raises IndexError, as eager does, for a class that there is not.
    """
    classes = self.size(1)
    counts = target != ignore_index
    wrong = torch.logical_and(counts, torch.logical_or(target < 0, target >= classes))
    if bool(wrong.any()):
        raise IndexError("Target is out of bounds.")  # eager says which
    known = torch.where(counts, target, 0)
    picked = self.gather(1, known.unsqueeze(1)).squeeze(1)
    weights = counts.to(self.dtype)
    if weight is not None:
        weights = torch.where(counts, weight[known], 0.0)
    losses = torch.where(counts, -picked * weights, 0.0)
    if reduction == 0:
        return losses, torch.zeros([], dtype=self.dtype, device=self.device)
    total = weights.sum()
    loss = losses.sum()
    return loss / total if reduction == 1 else loss, total


@implements("aten::nll_loss_forward", where=_applies)
def nll_loss(
    self: Tensor, target: Tensor, weight: Tensor | None, reduction: int, ignore_index: int
) -> tuple[Tensor, Tensor]:
    """Of rows (N, C), or of one (C)."""
    if self.dim() > 1:
        return _likelihood(self, target, weight, reduction, ignore_index)
    loss, total = _likelihood(self.unsqueeze(0), target.reshape([1]), weight, 2, ignore_index)
    if reduction == 1:
        loss = loss / total
    return loss, total


@implements("aten::nll_loss2d_forward", where=_applies)
def nll_loss2d(
    self: Tensor, target: Tensor, weight: Tensor | None, reduction: int, ignore_index: int
) -> tuple[Tensor, Tensor]:
    """Of images (N, C, H, W)."""
    return _likelihood(self, target, weight, reduction, ignore_index)
