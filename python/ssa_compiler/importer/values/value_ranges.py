"""What is known about the numbers in integer tensors: enough to see that an index made by argsort or nonzero is in
range.

A fact belongs to the place that makes a tensor (its storage). It is an interval, an interval for each column, or "what
these other storages hold". Bounds may be symbolic: positions along a dimension of dynamic size n are in [0, n - 1]. The
symbol may mean another number in the next iteration of a loop, so such a bound counts for tensors of the same iteration
only. Facts only grow while a loop body is imported again, and what was concluded from them is checked once more at the
end of each import of a body, and at the end of the program, when every write is known: the body, or the program, is
imported again without the conclusions that do not hold.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sympy
import torch

from .symbols import expr_of
from .values import EARLIER, Site, TensorValue

__all__ = ["Ranges"]

Interval = tuple[Any, Any]
"""The lowest and the highest number, inclusive: ints, or symbolic expressions."""

_COPIES = {
    "aten::clone", "aten::contiguous", "aten::_to_copy", "aten::index", "aten::index_select", "aten::gather", "aten::take",
    "aten::repeat", "aten::flip", "aten::roll", "aten::cat", "aten::stack", "aten::sort", "aten::topk", "aten::amax",
    "aten::amin", "aten::max", "aten::min", "aten::maximum", "aten::minimum",
}  # fmt: skip
"""Ops whose (first) result holds numbers of their tensor operands only. Operands that are indices make the interval too
wide at worst; an op that takes numbers to put in has no place here, nor has `median`, which makes one up where there is
none."""

_SELECTIONS = {"aten::index", "aten::index_select", "aten::gather", "aten::take"}
"""Those of them whose further operands are indices, and not in the result."""

_POSITIONS = {"aten::argmax", "aten::argmin", "aten::argsort", "aten::multinomial"}
"""Ops whose result holds positions along a dimension."""

_NUMBERED = {"aten::sort", "aten::topk", "aten::max", "aten::min", "aten::median", "aten::kthvalue", "aten::mode",
             "aten::cummax", "aten::cummin", "aten::nanmedian"}  # fmt: skip
"""Ops whose second result holds positions along a dimension."""


_AS_IT_IS = {"aten::clone", "aten::contiguous", "aten::_to_copy"}
_MOST_COLUMNS = 8
"""That are told apart: a place has as many numbers as a tensor has dimensions."""


def _made_at(storage: Site) -> Site:
    return storage[2] if storage[0] == EARLIER else storage


def _named(op: Any, args: Sequence[Any]) -> dict[str, Any]:
    return {argument.name: value for argument, value in zip(op._schema.arguments, args)}


def _number(value: Any) -> Any:
    """An int, or the expression of a symbolic one; None for anything else."""
    if isinstance(value, torch.SymInt):
        return expr_of(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _below(size: Any) -> Interval:
    """The positions along a dimension; a tensor of positions along none has no elements."""
    size = _number(size)
    return 0, max(size - 1, 0) if isinstance(size, int) else size - 1


@dataclass(frozen=True)
class _Columns:
    """What the columns of a matrix hold."""

    intervals: tuple[Interval, ...]


@dataclass(frozen=True)
class _Copy:
    """What other storages hold.

    Attributes:
        storages: where the numbers come from.
        column: the column there that they all come from; None if that is not known.
        by_columns: whether each column comes from that column there.
    """

    storages: frozenset[Site]
    column: int | None = None
    by_columns: bool = False


def _column(value: TensorValue, owners: Mapping[Any, TensorValue]) -> int | None:
    """Which column of a matrix a vector is, or lies in; None if it is none."""
    owner = owners.get(value.root)
    if owner is None or owner.fake.dim() != 2 or value.fake.dim() != 1 or owner.storages != value.storages:
        return None
    if expr_of(value.fake.stride(0)) != expr_of(owner.fake.stride(0)) or not _ends_there(owner, value):
        return None
    return _column_at(owner, value)


def _ends_there(owner: TensorValue, value: TensorValue) -> bool:
    """Whether a view with a matrix's step from row to row does not go on in the next column:
    `places.t().reshape(-1)`.
    """
    rows = tuple(expr_of(tensor.fake.shape[0]) for tensor in (owner, value))
    return rows[0] == rows[1] or expr_of(owner.fake.stride(0)) == expr_of(owner.fake.shape[1])


def _column_at(owner: TensorValue, value: TensorValue) -> int | None:
    """Which column of a matrix a view begins in."""
    (rows, columns), width = map(expr_of, owner.fake.stride()), owner.fake.shape[1]
    offset = sympy.expand(expr_of(value.offset) - expr_of(owner.offset))
    if type(width) is not int or width > _MOST_COLUMNS:
        return None
    begin, rest = offset.as_coeff_Add()
    if (rows, columns) == (width, 1) and all(term.as_coeff_Mul()[0] % width == 0 for term in rest.as_ordered_terms()):
        return int(begin) % width  # so many whole rows lie before it
    return next((number for number in range(width) if sympy.expand(offset - number * columns) == 0), None)


def _has_all_columns(value: TensorValue, owners: Mapping[Any, TensorValue]) -> bool:
    """Whether a matrix consists of rows of the one that its storage was made with."""
    owner = owners.get(value.root)
    if owner is None or value.fake.dim() != 2 or owner.fake.dim() != 2 or owner.storages != value.storages:
        return False
    looks = [(tuple(map(expr_of, v.fake.stride())), expr_of(v.fake.shape[1])) for v in (owner, value)]
    return bool(looks[0] == looks[1]) and _ends_there(owner, value) and _column_at(owner, value) == 0


def _takes_rows(op: Any, python: Sequence[Any]) -> bool:
    """Whether an op copies rows of a matrix as they are."""
    name = op._schema.name
    if name == "aten::index":
        return python[1][0] is not None and all(index is None for index in python[1][1:]) and python[1][0].dim() == 1
    return name in _AS_IT_IS or (name == "aten::index_select" and python[1] == 0)


def _positions(op: Any, args: Sequence[Any]) -> Interval | None:
    """The positions along the dimension that the op works on."""
    named = _named(op, args)
    tensor = args[0]
    dim = named.get("dim", -1)
    if op._schema.name == "aten::multinomial":
        dim = -1
    return _below(tensor.numel() if dim is None else tensor.shape[dim] if tensor.dim() else 1)


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
        step = named.get("step", 1)
        if low is not None and high is not None and type(step) is int and step > 0:
            return low, max(low, high - 1) if isinstance(high, int) and isinstance(low, int) else high - 1
    if name == "randperm":
        return _below(named["n"])
    if name == "clamp":
        low, high = _number(named["min"]), _number(named["max"])
        return (min(low, high), high) if isinstance(low, int) and isinstance(high, int) else None
    if name == "remainder":
        divisor = _number(named["other"])
        return (0, divisor - 1) if isinstance(divisor, int) and divisor > 0 else None
    return None


Fact = Interval | _Columns | _Copy | None


class Ranges:
    """Facts by storage, and the conclusions drawn from them.

    Args:
        known: tells whether a relation of symbols surely holds; None if that is not known.
    """

    def __init__(self, known: Callable[[Any], bool | None]) -> None:
        self._known = known
        self._facts: dict[Site, set[Fact]] = {}
        self._used: list[tuple[Any, frozenset[Site], int | None, Interval]] = []

    def note(
        self,
        op: Any,
        python: Sequence[Any],
        sources: Sequence[TensorValue],
        results: Sequence[Any],
        owners: Mapping[Any, TensorValue],
    ) -> None:
        """Note what an op says about its results.

        Args:
            op: an OpOverload that makes new tensors.
            python: its arguments, FakeTensors for tensors.
            sources: its tensor arguments.
            results: its results.
            owners: the tensor that a storage was made with, by root.
        """
        name = op._schema.name
        for position, result in enumerate(results):
            if not isinstance(result, TensorValue) or result.fake.dtype not in (torch.int64, torch.int32):
                continue
            fact: Fact = None
            if (position == 1 and name in _NUMBERED) or (position == 0 and name in _POSITIONS):
                fact = _positions(op, python)
            elif name == "aten::nonzero":
                fact = _Columns(tuple(map(_below, python[0].shape)))
            elif name == "torchvision::nms":
                fact = _below(python[0].shape[0])
            elif position == 0 and name in _COPIES and sources:
                fact = _copied(op, python, sources[:1] if name in _SELECTIONS else sources, owners)
            elif position == 0:
                fact = _made(op, python)
            self.add(result, fact)

    def add(self, value: TensorValue, fact: Fact) -> None:
        """Add what a fresh tensor may hold; None for anything."""
        for site in value.storages:
            self._facts.setdefault(_made_at(site), set()).add(fact)

    def conclude(
        self, key: Any, value: TensorValue, wanted: Interval, written: set[Site], owners: Mapping[Any, TensorValue]
    ) -> bool:
        """Whether all numbers of a tensor are in an interval, as far as is known now.

        Args:
            key: where this is concluded.
            value: the tensor.
            wanted: the interval.
            written: the storages that were written so far.
            owners: the tensor that a storage was made with, by root.
        """
        column = _column(value, owners)
        if not self._holds(value.storages, column, wanted, written):
            return False
        self._used.append((key, value.storages, column, wanted))
        return True

    def failed(self, written: set[Site]) -> set[Any]:
        """Return the keys of conclusions that do not hold once the whole program is known."""
        return {
            key for key, storages, column, wanted in self._used if not self._holds(storages, column, wanted, written)
        }

    def withdraw(self, written: set[Site], place: Site) -> set[Any]:
        """Forget the conclusions of a part of the program that do not hold by now, and return their keys.

        Facts only grow, so they will not hold at the end of the program either.

        Args:
            written: the storages that were written so far.
            place: the part; the last entry of each key is a place.
        """
        inside = [entry for entry in self._used if entry[0][-1][: len(place)] == place]
        wrong = {key for key, storages, column, wanted in inside if not self._holds(storages, column, wanted, written)}
        self._used = [entry for entry in self._used if entry[0] not in wrong]
        return wrong

    def _holds(self, storages: frozenset[Site], column: int | None, wanted: Interval, written: set[Site]) -> bool:
        seen = set()
        waiting = [(storage, column, False) for storage in storages]
        while waiting:
            storage, column, earlier = waiting.pop()
            earlier = earlier or storage[0] == EARLIER
            site = _made_at(storage)
            if (site, column, earlier) in seen:
                continue
            seen.add((site, column, earlier))
            if site in written or site not in self._facts:
                return False
            for fact in self._facts[site]:
                if fact is None:
                    return False
                if isinstance(fact, _Copy):
                    from_column = column if fact.by_columns else fact.column
                    waiting += [(other, from_column, earlier) for other in fact.storages]
                    continue
                intervals = fact.intervals if isinstance(fact, _Columns) else (fact,)
                if isinstance(fact, _Columns) and column is not None:
                    intervals = (fact.intervals[column],)
                if not all(self._within(interval, wanted, earlier) for interval in intervals):
                    return False
        return True

    def _within(self, found: Interval, wanted: Interval, earlier: bool) -> bool:
        if earlier and not all(isinstance(bound, int) for bound in found):
            return False
        return self._at_most(wanted[0], found[0]) and self._at_most(found[1], wanted[1])

    def _at_most(self, one: Any, other: Any) -> bool:
        if isinstance(one, int) and isinstance(other, int):
            return one <= other
        difference = sympy.expand(other - one)
        return bool(difference.is_nonnegative) or self._known(sympy.Ge(difference, 0)) is True


def _copied(op: Any, python: Sequence[Any], sources: Sequence[TensorValue], owners: Mapping[Any, TensorValue]) -> _Copy:
    """What an op copies from its sources."""
    storages = frozenset(site for source in sources for site in source.storages)
    if len(sources) > 1:
        return _Copy(storages)
    by_columns = _takes_rows(op, python) and _has_all_columns(sources[0], owners)
    return _Copy(storages, _column(sources[0], owners), by_columns)
