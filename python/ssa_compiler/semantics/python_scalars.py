"""What Python makes of TorchScript's ops on ints, floats, bools and strings: eager runs Python, and TorchScript differs
from it.

TorchScript's kernels return where Python raises (`math.exp(1000.0)`), compare ints with floats in double precision,
find text from -1 where Python counts from the end, and more. So an op whose operands are numbers or strings is computed
by the functions here wherever it is computed in Python: when constants are folded, in callbacks, and by the interpreter
of the tests. They go by full name, which other libraries' ops do not share. An int that does not fit 64 bits wraps
around.
"""

from __future__ import annotations

import builtins
import math
import operator
from collections.abc import Callable
from typing import Any

__all__ = ["MATH_POW", "PYTHON_OPS", "known_to_python", "python_op", "wrapped"]

MATH_POW = "math::pow"
"""`math.pow`, which TorchScript takes for `**`."""


def wrapped(value: Any) -> Any:
    """Return an int as its low 64 bits, anything else as it is."""
    if type(value) is int:
        return (value + 2**63) % 2**64 - 2**63
    return tuple(map(wrapped, value)) if isinstance(value, tuple) else value


def _pow(base: Any, exponent: Any) -> Any:
    """`base ** exponent`, where it is real."""
    if isinstance(base, int) and isinstance(exponent, int) and exponent > 63 and abs(base) > 1:
        raise OverflowError("int ** int does not fit into 64 bits")
    power = base**exponent
    if isinstance(power, complex):
        raise ValueError("a negative number to a fractional power is complex")
    if isinstance(power, int) and not -(2**63) <= power < 2**63:
        raise OverflowError("int ** int does not fit into 64 bits")
    return power


def _whole(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that makes an int of a number, within 64 bits: of a float there is no rest that could wrap around."""

    def whole(number: Any, *others: Any) -> int:
        found = function(number, *others)
        if isinstance(number, float) and not -(2**63) <= found < 2**63:
            raise OverflowError("float does not fit an int of 64 bits")
        return int(found)

    return whole


def _left_shift(number: int, count: int) -> int:
    return number << min(count, 64)


def _end(text: str, end: int) -> int:
    """Where a search ends: TorchScript says -1 where the program says nothing."""
    return len(text) + end + 1 if end < 0 else end


def _searching(method: Callable[..., Any]) -> Callable[..., Any]:
    def search(text: str, part: str, start: int = 0, end: int = -1) -> Any:
        return method(text, part, start, _end(text, end))

    return search


def _stripping(method: Callable[..., str]) -> Callable[..., str]:
    def strip(text: str, characters: str = " \n\t\f\v") -> str:
        return method(text) if characters == " \n\t\f\v" else method(text, characters)

    return strip


def _round_to_zero_floordiv(a: int, b: int) -> int:
    return -(-a // b) if (a < 0) != (b < 0) else a // b


def _derive_index(index: int, start: int, step: int) -> int:
    return start + index * step


def _range_length(low: int, high: int, step: int) -> int:
    """`len(range(low, high, step))`, which Python rejects from 2**63 on: it is a loop's that somebody leaves before."""
    numbers = range(low, high, step)
    return min((numbers[-1] - low) // step + 1, 2**63 - 1) if numbers else 0


def _format(template: str, *values: Any) -> str:
    return template.format(*values)


def _percent(template: str, *values: Any) -> str:
    return template % (values[0] if len(values) == 1 else values)


_MATH = (
    "acos acosh asin asinh atan atan2 atanh copysign cos cosh degrees erf erfc exp expm1 fabs factorial fmod frexp gamma "
    "gcd isfinite isinf isnan ldexp lgamma log log10 log1p log2 modf radians sin sinh sqrt tan tanh"
)
_STR = (
    "capitalize center expandtabs isalnum isalpha isdecimal isdigit isidentifier islower isnumeric isprintable isspace "
    "istitle isupper ljust lower partition replace rjust rpartition rsplit split splitlines swapcase title upper zfill"
)

PYTHON_OPS: dict[str, Callable[..., Any]] = {
    **{f"aten::{name}": getattr(math, name) for name in _MATH.split()},
    **{f"aten::{name}": getattr(str, name) for name in _STR.split()},
    **{
        f"aten::{name}": getattr(operator, name)
        for name in ("add", "sub", "mul", "neg", "eq", "ne", "lt", "le", "gt", "ge")
    },
    **{f"aten::{name}": getattr(operator, name) for name in ("__and__", "__or__", "__xor__", "__rshift__")},
    **{
        f"aten::{name}": getattr(builtins, name) for name in ("bin", "chr", "divmod", "hex", "len", "oct", "ord", "str")
    },
    **{
        f"aten::{name}": _searching(getattr(str, name))
        for name in ("count", "endswith", "find", "index", "rfind", "rindex")
    },
    "aten::startswith": _searching(str.startswith),
    **{f"aten::{name}": _stripping(getattr(str, name)) for name in ("strip", "lstrip", "rstrip")},
    "aten::Bool": bool,
    "aten::Float": float,
    "aten::Int": _whole(int),
    "aten::__derive_index": _derive_index,
    "aten::__getitem__": operator.getitem,
    "aten::__lshift__": _left_shift,
    "aten::__not__": operator.not_,
    "aten::__range_length": _range_length,
    "aten::__round_to_zero_floordiv": _round_to_zero_floordiv,
    "aten::ceil": _whole(math.ceil),
    "aten::div": operator.truediv,
    "aten::floor": _whole(math.floor),
    "aten::floordiv": operator.floordiv,
    "aten::format": _format,
    "aten::join": str.join,
    "aten::mathremainder": math.remainder,
    "aten::percentFormat": _percent,
    "aten::pow": _pow,
    "aten::remainder": operator.mod,
    "aten::round": _whole(round),
    "aten::slice": lambda text, start=None, end=None, step=1: text[start:end:step],
    "prim::StringIndex": operator.getitem,
    "prim::abs": abs,
    "prim::max": max,
    "prim::min": min,
    MATH_POW: math.pow,
}
"""Python's function for each op by its full name, given the op's operands."""

_SCALARS = (bool, int, float, str, type(None))
_OF_ANYTHING = frozenset({"aten::format", "aten::join", "aten::percentFormat", "aten::split", "aten::str"})


def known_to_python(name: str, values: Any) -> bool:
    """Whether `python_op` computes an op on these operands: all numbers or strings, or a list of strings to join."""
    if name not in PYTHON_OPS:
        return False
    return name in _OF_ANYTHING or all(isinstance(value, _SCALARS) for value in values)


def python_op(name: str, *values: Any) -> Any:
    """Compute an op as Python does.

    Args:
        name: its full name without overload, one of `PYTHON_OPS`.
        values: its operands.
    Raises:
        Exception: whatever Python raises.
    """
    return wrapped(PYTHON_OPS[name](*values))
