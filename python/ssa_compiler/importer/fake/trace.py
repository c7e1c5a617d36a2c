"""What running an op on FakeTensors showed: its outcome, and the base ops that it consists of."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

__all__ = ["Record", "Trace", "has_negative_size"]


@dataclass
class Record:
    """One base op that ran: its OpOverload, arguments in schema order, and outcome."""

    op: Any
    args: list[Any]
    out: Any


@dataclass
class Trace:
    """What running an op showed.

    Attributes:
        out: its outcome: FakeTensor, list or tuple of them, a symbol, or a Python value.
        records: the base ops it consists of.
        guesses: symbolic conditions that were guessed.
        requirements: symbolic conditions that have to hold.
        stands_in: whether a constant stood for a float that is dynamic, and may be in the records.
        decomposed: whether ops that IREE cannot compile were decomposed.
    """

    out: Any
    records: list[Record]
    guesses: list[Any] = field(default_factory=list)
    requirements: list[Any] = field(default_factory=list)
    stands_in: bool = False
    decomposed: bool = False


def has_negative_size(out: Any) -> bool:
    """Whether an outcome is known to have a negative size, which FakeTensors let pass (`x.unfold(0, -1, 1)`)."""
    sizes = [size for leaf in tree_leaves(out) if isinstance(leaf, torch.Tensor) for size in leaf.shape]
    return any(type(size) is int and size < 0 for size in sizes)
