"""Whether two views of one storage meet only where they have the same element.

An elementwise op reads and writes element by element. If the element `q` of its source lies where element `p` of its
target lies, and `p` is not `q`, the result depends on the order in which the elements are visited, which eager does not
promise. Where sizes, strides and offsets are numbers the elements are compared one by one; else the equation of the two
addresses is solved from the largest stride down (the range of all smaller terms leaves one choice for the larger ones).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import sympy
import torch

from ..values.symbols import Symbols, expr_of
from ..values.values import TensorValue

__all__ = ["may_interfere", "provably_disjoint"]

_LARGEST = 1 << 24  # elements that are compared one by one
_INFINITE = sympy.oo


@dataclass
class _Term:
    """The terms of the equation that have one coefficient: their range, the dimensions and symbols in it."""

    low: Any = sympy.S.Zero
    high: Any = sympy.S.Zero
    target: list[int] = field(default_factory=list)
    source: list[int] = field(default_factory=list)
    symbols: int = 0

    def add(self, low: Any, high: Any) -> None:
        self.low, self.high = self.low + low, self.high + high


def _strides(target: TensorValue, source: TensorValue) -> list[tuple[Any, Any, Any]]:
    """Size, stride in the target, and stride in the source broadcast to it, for each dimension of the target."""
    sizes, strides = target.fake.shape, target.fake.stride()
    missing = len(sizes) - source.fake.dim()
    found = []
    for dim, (size, stride) in enumerate(zip(sizes, strides)):
        other: Any = 0
        if dim >= missing and expr_of(source.fake.shape[dim - missing]) != 1:
            other = source.fake.stride()[dim - missing]
        found.append((expr_of(size), expr_of(stride), expr_of(other)))
    return found


def provably_disjoint(symbols: Symbols, target: TensorValue, source: TensorValue) -> bool:
    """Whether no memory location is in the range of both tensors; their offsets count from the same place."""
    for first, second in ((target, source), (source, target)):
        end = (first.offset + _reach(first) + 1) * first.fake.element_size()
        gap = sympy.expand(second.offset * second.fake.element_size() - end)
        if _bounds(symbols, gap, (*target.within, *source.within))[0] >= 0:
            return True
    return False


def _reach(value: TensorValue) -> Any:
    sizes, strides = map(expr_of, value.fake.shape), map(expr_of, value.fake.stride())
    return sum((stride * (size - 1) for size, stride in zip(sizes, strides)), sympy.Integer(0))


def may_interfere(symbols: Symbols, target: TensorValue, source: TensorValue, copies: bool = False) -> bool:
    """Whether an element of the source may lie where another element of the target lies.

    Args:
        symbols: what is known about run-time integers.
        target: the tensor that is written.
        source: a tensor of a shape that broadcasts to the target's; its offset counts from the same place.
        copies: whether the op is a copy without conversion: what is copied onto itself does not change, so that it does
            not matter when others read it.
    Returns:
        False if that is surely not so: the tensors lie apart, or meet only in the same elements.
    """
    numbers = (*target.fake.shape, *target.fake.stride(), *source.fake.shape, *source.fake.stride())
    if any(expr_of(size) == 0 for size in (*target.fake.shape, *source.fake.shape)):
        return False
    if provably_disjoint(symbols, target, source):
        return False
    same_size = target.fake.element_size() == source.fake.element_size()
    if same_size and all(isinstance(n, int) for n in numbers):
        distance = sympy.expand(source.offset - target.offset)
        if distance.is_Integer:
            extent = max(int(_reach(target)), int(distance + _reach(source)), 0) - min(int(distance), 0) + 1
            if max(extent, target.fake.numel()) <= _LARGEST:
                return _interferes(target.fake, source.fake, int(distance), extent, copies)
    return _equation_interferes(symbols, target, source, copies)


def _interferes(target: torch.Tensor, source: torch.Tensor, distance: int, extent: int, copies: bool) -> bool:
    """Compare the elements one by one: the memory holds the number of the target's element that lies there."""
    low = max(-distance, 0)
    memory = torch.full((extent,), -1, dtype=torch.int32)
    numbers = torch.arange(target.numel(), dtype=torch.int32).reshape(target.shape)
    memory.as_strided(target.shape, target.stride(), low).copy_(numbers)
    found = memory.as_strided(source.shape, source.stride(), low + distance).expand(target.shape)
    elsewhere = (found != -1) & (found != numbers)
    if copies:
        changed = (found != numbers).flatten()
        return bool(changed[found[elsewhere].long()].any())
    return bool(elsewhere.any())


def _equation_interferes(symbols: Symbols, target: TensorValue, source: TensorValue, copies: bool) -> bool:
    """Solve `address of p in target == address of q in source` for what is known of p and q."""
    widths = (target.fake.element_size(), source.fake.element_size())
    unit = math.gcd(*widths)
    wide, wide_source = (width // unit for width in widths)
    facts = (*target.within, *source.within)
    distance = sympy.expand(target.offset * wide - source.offset * wide_source)
    terms: dict[int, _Term] = {}
    undetermined = set()
    for dim, (size, stride, other) in enumerate(_strides(target, source)):
        if size == 1:
            continue
        if other != 0 or not copies:
            # Positions along a broadcast dimension read one location: if it is written, it is copied onto itself.
            undetermined.add(dim)
        last = _bounds(symbols, size, facts)[1] - 1
        for number, sign, name in ((stride * wide, 1, "target"), (other * wide_source, -1, "source")):
            if not number.is_Integer:
                return True
            if number != 0:
                term = terms.setdefault(int(number), _Term())
                term.add(*((0, last) if sign > 0 else (-last, 0)))
                getattr(term, name).append(dim)
    if wide != wide_source:
        undetermined.add(-1)  # elements of different width are never the same
        term = terms.setdefault(1, _Term())
        term.add(-(wide_source - 1), wide - 1)
        term.symbols += 1
    constant = sympy.Integer(0)
    for part in sympy.Add.make_args(distance):
        coefficient, rest = part.as_coeff_Mul()
        if rest == 1 and part.is_Integer:
            constant += part
            continue
        if not coefficient.is_Integer:
            return True
        low, high = _bounds(symbols, rest, facts)
        term = terms.setdefault(abs(int(coefficient)), _Term())
        term.add(*((low, high) if coefficient > 0 else (-high, -low)))
        term.symbols += 1
    return _unsolved(terms, constant, undetermined)


def _unsolved(terms: dict[int, _Term], constant: Any, undetermined: set[int]) -> bool:
    """Whether `sum(coefficient * term) + constant == 0` has a solution in which a dimension has two positions."""
    order = sorted(terms, reverse=True)
    for position, stride in enumerate(order):
        rest_low = constant + sum((terms[s].low * s for s in order[position + 1 :]), sympy.Integer(0))
        rest_high = constant + sum((terms[s].high * s for s in order[position + 1 :]), sympy.Integer(0))
        if rest_low in (-_INFINITE, _INFINITE) or rest_high in (-_INFINITE, _INFINITE):
            return True
        first, last = sympy.ceiling(rest_low / stride), sympy.floor(rest_high / stride)
        if first > last:
            return False  # no solution: the tensors share no element
        if first != last:
            return True
        term = terms[stride]
        if not term.low <= -first <= term.high:
            return False
        if first == 0 and not term.symbols and len(term.target) == 1 and term.target == term.source:
            undetermined.discard(term.target[0])
        constant -= first * stride
    return constant == 0 and bool(undetermined)


def _bounds(symbols: Symbols, expr: Any, facts: tuple[tuple[Any, int, int], ...]) -> tuple[Any, Any]:
    """Bounds of an integer expression, from those of its symbols and from facts `low <= expression <= high`."""
    expr = sympy.expand(expr)
    if expr.is_Integer:
        return expr, expr
    best_low, best_high = _finite(symbols.bounds(expr))
    low, high = sympy.Integer(0), sympy.Integer(0)
    for part in sympy.Add.make_args(expr):
        coefficient, rest = part.as_coeff_Mul()
        if part.is_Integer:
            low, high = low + part, high + part
            continue
        part_low, part_high = _finite(symbols.bounds(rest))
        for known, least, most in facts:
            shift = sympy.expand(known - rest)
            if shift.is_Integer:
                part_low, part_high = max(part_low, least - shift), min(part_high, most - shift)
        ends = (coefficient * part_low, coefficient * part_high)
        low, high = low + min(ends), high + max(ends)
    return max(low, best_low), min(high, best_high)


def _finite(bounds: tuple[Any, Any]) -> tuple[Any, Any]:
    """Bounds with plain infinities for those at the end of the machine's integers."""
    low, high = bounds
    limit = 2**62
    return (low if -limit < low < limit else -_INFINITE, high if -limit < high < limit else _INFINITE)
