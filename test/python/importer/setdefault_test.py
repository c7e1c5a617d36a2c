"""`groups.setdefault(key, []).append(x)`, with keys that are dynamic."""

from __future__ import annotations

import torch
from torch import Tensor

from ssa_compiler.testing import check


def groups(x: Tensor, n: int) -> tuple[list[int], list[int], list[int]]:
    seen: dict[int, list[int]] = {}
    for i in range(n):
        seen.setdefault(int(x[i]), []).append(i)
    keys, counts = [], []
    for key, found in seen.items():
        keys.append(key)
        counts.append(len(found))
    return keys, counts, seen.get(2, [])


def named(x: Tensor, n: int) -> dict[str, Tensor]:
    found: dict[str, list[Tensor]] = {"a": [x[0]]}
    for i in range(n):
        found.setdefault("a", []).append(x[i] * 2)
    found.setdefault("b", []).extend([x[0], x[1]])
    return {key: torch.stack(values) for key, values in found.items()}


def test_groups() -> None:
    check(groups, *[(torch.tensor([1, 2, 2, 3, 1]), n) for n in (5, 0, 1, 2)], compiled=False)
    check(named, *[(torch.tensor([1, 2, 2, 3, 1]), n) for n in (5, 0, 1, 2)], compiled=False)
