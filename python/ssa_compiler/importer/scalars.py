"""Importing scalar ops: folded where everything is known, otherwise emitted as torch's scalar ops.

An int result is also computed on symbols, so that sizes that depend on it are known as expressions.
"""

from __future__ import annotations

import builtins
import math
import operator
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import sympy
import torch

from .state import ProgramRaises, State, Unjoinable
from .symbols import expr_of
from .texts import made_text
from .values import NONE, ConstValue, RuntimeStr, ScalarValue, TensorValue, Value, is_const

__all__ = ["ScalarOps"]

_SYMBOLIC: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "neg": operator.neg,
    "floordiv": operator.floordiv,
    "remainder": operator.mod,
    "min": torch.sym_min,
    "max": torch.sym_max,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
    "eq": operator.eq,
    "ne": operator.ne,
}
_COMPARISONS = {"lt", "le", "gt", "ge", "eq", "ne"}
_ARITHMETIC = {"add", "sub", "mul", "floordiv", "remainder", "min", "max", "pow"}
_TO_FLOAT = {"div", "sqrt", "exp", "log", "log2", "log10", "sin", "cos", "tan", "tanh", "fabs"}
_CLASSES = {"isnan", "isinf", "isfinite"}
_DIVISIONS = {"floordiv", "remainder", "div"}


class ScalarOps:
    """Emits ops on ints, floats, bools and strings."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.emitter = state.emitter

    def ssa(self, value: Value, kind: type) -> Any:
        """Return the SSA value of a scalar, converted to `kind`."""
        if isinstance(value, ConstValue):
            return self.emitter.constant(kind(value.value))
        assert isinstance(value, ScalarValue)
        return self.converted(value, kind).ssa if value.kind is not kind else value.ssa

    def converted(self, value: Value, kind: type) -> Any:
        """Return a scalar as an int, float or bool, as Python's `int(x)`, `float(x)`, `bool(x)`."""
        if isinstance(value, ConstValue):
            return ConstValue(_whole(value.value) if kind is int else kind(value.value))
        assert isinstance(value, ScalarValue)
        if value.kind is kind:
            return value
        if kind is bool:
            zero = ConstValue(value.kind(0))
            return self.emit("ne", [value, zero])
        if kind is float:
            source = value if value.kind is int else self.converted(value, int)
            name = "aten.Float.Scalar"
        else:
            source, name = value, "aten.Int.bool" if value.kind is bool else "aten.Int.float"
            self._check_whole(value)
        if isinstance(source, ConstValue):
            return ConstValue(kind(source.value))
        ssa = self.emitter.scalar_op(name, kind, [source.ssa])
        return self.state.opaque_scalar(kind, ssa, (name, expr_of(source.sym)))

    def kind(self, value: Value) -> type:
        """Return int, float, bool, str or NoneType."""
        return value.kind if isinstance(value, ScalarValue) else type(value.value)  # type: ignore[attr-defined]

    def call(self, op: Any, schema: Any, arguments: Sequence[Value]) -> Value:
        """Import one scalar op.

        Args:
            op: its OpOverload, None if torch.ops has none.
            schema: its schema.
            arguments: constants and scalars.
        Raises:
            UnsupportedOpError: no scalar op of torch-mlir does this.
        """
        if schema.name == "aten::warn":
            # Warnings tell about the program, not about its data; eager gives each once.
            warnings.warn(str(getattr(arguments[0], "value", None) or getattr(arguments[0], "text", "")), stacklevel=2)
            return NONE
        if is_const(*arguments):
            folded = self.fold(op, schema, [argument.value for argument in arguments])  # type: ignore[attr-defined]
            structural = any(argument.structural for argument in arguments)  # type: ignore[attr-defined]
            return ConstValue(folded.value, structural)
        if any(isinstance(a, RuntimeStr) or self.kind(a) is str for a in arguments):
            return self.text(schema, arguments)
        name = schema.name.partition("::")[2]
        return self.emit(name, list(arguments), schema)

    def fold(self, op: Any, schema: Any, values: list[Any]) -> ConstValue:
        """Compute an op on constants; what it raises, the program raises."""
        name = schema.name.partition("::")[2]
        try:
            if name in ("Int", "ceil", "floor", "round") and isinstance(values[0], float):
                _whole(values[0])
            if name in ("pow", "round") and all(isinstance(value, (int, float)) for value in values):
                return ConstValue(getattr(builtins, name)(*values))  # TorchScript makes these floats
            if name == "format":
                return ConstValue(values[0].format(*values[1:]))
            if name == "percentFormat":
                return ConstValue(values[0] % tuple(values[1:]))
            if op is not None:
                return ConstValue(op(*values))
            folded = getattr(operator, name, None)
            if folded is None:
                raise self.state.refuse_op(schema.name)
            return ConstValue(folded(*values))
        except (IndexError, ValueError, TypeError, ZeroDivisionError, OverflowError) as error:
            raise ProgramRaises(f"{type(error).__name__}: {error}") from error
        except RuntimeError as error:
            text = str(error).splitlines()[0]
            name = "ZeroDivisionError" if "by zero" in text else "RuntimeError"
            raise ProgramRaises(f"{name}: {text}") from error

    def text(self, schema: Any, arguments: Sequence[Value]) -> Value:
        """A string op with something unknown in it: good for messages only."""
        name = schema.name.partition("::")[2]
        if (made := made_text(name, arguments)) is not None:
            return made
        if name in ("format", "percentFormat", "join"):
            return RuntimeStr("?")
        raise Unjoinable(self.state.refuse_op(f"{schema.name} on a string that depends on run-time values"))

    def emit(self, name: str, arguments: list[Any], schema: Any = None) -> Value:
        """Emit the op `name` (without overload) on scalars of whatever kinds."""
        kinds = [self.kind(argument) for argument in arguments]
        if not all(kind in (int, float, bool) for kind in kinds):
            raise self.state.refuse_op(f"aten::{name} on {', '.join(kind.__name__ for kind in kinds)}")
        if name in ("Int", "Float", "Bool"):
            return self.converted(arguments[0], {"Int": int, "Float": float, "Bool": bool}[name])
        if name in ("__and__", "__or__", "__xor__", "__not__") and set(kinds) == {bool}:
            return self._logic(name, arguments)
        if name in _COMPARISONS and set(kinds) == {bool} and name in ("eq", "ne"):
            return self._equal_bools(name, arguments)
        if name == "pow" and kinds[0] in (int, bool):
            return self._integer_power(*arguments)
        if name in ("__lshift__", "__rshift__") and isinstance(arguments[1], ConstValue):
            return self._shifted(name, *arguments)
        widest: type = float if float in kinds else int
        if name in _TO_FLOAT:
            widest = float
        if name in ("ceil", "floor", "round", "trunc") and widest is int:
            return arguments[0]
        if name in _CLASSES:
            return self._class(name, arguments[0])
        arguments = [self.converted(argument, widest) for argument in arguments]
        if name == "round" and not is_const(*arguments):
            self._check_whole(arguments[0])
            # Python's round() is an int, TorchScript's a float.
            rounded = self._make("aten.round.float", float, [self.ssa(arguments[0], float)], schema)
            key = ("round", expr_of(arguments[0].sym))
            return self.converted(self.state.opaque_scalar(float, rounded, key), int)
        if name == "mul" and isinstance(arguments[0], ConstValue) and arguments[0].value == 1:
            return arguments[1]
        if is_const(*arguments):
            return ConstValue(_python(name)(*(a.value for a in arguments)))
        if name == "remainder" and widest is float and isinstance(arguments[1], ConstValue) and arguments[1].value == 1:
            # IREE's VM takes `x % 1.0` for 0, as if x were an integer.
            remainder = self.emit(name, [arguments[0], ConstValue(2.0)])
            return self.emit("sub", [remainder, self.converted(remainder, int)])
        if name in _DIVISIONS:
            self._check_divisor(name, arguments[1], widest)
        if name == "pow":
            self._check_power(arguments[0], arguments[1], whole=kinds[1] is not float)
        operands = [self.ssa(argument, widest) for argument in arguments]
        result = bool if name in _COMPARISONS else widest
        if name in ("ceil", "floor") and widest is float:
            result = int
            self._check_whole(arguments[0])
        overload = _overload(name, widest, len(arguments))
        ssa = self._make(overload, result, operands, schema)
        if widest is int and name in _SYMBOLIC:
            symbols = [argument.sym if isinstance(argument, ScalarValue) else argument.value for argument in arguments]
            with self.state.symbols.transaction():
                return self.state.scalar(result, ssa, _SYMBOLIC[name](*symbols))
        key = (overload, *(expr_of(a.sym) if isinstance(a, ScalarValue) else a.value for a in arguments))
        return self.state.opaque_scalar(result, ssa, key)

    def _make(self, overload: str, result: type, operands: list[Any], schema: Any) -> Any:
        if self.emitter.registered(f"torch.{overload}"):
            return self.emitter.scalar_op(overload, result, operands)
        found = torch._C._jit_get_schemas_for_operator(overload.replace(".", "::", 1).rpartition(".")[0])
        candidate = next((c for c in found if c.overload_name == overload.rpartition(".")[2]), None)
        if candidate is not None:
            to = [self.emitter.scalar_type(result)]
            return self.emitter.memoised(
                (overload, *operands), lambda: self.emitter.torch_op(candidate, to, operands).results[0]
            )
        raise self.state.refuse_op(f"{schema.name if schema is not None else overload} on run-time scalars")

    def _integer_power(self, base: Any, exponent: Any) -> Value:
        """An int to a power: an int, unless the exponent is negative or a float; TorchScript always makes it a float."""
        if self.kind(exponent) is float:
            return self.emit("pow", [self.converted(base, float), exponent])
        if not isinstance(exponent, ConstValue):
            return self._run_time_power(base, exponent)
        if exponent.value < 0:
            return self.emit("pow", [self.converted(base, float), ConstValue(float(exponent.value))])
        result: Value = ConstValue(1)
        for _ in range(exponent.value):
            result = self.emit("mul", [result, base])
        return result

    def _run_time_power(self, base: Any, exponent: Any) -> Value:
        """An int to a power known at run time: an int, so that the exponent must not be negative.

        Squared and multiplied, bit by bit. Six bits are enough: only of -1, 0 and 1 are higher powers 64-bit numbers.
        """
        zero, one, two, most = (ConstValue(number) for number in (0, 1, 2, 63))
        rising = self.emit("ge", [exponent, zero])
        message = (
            "ValueError: int ** int with a negative exponent known only at run time is a float in Python: use a float"
        )
        self._assert(rising, message)
        small = self._logic("__and__", [self.emit("ge", [base, ConstValue(-1)]), self.emit("le", [base, one])])
        fits = self._either(small, self.emit("le", [exponent, most]))
        self._assert(fits, "OverflowError: int ** int does not fit into 64 bits")
        # 62 and 63 are as even and as odd as what they stand for.
        parity = self.emit("remainder", [exponent, two])
        exponent = self.emit("min", [exponent, self.emit("add", [ConstValue(62), parity])])
        result: Value = one
        for _ in range(6):
            bit = self.emit("remainder", [exponent, two])
            factor = self.emit("add", [one, self.emit("mul", [bit, self.emit("sub", [base, one])])])
            result = self.emit("mul", [result, factor])
            base, exponent = self.emit("mul", [base, base]), self.emit("floordiv", [exponent, two])
        return result

    def _shifted(self, name: str, value: Any, count: Any) -> Value:
        """`value << count` or `value >> count` with a known count: products, floor divisions."""
        if count.value < 0:
            raise ProgramRaises("ValueError: negative shift count")
        step = "mul" if name == "__lshift__" else "floordiv"
        left = min(count.value, 64)
        while left:  # 2**63 is no int of 64 bits
            value = self.emit(step, [value, ConstValue(2 ** min(left, 62))])
            left -= min(left, 62)
        return value

    def _check_whole(self, value: Any) -> None:
        """Raise what Python raises for a float that is no number when it is made an int."""
        if not isinstance(value, ScalarValue) or value.kind is not float:
            return

        def check() -> bool:
            self._assert(self.emit("eq", [value, value]), "ValueError: cannot convert float NaN to integer")
            finite = self._logic("__not__", [self._class("isinf", value)])
            self._assert(finite, "OverflowError: cannot convert float infinity to integer")
            return True

        self.emitter.memoised(("whole", value.ssa), check)

    def _either(self, *conditions: Any) -> Any:
        return self._logic("__or__", list(conditions))

    def _assert(self, condition: Any, message: str) -> None:
        """Make the program raise `message` unless a condition holds."""
        if isinstance(condition, ConstValue):
            if not condition.value:
                raise ProgramRaises(message)
            return
        self.emitter.assertion(condition.ssa, message)

    def require_between(self, value: Any, low: Value, high: Value, message: str) -> None:
        """Make the program raise `message` for a finite number below `low` or above `high`, of the number's kind."""
        inside = self._logic("__and__", [self.emit("ge", [value, low]), self.emit("le", [value, high])])
        if self.kind(value) is float:
            inside = self._either(inside, self._logic("__not__", [self._class("isfinite", value)]))
        self._assert(inside, message)

    def _class(self, name: str, value: Any) -> Value:
        """`math.isnan` and alike, by comparisons."""
        if self.kind(value) is not float:
            return ConstValue(name == "isfinite")
        if name == "isnan":
            return self.emit("ne", [value, value])
        infinite = self._either(*(self.emit("eq", [value, ConstValue(sign * math.inf)]) for sign in (1, -1)))
        if name == "isinf":
            return infinite
        return self._logic("__not__", [self._either(infinite, self.emit("ne", [value, value]))])

    def _logic(self, name: str, arguments: list[Any]) -> Value:
        if name == "__not__":
            (argument,) = arguments
            expr = sympy.Not(expr_of(argument.sym))
            return self._boolean(self.emitter.scalar_op("aten.__not__", bool, [argument.ssa]), expr)
        constants = [argument.value for argument in arguments if isinstance(argument, ConstValue)]
        dynamic = [argument for argument in arguments if isinstance(argument, ScalarValue)]
        if name == "__xor__":
            return self.emit("ne", arguments)
        absorbing = name == "__or__"
        if absorbing in constants:
            return ConstValue(absorbing)
        if len(dynamic) < 2:
            return dynamic[0] if dynamic else ConstValue(not absorbing)
        connective = sympy.Or if name == "__or__" else sympy.And
        expr = connective(*(expr_of(argument.sym) for argument in dynamic))
        return self._boolean(self.emitter.scalar_op(f"aten.{name}.bool", bool, [a.ssa for a in dynamic]), expr)

    def _equal_bools(self, name: str, arguments: list[Any]) -> Value:
        constants = [argument for argument in arguments if isinstance(argument, ConstValue)]
        dynamic = [argument for argument in arguments if isinstance(argument, ScalarValue)]
        if constants:
            if constants[0].value == (name == "eq"):
                return dynamic[0]
            return self._logic("__not__", dynamic)
        ssa = self.emitter.scalar_op(f"aten.{name}.bool", bool, [a.ssa for a in dynamic])
        return self.state.opaque_scalar(bool, ssa, (name, *(expr_of(a.sym) for a in dynamic)))

    def _boolean(self, ssa: Any, expr: Any) -> Value:
        if expr is sympy.true or expr is sympy.false:
            return ConstValue(bool(expr))
        sym = self.state.symbols.env.create_symboolnode(expr)
        return self.state.scalar(bool, ssa, sym)

    def _check_divisor(self, name: str, divisor: Any, widest: type) -> None:
        message = "ZeroDivisionError: " + (
            "division by zero"
            if name == "div"
            else f"{'float' if widest is float else 'integer'} {'division or modulo' if name == 'floordiv' else 'modulo'} by zero"
        )
        self.check_nonzero(divisor, message)

    def _check_power(self, base: Any, exponent: Any, whole: bool) -> None:
        """Raise where Python's float power does, and where its result is complex.

        Args:
            base: a float.
            exponent: a float.
            whole: whether the exponent was an int.
        """
        zero, one = ConstValue(0.0), ConstValue(1.0)
        rising, nonzero = self.emit("ge", [exponent, zero]), self.emit("ne", [base, zero])
        integral = ConstValue(True) if whole else self.emit("eq", [self.emit("remainder", [exponent, one]), zero])
        for first, second, message in (
            (nonzero, rising, "ZeroDivisionError: 0.0 cannot be raised to a negative power"),
            (self.emit("ge", [base, zero]), integral, "ValueError: a negative number to a fractional power is complex"),
        ):
            known = [value.value for value in (first, second) if isinstance(value, ConstValue)]
            if True in known:
                continue
            if len(known) == 2:
                raise ProgramRaises(message)
            holds = self._logic("__or__", [first, second])
            self.emitter.assertion(self.ssa(holds, bool), message)

    def check_nonzero(self, value: Any, message: str) -> None:
        """Make the program raise `message` if a scalar is zero."""
        nonzero = self.emit("ne", [value, ConstValue(self.kind(value)(0))])
        if isinstance(nonzero, ConstValue):
            if not nonzero.value:
                raise ProgramRaises(message)
            return
        assert isinstance(nonzero, ScalarValue)
        self.emitter.assertion(nonzero.ssa, message)

    # Tensors to scalars.

    def item(self, tensor: TensorValue, kind: type | None) -> Value:
        """Read a tensor of one element.

        Args:
            tensor: the tensor.
            kind: int, float or bool to convert to; None keeps the kind of its dtype.
        """
        count = tensor.fake.numel()
        if isinstance(count, int) and count != 1:
            raise ProgramRaises(f"RuntimeError: a Tensor with {count} elements cannot be converted to Scalar")
        self.state.use(tensor, "item")
        dtype = tensor.fake.dtype
        if dtype.is_complex:
            raise self.state.refuse_op("item of a complex tensor")
        own: type = bool if dtype == torch.bool else float if dtype.is_floating_point else int
        name = {int: "Int", float: "Float", bool: "Bool"}[own]
        result = self.emitter.op(f"torch.aten.{name}.Tensor", [self.emitter.scalar_type(own)], [tensor.ssa]).result
        value = self.state.opaque_scalar(own, result)
        return value if kind is None else self.converted(value, kind)


def _whole(number: Any) -> int:
    """Python's `int(number)`, within 64 bits.

    Raises:
        ProgramRaises: it is none, as Python says, or does not fit.
    """
    try:
        found = int(number)
    except (OverflowError, ValueError) as error:
        raise ProgramRaises(f"{type(error).__name__}: {error}") from error
    if isinstance(number, float) and not -(2**63) <= found < 2**63:
        raise ProgramRaises("OverflowError: float does not fit an int of 64 bits")
    return found


def _overload(name: str, widest: type, count: int) -> str:
    if name in ("min", "max"):
        return f"prim.{name}.{widest.__name__}"
    if name == "abs":
        return "prim.abs.Scalar"
    return f"aten.{name}.{widest.__name__}"


def _python(name: str) -> Callable[..., Any]:
    table: dict[str, Callable[..., Any]] = {
        "floordiv": operator.floordiv,
        "remainder": operator.mod,
        "div": operator.truediv,
        "min": min,
        "max": max,
        "pow": operator.pow,
    }
    return table.get(name) or getattr(operator, name)
