"""Numbers that are put into tensors of bools, where any that is not zero is True: torch-mlir keeps their last bit.

And `all` and `any` of bytes, which are bytes: torch-mlir combines them with bools.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from ._registry import implements

__all__: list[str] = []


def _fills_bools(arguments: Mapping[str, Any]) -> bool:
    return bool(arguments["self"].dtype == torch.bool)


@implements("aten::masked_fill.Scalar", where=_fills_bools)
def masked_fill(self: Tensor, mask: Tensor, value: float) -> Tensor:
    """Bools, and one in place of those that are chosen."""
    if value != 0.0:
        return torch.logical_or(self, mask)
    return torch.logical_and(self, torch.logical_not(mask))


def _are_bytes(arguments: Mapping[str, Any]) -> bool:
    return bool(arguments["self"].dtype == torch.uint8)


@implements("aten::all", where=_are_bytes)
def all_bytes(self: Tensor) -> Tensor:
    """1 if no byte is 0, else 0."""
    return (self != 0).all().to(torch.uint8)


@implements("aten::all.dim", where=_are_bytes)
def all_bytes_of(self: Tensor, dim: int, keepdim: bool) -> Tensor:
    """1 where no byte is 0, else 0."""
    return (self != 0).all(dim, keepdim).to(torch.uint8)


@implements("aten::any", where=_are_bytes)
def any_byte(self: Tensor) -> Tensor:
    """1 if a byte is not 0, else 0."""
    return (self != 0).any().to(torch.uint8)


@implements("aten::any.dim", where=_are_bytes)
def any_byte_of(self: Tensor, dim: int, keepdim: bool) -> Tensor:
    """1 where a byte is not 0, else 0."""
    return (self != 0).any(dim, keepdim).to(torch.uint8)
