"""The negative log likelihood, of which cross entropy consists, binary cross entropy, of logits too, and margins."""

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
    """Of log probabilities (N, C, ...) and classes (N, ...): the loss of each, their sum or mean, and the sum of the
    weights.
    """
    counts = target != ignore_index
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


def _reduced(losses: Tensor, reduction: int) -> Tensor:
    """Each loss (0), the mean (1) or the sum (2)."""
    if reduction == 1:
        return losses.mean()
    return losses.sum() if reduction == 2 else losses


@implements("aten::soft_margin_loss", where=lambda arguments: arguments["self"].dtype.is_floating_point)
def soft_margin_loss(self: Tensor, target: Tensor, reduction: int) -> Tensor:
    """The logarithm of 1 and the exponential of how wrong signs are.

    Raises RuntimeError, as eager does, for a target of more elements: it is multiplied with in place.
    """
    wrong = -self * target
    if wrong.shape != self.shape:
        raise RuntimeError(
            f"output with shape {list(self.shape)} doesn't match the broadcast shape {list(wrong.shape)}"
        )
    return _reduced(torch.log1p(torch.exp(wrong.to(self.dtype))), reduction)


@implements("aten::binary_cross_entropy")
def binary_cross_entropy(
    self: Tensor,
    target: Tensor,
    weight: Optional[Tensor],  # noqa: UP045
    reduction: int,
) -> Tensor:
    """The cross entropy of probabilities; a logarithm counts as -100 at least.

    Raises RuntimeError, as eager does, for what is no probability.
    """
    if not bool(torch.logical_and(self >= 0, self <= 1).all()):
        raise RuntimeError("all elements of input should be between 0 and 1")
    if not bool(torch.logical_and(target >= 0, target <= 1).all()):
        raise RuntimeError("all elements of target should be between 0 and 1")
    least = torch.full([], -100, dtype=self.dtype, device=self.device)
    losses = (target - 1) * torch.maximum(torch.log1p(-self), least) - target * torch.maximum(torch.log(self), least)
    if weight is not None:
        losses = losses * weight
    return _reduced(losses, reduction)


@implements("aten::multi_margin_loss", where=_applies)
def multi_margin_loss(
    self: Tensor,
    target: Tensor,
    p: float,
    margin: float,
    weight: Optional[Tensor],  # noqa: UP045
    reduction: int,
) -> Tensor:
    """How far the other classes of rows (N, C), or of one (C), come nearer to the right one than a margin; NaN does
    not.

    Raises RuntimeError, as eager does, for a class that there is not.
    """
    x = self if self.dim() > 1 else self.reshape([1, -1])
    classes = target.reshape([-1, 1])
    if bool(torch.logical_or(classes < 0, classes >= x.size(1)).any()):
        raise RuntimeError("target out of range")
    distance = margin - x.gather(1, classes) + x
    others = torch.arange(x.size(1), device=x.device).unsqueeze(0) != classes
    counts = torch.logical_and(others, distance > 0)
    raised = distance if p == 1 else distance * distance
    if weight is not None:
        raised = raised * weight[classes]
    losses = torch.where(counts, raised, 0.0).sum(1) / x.size(1)
    return _reduced(losses.reshape(target.shape), reduction)


@implements("aten::multilabel_margin_loss_forward", where=_applies)
def multilabel_margin_loss_forward(self: Tensor, target: Tensor, reduction: int) -> tuple[Tensor, Tensor]:
    """How far other classes of rows (N, C), or of one (C), come nearer to any of the right ones than 1; NaN does not.

    The right ones are those before the first -1. Raises RuntimeError, as eager does, for a class that there is not, and
    for rows without elements.
    """
    x = self if self.dim() > 1 else self.reshape([1, -1])
    classes = target.reshape(x.shape)
    size = x.size(1)
    if size == 0:
        raise RuntimeError("Expected non-empty vector or matrix with optional 0-dim batch size")
    if bool(torch.logical_or(classes < -1, classes >= size).any()):
        raise RuntimeError("target is out of range")
    counts = (classes < 0).to(torch.int64).cumsum(1) == 0
    places = torch.arange(size, device=x.device).reshape([1, 1, -1])
    known = torch.where(counts, classes, 0)
    right = torch.logical_and(known.unsqueeze(2) == places, counts.unsqueeze(2)).any(1)
    distance = 1 - x.gather(1, known).unsqueeze(2) + x.unsqueeze(1)
    others = torch.logical_and(counts.unsqueeze(2), torch.logical_not(right).unsqueeze(1))
    losses = torch.where(torch.logical_and(others, distance > 0), distance, 0.0).sum([1, 2]) / size
    shape = list(self.shape)[:-1]
    return _reduced(losses.reshape(shape), reduction), right.to(self.dtype).reshape(target.shape)


@implements("aten::multilabel_margin_loss", where=_applies)
def multilabel_margin_loss(self: Tensor, target: Tensor, reduction: int) -> Tensor:
    """How far other classes of rows (N, C), or of one (C), come nearer to any of the right ones than 1."""
    return multilabel_margin_loss_forward(self, target, reduction)[0]
