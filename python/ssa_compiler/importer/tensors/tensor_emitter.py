"""What emits an op on tensors: operands from values, values from what an op was recorded with."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import sympy
import torch

from ..ir.emitter import DTYPE_NUMBERS
from ..ir.torchscript_enums import MEMORY_FORMATS
from ..values.dynamic_list_value import DynamicListValue
from ..values.fake_layout import same_view
from ..values.state import State
from ..values.symbols import expr_of
from ..values.values import ConstValue, DictRef, ListRef, ScalarValue, TensorValue, TupleValue, Value, in_words

__all__ = ["Argument", "TensorEmitter"]

Argument = Any
"""A Value, or a Python list of Values for list arguments."""


class TensorEmitter(ABC):
    """Emits ops on tensors; `TensorOps` decides which.

    Attributes:
        literal: makes a tensor of known contents.
        known_numbers: returns the numbers in a list that has a buffer and a known length; None of others.
    """

    literal: Callable[[torch.Tensor], TensorValue]
    known_numbers: Callable[[Sequence[Value]], Sequence[Value] | None]

    def __init__(self, state: State) -> None:
        self.state = state
        self.emitter = state.emitter

    # Values to Python and back.

    def argument(self, value: Value) -> Argument:
        """Open lists and tuples of an op's argument."""
        if isinstance(value, (ListRef, DictRef)):
            contents = self.state.heap.contents[value.cell]
            return [self.argument(element) for element in self.known_numbers(contents) or contents]
        if isinstance(value, TupleValue):
            return [self.argument(element) for element in value.elements]
        return value

    def python(self, argument: Argument) -> Any:
        """Return the FakeTensor, symbol or Python value that stands for an argument."""
        if isinstance(argument, list):
            return [self.python(element) for element in argument]
        if isinstance(argument, TensorValue):
            return argument.fake
        if isinstance(argument, ScalarValue):
            return argument.sym
        if isinstance(argument, ConstValue):
            return argument.value
        if isinstance(argument, DynamicListValue):
            raise self.state.unsupported_op(
                f"{self.state.locations.kind} on a list whose length depends on run-time values; stack it first"
            )
        raise self.state.unsupported_op(f"an op on {in_words(argument)}")

    def value(self, python: Any, known: dict[int, TensorValue]) -> Argument:
        """Return the value for what a recorded op was called with."""
        if isinstance(python, torch.Tensor):
            found = known.get(id(python))
            if found is None:
                candidates = [v for v in known.values() if same_view(v.fake, python)]
                if not candidates:
                    raise self.state.defect("an op makes a tensor in a way that cannot be followed")
                found = candidates[0]
            return found
        if isinstance(python, (list, tuple, torch.Size)):
            return [self.value(element, known) for element in python]
        if isinstance(python, (torch.SymInt, torch.SymFloat, torch.SymBool)):
            kind = {torch.SymInt: int, torch.SymFloat: float, torch.SymBool: bool}[type(python)]
            expr = expr_of(python)
            if isinstance(expr, (sympy.Integer, sympy.Float)):
                return ConstValue(kind(expr))
            return ScalarValue(kind, self.emitter.expression(expr), python)
        if isinstance(python, torch.Generator):
            return self.state.generators[id(python)]
        return ConstValue(python)

    def operand(self, argument: Argument, wanted: str) -> Any:
        """Return the SSA value that passes an argument of the schema type `wanted`."""
        emitter = self.emitter
        if wanted.startswith("Optional["):
            wanted = wanted[len("Optional[") : -1]
        if isinstance(argument, list):
            element = wanted[len("List[") : -1] if wanted.startswith("List[") else wanted
            operands = [self.operand(item, element) for item in argument]
            names = {
                "Tensor": "tensor",
                "Optional[Tensor]": "optional<tensor>",
                "int": "int",
                "float": "float",
                "bool": "bool",
                "str": "str",
            }
            if element not in names:
                raise self.state.unsupported_op(f"an argument of type {wanted}")
            return emitter.list_of(names[element], operands)
        if isinstance(argument, TensorValue):
            self.state.storages.note_gradients(argument)
            return argument.ssa
        if isinstance(argument, ScalarValue):
            return self._convert(argument, wanted)
        value = argument.value
        if isinstance(value, torch.dtype):
            value = DTYPE_NUMBERS[value]
        elif isinstance(value, torch.memory_format):
            value = MEMORY_FORMATS.index(value)
        elif isinstance(value, torch.Generator):
            raise self.state.unsupported_op("a Generator that TorchScript has made a constant; pass it as an argument")
        elif isinstance(value, (torch.layout, torch.device)) or wanted in ("Device", "Layout"):
            value = None
        elif wanted == "float" and isinstance(value, int):
            value = float(value)
        elif wanted == "int" and isinstance(value, bool):
            value = int(value)
        return emitter.constant(value)

    def _convert(self, scalar: ScalarValue, wanted: str) -> Any:
        emitter = self.emitter
        if wanted == "float" and scalar.kind is int:
            return emitter.scalar_op("aten.Float.Scalar", float, [scalar.ssa])
        if wanted in ("int", "number") and scalar.kind is bool:
            return emitter.scalar_op("aten.Int.bool", int, [scalar.ssa])
        return scalar.ssa

    def symbolic(self, expr: Any) -> Value:
        """Return the value of an integer expression over symbols."""
        if isinstance(expr, (int, sympy.Integer)):
            return ConstValue(int(expr))
        return ScalarValue(int, self.emitter.expression(expr), self.state.symbols.to_symint(expr))

    # Emission.

    def call(self, op: Any, arguments: Sequence[Value]) -> list[Any]:
        """Import one op.

        Args:
            op: the OpOverload.
            arguments: one value per schema argument.
        Returns:
            One entry per result: a Value, or a Python list of Values for a list result.
        """
        args = [self.argument(value) for value in arguments]
        return self.call_arguments(op, args)

    @abstractmethod
    def call_arguments(self, op: Any, args: list[Argument]) -> list[Any]:
        """Import one op whose list arguments are Python lists."""

    def emit(self, op: Any, args: list[Argument], results: Sequence[Any]) -> list[Any]:
        """Emit an op with the given result types and return its SSA results."""
        operands = [self.operand(value, str(spec.type)) for spec, value in zip(op._schema.arguments, args)]
        return list(self.emitter.torch_op(op._schema, results, operands).results)
