"""Variances of few elements, or of a number of them that is known only at run time.

torch-mlir divides by the number of elements less the correction, also where that is negative: eager divides by 0 then.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Optional

import torch
from torch import Tensor

from ._registry import implements

__all__: list[str] = []


def _may_be_few(arguments: Mapping[str, Any]) -> bool:
    tensor, dims = arguments["self"], arguments.get("dim")
    correction = arguments["correction"] if "correction" in arguments else int(arguments["unbiased"])
    if not tensor.dtype.is_floating_point or not tensor.dim() or not isinstance(correction, (int, float, type(None))):
        return False
    count = 1
    for dim in dims or range(tensor.dim()):
        size = tensor.shape[dim]
        if not isinstance(size, int):
            return True
        count *= size
    return bool(count < (1 if correction is None else correction))


def _moments(
    self: Tensor,
    dim: Optional[list[int]],  # noqa: UP045 - TorchScript
    correction: Optional[float],  # noqa: UP045
    keepdim: bool,
) -> tuple[Tensor, Tensor]:
    """The variance and the mean over dimensions, all if there is none."""
    dims = list(range(self.dim()))
    if dim is not None and len(dim) > 0:
        dims = dim
    count = 1
    for each in dims:
        count = count * self.size(each)
    x = self if self.dtype == torch.float64 else self.to(torch.float32)
    mean = x.mean(dims, keepdim=True)
    offset = x - mean
    less = 1.0 if correction is None else float(correction)
    variance = (offset * offset).sum(dims, keepdim=keepdim) / max(float(count) - less, 0.0)
    return variance, x.mean(dims, keepdim=keepdim)


@implements("aten::var.correction", where=_may_be_few)
def var(
    self: Tensor,
    dim: Optional[list[int]],  # noqa: UP045 - TorchScript
    correction: Optional[float],  # noqa: UP045
    keepdim: bool,
) -> Tensor:
    """The sum of squared distances from the mean, by the number of elements less the correction, at least 0."""
    return _moments(self, dim, correction, keepdim)[0].to(self.dtype)


@implements("aten::std.correction", where=_may_be_few)
def std(
    self: Tensor,
    dim: Optional[list[int]],  # noqa: UP045 - TorchScript
    correction: Optional[float],  # noqa: UP045
    keepdim: bool,
) -> Tensor:
    """The root of the variance."""
    return _moments(self, dim, correction, keepdim)[0].sqrt().to(self.dtype)


@implements("aten::var_mean.correction", where=_may_be_few)
def var_mean(
    self: Tensor,
    dim: Optional[list[int]],  # noqa: UP045 - TorchScript
    correction: Optional[float],  # noqa: UP045
    keepdim: bool,
) -> tuple[Tensor, Tensor]:
    """The variance and the mean."""
    variance, mean = _moments(self, dim, correction, keepdim)
    return variance.to(self.dtype), mean.to(self.dtype)


@implements("aten::std_mean.correction", where=_may_be_few)
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


@implements("aten::var.dim", where=_may_be_few)
def var_of_dimensions(
    self: Tensor,
    dim: Optional[list[int]],  # noqa: UP045 - TorchScript
    unbiased: bool,
    keepdim: bool,
) -> Tensor:
    """The variance over dimensions."""
    return _moments(self, dim, _correction(unbiased), keepdim)[0].to(self.dtype)


@implements("aten::std.dim", where=_may_be_few)
def std_of_dimensions(
    self: Tensor,
    dim: Optional[list[int]],  # noqa: UP045 - TorchScript
    unbiased: bool,
    keepdim: bool,
) -> Tensor:
    """The root of the variance over dimensions."""
    return _moments(self, dim, _correction(unbiased), keepdim)[0].sqrt().to(self.dtype)


@implements("aten::var", where=_may_be_few)
def var_of_all(self: Tensor, unbiased: bool) -> Tensor:
    """The variance of all elements."""
    return _moments(self, None, _correction(unbiased), False)[0].to(self.dtype)


@implements("aten::std", where=_may_be_few)
def std_of_all(self: Tensor, unbiased: bool) -> Tensor:
    """The root of the variance of all elements."""
    return _moments(self, None, _correction(unbiased), False)[0].sqrt().to(self.dtype)


@implements("aten::var_mean.dim", where=_may_be_few)
def var_mean_of_dimensions(
    self: Tensor,
    dim: Optional[list[int]],  # noqa: UP045 - TorchScript
    unbiased: bool,
    keepdim: bool,
) -> tuple[Tensor, Tensor]:
    """The variance and the mean over dimensions."""
    variance, mean = _moments(self, dim, _correction(unbiased), keepdim)
    return variance.to(self.dtype), mean.to(self.dtype)


@implements("aten::std_mean.dim", where=_may_be_few)
def std_mean_of_dimensions(
    self: Tensor,
    dim: Optional[list[int]],  # noqa: UP045 - TorchScript
    unbiased: bool,
    keepdim: bool,
) -> tuple[Tensor, Tensor]:
    """The root of the variance, and the mean, over dimensions."""
    variance, mean = _moments(self, dim, _correction(unbiased), keepdim)
    return variance.sqrt().to(self.dtype), mean.to(self.dtype)


@implements("aten::var_mean", where=_may_be_few)
def var_mean_of_all(self: Tensor, unbiased: bool) -> tuple[Tensor, Tensor]:
    """The variance and the mean of all elements."""
    variance, mean = _moments(self, None, _correction(unbiased), False)
    return variance.to(self.dtype), mean.to(self.dtype)


@implements("aten::std_mean", where=_may_be_few)
def std_mean_of_all(self: Tensor, unbiased: bool) -> tuple[Tensor, Tensor]:
    """The root of the variance, and the mean, of all elements."""
    variance, mean = _moments(self, None, _correction(unbiased), False)
    return variance.sqrt().to(self.dtype), mean.to(self.dtype)
