"""Ops along a dimension of tensors that have none: those of the one row that such a tensor is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, List  # noqa: UP035 - TorchScript

import torch
from torch import Tensor

from ._registry import implements

__all__: list[str] = []

# ruff: noqa: UP006 - TorchScript reads these annotations


def _has_none(arguments: Mapping[str, Any]) -> bool:
    return bool(arguments["self"].dim() == 0)


def _row(x: Tensor) -> Tensor:
    return x.reshape([-1])


@implements("aten::scatter_reduce.two", where=_has_none)
def scatter_reduce(self: Tensor, index: Tensor, src: Tensor, reduce: str, include_self: bool) -> Tensor:
    """An element combined with others."""
    made = torch.scatter_reduce(_row(self), 0, _row(index), _row(src), reduce, include_self=include_self)
    return made.reshape([])


@implements("aten::scatter_add", where=_has_none)
def scatter_add(self: Tensor, index: Tensor, src: Tensor) -> Tensor:
    """An element to which others are added."""
    return torch.scatter_add(_row(self), 0, _row(index), _row(src)).reshape([])


@implements("aten::scatter.src", where=_has_none)
def scatter(self: Tensor, index: Tensor, src: Tensor) -> Tensor:
    """An element, or another in its place."""
    return torch.scatter(_row(self), 0, _row(index), _row(src)).reshape([])


@implements("aten::scatter.value", where=_has_none)
def scatter_number(self: Tensor, index: Tensor, value: float) -> Tensor:
    """An element, or a number in its place."""
    return torch.scatter(_row(self), 0, _row(index), value).reshape([])


@implements("aten::gather", where=_has_none)
def gather(self: Tensor, index: Tensor) -> Tensor:
    """The element, for each index."""
    return torch.gather(_row(self), 0, _row(index)).reshape(index.shape)


@implements("aten::amax", "aten::amin", where=_has_none)
def extreme(self: Tensor, dim: List[int]) -> Tensor:
    """The element."""
    return self.clone()


def _sums_to_itself(arguments: Mapping[str, Any]) -> bool:
    return _has_none(arguments) and arguments["self"].dtype.is_floating_point


@implements("aten::logsumexp", where=_sums_to_itself)
def logsumexp(self: Tensor) -> Tensor:
    """The element."""
    return self.clone()
