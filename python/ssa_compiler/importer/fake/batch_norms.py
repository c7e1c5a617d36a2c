"""PyTorch's decompositions of batch norm in training, with the means of its kernels.

The decompositions take the mean from `var_mean`, which makes NaN of infinities; the kernels, which take the plain mean,
do not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

__all__ = ["batch_norm_decompositions"]

aten = torch.ops.aten


def batch_norm_decompositions() -> dict[Any, Callable[..., Any]]:
    """Return the decompositions by OpOverload."""
    from torch._decomp import decomposition_table

    operators = (
        aten.native_batch_norm.default,
        aten._native_batch_norm_legit.default,
        aten._native_batch_norm_legit.no_stats,
    )
    return {operator: _with_plain_means(decomposition_table[operator]) for operator in operators}


def _with_plain_means(decomposition: Callable[..., Any]) -> Callable[..., Any]:
    def decomposed(*args: Any, **kwargs: Any) -> Any:
        if len(args) > 1 and args[-1] == 0.0:
            # With eps of 0 the kernels take constant channels for 0, as the least number does.
            args = (*args[:-1], torch.finfo(args[0].dtype).tiny)
        with _PlainMeans():
            return decomposition(*args, **kwargs)

    return decomposed


class _PlainMeans(TorchFunctionMode):
    """Computes the two results of `var_mean` by themselves."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is torch.var_mean:
            return _var_mean(*args, **(kwargs or {}))
        return func(*args, **(kwargs or {}))


def _var_mean(x: Tensor, dim: list[int], correction: int, keepdim: bool) -> tuple[Tensor, Tensor]:
    # In double precision the variance takes the same mean, which is computed once then.
    mean = x.to(torch.float64).mean(dim, keepdim=keepdim)
    return torch.var(x, dim, correction=correction, keepdim=keepdim), mean.to(x.dtype)
