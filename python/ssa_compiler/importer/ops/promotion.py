"""What operands are before an op computes with them, where torch-mlir computes in another dtype than eager.

Numbers may not fit the dtype of the tensors they are given to: `x == 300` with x of uint8, `x.masked_fill(m, -1e9)` of
float16. Eager takes some modulo the dtype's, rejects others, and computes with the rest in another dtype. Which of
these an op does is asked of the op: it runs on a small tensor, with a number that does not fit.
"""

from __future__ import annotations

import math
import re
from contextlib import suppress
from functools import cache
from typing import Any

import sympy
import torch

from ..fake.concrete_run import try_op
from ..fake.dtype_probe import SIZES, Described, describe, mixed_dtypes, rejects, run_example
from ..tensors.index_checks import divides_integers, is_checked
from ..tensors.scalar_ops import ScalarOps
from ..tensors.tensor_ops import TensorOps
from ..values.diagnostics import ProgramRaises
from ..values.symbols import expr_of
from ..values.values import ConstValue, ScalarValue, TensorValue, Value

__all__ = ["check_number", "check_written", "promote", "with_eagers_dtypes"]

NARROW = (torch.uint8, torch.int8, torch.int16, torch.int32)
"""Integer dtypes that do not hold all numbers of 64 bits."""
_OVERFLOW = re.compile(r"value cannot be converted to type (?:c10::complex<)?([\w:]+)>? without overflow")
_OUTSIDE = re.compile(r"(value) \S+( is outside the representable range)")
_C_TYPES = {
    "uint8_t": torch.uint8,
    "int8_t": torch.int8,
    "int16_t": torch.int16,
    "short": torch.int16,
    "int": torch.int32,
    "int32_t": torch.int32,
    "int64_t": torch.int64,
    "c10::Half": torch.float16,
    "c10::BFloat16": torch.bfloat16,
    "float": torch.float32,
}
"""Dtypes by what eager calls them where a number does not fit."""


def promote(tensors: TensorOps, scalars: ScalarOps, op: Any, arguments: list[Value]) -> list[Value]:
    """Return an op's operands as it takes them.

    Args:
        tensors: emits ops on tensors.
        scalars: emits ops on numbers.
        op: the OpOverload.
        arguments: one value per schema argument.
    Raises:
        ProgramRaises: the op rejects a dtype or a number; a dynamic scalar is checked then.
    """
    if not tensors.state.in_library:
        if message := rejects(op, [tensors.argument(value) for value in arguments]):
            raise ProgramRaises(message)
    fitted = _fitted(tensors, scalars, op, arguments)
    _check_divisor(tensors, scalars, op, fitted)
    return fitted


def with_eagers_dtypes(tensors: TensorOps, op: Any, arguments: list[Value], results: list[Value]) -> list[Value]:
    """Return an op's results in the dtypes that eager gives them: FakeTensors promote where `huber_loss` does not.

    Args:
        tensors: emits ops on tensors.
        op: the OpOverload.
        arguments: one value per schema argument.
        results: its results.
    """
    if tensors.state.in_library or op._schema.is_mutable or op.is_view:
        return results
    wanted = mixed_dtypes(op, [tensors.argument(value) for value in arguments])
    if len(wanted) != len(results):
        return results
    converted = list(results)
    for number, (result, dtype) in enumerate(zip(results, wanted)):
        if isinstance(result, TensorValue) and dtype is not None and result.fake.dtype != dtype:
            operands = [result, ConstValue(dtype), ConstValue(False), ConstValue(False), ConstValue(None)]
            converted[number] = tensors.call(torch.ops.aten.to.dtype, operands)[0]
    return converted


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


def _fitted(tensors: TensorOps, scalars: ScalarOps, op: Any, arguments: list[Value]) -> list[Value]:
    fitted = list(arguments)
    places = [
        number
        for number, (spec, value) in enumerate(zip(op._schema.arguments, arguments))
        if _takes_number(spec) and scalars.are_numbers([value]) and not _suits_all(scalars, value)
    ]
    if not places:
        return arguments
    dtypes = [value.fake.dtype for value in arguments if isinstance(value, TensorValue)]
    dtype = next((dtype for dtype in dtypes if dtype is not torch.bool), None)  # bools are masks
    for number in places:
        value = arguments[number]
        kind = scalars.kind(value)
        if _is_float(op._schema.arguments[number]):
            kind = float
        if kind is int and dtype in NARROW and not _holds(dtype, value):
            if _wraps(op, number, dtype, describe([*arguments[:number], ConstValue(None), *arguments[number + 1 :]])):
                fitted[number] = _wrapped(scalars, value, dtype)
                continue
            others = [None if n in places else one for n, one in enumerate(describe(arguments))]
            if found := _rejected_side(op, number, dtype, tuple(others)):
                fitted[number] = _bounded(scalars, value, dtype, *found)
                continue
        check_written(tensors, scalars, op, arguments, number)
    return fitted


def _takes_number(spec: Any) -> bool:
    """Whether an operand may be a number that is converted to a dtype: also one in the place of a tensor."""
    return "number" in str(spec.type) or _is_float(spec) or str(spec.type) == "Tensor"


def _is_float(spec: Any) -> bool:
    """Whether an operand is a float whatever is given: that is converted, too, where it is stored (`pad`)."""
    return str(spec.type) in ("float", "Optional[float]")


def _suits_all(scalars: ScalarOps, value: Value) -> bool:
    """Whether a number is a bool, or known to be one that all dtypes hold."""
    return scalars.kind(value) is bool or (isinstance(value, ConstValue) and 0 <= value.value <= 127)


def _holds(dtype: torch.dtype, value: Value) -> bool:
    low, high = _bounds(dtype)
    return isinstance(value, ConstValue) and low <= value.value <= high


def check_written(tensors: TensorOps, scalars: ScalarOps, op: Any, arguments: list[Value], number: int) -> None:
    """Make the program raise if an op converts a number to a dtype that does not hold it, and rejects it.

    Args:
        tensors: opens lists of numbers.
        scalars: emits the check.
        op: an OpOverload.
        arguments: one value per schema argument.
        number: which of them is the number.
    Raises:
        ProgramRaises: the number is known.
    """
    value = arguments[number]
    if _is_float(op._schema.arguments[number]):
        value = scalars.converted(value, float)
    kind = scalars.kind(value)
    others = [tensors.argument(value) if n != number else ConstValue(None) for n, value in enumerate(arguments)]
    rejected = _rejected(op, number, kind, describe(others))
    if rejected is None:
        return
    dtype, message = rejected
    check_number(scalars, value, dtype, message, _unread(tensors, scalars, op, arguments))


def _unread(tensors: TensorOps, scalars: ScalarOps, op: Any, arguments: list[Value]) -> Value | None:
    """A bool that says whether an op does not look at its number, since it is stored nowhere; None if it does."""
    named = {spec.name: value for spec, value in zip(op._schema.arguments, arguments)}
    indices = named.get("index")
    if isinstance(indices, TensorValue):  # `scatter`
        return scalars.emit("eq", [tensors.symbolic(expr_of(indices.fake.numel())), ConstValue(0)])
    amounts = tensors.argument(named["pad"]) if "pad" in named else []
    if not any(isinstance(amount, ScalarValue) for amount in amounts):
        return None  # eager was asked with these amounts
    unread: Value = ConstValue(True)
    for amount in amounts:
        unread = scalars.both(unread, scalars.emit("le", [amount, ConstValue(0)]))
    return unread


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


def _bounded(scalars: ScalarOps, value: Value, dtype: torch.dtype, above: bool, message: str) -> Value:
    """What an int is that an op rejects on one side of its dtype's range; beyond the other it stands for the bound."""
    low, high = (ConstValue(int(bound)) for bound in _bounds(dtype))
    limit, other = (high, low) if above else (low, high)
    scalars.require(scalars.emit("le" if above else "ge", [value, limit]), message)
    if isinstance(value, ConstValue):
        return ConstValue((max if above else min)(value.value, other.value))
    return scalars.emit("max" if above else "min", [value, other])


def check_number(
    scalars: ScalarOps, value: Value, dtype: torch.dtype, message: str, unless: Value | None = None
) -> None:
    """Make the program raise `message` for a number that a dtype does not hold.

    Args:
        scalars: emits the check.
        value: an int, a float or a bool.
        dtype: a dtype of integers or floating-point numbers.
        message: "ExceptionName: text".
        unless: a bool that says whether nobody looks at the number.
    Raises:
        ProgramRaises: the number is known.
    """
    kind = scalars.kind(value)
    low, high = _bounds(dtype)
    if kind is int and dtype in NARROW and low == 0:
        low = -high  # to eager a negative number stands for the unsigned one with its bits
    if kind is float and not dtype.is_floating_point:
        high = _largest_float(dtype)
    if kind is bool or (kind is int and (high >= 2**63 or dtype is torch.int64)):
        return  # each dtype holds 0 and 1, and ints of 64 bits are all there are
    finite = dtype.is_floating_point  # it also holds infinities and NaN
    if isinstance(value, ConstValue):
        holds: Value = ConstValue(low <= value.value <= high or (finite and not math.isfinite(value.value)))
    else:
        limits = [ConstValue(kind(low)), ConstValue(kind(high))]
        holds = scalars.both(scalars.emit("ge", [value, limits[0]]), scalars.emit("le", [value, limits[1]]))
        if kind is float and finite:
            holds = scalars.either(holds, scalars.negated(scalars.classified("isfinite", value)))
    scalars.require(holds if unless is None else scalars.either(holds, unless), message)


@cache
def _wraps(op: Any, number: int, dtype: torch.dtype, described: Described) -> bool:
    """Whether an op takes an int modulo what the dtype holds."""
    low, high = _bounds(dtype)
    try:
        inside, *outside = [
            run_example(op, described, {number: int(sign * (high - low + 1)) + 1}) for sign in (0, 1, -1)
        ]
    except Exception:  # it rejects such a number, or the example does not suit the op
        return False
    return all(_same(result, inside) for result in outside)


@cache
def _rejected(op: Any, number: int, kind: type, described: Described) -> tuple[torch.dtype, str] | None:
    """The dtype that an op converts a number to if it rejects one that is too large for it, and what it raises then."""
    for size in SIZES:
        try:
            run_example(op, described, {number: 1e300 if kind is float else 2**63 - 1}, size)
        except RuntimeError as error:
            text = str(error).splitlines()[0] if str(error) else ""
            found = _OVERFLOW.search(text)
            if found:
                return (_C_TYPES[found[1]], f"RuntimeError: {text}") if found[1] in _C_TYPES else None
        except Exception:  # the example does not suit the op: it is taken as it is
            return None
        else:
            return None
    return None


@cache
def _rejected_side(op: Any, number: int, dtype: torch.dtype, described: Described) -> tuple[bool, str] | None:
    """On which side of what its dtype holds an op rejects an int, True for above, and what it raises then.

    None if it rejects both or none, or takes those of the other side for anything else than the bound.
    """
    bounds = [int(bound) for bound in _bounds(dtype)]
    raised, alike = [], []
    for bound, beyond in zip(bounds, ((bounds[0] - 1, -(2**63)), (bounds[1] + 1, 2**63 - 1))):
        try:
            inside, *outside = [run_example(op, described, {number: each}) for each in (bound, *beyond)]
        except RuntimeError as error:
            text, is_number = _OUTSIDE.subn(r"\1\2", str(error).partition("\n")[0])
            raised.append(f"RuntimeError: {text}" if is_number else "")
            alike.append(False)
        except Exception:  # the example does not suit the op
            return None
        else:
            raised.append("")
            alike.append(all(_same(result, inside) for result in outside))
    for above in (False, True):
        if raised[above] and alike[not above]:
            return above, raised[above]
    return None


@cache
def _largest_float(dtype: torch.dtype) -> float:
    """The largest float that eager converts to a dtype of integers: the largest integer, or what is rounded to it."""
    largest = torch.iinfo(dtype).max
    for number in sorted((float(largest), math.nextafter(float(largest + 1), 0.0)), reverse=True):
        with suppress(RuntimeError):
            try_op(torch.ops.aten.full.default, [[1], number], {"dtype": dtype})
            return number
    return float(largest)


def _same(one: Any, other: Any) -> bool:
    pairs = zip(one, other) if isinstance(one, (list, tuple)) else [(one, other)]
    return all(isinstance(a, torch.Tensor) and a.dtype == b.dtype and torch.equal(a, b) for a, b in pairs)
