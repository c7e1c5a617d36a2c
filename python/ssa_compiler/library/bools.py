"""Numbers that are put into tensors of bools, where any that is not zero is True: torch-mlir keeps their last bit."""

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
