"""Ops on numbers, of the kernels that `_workgroup` runs."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from _workgroup_memory import DTYPES

__all__ = ["FLOAT", "INTEGER_PREDICATES", "SIGNED", "UNSIGNED", "compare_floats", "unsigned", "wrap"]


def wrap(value: Any, type_: str) -> Any:
    """A number of a type."""
    if type_ in ("f32", "f64"):
        return DTYPES[type_](value)
    bits = 64 if type_ == "index" else int(type_[1:])
    if bits == 1:
        return int(value) & 1
    value = int(value) & ((1 << bits) - 1)
    return value - (1 << bits) if value >> (bits - 1) else value


def unsigned(value: int, type_: str) -> int:
    bits = 64 if type_ == "index" else int(type_[1:])
    return value & ((1 << bits) - 1)


def _divide(a: int, b: int) -> int:
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


SIGNED: dict[str, Callable[[Any, Any], Any]] = {
    "addi": lambda a, b: a + b,
    "subi": lambda a, b: a - b,
    "muli": lambda a, b: a * b,
    "andi": lambda a, b: a & b,
    "ori": lambda a, b: a | b,
    "xori": lambda a, b: a ^ b,
    "divsi": _divide,
    "remsi": lambda a, b: a - b * _divide(a, b),
    "floordivsi": lambda a, b: a // b,
    "maxsi": max,
    "minsi": min,
    "shrsi": lambda a, b: a >> b,
    "shli": lambda a, b: a << b,
}
UNSIGNED: dict[str, Callable[[Any, Any], Any]] = {
    "divui": lambda a, b: a // b,
    "remui": lambda a, b: a % b,
    "maxui": max,
    "minui": min,
    "shrui": lambda a, b: a >> b,
}
FLOAT: dict[str, Callable[..., Any]] = {
    "addf": lambda a, b: a + b,
    "subf": lambda a, b: a - b,
    "mulf": lambda a, b: a * b,
    "divf": np.divide,
    "negf": lambda a: -a,
    "maximumf": np.maximum,
    "minimumf": np.minimum,
    "maxnumf": np.fmax,
    "minnumf": np.fmin,
    "exp": np.exp,
    "log": np.log,
    "log1p": np.log1p,
    "expm1": np.expm1,
    "sqrt": np.sqrt,
    "rsqrt": lambda a: type(a)(1) / np.sqrt(a),
    "tanh": np.tanh,
    "erf": lambda a: type(a)(math.erf(a)),
    "absf": np.abs,
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
    "roundeven": np.round,
    "copysign": np.copysign,
    "fma": lambda a, b, c: a * b + c,
}
INTEGER_PREDICATES: list[Callable[[int, int], bool]] = [
    lambda a, b: a == b, lambda a, b: a != b, lambda a, b: a < b, lambda a, b: a <= b,
    lambda a, b: a > b, lambda a, b: a >= b, lambda a, b: a < b, lambda a, b: a <= b,
    lambda a, b: a > b, lambda a, b: a >= b,
]  # fmt: skip


def compare_floats(predicate: int, a: Any, b: Any) -> bool:
    unordered = bool(np.isnan(a) or np.isnan(b))
    if predicate in (0, 15):
        return predicate == 15
    if predicate in (7, 14):
        return unordered == (predicate == 14)
    found = [a == b, a > b, a >= b, a < b, a <= b, a != b][(predicate - 1) % 7]
    return unordered or bool(found) if predicate > 7 else bool(found) and not unordered
