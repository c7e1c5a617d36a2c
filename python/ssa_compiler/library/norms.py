"""Norms as `linalg.vector_norm`: torch-mlir computes the others as powers, which infinity and 0 are not.

That of one element is its absolute value in eager, which neither overflows nor underflows as its square and its cube
do. The root mean square has an epsilon where none is given, which torch-mlir takes for 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, List, Optional  # noqa: UP035 - TorchScript

import torch
from torch import Tensor
from torch.fx.experimental.symbolic_shapes import statically_known_true

from ._registry import implements

__all__: list[str] = []

# ruff: noqa: UP006, UP045 - TorchScript reads these annotations


def _order(arguments: Mapping[str, Any]) -> float | None:
    """The order of a norm, None if it is dynamic."""
    order = arguments["ord"] if "ord" in arguments else arguments.get("p")
    if order is None:
        return 2.0
    return float(order) if isinstance(order, (int, float)) else None


def _is_float(arguments: Mapping[str, Any]) -> bool:
    tensors = [argument for argument in arguments.values() if isinstance(argument, torch.Tensor)]
    return all(tensor.dtype.is_floating_point for tensor in tensors)


def _is_norm(arguments: Mapping[str, Any]) -> bool:
    """Whether this is a norm of floating-point or complex numbers of a known order."""
    dtype = arguments["self"].dtype
    return (dtype.is_floating_point or dtype.is_complex) and _order(arguments) is not None


@implements("aten::norm.Scalar", where=_is_norm)
def norm(self: Tensor, p: float) -> Tensor:
    """The p-norm of all elements."""
    return torch.linalg.vector_norm(self, p)


@implements("aten::norm.ScalarOpt_dim", where=_is_norm)
def norm_along(self: Tensor, p: Optional[float], dim: List[int], keepdim: bool) -> Tensor:
    """The p-norm over dimensions, as `F.normalize` asks for it."""
    return torch.linalg.vector_norm(self, 2.0 if p is None else p, dim, keepdim)


@implements("aten::frobenius_norm.dim", where=_is_norm)
def frobenius_norm(self: Tensor, dim: List[int], keepdim: bool) -> Tensor:
    """The length over dimensions."""
    return torch.linalg.vector_norm(self, 2.0, dim, keepdim)


@implements("aten::dist", where=_is_float)
def dist(self: Tensor, other: Tensor, p: float) -> Tensor:
    """The p-norm of the difference of two tensors, which are broadcast."""
    return torch.linalg.vector_norm(self - other, p)


def _is_vector_norm(arguments: Mapping[str, Any]) -> bool:
    """Whether a `linalg_norm` is one of vectors, which torch-mlir has only with an order."""
    dim, rank = arguments["dim"], arguments["self"].dim()
    is_matrix_norm = arguments["ord"] is not None and (rank if dim is None else len(dim)) == 2
    return _is_norm(arguments) and not is_matrix_norm


@implements("aten::linalg_norm", where=_is_vector_norm)
def linalg_norm(
    self: Tensor, ord: Optional[float], dim: Optional[List[int]], keepdim: bool, dtype: Optional[int]
) -> Tensor:
    """The norm of vectors; without an order that of all elements as one vector."""
    return torch.linalg.vector_norm(self, 2.0 if ord is None else ord, dim, keepdim, dtype=dtype)


def _reduced(arguments: Mapping[str, Any]) -> list[Any] | None:
    """The sizes of the dimensions that a norm is over; None if it is not one that is decomposed here.

    Eager takes the powers of a tensor without dimensions if a dimension is given.
    """
    tensor, dim = arguments["self"], arguments["dim"] or []
    if not _is_norm(arguments) or not all(isinstance(d, int) for d in dim) or (dim and not tensor.dim()):
        return None
    one = torch.ones([1] * tensor.dim(), dtype=tensor.dtype)
    given = [arguments[name] for name in ("ord", "dim", "keepdim")]
    try:
        torch.ops.aten.linalg_vector_norm.default(one, *given, dtype=arguments["dtype"])
    except (IndexError, RuntimeError):  # there is no such dimension, it is there twice, or the dtype does not fit
        return None
    return [tensor.shape[d] for d in dim] if dim else list(tensor.shape)


def _is_of_one(arguments: Mapping[str, Any]) -> bool:
    """Whether each norm is known to be one of one element."""
    sizes = _reduced(arguments)
    return sizes is not None and all(isinstance(size, int) and size == 1 for size in sizes)


@implements("aten::linalg_vector_norm", where=_is_of_one)
def norm_of_one(self: Tensor, ord: float, dim: Optional[List[int]], keepdim: bool, dtype: Optional[int]) -> Tensor:
    """The absolute value, and for order 0 whether there is one."""
    x = self if dtype is None else self.to(dtype)
    size = torch.abs(x)
    if ord == 0.0:
        size = (size != 0.0).to(size.dtype)
    if keepdim:
        return size
    if dim is None or len(dim) == 0:
        return size.reshape([])
    return size.squeeze(dim)


_LINEAR = (0.0, 1.0, float("inf"), -float("inf"))
"""Orders of norms that take no powers of the elements."""


def _may_be_of_one(arguments: Mapping[str, Any]) -> bool:
    """Whether it is dynamic whether each norm is one of one element, of which powers are taken."""
    sizes = None if _order(arguments) in _LINEAR else _reduced(arguments)
    if sizes is None or all(isinstance(size, int) for size in sizes):
        return False
    return not any(statically_known_true(size != 1) for size in sizes)


@implements("aten::linalg_vector_norm", where=_may_be_of_one)
def norm_of_one_or_more(
    self: Tensor, ord: float, dim: Optional[List[int]], keepdim: bool, dtype: Optional[int]
) -> Tensor:
    """The root of the sum of powers, and the absolute value of the first element where there is no other."""
    dims = list(range(self.dim()))
    if dim is not None and len(dim) > 0:
        dims = dim
    given = self if dtype is None else self.to(dtype)
    first, count = given, 1
    for each in dims:
        count = count * self.size(each)
        first = first.narrow(each, 0, min(1, self.size(each)))
    one = torch.abs(first).sum(dims, keepdim)
    x = torch.abs(given) if given.is_complex() or ord != 2.0 else given
    if x.dtype == torch.float16 or x.dtype == torch.bfloat16:
        x = x.to(torch.float32)
    if ord == 2.0:
        more = torch.sqrt((x * x).sum(dims, keepdim))
    else:
        more = torch.pow(torch.pow(x, ord).sum(dims, keepdim), 1.0 / ord)
    is_one = torch.full([], count == 1, dtype=torch.bool, device=self.device)
    return torch.where(is_one, one, more.to(one.dtype))


def _is_length(arguments: Mapping[str, Any]) -> bool:
    """Whether this is a norm of order 2 that is computed in the dtype of its elements."""
    fits = arguments["self"].dtype in (torch.float32, torch.float64) and arguments["dtype"] is None
    return fits and _order(arguments) == 2.0


@implements("aten::linalg_vector_norm", where=_is_length)
def length(self: Tensor, ord: float, dim: Optional[List[int]], keepdim: bool) -> Tensor:
    """The square root of the sum of squares: torch-mlir has powers there, and kernels none."""
    if dim is None or len(dim) == 0:
        total = (self * self).sum()
        return torch.sqrt(total.reshape([1] * self.dim()) if keepdim else total)
    return torch.sqrt((self * self).sum(dim, keepdim))


@implements("aten::rms_norm", where=lambda arguments: arguments["eps"] is None)
def rms_norm(input: Tensor, normalized_shape: List[int], weight: Optional[Tensor]) -> Tensor:
    """Numbers by the root of their mean square and the distance of 1 from the next number."""
    eps = 2.0**-52 if input.dtype == torch.float64 else 2.0**-23  # of half precision it is that of single precision
    return torch.rms_norm(input, normalized_shape, weight, eps)


def _averages_dynamically(arguments: Mapping[str, Any]) -> bool:
    """Whether batch statistics are averaged with a factor that is dynamic: `momentum=None` makes it of a count of
    batches.
    """
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
    """Whether torch-mlir does not lower an `instance_norm` without running statistics, or to NaN: that of dynamic
    sizes.
    """
    input, statistics = arguments["input"], (arguments["running_mean"], arguments["running_var"])
    if arguments["use_input_stats"] is not True or statistics != (None, None) or input.dim() < 2:
        return False
    if isinstance(arguments["eps"], torch.SymFloat) or not arguments["eps"]:
        return False  # of 0, it takes constant channels for 0, and groups for NaN
    is_open = not all(isinstance(size, int) for size in input.shape)
    left_out = arguments["weight"] is None or arguments["bias"] is None
    half = input.dtype in (torch.float16, torch.bfloat16)  # the backend accumulates it in half precision
    return (is_open or left_out or half) and isinstance(input.shape[1], int) and _has_elements(input)


@implements("aten::instance_norm", where=_normalizes_by_input)
def instance_norm_of_input(input: Tensor, weight: Optional[Tensor], bias: Optional[Tensor], eps: float) -> Tensor:
    """Normalization of each channel of an instance, as a group of its own."""
    return torch.group_norm(input, input.size(1), weight, bias, eps, False)
