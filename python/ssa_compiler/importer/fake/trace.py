"""What running an op on FakeTensors showed: its outcome, and the base ops that it consists of."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

__all__ = ["Record", "Trace"]


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
