"""What is known about the numbers in integer tensors: enough to see that an index made by argsort is in range.

A fact belongs to the place that makes a tensor (its storage). It is an interval, or "what these other storages hold".
Facts only grow while a loop body is imported again, and what was concluded from them is checked once more at the end, when
every write is known: `Ranges.failed` names the conclusions that do not hold, and the import starts again without them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from .values import EARLIER, Site, TensorValue

__all__ = ["Ranges"]

Interval = tuple[int, int]
"""The lowest and the highest number, inclusive."""

_COPIES = {
    "aten::clone", "aten::contiguous", "aten::_to_copy", "aten::index", "aten::index_select", "aten::gather", "aten::take",
    "aten::repeat", "aten::flip", "aten::roll", "aten::cat", "aten::stack", "aten::sort", "aten::topk", "aten::amax",
    "aten::amin", "aten::max", "aten::min", "aten::maximum", "aten::minimum", "aten::median",
}  # fmt: skip
"""Ops whose (first) result holds numbers of their tensor operands only. Operands that are indices make the interval too
wide at worst; an op that takes numbers to put in has no place here."""

_POSITIONS = {"aten::argmax", "aten::argmin", "aten::argsort", "aten::multinomial"}
"""Ops whose result holds positions along a dimension."""

_NUMBERED = {"aten::sort", "aten::topk", "aten::max", "aten::min", "aten::median", "aten::kthvalue", "aten::mode",
             "aten::cummax", "aten::cummin", "aten::nanmedian"}  # fmt: skip
"""Ops whose second result holds positions along a dimension."""


def _made_at(storage: Site) -> Site:
    return storage[2] if storage[0] == EARLIER else storage


def _named(op: Any, args: Sequence[Any]) -> dict[str, Any]:
    return {argument.name: value for argument, value in zip(op._schema.arguments, args)}


def _number(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _positions(op: Any, args: Sequence[Any]) -> Interval | None:
    """The positions along the dimension that the op works on."""
    named = _named(op, args)
    tensor = args[0]
    dim = named.get("dim", -1)
    if op._schema.name == "aten::multinomial":
        dim = -1
    size = tensor.numel() if dim is None else tensor.shape[dim] if tensor.dim() else 1
    return (0, max(int(size) - 1, 0)) if isinstance(size, int) else None


def _made(op: Any, args: Sequence[Any]) -> Interval | None:
    """The interval of a tensor that an op makes from numbers."""
    name, named = op._schema.name.removeprefix("aten::"), _named(op, args)
    if name in ("zeros", "zeros_like", "new_zeros"):
        return 0, 0
    if name in ("ones", "ones_like", "new_ones"):
        return 1, 1
    if name in ("full", "full_like", "new_full"):
        value = _number(named["fill_value"])
        return None if value is None else (value, value)
    if name in ("arange", "randint"):
        low, high = _number(named.get("start", named.get("low", 0))), _number(named.get("end", named.get("high")))
        if low is not None and high is not None and (_number(named.get("step", 1)) or 0) > 0:
            return low, max(low, high - 1)
    if name == "randperm":
        count = _number(named["n"])
        return None if count is None else (0, max(count - 1, 0))
    if name == "clamp":
        low, high = _number(named["min"]), _number(named["max"])
        return (min(low, high), high) if low is not None and high is not None else None
    if name == "remainder":
        divisor = _number(named["other"])
        return (0, divisor - 1) if divisor is not None and divisor > 0 else None
    return None


class Ranges:
    """Facts by storage, and the conclusions drawn from them."""

    def __init__(self) -> None:
        self._facts: dict[Site, set[Interval | frozenset[Site] | None]] = {}
        self._used: list[tuple[Any, frozenset[Site], Interval]] = []

    def note(self, op: Any, python: Sequence[Any], sources: Sequence[TensorValue], results: Sequence[Any]) -> None:
        """Note what an op says about its results.

        Args:
            op: an OpOverload that makes new tensors.
            python: its arguments, FakeTensors for tensors.
            sources: its tensor arguments.
            results: its results.
        """
        name = op._schema.name
        for position, result in enumerate(results):
            if not isinstance(result, TensorValue) or result.fake.dtype not in (torch.int64, torch.int32):
                continue
            fact: Interval | frozenset[Site] | None = None
            if (position == 1 and name in _NUMBERED) or (position == 0 and name in _POSITIONS):
                fact = _positions(op, python)
            elif position == 0 and name in _COPIES and sources:
                fact = frozenset(site for source in sources for site in source.storages)
            elif position == 0:
                fact = _made(op, python)
            self.add(result, fact)

    def add(self, value: TensorValue, fact: Interval | frozenset[Site] | None) -> None:
        """Add what a fresh tensor may hold; None for anything."""
        for site in value.storages:
            self._facts.setdefault(_made_at(site), set()).add(fact)

    def conclude(self, key: Any, value: TensorValue, wanted: Interval, written: set[Site]) -> bool:
        """Whether all numbers of a tensor are in an interval, as far as is known now.

        Args:
            key: where this is concluded.
            value: the tensor.
            wanted: the interval.
            written: the storages that were written so far.
        """
        if not self._holds(value.storages, wanted, written):
            return False
        self._used.append((key, value.storages, wanted))
        return True

    def failed(self, written: set[Site]) -> set[Any]:
        """Return the keys of conclusions that do not hold once the whole program is known."""
        return {key for key, storages, wanted in self._used if not self._holds(storages, wanted, written)}

    def _holds(self, storages: frozenset[Site], wanted: Interval, written: set[Site]) -> bool:
        seen: set[Site] = set()
        waiting = [_made_at(storage) for storage in storages]
        while waiting:
            site = waiting.pop()
            if site in seen:
                continue
            seen.add(site)
            if site in written or site not in self._facts:
                return False
            for fact in self._facts[site]:
                if fact is None:
                    return False
                if isinstance(fact, frozenset):
                    waiting += [_made_at(storage) for storage in fact]
                elif not (wanted[0] <= fact[0] and fact[1] <= wanted[1]):
                    return False
        return True
