"""Logarithms of sums of exponentials: the largest exponent is taken out first, so that no exponential is infinite.

torch-mlir takes the logarithm of what `exp`, `sigmoid` and `cumsum` give, and IREE that of `1 + x` for `log1p` of
float64.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from ._registry import implements

__all__: list[str] = []


def _is_float(arguments: Mapping[str, Any]) -> bool:
    return bool(arguments["self"].dtype.is_floating_point)


def _has_dimensions(arguments: Mapping[str, Any]) -> bool:
    return _is_float(arguments) and arguments["self"].dim() > 0


def _wide(x: Tensor) -> Tensor:
    """The dtype in which eager computes."""
    return x if x.dtype == torch.float64 else x.to(torch.float32)


@implements("aten::logsumexp", where=_has_dimensions)
def logsumexp(self: Tensor, dim: list[int], keepdim: bool) -> Tensor:
    """The logarithm of the sum of exponentials over dimensions, all if none is named; -inf of no elements."""
    dims = dim if len(dim) > 0 else list(range(self.dim()))
    x = _wide(self)
    count = 1
    for each in dims:
        count = count * x.size(each)
    if count == 0:
        return torch.log(x.sum(dims, keepdim=keepdim)).to(self.dtype)
    highest = x.amax(dims, keepdim=True)
    taken = torch.where(torch.isinf(highest), 0.0, highest)
    total = torch.log(torch.exp(x - taken).sum(dims, keepdim=True)) + taken
    if not keepdim:
        total = total.sum(dims)  # of one element each
    return total.to(self.dtype)


@implements("aten::logcumsumexp", where=_is_float)
def logcumsumexp(self: Tensor, dim: int) -> Tensor:
    """The same of the elements up to each one along a dimension."""
    if self.dim() == 0:
        return self.clone()
    rows = _wide(self).movedim(dim, 0)
    result = torch.where(rows == 0.0, 0.0, rows).contiguous()  # which is added to, and so is never -0
    for i in range(1, rows.size(0)):
        result[i] = torch.logaddexp(result[i - 1], rows[i])
    return result.movedim(0, dim).contiguous().to(self.dtype)


def _log_sigmoid(x: Tensor) -> Tensor:
    return torch.minimum(x, torch.zeros_like(x)) - torch.log1p(torch.exp(-torch.abs(x)))


@implements("aten::log_sigmoid", where=_is_float)
def log_sigmoid(self: Tensor) -> Tensor:
    """The logarithm of the sigmoid."""
    return _log_sigmoid(_wide(self)).to(self.dtype)


def _is_half(arguments: Mapping[str, Any]) -> bool:
    return arguments["output"].dtype in (torch.float16, torch.bfloat16)


@implements("aten::_softmax_backward_data", where=_is_half)
def softmax_backward(grad_output: Tensor, output: Tensor, dim: int) -> Tensor:
    """The gradient of softmax, rounded once."""
    wide = grad_output.to(torch.float32) * output.to(torch.float32)
    return (wide - output.to(torch.float32) * wide.sum(dim, keepdim=True)).to(output.dtype)


@implements("aten::_log_softmax_backward_data", where=_is_half)
def log_softmax_backward(grad_output: Tensor, output: Tensor, dim: int) -> Tensor:
    """The gradient of log_softmax, rounded once."""
    wide = grad_output.to(torch.float32)
    return (wide - torch.exp(output.to(torch.float32)) * wide.sum(dim, keepdim=True)).to(output.dtype)


def _is_double(arguments: Mapping[str, Any]) -> bool:
    return bool(arguments["self"].dtype == torch.float64)


@implements("aten::log1p", where=_is_double)
def log1p(self: Tensor) -> Tensor:
    """The logarithm of `1 + x`, corrected by what that sum has lost."""
    total = 1.0 + self
    value = torch.log(total) * (self / (total - 1.0))
    return torch.where(torch.logical_or(total == 1.0, self == math.inf), self, value)


@implements("aten::expm1", where=_is_double)
def expm1(self: Tensor) -> Tensor:
    """The exponential less 1, corrected by what that difference has lost."""
    power = torch.exp(self)
    less = power - 1.0
    value = torch.where(torch.logical_or(less == -1.0, less == math.inf), less, less * (self / torch.log(power)))
    return torch.where(power == 1.0, self, value)
