"""Activations that choose, for each element, between two functions of it.

torch-mlir adds the two parts (`max(x, 0) + slope * min(x, 0)`), so that a slope of infinity or NaN reaches elements
that the other part is for; eager chooses.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Optional

import torch
from torch import Tensor

from ._registry import implements

__all__: list[str] = []


def _is_float(arguments: Mapping[str, Any]) -> bool:
    return bool(arguments["self"].dtype.is_floating_point)


def _wide(x: Tensor) -> Tensor:
    """The dtype in which eager computes."""
    return x if x.dtype == torch.float64 else x.to(torch.float32)


@implements("aten::leaky_relu", where=_is_float)
def leaky_relu(self: Tensor, negative_slope: float) -> Tensor:
    """Positive elements as they are, others times a slope."""
    return torch.where(self > 0.0, self, self * negative_slope)


@implements("aten::elu", where=_is_float)
def elu(self: Tensor, alpha: float, scale: float, input_scale: float) -> Tensor:
    """`scale * x`, and below 0 `alpha * scale * (exp(input_scale * x) - 1)`."""
    x = _wide(self)
    return torch.where(x < 0.0, torch.expm1(x * input_scale) * (alpha * scale), x * scale).to(self.dtype)


@implements("aten::selu", where=_is_float)
def selu(self: Tensor) -> Tensor:
    """`elu` of such a slope that means and variances stay; torch-mlir loses numbers near 0."""
    return elu(self, 1.6732632423543772848170429916717, 1.0507009873554804934193349852946, 1.0)


@implements("aten::celu", where=_is_float)
def celu(self: Tensor, alpha: float) -> Tensor:
    """`x`, and below 0 `alpha * (exp(x / alpha) - 1)`."""
    if alpha == 0.0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")
    x = _wide(self)
    return torch.where(x < 0.0, torch.expm1(x * (1.0 / alpha)) * alpha, x).to(self.dtype)


def _has_known_weights(arguments: Mapping[str, Any]) -> bool:
    x, weight = arguments["self"], arguments["weight"]
    if weight.dim() > 1 or weight.dtype != x.dtype or not all(isinstance(size, int) for size in weight.shape):
        return False
    channels = x.shape[1] if x.dim() > 1 else 1
    return _is_float(arguments) and (weight.numel() == 1 or (weight.dim() == 1 and weight.shape[0] == channels))


@implements("aten::prelu", where=_has_known_weights)
def prelu(self: Tensor, weight: Tensor) -> Tensor:
    """Positive elements as they are, others times a weight: one for all, or one for each index of the second
    dimension.
    """
    if weight.numel() == 1:
        weight = weight.reshape([])
    elif self.dim() > 1:
        weight = weight.reshape([-1] + [1] * (self.dim() - 2))
    return torch.where(self > 0.0, self, self * weight)


@implements("aten::logit", where=_is_float)
def logit(self: Tensor, eps: Optional[float]) -> Tensor:  # noqa: UP045 - TorchScript
    """The logarithm of the odds; probabilities are first moved into `[eps, 1 - eps]`."""
    x = _wide(self)
    if eps is not None:
        x = torch.where(x < eps, eps, torch.where(x > 1.0 - eps, 1.0 - eps, x))
    return torch.log(x / (1.0 - x)).to(self.dtype)
