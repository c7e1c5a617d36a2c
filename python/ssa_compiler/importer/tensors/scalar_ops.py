"""Importing scalar ops: folded where everything is known, otherwise emitted as torch's scalar ops.

An int result is also computed on symbols, so that sizes that depend on it are known as expressions.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import sympy
import torch

from ...errors import UnsupportedOpError
from ...semantics.python_scalars import MATH_POW, PYTHON_OPS, known_to_python, python_op
from ..ir.torchscript_enums import Numbered
from ..values.diagnostics import ProgramRaises, Unjoinable
from ..values.runtime_strings import made_text
from ..values.state import State
from ..values.symbols import expr_of
from ..values.values import SOME_STR, ConstValue, RuntimeStr, ScalarValue, TensorValue, Value, is_const
from .scalar_powers import power

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
_CLASSES = {"isnan", "isinf", "isfinite"}
_DIVISIONS = {"floordiv", "remainder", "div"}
_TO_INT = {"ceil", "floor"}
_SHIFTS = {"__lshift__", "__rshift__"}
_OF_INTS = {"__round_to_zero_floordiv", "factorial", "gcd", "__and__", "__or__", "__xor__", *_SHIFTS}
_OF_NUMBERS = {*_SYMBOLIC, "__not__", "abs", "ceil", "floor", "pow", "round", "trunc"}
"""Ops that are other ones for ints than for floats; all others of those in `math` take floats, or ints as floats."""
_RAISING = frozenset(
    "acos acosh asin atanh cosh expm1 factorial fmod gamma ldexp lgamma log1p mathremainder sinh tan".split()
)
"""Functions in `math` that Python computes, and that raise where they are not defined or too large."""
_EXACT = 2**53
"""Floats below are as many as ints."""


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
            return self.fold_constant(f"aten::{kind.__name__.title()}", [value])
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
        kind: type = value.kind if isinstance(value, ScalarValue) else type(value.value)  # type: ignore[attr-defined]
        return int if kind is Numbered else kind

    def are_numbers(self, values: Sequence[Value]) -> bool:
        """Whether all values are ints, floats or bools."""
        return all(isinstance(v, (ConstValue, ScalarValue)) and self.kind(v) in (int, float, bool) for v in values)

    def call(self, op: Any, schema: Any, arguments: Sequence[Value]) -> Value:
        """Import one scalar op.

        Args:
            op: its OpOverload, None if torch.ops has none.
            schema: its schema.
            arguments: constants and scalars.
        Raises:
            UnsupportedOpError: no scalar op of torch-mlir does this.
        """
        if is_const(*arguments):
            folded = self.fold(op, schema, [argument.value for argument in arguments])  # type: ignore[attr-defined]
            structural = any(argument.structural for argument in arguments)  # type: ignore[attr-defined]
            return ConstValue(folded.value, structural)
        if any(isinstance(a, RuntimeStr) or self.kind(a) is str for a in arguments):
            return self.text(schema, arguments)
        if schema.name not in PYTHON_OPS:
            raise self.state.unsupported_op(f"{schema.name} on run-time scalars")
        return self.emit(schema.name.partition("::")[2], list(arguments))

    def fold_constant(self, name: str, arguments: Sequence[Value]) -> ConstValue:
        """Compute one of Python's ops on constants, by its full name; what it raises, the program raises."""
        try:
            return ConstValue(python_op(name, *(argument.value for argument in arguments)))  # type: ignore[attr-defined]
        except (ArithmeticError, LookupError, TypeError, ValueError) as error:
            raise ProgramRaises(f"{type(error).__name__}: {error}") from error

    def fold(self, op: Any, schema: Any, values: list[Any]) -> ConstValue:
        """Compute an op on constants; what it raises, the program raises."""
        if known_to_python(schema.name, values):
            return self.fold_constant(schema.name, [ConstValue(value) for value in values])
        try:
            if schema.name == "aten::device":
                return ConstValue(torch.device(*values))  # PyTorch's own op takes the index for the type
            if op is None or schema.name == "aten::hash":
                raise self.state.unsupported_op(schema.name)
            return ConstValue(op(*values))
        except (ArithmeticError, LookupError, TypeError, ValueError) as error:
            raise ProgramRaises(f"{type(error).__name__}: {error}") from error
        except RuntimeError as error:
            if isinstance(error, UnsupportedOpError):
                raise
            text = str(error).splitlines()[0]
            name = "ZeroDivisionError" if "by zero" in text else "RuntimeError"
            raise ProgramRaises(f"{name}: {text}") from error

    def text(self, schema: Any, arguments: Sequence[Value]) -> Value:
        """A string op with something unknown in it: good for messages only."""
        name = schema.name.partition("::")[2]
        if (made := made_text(name, arguments)) is not None:
            return made
        if name in ("format", "percentFormat", "join"):
            return SOME_STR
        raise Unjoinable(self.state.unsupported_op(f"{schema.name} on a string that depends on run-time values"))

    def emit(self, name: str, arguments: list[Any]) -> Value:
        """Emit one of `PYTHON_OPS`, by its name without namespace, on numbers of whatever kinds."""
        kinds = [self.kind(argument) for argument in arguments]
        if not all(kind in (int, float, bool) for kind in kinds):
            raise self.state.unsupported_op(f"aten::{name} on {', '.join(kind.__name__ for kind in kinds)}")
        if is_const(*arguments):
            return self.fold_constant(_full_name(name), arguments)
        if name in ("Int", "Float", "Bool"):
            return self.converted(arguments[0], {"Int": int, "Float": float, "Bool": bool}[name])
        if name == "__not__" or (name in ("__and__", "__or__", "__xor__") and set(kinds) == {bool}):
            return self._logic(name, [self.converted(argument, bool) for argument in arguments])
        if name in ("eq", "ne") and set(kinds) == {bool}:
            return self._equal_bools(name, arguments)
        if name in _COMPARISONS and float in kinds and int in kinds:
            return self._compared_exactly(name, arguments)
        if name in ("pow", "math.pow"):
            return power(self, *arguments, of_math=name == "math.pow")
        if name in _CLASSES:
            return self.classified(name, arguments[0])
        if name in _SHIFTS:
            return self._shifted(name, *(self.converted(argument, int) for argument in arguments))
        if name in _TO_INT and kinds[0] is not float:
            return self.converted(arguments[0], int)
        if name == "ldexp":
            return self.function(name, [self.converted(arguments[0], float), self.converted(arguments[1], int)], float)
        if name == "round":
            return self._rounded(*arguments)
        if name == "log" and len(arguments) == 2:
            return self.emit("div", [self.emit("log", [argument]) for argument in arguments])
        if name == "mul" and (ones := [a for a in arguments if isinstance(a, ConstValue) and a.value == 1]):
            return self.converted(arguments[1 - arguments.index(ones[0])], float if float in kinds else int)
        return self._arithmetic(name, arguments, kinds)

    def _arithmetic(self, name: str, arguments: list[Any], kinds: list[type]) -> Value:
        """An op on numbers of one kind, that of the result but for comparisons."""
        widest: type = float if float in kinds or name not in {*_OF_NUMBERS, *_OF_INTS} else int
        if name == "div" and float not in kinds:
            widest = int
        arguments = [self.converted(argument, widest) for argument in arguments]
        if name in _DIVISIONS:
            self._check_divisor(name, arguments[1], widest)
        result = bool if name in _COMPARISONS else float if name == "div" else int if name in _TO_INT else widest
        if name in _TO_INT:
            self._check_whole(arguments[0])
        if widest is not int or name not in _SYMBOLIC:
            return self.function(name, arguments, result)
        ssa = self._make(_overload(name, widest), result, [self.ssa(argument, widest) for argument in arguments])
        symbols = [argument.sym if isinstance(argument, ScalarValue) else argument.value for argument in arguments]
        with self.state.symbols.transaction():
            return self.state.scalar(result, ssa, _SYMBOLIC[name](*symbols))

    def function(self, name: str, arguments: list[Any], result: type, overload: str = "") -> Value:
        """Emit an op of whose result nothing is known but its kind.

        Args:
            name: its name without namespace.
            arguments: numbers, as the overload takes them.
            result: int, float or bool.
            overload: by default the one for the kind of the first operand.
        """
        if is_const(*arguments):
            return self.fold_constant(_full_name(name), arguments)
        full = overload or _overload(name, self.kind(arguments[0]))
        ssa = self._make(full, result, [self.ssa(argument, self.kind(argument)) for argument in arguments])
        key = (full, *(expr_of(a.sym) if isinstance(a, ScalarValue) else (a.value, repr(a.value)) for a in arguments))
        return self.state.opaque_scalar(result, ssa, key)

    def several(self, schema: Any, arguments: Sequence[Any]) -> list[Value]:
        """Emit an op on a float that has two results, `math.frexp` or `math.modf`."""
        operands = [self.ssa(argument, float) for argument in arguments]
        kinds = [{"int": int, "float": float}[str(spec.type)] for spec in schema.returns]
        types = [self.emitter.scalar_type(kind) for kind in kinds]
        results = self.emitter.torch_op(schema, types, operands).results
        return [self.state.opaque_scalar(kind, ssa) for kind, ssa in zip(kinds, results)]

    def _make(self, overload: str, result: type, operands: list[Any]) -> Any:
        if self.emitter.registered(f"torch.{overload}"):
            return self.emitter.scalar_op(overload, result, operands)
        name, _, chosen = overload.replace(".", "::", 1).partition(".")
        found = torch._C._jit_get_schemas_for_operator(name)
        candidate = next((c for c in found if c.overload_name == chosen), None)
        if candidate is None:
            raise self.state.unsupported_op(f"{overload} on run-time scalars")
        to, raises = [self.emitter.scalar_type(result)], name.partition("::")[2] in _RAISING

        def make() -> Any:
            return self.emitter.torch_op(candidate, to, operands, raises=raises).results[0]

        return self.emitter.memoised((overload, *operands), make)

    def _compared_exactly(self, name: str, arguments: list[Any]) -> Value:
        """An int compared with a float: by their values, which a conversion of the int may round."""
        numbers = [argument.value for argument in arguments if isinstance(argument, ConstValue)]
        if numbers and abs(numbers[0]) < _EXACT:
            return self.function(name, [self.converted(argument, float) for argument in arguments], bool)
        kinds = "_".join(self.kind(argument).__name__ for argument in arguments)
        return self.function(name, arguments, bool, f"aten.{name}.{kinds}")

    def _rounded(self, number: Any) -> Value:
        """Python's round() is an int, TorchScript's a float."""
        if self.kind(number) is not float:
            return self.converted(number, int)
        self._check_whole(number)
        return self.converted(self.function("round", [number], float), int)

    def _shifted(self, name: str, value: Any, count: Any) -> Value:
        """`value << count` or `value >> count`; for a known count products, floor divisions."""
        if not isinstance(count, ConstValue):
            self.require(self.emit("ge", [count, ConstValue(0)]), "ValueError: negative shift count")
            return self.function(name, [value, count], int)
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
            self.require(self.emit("eq", [value, value]), "ValueError: cannot convert float NaN to integer")
            finite = self.negated(self.classified("isinf", value))
            self.require(finite, "OverflowError: cannot convert float infinity to integer")
            return True

        self.emitter.memoised(("whole", value.ssa), check)

    def both(self, *conditions: Any) -> Any:
        """Whether both bools hold."""
        return self._logic("__and__", list(conditions))

    def either(self, *conditions: Any) -> Any:
        """Whether one of two bools holds."""
        return self._logic("__or__", list(conditions))

    def negated(self, condition: Any) -> Any:
        """Whether a bool does not hold."""
        return self.emit("__not__", [condition])

    def require(self, condition: Any, message: str) -> None:
        """Make the program raise `message` unless a condition holds."""
        if isinstance(condition, ConstValue):
            if not condition.value:
                raise ProgramRaises(message)
            return
        self.emitter.assertion(condition.ssa, message)

    def require_between(self, value: Any, low: Value, high: Value, message: str) -> None:
        """Make the program raise `message` for an int below `low` or above `high`."""
        self.require(self.both(self.emit("ge", [value, low]), self.emit("le", [value, high])), message)

    def classified(self, name: str, value: Any) -> Value:
        """`math.isnan`, `isinf` or `isfinite`, by comparisons."""
        if isinstance(value, ConstValue):
            return self.fold_constant(f"aten::{name}", [value])
        if self.kind(value) is not float:
            return ConstValue(name == "isfinite")
        if name == "isnan":
            return self.emit("ne", [value, value])
        infinite = self.either(*(self.emit("eq", [value, ConstValue(sign * math.inf)]) for sign in (1, -1)))
        if name == "isinf":
            return infinite
        return self.negated(self.either(infinite, self.emit("ne", [value, value])))

    def _logic(self, name: str, arguments: list[Any]) -> Value:
        if name == "__not__":
            (argument,) = arguments
            expr = sympy.Not(expr_of(argument.sym))
            return self.boolean(self.emitter.scalar_op("aten.__not__", bool, [argument.ssa]), expr)
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
        return self.boolean(self.emitter.scalar_op(f"aten.{name}.bool", bool, [a.ssa for a in dynamic]), expr)

    def _equal_bools(self, name: str, arguments: list[Any]) -> Value:
        constants = [argument for argument in arguments if isinstance(argument, ConstValue)]
        dynamic = [argument for argument in arguments if isinstance(argument, ScalarValue)]
        if constants:
            if constants[0].value == (name == "eq"):
                return dynamic[0]
            return self._logic("__not__", dynamic)
        ssa = self.emitter.scalar_op(f"aten.{name}.bool", bool, [a.ssa for a in dynamic])
        return self.state.opaque_scalar(bool, ssa, (name, *(expr_of(a.sym) for a in dynamic)))

    def boolean(self, ssa: Any, expr: Any) -> Value:
        """Return a bool of which the symbolic condition is known."""
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

    def check_nonzero(self, value: Any, message: str) -> None:
        """Make the program raise `message` if a scalar is zero."""
        self.require(self.emit("ne", [value, ConstValue(self.kind(value)(0))]), message)

    # Tensors to scalars.

    def item(self, tensor: TensorValue, kind: type | None, rejection: str = "") -> Value:
        """Read a tensor of one element.

        Args:
            tensor: the tensor.
            kind: int, float or bool to convert to; None keeps the kind of its dtype.
            rejection: what the program raises if it has not one element; by default what `item` raises.
        """
        count = tensor.fake.numel()
        rejection = rejection or f"RuntimeError: a Tensor with {expr_of(count)} elements cannot be converted to Scalar"
        self.state.check(sympy.Eq(expr_of(count), 1), rejection)
        self.state.storages.use(tensor, "item")
        dtype = tensor.fake.dtype
        if dtype.is_complex:
            raise self.state.unsupported_op("item of a complex tensor")
        own: type = bool if dtype == torch.bool else float if dtype.is_floating_point else int
        name = {int: "Int", float: "Float", bool: "Bool"}[own]
        result = self.emitter.op(f"torch.aten.{name}.Tensor", [self.emitter.scalar_type(own)], [tensor.ssa]).result
        value = self.state.opaque_scalar(own, result)
        return value if kind is None else self.converted(value, kind)


def _full_name(name: str) -> str:
    if name == "math.pow":
        return MATH_POW
    return f"{'prim' if name in ('abs', 'max', 'min') else 'aten'}::{name}"


def _overload(name: str, kind: type) -> str:
    if name in ("min", "max"):
        return f"prim.{name}.{kind.__name__}"
    if name == "abs":
        return "prim.abs.Scalar"
    return "aten.ldexp" if name == "ldexp" else f"aten.{name}.{kind.__name__}"
