"""Norms of whole tensors as `linalg.vector_norm`: torch-mlir computes the others as powers, which infinity and 0 are not.

The root mean square has an epsilon where none is given, which torch-mlir takes for 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, List, Optional  # noqa: UP035 - TorchScript

import torch
from torch import Tensor

from ._registry import implements

__all__: list[str] = []


def _is_float(arguments: Mapping[str, Any]) -> bool:
    tensors = [argument for argument in arguments.values() if isinstance(argument, torch.Tensor)]
    return all(tensor.dtype.is_floating_point for tensor in tensors)


@implements("aten::norm.Scalar", where=_is_float)
def norm(self: Tensor, p: float) -> Tensor:
    """The p-norm of all elements."""
    return torch.linalg.vector_norm(self, p)


@implements("aten::dist", where=_is_float)
def dist(self: Tensor, other: Tensor, p: float) -> Tensor:
    """The p-norm of the difference of two tensors, which are broadcast."""
    return torch.linalg.vector_norm(self - other, p)


# ruff: noqa: UP006, UP045 - TorchScript reads these annotations


def _is_length(arguments: Mapping[str, Any]) -> bool:
    """Whether this is a norm of order 2 that is computed in the dtype of its elements."""
    order = arguments["ord"] if "ord" in arguments else arguments["p"]
    fits = arguments["self"].dtype in (torch.float32, torch.float64) and arguments.get("dtype") is None
    return fits and (order is None or (isinstance(order, (int, float)) and order == 2))


@implements("aten::linalg_vector_norm", where=_is_length)
def length(self: Tensor, ord: float, dim: Optional[List[int]], keepdim: bool) -> Tensor:
    """The square root of the sum of squares: torch-mlir has powers there, and kernels none."""
    if dim is None or len(dim) == 0:
        total = (self * self).sum()
        return torch.sqrt(total.reshape([1] * self.dim()) if keepdim else total)
    return torch.sqrt((self * self).sum(dim, keepdim))


@implements("aten::norm.ScalarOpt_dim", where=_is_length)
def length_along(self: Tensor, p: Optional[float], dim: List[int], keepdim: bool) -> Tensor:
    """The same, as `F.normalize` asks for it."""
    return torch.linalg.vector_norm(self, 2, dim, keepdim)


@implements("aten::linalg_norm", where=lambda arguments: arguments["ord"] is None and arguments["dtype"] is None)
def linalg_norm(self: Tensor, dim: Optional[List[int]], keepdim: bool) -> Tensor:
    """The length of all elements as one vector, which torch-mlir has only with an order."""
    return torch.linalg.vector_norm(self, 2, dim, keepdim)


@implements("aten::rms_norm", where=lambda arguments: arguments["eps"] is None)
def rms_norm(input: Tensor, normalized_shape: List[int], weight: Optional[Tensor]) -> Tensor:
    """Numbers by the root of their mean square and the distance of 1 from the next number."""
    eps = 2.0**-52 if input.dtype == torch.float64 else 2.0**-23  # of half precision it is that of single precision
    return torch.rms_norm(input, normalized_shape, weight, eps)


def _averages_dynamically(arguments: Mapping[str, Any]) -> bool:
    """Whether batch statistics are averaged with a factor that is dynamic: `momentum=None` makes it of a count of batches."""
    return arguments["training"] is True and isinstance(arguments["momentum"], torch.SymFloat)


@implements("aten::batch_norm", where=_averages_dynamically)
def batch_norm(
    input: Tensor,
    weight: Optional[Tensor],
    bias: Optional[Tensor],
    running_mean: Optional[Tensor],
    running_var: Optional[Tensor],
    training: bool,
    momentum: float,
    eps: float,
) -> Tensor:
    """Normalization by the statistics of the batch, which are averaged with those of earlier ones."""
    if running_mean is not None:
        dims = [0] + list(range(2, input.dim()))  # noqa: RUF005 - TorchScript does not unpack into lists
        running_mean.mul_(1.0 - momentum).add_(input.mean(dims) * momentum)
        if running_var is not None:
            running_var.mul_(1.0 - momentum).add_(input.var(dims) * momentum)
    return torch.batch_norm(input, weight, bias, None, None, True, 0.0, eps, False)


def _has_elements(x: Tensor) -> bool:
    return 0 not in [size for size in x.shape if isinstance(size, int)]


def _normalizes_by_given(arguments: Mapping[str, Any]) -> bool:
    """Whether `instance_norm` takes running statistics, of which torch-mlir knows nothing."""
    given = arguments["running_mean"] is not None and arguments["running_var"] is not None
    return given and arguments["use_input_stats"] is False and _has_elements(arguments["input"])


@implements("aten::instance_norm", where=_normalizes_by_given)
def instance_norm(
    input: Tensor,
    weight: Optional[Tensor],
    bias: Optional[Tensor],
    running_mean: Optional[Tensor],
    running_var: Optional[Tensor],
    momentum: float,
    eps: float,
) -> Tensor:
    """Normalization by running statistics, which are those of all instances: that of a batch."""
    return torch.batch_norm(input, weight, bias, running_mean, running_var, False, momentum, eps, False)


def _normalizes_by_input(arguments: Mapping[str, Any]) -> bool:
    """Whether torch-mlir does not lower an `instance_norm` without running statistics, or to NaN: that of open sizes."""
    input, statistics = arguments["input"], (arguments["running_mean"], arguments["running_var"])
    if arguments["use_input_stats"] is not True or statistics != (None, None) or input.dim() < 2:
        return False
    is_open = not all(isinstance(size, int) for size in input.shape)
    left_out = arguments["weight"] is None or arguments["bias"] is None
    half = input.dtype in (torch.float16, torch.bfloat16)  # the backend accumulates it in half precision
    return (is_open or left_out or half) and isinstance(input.shape[1], int) and _has_elements(input)


@implements("aten::instance_norm", where=_normalizes_by_input)
def instance_norm_of_input(input: Tensor, weight: Optional[Tensor], bias: Optional[Tensor], eps: float) -> Tensor:
    """Normalization of each channel of an instance, as a group of its own."""
    return torch.group_norm(input, input.size(1), weight, bias, eps, False)
