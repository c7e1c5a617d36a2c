"""What operands are before an op computes with them, where torch-mlir computes in another dtype than eager.

Numbers may not fit the dtype of the tensors they are given to: `x == 300` with x of uint8, `x.masked_fill(m, -1e9)` of float16.
Eager takes some modulo the dtype's, refuses others, and computes with the rest in another dtype. Which of these an op does
is asked of the op: it runs on a small tensor, with a number that does not fit.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import sympy
import torch

from .aten import TensorOps
from .examples import Described, describe, refuses, run_example
from .index_checks import divides_integers, is_checked
from .scalars import ScalarOps
from .state import ProgramRaises
from .symbols import expr_of
from .values import ConstValue, ScalarValue, TensorValue, Value

__all__ = ["NARROW", "check_number", "promote"]

NARROW = (torch.uint8, torch.int8, torch.int16, torch.int32)
"""Integer dtypes that do not hold all numbers of 64 bits."""
_FLOATS = (torch.float16, torch.bfloat16, torch.float32)


def promote(tensors: TensorOps, scalars: ScalarOps, op: Any, arguments: list[Value]) -> list[Value]:
    """Return an op's operands as it takes them.

    Args:
        tensors: emits ops on tensors.
        scalars: emits ops on numbers.
        op: the OpOverload.
        arguments: one value per schema argument.
    Raises:
        ProgramRaises: the op refuses a dtype or a number; a number known only at run time is checked then.
    """
    if not tensors.state.in_library and (message := refuses(op, describe(arguments))):
        raise ProgramRaises(message)
    fitted = _fitted(scalars, op, arguments)
    _check_divisor(tensors, scalars, op, fitted)
    return fitted


def _check_divisor(tensors: TensorOps, scalars: ScalarOps, op: Any, arguments: list[Value]) -> None:
    """Make the program raise where integers are divided by a number that is 0; `index_checks` does it for tensors."""
    named = {spec.name: value for spec, value in zip(op._schema.arguments, arguments)}
    dividend, divisor = named.get("self"), named.get("other")
    if not isinstance(dividend, TensorValue) or not isinstance(divisor, (ConstValue, ScalarValue)):
        return
    if is_checked(op) and divides_integers(op, {name: tensors.python(value) for name, value in named.items()}):
        elements = expr_of(dividend.fake.numel())
        if isinstance(divisor, ScalarValue) and divisor.kind is int and not elements.is_Integer:
            condition = sympy.Or(sympy.Eq(elements, 0), sympy.Ne(expr_of(divisor.sym), 0))
            tensors.state.check(condition, "RuntimeError: ZeroDivisionError")
        elif elements != 0:
            scalars.check_nonzero(divisor, "RuntimeError: ZeroDivisionError")


def _fitted(scalars: ScalarOps, op: Any, arguments: list[Value]) -> list[Value]:
    dtypes = [value.fake.dtype for value in arguments if isinstance(value, TensorValue)]
    dtype = next((dtype for dtype in dtypes if dtype is not torch.bool), None)  # bools are masks
    if dtype not in NARROW and dtype not in _FLOATS:
        return arguments
    fitted = list(arguments)
    for number, (spec, value) in enumerate(zip(op._schema.arguments, arguments)):
        if "number" not in str(spec.type) or not isinstance(value, (ConstValue, ScalarValue)):
            continue
        kind = scalars.kind(value)
        if kind is not int and (kind is not float or dtype in NARROW):
            continue
        low, high = _bounds(dtype)
        if isinstance(value, ConstValue) and (low <= value.value <= high or not math.isfinite(value.value)):
            continue
        wraps, refusal = _asked(op, number, kind, dtype, describe(arguments))
        if wraps and dtype in NARROW:
            fitted[number] = _wrapped(scalars, value, dtype)
        elif refusal:
            check_number(scalars, value, dtype, refusal)
    return fitted


def _bounds(dtype: torch.dtype) -> tuple[float, float]:
    """The least and the largest number that a dtype holds."""
    limits = torch.finfo(dtype) if dtype.is_floating_point else torch.iinfo(dtype)
    return limits.min, limits.max


def _wrapped(scalars: ScalarOps, value: Value, dtype: torch.dtype) -> Value:
    limits = torch.iinfo(dtype)
    count, half = 1 << limits.bits, -int(limits.min)
    if isinstance(value, ConstValue):
        return ConstValue((value.value + half) % count - half)
    rest = scalars.emit("remainder", [value, ConstValue(count)])
    if not half:
        return rest
    # In two steps: what is added to any number of 64 bits may not be one.
    rest = scalars.emit("remainder", [scalars.emit("add", [rest, ConstValue(half)]), ConstValue(count)])
    return scalars.emit("sub", [rest, ConstValue(half)])


def check_number(scalars: ScalarOps, value: Value, dtype: torch.dtype, message: str) -> None:
    """Make the program raise `message` for a number that a dtype of at most 32 bits does not hold.

    Raises:
        ProgramRaises: the number is known.
    """
    low, high = _bounds(dtype)
    if dtype in NARROW and low == 0:
        low = -high  # to eager a negative number stands for the unsigned one with its bits
    if isinstance(value, ConstValue):
        if not low <= value.value <= high:
            raise ProgramRaises(message)
        return
    kind = scalars.kind(value)
    if kind is float or high < 2**63:
        scalars.require_between(value, ConstValue(kind(low)), ConstValue(kind(high)), message)


@cache
def _asked(op: Any, number: int, kind: type, dtype: torch.dtype, described: Described) -> tuple[bool, str]:
    """Whether an op takes an operand modulo what the dtype holds, and what it raises if it refuses one that is too large."""

    def run(given: float) -> Any:
        return run_example(op, described, {number: given})

    low, high = _bounds(dtype)
    if dtype in _FLOATS:
        outside: list[Any] = [int(high) * 2 if kind is int else high * 2.0]
        if kind is int and outside[0] >= 2**63:
            return False, ""
    else:
        outside = [int(sign * (high - low + 1)) + 1 for sign in (1, -1)]
    try:
        inside = run(kind(1))
    except Exception:  # the example does not suit the op: it is taken as it is
        return False, ""
    wraps = True
    for given in outside:
        try:
            wraps = wraps and _same(run(given), inside)
        except RuntimeError as error:
            text = str(error).splitlines()[0]
            return False, f"RuntimeError: {text}" if "overflow" in text else ""
    return wraps, ""


def _same(one: Any, other: Any) -> bool:
    pairs = zip(one, other) if isinstance(one, (list, tuple)) else [(one, other)]
    return all(isinstance(a, torch.Tensor) and a.dtype == b.dtype and torch.equal(a, b) for a, b in pairs)
