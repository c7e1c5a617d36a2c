"""Numbers for what is dynamic, to try an op with.

A valuation gives each symbol a number within its bounds. Some make all symbols alike, as sizes often have to be; the
others draw them, with a fixed seed.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import sympy
import torch
from torch.utils._pytree import tree_leaves, tree_map

from ..values.state import State
from ..values.symbols import expr_of

__all__ = ["Valuation", "symbols_of", "valuations", "valued"]

Valuation = dict[sympy.Symbol, Any]

_ALIKE = (3, 2, 4, 5, 1, 0, 7, -1, 16, 40)
_DRAWN = 8
_SPREAD = 12
"""How far above its least value an int is drawn."""
_FAR = 1000
"""A bound beyond it is none here."""
_FLOATS = (0.5, 1.0, 0.0, -1.0, 2.5, 0.125, 7.0, 40.0, -3.25, 1e3)
"""What floats are drawn from, one for each number of `_ALIKE`."""
_SYMBOLIC = (torch.SymInt, torch.SymFloat, torch.SymBool)


def _numbers(args: Sequence[Any]) -> list[Any]:
    leaves = tree_leaves(list(args))
    return leaves + [n for t in leaves if isinstance(t, torch.Tensor) for n in (*t.shape, *t.stride())]


def symbols_of(args: Sequence[Any]) -> dict[sympy.Symbol, type]:
    """Return the symbols among arguments, sizes and strides included, with the type of the number each stands for."""
    found: dict[sympy.Symbol, type] = {}
    for number in _numbers(args):
        if isinstance(number, _SYMBOLIC):
            expr = number.node.expr
            kinds = {torch.SymFloat: float, torch.SymBool: bool}
            for symbol in expr.free_symbols:
                found.setdefault(symbol, kinds.get(type(number), int) if expr == symbol else int)
    return found


def valuations(state: State, symbols: dict[sympy.Symbol, type]) -> list[Valuation]:
    """Return numbers to try, for each of the symbols; one empty valuation if there are none."""
    if not symbols:
        return [{}]
    drawn = random.Random(0)
    ranges = {symbol: _range(state, symbol, kind) for symbol, kind in symbols.items()}

    def integer(symbol: sympy.Symbol, number: int) -> Any:
        low, high = ranges[symbol]
        return sympy.Integer(min(max(number, low), high))

    found: list[Valuation] = []
    for number in (*_ALIKE, *[None] * _DRAWN):
        valuation: Valuation = {}
        for symbol, kind in symbols.items():
            if kind is bool:
                valuation[symbol] = sympy.sympify(bool(drawn.getrandbits(1)))
            elif kind is float:
                valuation[symbol] = sympy.Float(_FLOATS[len(found)] if number is not None else drawn.choice(_FLOATS))
            else:
                valuation[symbol] = integer(symbol, drawn.randint(*ranges[symbol]) if number is None else number)
        found.append(valuation)
    hints = state.sizes.hints
    if hints.keys() & symbols.keys():
        found.insert(0, {symbol: hints.get(symbol, number) for symbol, number in found[0].items()})
    return found


def _range(state: State, symbol: sympy.Symbol, kind: type) -> tuple[int, int]:
    """The numbers that an int is drawn from, inclusive."""
    if kind is not int:
        return 0, 1
    least, most = state.symbols.bounds(symbol)
    low = int(least) if least > -_FAR else -2
    return low, int(most) if most < _FAR else max(low, 0) + _SPREAD


def valued(args: Sequence[Any], valuation: Valuation) -> list[Any] | None:
    """Return arguments with numbers for symbols; tensors are of the device `meta`. None if a size is negative then."""

    def number(value: Any) -> Any:
        if not isinstance(value, _SYMBOLIC):
            return value
        found = expr_of(value).xreplace(valuation)
        if isinstance(value, torch.SymFloat):
            return float(found)
        return bool(found) if isinstance(value, torch.SymBool) else int(found)

    def leaf(value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return number(value)
        shape, strides = [number(n) for n in value.shape], [number(n) for n in value.stride()]
        if min(shape, default=0) < 0:
            raise ValueError("negative size")
        return torch.empty_strided(shape, strides, dtype=value.dtype, device="meta")

    try:
        return list(tree_map(leaf, list(args)))
    except (TypeError, ValueError, ZeroDivisionError):
        return None
