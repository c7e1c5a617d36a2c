"""Variances, which eager adds up in double precision, so that squares of large numbers do not overflow.

torch-mlir adds up in single precision, and divides by the number of elements less the correction also where that is
negative: eager divides by 0 then.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Optional

import torch
from torch import Tensor

from ._registry import implements

__all__: list[str] = []


def _is_real(arguments: Mapping[str, Any]) -> bool:
    correction = arguments["correction"] if "correction" in arguments else arguments["unbiased"]
    known = isinstance(correction, (bool, int, float, type(None)))
    return bool(known and arguments["self"].dtype.is_floating_point and arguments["self"].dim())


def _moments(
    self: Tensor,
    dim: Optional[list[int]],  # noqa: UP045 - TorchScript
    correction: Optional[float],  # noqa: UP045
    keepdim: bool,
    rounds: bool = False,
) -> tuple[Tensor, Tensor]:
    """The variance and the mean over dimensions, all if there is none.

    `rounds` says that the mean of all elements is rounded on the way, and may overflow, as in eager's `var` and `std`.
    """
    dims = list(range(self.dim()))
    if dim is not None and len(dim) > 0:
        dims = dim
    count = 1
    for each in dims:
        count = count * self.size(each)
    x = self.to(torch.float64)
    mean = x.mean(dims, keepdim=True)
    if rounds and len(dims) == self.dim() and self.dtype == torch.float32:
        mean = self.mean(dims, keepdim=True).to(torch.float64)
    offset = x - mean
    less = 1.0 if correction is None else float(correction)
    variance = (offset * offset).sum(dims, keepdim=keepdim) / max(float(count) - less, 0.0)
    middle = x.mean(dims, keepdim=keepdim)
    # Eager moves the mean by the distance of each number from it: an infinity makes it NaN with the next.
    return variance, middle if count == 1 else torch.where(torch.isinf(middle), torch.nan, middle)


@implements("aten::var.correction", where=_is_real)
def var(
    self: Tensor,
    dim: Optional[list[int]],  # noqa: UP045 - TorchScript
    correction: Optional[float],  # noqa: UP045
    keepdim: bool,
) -> Tensor:
    """The sum of squared distances from the mean, by the number of elements less the correction, at least 0."""
    return _moments(self, dim, correction, keepdim, True)[0].to(self.dtype)


@implements("aten::std.correction", where=_is_real)
def std(
    self: Tensor,
    dim: Optional[list[int]],  # noqa: UP045 - TorchScript
    correction: Optional[float],  # noqa: UP045
    keepdim: bool,
) -> Tensor:
    """The root of the variance."""
    return _moments(self, dim, correction, keepdim, True)[0].sqrt().to(self.dtype)


@implements("aten::var_mean.correction", where=_is_real)
def var_mean(
    self: Tensor,
    dim: Optional[list[int]],  # noqa: UP045 - TorchScript
    correction: Optional[float],  # noqa: UP045
    keepdim: bool,
) -> tuple[Tensor, Tensor]:
    """The variance and the mean."""
    variance, mean = _moments(self, dim, correction, keepdim)
    return variance.to(self.dtype), mean.to(self.dtype)


@implements("aten::std_mean.correction", where=_is_real)
def std_mean(
    self: Tensor,
    dim: Optional[list[int]],  # noqa: UP045 - TorchScript
    correction: Optional[float],  # noqa: UP045
    keepdim: bool,
) -> tuple[Tensor, Tensor]:
    """The root of the variance, and the mean."""
    variance, mean = _moments(self, dim, correction, keepdim)
    return variance.sqrt().to(self.dtype), mean.to(self.dtype)


def _correction(unbiased: bool) -> float:
    return 1.0 if unbiased else 0.0


@implements("aten::var.dim", where=_is_real)
def var_of_dimensions(
    self: Tensor,
    dim: Optional[list[int]],  # noqa: UP045 - TorchScript
    unbiased: bool,
    keepdim: bool,
) -> Tensor:
    """The variance over dimensions."""
    return _moments(self, dim, _correction(unbiased), keepdim, True)[0].to(self.dtype)


@implements("aten::std.dim", where=_is_real)
def std_of_dimensions(
    self: Tensor,
    dim: Optional[list[int]],  # noqa: UP045 - TorchScript
    unbiased: bool,
    keepdim: bool,
) -> Tensor:
    """The root of the variance over dimensions."""
    return _moments(self, dim, _correction(unbiased), keepdim, True)[0].sqrt().to(self.dtype)


@implements("aten::var", where=_is_real)
def var_of_all(self: Tensor, unbiased: bool) -> Tensor:
    """The variance of all elements."""
    return _moments(self, None, _correction(unbiased), False, True)[0].to(self.dtype)


@implements("aten::std", where=_is_real)
def std_of_all(self: Tensor, unbiased: bool) -> Tensor:
    """The root of the variance of all elements."""
    return _moments(self, None, _correction(unbiased), False, True)[0].sqrt().to(self.dtype)


@implements("aten::var_mean.dim", where=_is_real)
def var_mean_of_dimensions(
    self: Tensor,
    dim: Optional[list[int]],  # noqa: UP045 - TorchScript
    unbiased: bool,
    keepdim: bool,
) -> tuple[Tensor, Tensor]:
    """The variance and the mean over dimensions."""
    variance, mean = _moments(self, dim, _correction(unbiased), keepdim)
    return variance.to(self.dtype), mean.to(self.dtype)


@implements("aten::std_mean.dim", where=_is_real)
def std_mean_of_dimensions(
    self: Tensor,
    dim: Optional[list[int]],  # noqa: UP045 - TorchScript
    unbiased: bool,
    keepdim: bool,
) -> tuple[Tensor, Tensor]:
    """The root of the variance, and the mean, over dimensions."""
    variance, mean = _moments(self, dim, _correction(unbiased), keepdim)
    return variance.sqrt().to(self.dtype), mean.to(self.dtype)


@implements("aten::var_mean", where=_is_real)
def var_mean_of_all(self: Tensor, unbiased: bool) -> tuple[Tensor, Tensor]:
    """The variance and the mean of all elements."""
    variance, mean = _moments(self, None, _correction(unbiased), False)
    return variance.to(self.dtype), mean.to(self.dtype)


@implements("aten::std_mean", where=_is_real)
def std_mean_of_all(self: Tensor, unbiased: bool) -> tuple[Tensor, Tensor]:
    """The root of the variance, and the mean, of all elements."""
    variance, mean = _moments(self, None, _correction(unbiased), False)
    return variance.sqrt().to(self.dtype), mean.to(self.dtype)


def _has_dynamic_sizes(arguments: Mapping[str, Any]) -> bool:
    tensor = arguments["input"]
    return bool(tensor.dtype.is_floating_point) and not all(isinstance(size, int) for size in tensor.shape)


@implements("aten::group_norm", where=_has_dynamic_sizes)
def group_norm(
    input: Tensor,
    num_groups: int,
    weight: Optional[Tensor],  # noqa: UP045 - TorchScript
    bias: Optional[Tensor],  # noqa: UP045
    eps: float,
) -> Tensor:
    """Each group of channels less its mean, by its deviation; torch-mlir takes the sizes of the groups for others."""
    batch, channels, rest = input.size(0), input.size(1), 1
    for size in input.shape[2:]:
        rest = rest * size
    x = input if input.dtype == torch.float64 else input.to(torch.float32)
    groups = x.reshape([batch, num_groups, channels // num_groups * rest])
    offset = groups - groups.mean([2], keepdim=True)
    deviation = torch.rsqrt((offset * offset).mean([2], keepdim=True) + eps)
    each = (offset * deviation).reshape([batch, channels, rest])
    if weight is not None:
        each = each * weight.to(each.dtype).unsqueeze(-1)
    if bias is not None:
        each = each + bias.to(each.dtype).unsqueeze(-1)
    return each.reshape(input.shape).to(input.dtype)
