"""Tensors of dynamic sizes that are concatenated, of which branches decide how large they are."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor

import ssa_compiler
from ssa_compiler.testing import check


def levels(x: Tensor, y: Tensor, k: int) -> Tensor:
    """As a detector does with its levels: the best of the candidates, if there are more than `k`."""
    found = []
    for scores in (x, y):
        chosen = (scores > 0).nonzero()
        best = scores[scores > 0]
        place, kind = chosen[:, 0], chosen[:, 1]
        if best.numel() > k:
            best, top = best.topk(k)
            place, kind = place[top], kind[top]
        found.append(best.sqrt() + place - kind)
    return torch.cat(found)


def test_parts_of_which_branches_decide_compile_at_once(tmp_path: Path) -> None:
    torch.manual_seed(0)
    x, y = torch.randn(8, 3), torch.randn(6, 3)
    options = {"fullgraph": True, "cache": False, "kernels": False}
    ssa_compiler.compile(levels, (x, y, 4), dump_dir=tmp_path, **options)  # type: ignore[arg-type]
    assert not list(tmp_path.glob("attempt-*"))  # modules that iree-compile rejected
    check(levels, (x, y, 4), (x, y, 0), (x, -y.abs(), 4), (-x.abs(), -y.abs(), 1), (x, y, 100), options=options)
