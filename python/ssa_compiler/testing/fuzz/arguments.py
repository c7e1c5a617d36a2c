"""The arguments of a random program: what its input sets are made of.

A program's file names its arguments by these functions, so that it is complete, and can be read and made smaller.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

__all__ = ["NUMBERS", "SHAPES", "alias", "extreme", "resized", "resolve", "tensor"]

# (n, k) of each input set: trip counts 0, 1, 2 and many, both parities, negative numbers.
NUMBERS = ((2, 1), (0, 0), (1, -3), (5, 4), (3, 2), (-1, 3))

# The sizes of `x` and of `y` in each input set of a program about sizes: even, odd, larger, 1, 0, 2, equal ones.
SHAPES = ((4, 6, 4), (5, 3, 7), (1, 1, 1), (0, 3, 0), (3, 0, 2), (2, 2, 2), (1, 4, 3), (7, 5, 12), (0, 0, 1), (6, 1, 5))


@dataclass(frozen=True)
class alias:
    """Stands for a view of another argument of the same set: `alias(0, 1)` is the second row of the first argument.

    Attributes:
        argument: which argument.
        row: which row of it; None for the same tensor again.
    """

    argument: int
    row: int | None = None


def tensor(dtype: str, shape: Sequence[int], seed: int) -> torch.Tensor:
    """A tensor of small numbers; floats are multiples of a quarter, so that sums and halves are exact.

    Args:
        dtype: name of a dtype, `float32`.
        shape: its sizes.
        seed: which one.
    Returns:
        A contiguous tensor.
    """
    generator = torch.Generator().manual_seed(seed)
    if dtype == "bool":
        return torch.randint(0, 2, tuple(shape), generator=generator).bool()
    if dtype == "int64":
        return torch.randint(-4, 5, tuple(shape), generator=generator)
    return (torch.randint(-16, 17, tuple(shape), generator=generator) / 4).to(getattr(torch, dtype))


def extreme(dtype: str, shape: Sequence[int], seed: int) -> torch.Tensor:
    """A tensor of small numbers, some of which are replaced by NaN, infinities and zeros of both signs.

    Args:
        dtype: name of a floating-point dtype.
        shape: its sizes.
        seed: which one.
    Returns:
        A contiguous tensor.
    """
    made = tensor(dtype, shape, seed).flatten()
    generator = torch.Generator().manual_seed(seed)
    values = torch.tensor([float("nan"), float("inf"), -float("inf"), -0.0, 0.0], dtype=made.dtype)
    places = torch.randperm(made.numel(), generator=generator)[: 1 + made.numel() // 3]
    made[places] = values[torch.randint(0, 5 if seed % 3 else 1, places.shape, generator=generator)]
    return made.reshape(tuple(shape))


def resolve(sets: Sequence[Sequence[Any]]) -> list[tuple[Any, ...]]:
    """Replace `alias` by the views they stand for.

    Args:
        sets: input sets as written in a program's file.
    Returns:
        The input sets.
    """
    found = []
    for values in sets:
        row: list[Any] = list(values)
        for place, value in enumerate(row):
            if isinstance(value, alias):
                base = row[value.argument]
                row[place] = base if value.row is None else base[value.row]
        found.append(tuple(row))
    return found


def resized(sets: Sequence[Sequence[Any]]) -> list[tuple[Any, ...]]:
    """Give each input set but the first other sizes: equal sizes stay equal, and one that was 0 or 1 stays.

    Args:
        sets: input sets; tensors that share memory with another one keep their sizes.
    Returns:
        The input sets.
    """
    found = [tuple(sets[0])] if sets else []
    for number, values in enumerate(sets[1:]):
        tensors = [value for value in values if isinstance(value, torch.Tensor)]
        if len({value.untyped_storage().data_ptr() for value in tensors}) == len(tensors):
            found.append(tuple(_resized(v, _CHANGES[number % len(_CHANGES)]) for v in values))
        else:
            found.append(tuple(values))
    return found


# How one more or less, none, one or twice as many elements come of a size.
_CHANGES = ((1, 1), (1, -1), (0, 1), (2, 0), (0, 0))


def _resized(value: Any, change: tuple[int, int]) -> Any:
    if not isinstance(value, torch.Tensor) or not value.numel():
        return value
    scale, more = change
    shape = [size if size < 2 else max(size * scale + more, 0) for size in value.shape]
    places = torch.arange(torch.Size(shape).numel()) % value.numel()
    return value.flatten()[places].reshape(shape)
