"""A kernel that one dispatch starts at a multiple of 64 bytes, and another behind a tensor of dynamic size, is right in
both.
"""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from ssa_compiler.testing import check


def chosen(boxes: Tensor, scores: Tensor) -> tuple[Tensor, Tensor]:
    kept, of = boxes[:0], scores[:0, 0]
    for c in range(1, scores.size(1)):
        m = scores[:, c] > 0.3
        b, s = boxes[m], scores[m, c]
        o = torch.argsort(s, descending=True)
        b, s = b[o], s[o]
        k = torch.ones_like(s, dtype=torch.bool)
        kept, of = torch.cat([kept, b[k]]), torch.cat([of, s[k]])
    return kept, of


def inputs(seed: int, scale: float) -> tuple[Tensor, Tensor]:
    of = torch.Generator().manual_seed(seed)
    return torch.rand(8, 4, generator=of), torch.rand(8, 3, generator=of) * scale


@pytest.mark.slow
def test_what_is_gathered_twice_goes_behind_another_tensor() -> None:
    check(chosen, *[inputs(seed, scale) for seed, scale in enumerate([1.0, 0.6, 0.3, 0.31, 2.0])])
