"""Numbers put into tensors of bools, and bools where floating-point numbers or bounds go: what is not 0 is True."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from ssa_compiler.testing import check

FALSE_TRUE = torch.tensor([False, True])
PAIRS = [(a, b) for a in (FALSE_TRUE, FALSE_TRUE.flip(0)) for b in (FALSE_TRUE, FALSE_TRUE.flip(0))]


def filled_with_constants(x: Tensor, m: Tensor) -> list[Tensor]:
    made = [torch.full([3], 2, dtype=torch.bool), torch.full([x.size(0)], 0.5, dtype=torch.bool)]
    like = [
        x.new_full([2], 4),
        torch.full_like(x, 6),
        torch.full_like(m, math.nan),
        torch.scalar_tensor(3, dtype=torch.bool),
    ]
    return made + like + [x.masked_fill(m, 10), x.masked_fill(m, 0), x.masked_fill(m, -0.5), torch.where(m, x, 2)]


def test_filled_with_constants() -> None:
    check(filled_with_constants, *PAIRS, compiled=True)


def filled_with_numbers(x: Tensor, m: Tensor, n: int, f: float) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    z = x.clone()
    z[0] = f
    return x.masked_fill(m, n), z, x.masked_fill(m, f), torch.full([2], n, dtype=torch.bool)


def test_filled_with_numbers_known_at_run_time() -> None:
    numbers = [(0, 0.0), (2, 0.5), (256, math.nan), (-1, -0.5), (1 << 32, math.inf)]
    check(filled_with_numbers, *[(*pair, *number) for pair in PAIRS[:2] for number in numbers], compiled=True)


def bounded(x: Tensor, m: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    return torch.clamp_min(x, m), torch.clamp_max(x, m), torch.maximum(x, m), torch.minimum(x, m)


def angles(x: Tensor, m: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return torch.atan2(x, m), torch.atan2(x.long(), m), torch.atan2(x, m.half() * math.inf)


def test_two_tensors_of_bools() -> None:
    check(bounded, *PAIRS, compiled=True)
    check(angles, *PAIRS, compiled=True)


def changed_by_comparisons(x: Tensor, n: int, f: float, t: Tensor) -> list[Tensor]:
    changed = [x.clone(), x.clone(), x.clone(), x.to(torch.uint8)]
    changed[0].lt_(n)
    changed[1].ge_(t)
    changed[2].gt_(f)
    changed[3].le_(t)
    return changed


def compared(x: Tensor, n: int, f: float, t: Tensor) -> tuple[list[Tensor], list[Tensor], list[Tensor]]:
    known = [x < -1, x >= -1, x > 1, x < 2, x == 2, x != 0, x < 0.5]
    numbers = [x < n, x <= n, n < x, x >= n, x == n, x < f, x >= f, x < t, t >= x, x < (n > 0), x + n]
    return known, numbers, changed_by_comparisons(x, n, f, t)


def test_compared_with_numbers() -> None:
    """An int is compared with them as an int, which may be negative."""
    numbers = [(1, 1.0), (0, 0.5), (-1, -0.5), (2, math.nan), (-(1 << 63), math.inf)]
    check(compared, *[(FALSE_TRUE, n, f, torch.tensor([n, 1])) for n, f in numbers], compiled=True)


def bytes_together(x: Tensor) -> list[Tensor]:
    return [x.all(), x.any(), x.all(0), x.any(1), x.all(dim=1, keepdim=True), x.any(dim=0, keepdim=True)]


def test_all_and_any_of_bytes_are_bytes() -> None:
    x = torch.tensor([[0, 255, 2], [0, 4, 0]], dtype=torch.uint8)
    check(bytes_together, *[(y,) for y in (x, x * 0, x + 1)], compiled=True)
    check(bytes_together, (x[:0],), compiled=False)
    check(bytes_together, (x[:, :0],), compiled=False)
