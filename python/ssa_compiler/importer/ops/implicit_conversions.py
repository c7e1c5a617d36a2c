"""Tensors where TorchScript has numbers: it reads a tensor that is given for an int or float, which Python does not.

In `scale(x, x.sum())` the parameter is declared a float, and Python passes the tensor; `3 << t` is
`Tensor.__rlshift__`. So a tensor stays one (`aten::IntImplicit` reads nothing) until something takes it. Python's
operators compute with it, ops that have an overload for tensors take that one, and what else takes a number reads it
there, as PyTorch's argument parser does.

TorchScript also converts what `item()` returns to the type that is declared where it goes; in Python it stays what it
is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from ..containers.containers import Containers
from ..ir.locations import highlighted, is_augmented_assignment, is_call
from ..ir.schemas import overload_of
from ..tensors.complex_scalars import with_tensors
from ..torchscript.literals import converts
from ..values.diagnostics import ProgramRaises
from ..values.state import State
from ..values.values import ConstValue, ListRef, TensorValue, Value
from .bool_operands import bool_tensor, converted_bools

__all__ = ["IMPLICIT", "Implicit", "converts_item"]

IMPLICIT = frozenset({"aten::IntImplicit", "aten::FloatImplicit", "aten::ComplexImplicit", "aten::ScalarImplicit"})
"""How TorchScript reads tensors that are given for numbers."""
_NUMBERS = frozenset({"IntType", "FloatType", "NumberType", "BoolType", "ComplexType"})
_OPERATORS = {
    **{name: name for name in ("add", "sub", "mul", "div", "remainder", "pow", "neg", "abs")},
    **{name: name for name in ("eq", "ne", "lt", "le", "gt", "ge")},
    "floordiv": "floor_divide",
    "__lshift__": "bitwise_left_shift",
    "__rshift__": "bitwise_right_shift",
    "__and__": "bitwise_and",
    "__or__": "bitwise_or",
    "__xor__": "bitwise_xor",
}
"""The op on tensors that one of Python's operators is, by TorchScript's op on numbers."""
_SWAPPED = {
    **{name: name for name in ("add", "mul", "eq", "ne")},
    **{"sub": "rsub", "lt": "gt", "gt": "lt", "le": "ge", "ge": "le"},
}
"""The op on a tensor and a number that an operator on a number and a tensor is."""
_OF_BOTH = frozenset({"aten::tensor", "aten::format", "aten::percentFormat", "aten::str"})
"""What takes tensors as well as numbers, and is imported elsewhere."""
_COUNTING = frozenset({"aten::__range_length", "aten::__derive_index", "prim::min", "prim::max"})
_OF_ANYTHING = frozenset({"aten::round", "aten::divmod", "prim::min", "prim::max"})
"""Python's functions whose results are of the types of their operands."""


def converts_item(node: Any) -> bool:
    """Whether a node is TorchScript's conversion of a number of unknown type, where Python has none: no `int(x)`,
    `float(x)`.
    """
    if node.kind() not in ("aten::Int", "aten::Float") or node.input().type().kind() != "NumberType":
        return False
    return highlighted(node) not in ("int", "float")


class Implicit:
    """Imports what takes a tensor for a number.

    Args:
        state: the interpretation.
        item: reads a tensor as a number.
        containers: makes lists.
        lookup: the value of a node's input.
        call: imports an op on tensors.
    """

    def __init__(
        self,
        state: State,
        scalars: Any,
        containers: Containers,
        lookup: Callable[[Any], Value],
        call: Callable[[Any, list[Value]], list[Value]],
    ) -> None:
        self._state, self._scalars, self._containers = state, scalars, containers
        self._lookup, self._call = lookup, call

    def number(self, value: Value, kind: type | None) -> Value:
        """Return what a value is where a number is taken: a tensor is read.

        Args:
            value: a number or a tensor.
            kind: int for what counts or is an index, which only an integer can be; bool for a condition; float, or None
                for a number of any kind.
        Raises:
            ProgramRaises: no such tensor is taken there.
        """
        if not isinstance(value, TensorValue):
            return value
        dtype, count = value.fake.dtype, value.fake.numel()
        if kind is int and (dtype.is_floating_point or dtype.is_complex or (isinstance(count, int) and count != 1)):
            raise ProgramRaises("TypeError: only integer tensors of a single element can be converted to an index")
        made: Value = self._scalars.item(value, kind)
        return made

    def operator(self, node: Any, kind: str, arguments: Sequence[Value], in_place: bool) -> list[Value] | None:
        """Import one of Python's operators on numbers, if it is given a tensor for one.

        Args:
            node: the node.
            kind: `aten::__lshift__`, ...
            arguments: its operands.
            in_place: whether it is an augmented assignment whatever its text says.
        Returns:
            Its results; None if it is another node.
        """
        name = kind.removeprefix("aten::").removeprefix("prim::")
        if name not in _OPERATORS or not _given(node, arguments) or "Tensor" in node.schema():
            return None
        if any(isinstance(value, ListRef) for value in arguments):
            return None  # `[0] * n` counts by the tensor
        if (made := converts(node)) is not None:
            return [self._scalars.item(arguments[0], made)]
        text = highlighted(node)
        if is_call(text):
            return None  # a function of the module math
        bools = converted_bools(node, range(len(arguments)), self._scalars, self._lookup)
        operands = [bool_tensor(self._call, bools[n]) if n in bools else value for n, value in enumerate(arguments)]
        results = self._operate(name, operands, in_place or is_augmented_assignment(text))
        return [self.number(results[0], bool)] if _only_decides(node.output()) else results

    def _operate(self, name: str, operands: list[Value], in_place: bool) -> list[Value]:
        called = _OPERATORS[name]
        if isinstance(operands[0], TensorValue):
            return self._op(f"{called}_" if in_place else called, operands)
        number, tensor = operands
        if name in _SWAPPED:
            return self._op(_SWAPPED[name], [tensor, number])
        if name == "div":
            return self._op("mul", [*self._op("reciprocal", [tensor]), number])
        if name == "floordiv":
            # floor_divide has no overload for a number in front: here it is a tensor of the dtype that both are
            # promoted to.
            ones = self._op("new_ones", [tensor, self._containers.new_list([])])
            number = self._op("mul", [*ones, number])[0]
        return self._op(called, [number, tensor])

    def _op(self, name: str, operands: list[Value]) -> list[Value]:
        kinds = {TensorValue: "Tensor", ListRef: "List[int]"}
        types = [kinds.get(type(operand), "number") for operand in operands]
        op = overload_of(getattr(torch.ops.aten, name), types)
        if op is None:
            raise self._state.defect(f"no aten::{name} of {' and '.join(types)}")
        rest = [ConstValue(spec.default_value) for spec in op._schema.arguments[len(operands) :]]
        return self._call(op, [*operands, *rest])

    def counts(self, node: Any, kind: str, arguments: Sequence[Value]) -> bool:
        """Whether a node computes how often something is done, of tensors that are given for numbers."""
        return kind in _COUNTING and kind.startswith("aten::") and bool(_given(node, arguments))

    def settled(self, node: Any, op: Any, schema: Any, arguments: list[Value]) -> tuple[Any, list[Value]]:
        """Return an op and its operands, where it takes tensors for numbers.

        Args:
            node: the node of the op.
            op: its OpOverload, None if it has none.
            schema: its schema.
            arguments: its operands.
        Raises:
            UnsupportedOpError: it is a function of Python's, and what type its result has depends on its operands'
                types.
        """
        given = _given(node, arguments) if schema.name not in _OF_BOTH else []
        on_tensors = any("Tensor" in str(spec.type) for spec in (*schema.arguments, *schema.returns))
        if on_tensors and op is not None:
            numbers = [n for n in given if str(schema.arguments[n].type) == "number"]
            overload = with_tensors(op, numbers) if numbers else None
            if overload is not None:
                op, given = overload, [n for n in given if n not in numbers]
        if given and schema.name in _OF_ANYTHING and not all(map(_only_counts, node.outputs())):
            raise self._state.unsupported_op(
                f"{schema.name} of a tensor that is passed for a number; read it with int(x), float(x)"
            )
        settled = list(arguments)
        for number, (spec, value) in enumerate(zip(schema.arguments, arguments)):
            wanted = str(spec.type)
            if number in given and wanted not in ("t", "Any"):
                counts = "int" in wanted and (on_tensors or schema.name in _COUNTING or _has_elements(schema))
                settled[number] = self.number(value, int if counts else bool if "bool" in wanted else None)
            elif isinstance(value, ListRef) and "List[int]" in wanted and on_tensors:
                settled[number] = self._list(value)
        return op, settled

    def _list(self, value: ListRef) -> Value:
        """A list of ints, among which there may be tensors."""
        if self._containers.is_growing(value):
            return value
        elements = self._containers.elements(value)
        if not any(isinstance(element, TensorValue) for element in elements):
            return value
        return self._containers.new_list([self.number(element, int) for element in elements])


def _given(node: Any, arguments: Sequence[Value]) -> list[int]:
    """The operands that are tensors, and numbers to TorchScript."""
    return [
        number
        for number, (source, value) in enumerate(zip(node.inputs(), arguments))
        if isinstance(value, TensorValue) and source.type().kind() in _NUMBERS
    ]


def _has_elements(schema: Any) -> bool:
    """Whether an op takes a list or string, which ints count or are indices of."""
    return any(spec.type.kind() in ("ListType", "StringType") for spec in schema.arguments)


def _only_decides(value: Any) -> bool:
    """Whether all that is done with a value is to branch on it."""

    def decides(use: Any) -> bool:
        user, owner = use.user, use.user.owningBlock().owningNode() if use.user.kind() == "prim::Return" else None
        if owner is not None and owner.kind() == "prim::If":
            return _only_decides(list(owner.outputs())[use.offset])
        if owner is not None and owner.kind() == "prim::Loop":
            return bool(use.offset == 0)
        return user.kind() in ("prim::If", "aten::__not__") or (user.kind() == "prim::Loop" and use.offset == 1)

    return all(map(decides, value.uses()))


def _only_counts(value: Any) -> bool:
    """Whether all that is done with a value is to count by it, or to give it to an op on tensors as an int."""

    def counts(use: Any) -> bool:
        user = use.user
        if user.kind() == "prim::ListConstruct":
            return _only_counts(user.output())
        if user.kind() == "prim::Loop":
            return bool(use.offset == 0)
        if user.kind() in _COUNTING:
            return user.kind().startswith("aten::") or _only_counts(user.output())
        schema = user.schema()
        if schema == "(no schema)" or "Tensor" not in schema:
            return False
        return "int" in str(torch._C.parse_schema(schema).arguments[use.offset].type)

    return all(map(counts, value.uses()))
