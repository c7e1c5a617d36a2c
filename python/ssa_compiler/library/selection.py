"""Elements chosen by a mask, and elements repeated as often as numbers say."""

from __future__ import annotations

import torch
from torch import Tensor

from ._registry import implements


@implements("aten::masked_select")
def masked_select(self: Tensor, mask: Tensor) -> Tensor:
    """The elements at which a mask holds, both broadcast to one shape."""
    whole, chosen = torch.broadcast_tensors(self, mask)  # type: ignore[no-untyped-call]
    places = chosen.reshape(-1).nonzero().select(1, 0)
    return whole.reshape(-1)[places]
