"""Norms of whole tensors as `linalg.vector_norm`: torch-mlir computes the others as powers, which infinity and 0 are not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

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
