"""Scalar arithmetic of the interpreter: the `arith`, `math` and `index` dialects on Python ints, floats and bools.

Integers wrap at their width, `i1` is a Python bool, `index` has 64 bits. What MLIR leaves undefined (division by zero,
a shift past the width) is an error of the IR, because the compiler must have guarded it.
"""

from __future__ import annotations

import ctypes
import math
import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from ..semantics.python_scalars import PYTHON_OPS, wrapped
from ._ir import InterpreterError, Operation

__all__ = ["build"]

_LIBM = ctypes.CDLL("libm.so.6")
_WIDTHS = {"index": 64, "i1": 1, "i8": 8, "i16": 16, "i32": 32, "i64": 64}
_FLOATS: dict[str, Any] = {"f16": np.float16, "f32": np.float32, "f64": np.float64}


def _wrap(value: int, width: int) -> int | bool:
    """The signed value of the low `width` bits; a bool for one bit."""
    if width == 1:
        return bool(value & 1)
    value &= (1 << width) - 1
    return value - (1 << width) if value >> (width - 1) else value


def _truncating_division(a: int, b: int) -> int:
    return -(-a // b) if (a < 0) != (b < 0) else a // b


def _remainder(a: int, b: int) -> int:
    return a - b * _truncating_division(a, b)


# Operands are Python ints in the signed range; those marked unsigned get the operands' bit patterns instead.
_SIGNED: dict[str, Callable[[int, int], int]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "divs": _truncating_division,
    "rems": _remainder,
    "floordivs": operator.floordiv,
    "ceildivs": lambda a, b: -(-a // b),
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
    "shl": operator.lshift,
    "shrs": operator.rshift,
    "maxs": max,
    "mins": min,
}
_UNSIGNED: dict[str, Callable[[int, int], int]] = {
    "divu": operator.floordiv,
    "remu": operator.mod,
    "ceildivu": lambda a, b: -(-a // b),
    "shru": operator.rshift,
    "maxu": max,
    "minu": min,
}
_COMPARE = (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge)
_COMPARE_INT = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
_FLOAT_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "arith.addf": operator.add,
    "arith.subf": operator.sub,
    "arith.mulf": operator.mul,
    "arith.divf": operator.truediv,
    "arith.remf": np.fmod,
    "arith.maximumf": np.maximum,
    "arith.minimumf": np.minimum,
    "arith.maxnumf": np.fmax,
    "arith.minnumf": np.fmin,
    "math.copysign": np.copysign,
}
_FLOAT_UNARY: dict[str, Callable[[Any], Any]] = {
    "arith.negf": operator.neg,
    "math.absf": np.abs,
    "math.roundeven": np.rint,
    "math.ceil": np.ceil,
    "math.floor": np.floor,
    "math.trunc": np.trunc,
    "math.sqrt": np.sqrt,
    "math.rsqrt": lambda a: 1 / np.sqrt(a),
    "math.round": lambda a: np.copysign(np.floor(np.abs(a) + type(a)(0.5)), a),
}
# Functions of the C library, as programs call them; numpy has its own.
_LIBRARY = frozenset(
    f"math.{name}"
    for name in (
        "acos acosh asin asinh atan atan2 atanh cbrt cos cosh erf exp exp2 expm1 log log10 log1p log2 pow sin sinh tan tanh"
    ).split()
)


def _library(name: str) -> Callable[..., Any]:
    function = getattr(_LIBM, name.removeprefix("math.").removesuffix("f") if name == "math.powf" else name[5:])
    function.restype = ctypes.c_double
    return lambda *values: function(*map(ctypes.c_double, values))


def _width(op: Operation, *, result: bool) -> int:
    kind = (op.result_types if result else op.operand_types)[0].text
    if kind not in _WIDTHS:
        raise InterpreterError(f"unsupported: '{op.name}' on {kind}", location=op.location)
    return _WIDTHS[kind]


def _integer(op: Operation, stem: str) -> Callable[..., Any] | None:
    width = _width(op, result=True) if op.result_types else 0
    mask = (1 << width) - 1
    shifts = stem.startswith("sh")
    divides = "div" in stem or "rem" in stem

    def guard(b: int) -> None:
        if (divides and b == 0) or (shifts and not 0 <= b < width):
            raise InterpreterError(f"'{op.name}' is undefined for right operand {b}", location=op.location)

    if stem not in _SIGNED and stem not in _UNSIGNED:
        return None
    function = _SIGNED.get(stem) or _UNSIGNED[stem]
    unsigned = stem in _UNSIGNED

    def run(a: int, b: int) -> Any:
        guard(b)
        return _wrap(function(int(a) & mask, int(b) & mask) if unsigned else function(int(a), int(b)), width)

    return run


def _compare_int(op: Operation) -> Callable[..., Any]:
    attribute: Any = op.attributes.get("predicate", op.attributes.get("pred"))
    text = str(attribute)
    name = _COMPARE_INT[attribute.value] if hasattr(attribute, "value") else text[text.index("(") + 1 : -1]
    width = _width(op, result=False)
    function = _COMPARE[("eq", "ne", "lt", "le", "gt", "ge").index(name[-2:])]
    if name[0] == "u":
        mask = (1 << width) - 1
        return lambda a, b: function(int(a) & mask, int(b) & mask)
    if width == 1:  # the one bit of an i1 is its sign
        return lambda a, b: function(-int(a), -int(b))
    return lambda a, b: function(a, b)


def _compare_float(op: Operation) -> Callable[..., Any]:
    number = int(op.attributes["predicate"].value)
    # The enumeration lists the ordered predicates first, then the unordered ones, each in the same order.
    order = ("false", "eq", "gt", "ge", "lt", "le", "ne", "ordered")
    chosen = order[number] if number < 8 else ("eq", "gt", "ge", "lt", "le", "ne", "unordered", "true")[number - 8]
    relations = {"eq": "=", "gt": ">", "ge": ">=", "lt": "<", "le": "<=", "ne": "<>", "true": "<=>", "false": ""}
    allowed = {"ordered": "<=>", "unordered": ""}.get(chosen, relations.get(chosen, ""))

    def compare(a: float, b: float) -> bool:
        if a != a or b != b:
            return number >= 8
        return ("=" if a == b else "<" if a < b else ">") in allowed

    return compare


def _float(kind: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Compute in the precision of `kind`, as IEEE does: nothing raises."""
    number = _FLOATS[kind]

    def run(*values: float) -> float:
        with np.errstate(all="ignore"):
            return float(function(*[number(value) for value in values]))

    return run


def _float_to_int(width: int) -> Callable[..., Any]:
    def convert(value: float) -> Any:
        if value != value or abs(value) >= 2.0**width:
            return _wrap(1 << (width - 1), width)  # as x86-64 converts what does not fit
        return _wrap(int(value), width)

    return convert


def _conversion(op: Operation) -> Callable[..., Any] | None:
    stem = op.name.partition(".")[2]
    if stem in ("index_cast", "casts", "trunci", "extsi"):
        width = _width(op, result=True)
        if _width(op, result=False) == 1:  # the bit is the sign
            return lambda a: _wrap(-int(a), width)
        return lambda a: _wrap(int(a), width)
    if stem in ("index_castui", "castu", "extui", "uitofp"):
        mask = (1 << _width(op, result=False)) - 1
        if stem == "uitofp":
            return lambda a: _float(op.result_types[0].text, lambda b: b)(int(a) & mask)
        width = _width(op, result=True)
        return lambda a: _wrap(int(a) & mask, width)
    if stem in ("sitofp", "extf", "truncf"):
        sign = -1 if op.operand_types[0].text == "i1" else 1
        return lambda a: _float(op.result_types[0].text, lambda b: b)(sign * a)
    if stem in ("fptosi", "fptoui"):
        return _float_to_int(_width(op, result=True))
    return None


def _python(op: Operation) -> Callable[..., Any] | None:
    """Python's own function for an op of the torch dialect on numbers; TorchScript's differ."""
    name = op.attributes["name"].value if op.name == "torch.operator" else op.name
    namespace, _, rest = name.removeprefix("torch.").partition(".")
    full = f"{namespace}::{rest.partition('.')[0]}"
    kinds = {"!torch.int": int, "!torch.float": float, "!torch.bool": bool}
    if full not in PYTHON_OPS or any(type_.text not in kinds for type_ in (*op.operand_types, *op.result_types)):
        return None
    results = [kinds[type_.text] for type_ in op.result_types]

    def call(*values: Any) -> Any:
        found = PYTHON_OPS[full](*values)
        if len(results) != 1:
            return tuple(wrapped(kind(value)) for kind, value in zip(results, found, strict=True))
        return wrapped(results[0](found))

    return call


def _bitcast(op: Operation) -> Callable[..., Any]:
    """A number with the bits of another, between i16, i32, i64 and f16, f32, f64."""
    types = (op.operand_types[0].text, op.result_types[0].text)
    known = {"i16": "int16", "i32": "int32", "i64": "int64", "f16": "float16", "f32": "float32", "f64": "float64"}
    if any(text not in known for text in types):
        raise InterpreterError(f"unsupported: 'arith.bitcast' from {types[0]} to {types[1]}", location=op.location)
    source, result = (np.dtype(known[text]) for text in types)
    convert = float if result.kind == "f" else int
    return lambda value: convert(np.array(value, dtype=source).view(result)[()])


def build(op: Operation) -> Callable[..., Any] | None:
    """Prepare an operation of `arith`, `math` or `index` on scalars.

    Args:
        op: the operation.
    Returns:
        A function from operand values to the one result value; None if the operation is not known.
    Raises:
        InterpreterError: the operation is known, its operand types are not.
    """
    if python := _python(op):
        return python
    if op.name == "arith.bitcast":
        return _bitcast(op)
    dialect, _, stem = op.name.partition(".")
    if dialect not in ("arith", "math", "index"):
        return None
    if stem in ("constant", "bool.constant"):
        value = op.attributes["value"].value
        return lambda: value
    if stem == "select":
        return lambda condition, a, b: a if condition else b
    if op.name in ("arith.cmpi", "index.cmp"):
        return _compare_int(op)
    if op.name == "arith.cmpf":
        return _compare_float(op)
    if op.name in _LIBRARY or op.name == "math.powf":
        return _float(op.result_types[0].text, _library(op.name))
    if function := _FLOAT_BINARY.get(op.name) or _FLOAT_UNARY.get(op.name):
        return _float(op.result_types[0].text, function)
    if op.name in ("math.absi", "math.ipowi"):
        return _integer_power(op) if stem == "ipowi" else lambda a: _wrap(abs(a), _width(op, result=True))
    if op.name == "math.fma":
        return _fused
    if op.name == "math.fpowi":
        return _float(op.result_types[0].text, np.power)
    if conversion := _conversion(op):
        return conversion
    return _integer(op, stem.removesuffix("i"))  # `arith.divsi` is `index.divs`


def _fused(a: float, b: float, c: float) -> float:
    """`a * b + c`, rounded once."""
    if not all(map(math.isfinite, (a, b, c))):
        return a * b + c
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    return float(exact) if exact else a * b + c


def _integer_power(op: Operation) -> Callable[..., Any]:
    width = _width(op, result=True)

    def power(base: int, exponent: int) -> Any:
        if exponent >= 0:
            return _wrap(pow(base, exponent, 1 << width), width)
        if base == 0:
            raise InterpreterError("'math.ipowi' of 0 to a negative power", location=op.location)
        return _wrap(base ** (exponent % 2 + 2), width) if base in (1, -1) else 0

    return power
