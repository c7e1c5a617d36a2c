"""The negative log likelihood, of which cross entropy consists, and binary cross entropy of logits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Optional

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


def _is_wide(arguments: Mapping[str, Any]) -> bool:
    """Whether the numbers are not of half precision, where eager rounds in between."""
    return arguments["self"].dtype in (torch.float32, torch.float64)


@implements("aten::binary_cross_entropy_with_logits", where=_is_wide)
def binary_cross_entropy_with_logits(
    self: Tensor,
    target: Tensor,
    weight: Optional[Tensor],  # noqa: UP045 - TorchScript
    pos_weight: Optional[Tensor],  # noqa: UP045
    reduction: int,
) -> Tensor:
    """The cross entropy of logits and probabilities of one shape: of each (reduction 0), the mean (1) or the sum (2).

    The logarithm of the sigmoid is computed as one function, whose exponential is at most 1.
    """
    softened = torch.log1p(torch.exp(-torch.abs(self)))
    if pos_weight is None:
        loss = (1 - target) * self - (torch.minimum(self, torch.zeros_like(self)) - softened)
    else:
        factor = (pos_weight - 1) * target + 1
        loss = (1 - target) * self + factor * (softened + torch.maximum(-self, torch.zeros_like(self)))
    if weight is not None:
        loss = loss * weight
    if reduction == 1:
        return loss.mean()
    if reduction == 2:
        return loss.sum()
    return loss
