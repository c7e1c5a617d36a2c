"""Covariances of rows, and correlations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Optional

import torch
from torch import Tensor

from ._registry import implements

__all__: list[str] = []

_REAL = (torch.float32, torch.float64)


def _has_elements(arguments: Mapping[str, Any]) -> bool:
    tensor = arguments["self"]
    known = all(isinstance(size, int) and size > 0 for size in tensor.shape)
    return known and tensor.dim() <= 2 and tensor.dtype in _REAL


def _has_fitting_weights(arguments: Mapping[str, Any]) -> bool:
    tensor, counts, weights = (arguments[name] for name in ("self", "fweights", "aweights"))
    if not _has_elements(arguments):
        return False
    shape = (tensor.shape[-1] if tensor.dim() > 0 else 1,)
    if counts is not None and (counts.dtype not in (torch.int32, torch.int64) or tuple(counts.shape) != shape):
        return False
    return weights is None or (weights.dtype == tensor.dtype and tuple(weights.shape) == shape)


def _rows(self: Tensor) -> Tensor:
    return self if self.dim() == 2 else self.reshape([1, -1])


def _unweighted(x: Tensor, correction: int) -> Tensor:
    n = x.size(1)
    centred = x - (x.sum(1) / n).unsqueeze(1)
    divisor = n - correction if n > correction else 0
    return (torch.mm(centred, centred.t()) / divisor).squeeze()


@implements("aten::cov", where=_has_fitting_weights)
def cov(
    self: Tensor,
    correction: int,
    fweights: Optional[Tensor],  # noqa: UP045 - TorchScript
    aweights: Optional[Tensor],  # noqa: UP045
) -> Tensor:
    """The covariances of rows [variables, observations], of which each observation may have a count and a weight."""
    x = _rows(self)
    if fweights is None and aweights is None:
        return _unweighted(x, correction)
    weights = torch.ones([x.size(1)], dtype=x.dtype, device=x.device)
    if fweights is not None:
        if not bool((fweights >= 0).all()):
            raise RuntimeError("cov(): fweights cannot be negative")
        weights = fweights.to(x.dtype)
    if aweights is not None:
        if not bool((aweights >= 0).all()):  # nor NaN
            raise RuntimeError("cov(): aweights cannot be negative")
        weights = weights * aweights
    total = weights.sum()
    if bool(total == 0):
        raise RuntimeError("cov(): weights sum to zero, can't be normalized")
    centred = x - ((x * weights).sum(1) / total).unsqueeze(1)
    divisor = total - correction
    if aweights is not None and correction != 0:
        divisor = total - correction * (weights * aweights).sum() / total
    divisor = torch.where(divisor <= 0.0, 0.0, divisor)
    return (torch.mm(centred, (centred * weights).t()) / divisor).squeeze()


@implements("aten::corrcoef", where=_has_elements)
def corrcoef(self: Tensor) -> Tensor:
    """The correlations of rows [variables, observations]."""
    c = _unweighted(_rows(self), 1)
    if c.dim() == 0:
        return c / c
    deviations = torch.sqrt(torch.diagonal(c))
    c = c / deviations.unsqueeze(1) / deviations.unsqueeze(0)
    return torch.where(torch.isnan(c), c, c.clamp(-1.0, 1.0))
