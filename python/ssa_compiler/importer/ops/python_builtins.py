"""Python's own functions of tensors: those that go through the rows, as `sum(x)` and `any(x)`, and `min(x, y)`.

TorchScript takes the former for `torch.sum(x)` and alike, and reads numbers for the latter, of which Python returns one
of the tensors.
"""

from __future__ import annotations

import builtins
import types
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch

from ..containers.containers import Containers
from ..ir.locations import highlighted
from ..tensors.scalar_ops import ScalarOps
from ..torchscript.function_scope import Names
from ..values.diagnostics import ProgramRaises
from ..values.state import State
from ..values.values import ConstValue, ListRef, ScalarValue, TensorValue, Value

__all__ = ["PythonBuiltins"]

_MOST_ADDED = 64
"""Rows that are added one by one, as Python does: sums of floats depend on the order."""
_READS = ("aten::IntImplicit", "aten::FloatImplicit")
_EXTREMES = {"prim::max": torch.ops.aten.gt.Tensor, "prim::min": torch.ops.aten.lt.Tensor}
_Choose = Callable[[Value, Callable[[], list[Value]], Callable[[], list[Value]]], list[Value]]
_COMPARING = {"prim::max": "max", "prim::min": "min", "aten::sorted": "sorted"}


class PythonBuiltins:
    """Imports such calls.

    Args:
        state: the interpretation.
        scalars: emits scalar ops.
        call: imports an op on tensors.
        choose: imports two alternatives under a dynamic condition.
        containers: knows what a list holds.
    """

    def __init__(
        self,
        state: State,
        scalars: ScalarOps,
        call: Callable[[Any, list[Value]], list[Value]],
        choose: _Choose,
        containers: Containers,
    ) -> None:
        self._state, self._scalars, self._call, self._choose = state, scalars, call, choose
        self._containers = containers

    def call(self, node: Any, kind: str, arguments: Sequence[Value], source: Any) -> list[Value] | None:
        """Import a node that is such a call.

        Args:
            node: the node.
            kind: `aten::sum`, ...
            arguments: its operands.
            source: the Python function that it is in.
        Returns:
            Its results; None if it is something else.
        Raises:
            UnsupportedOpError: it is one that is not implemented.
        """
        if kind in _COMPARING and _is_read(node):
            raise self._unsupported(_COMPARING[kind], {"sorted": "x.sort()"}.get(_COMPARING[kind], f"x.{kind[6:]}()"))
        if kind in _EXTREMES and (tensors := self._tensors(arguments)):
            return [self._extreme(_EXTREMES[kind], tensors)]
        first = arguments[0] if arguments else None
        if any(map(_is_number_for_tensor, node.inputs(), arguments)):
            if kind != "aten::Bool" or not isinstance(first, (ConstValue, ScalarValue)):
                raise self._state.unsupported_op(
                    f"{kind} on the number that Python's any, all or sum makes of a tensor; write x.any(), x.all(), x.sum(0)"
                )
            return [self._scalars.converted(first, bool)]
        if not any(isinstance(argument, TensorValue) for argument in arguments):
            return None
        name = highlighted(node).partition("(")[0]
        if name == "round":
            raise self._state.unsupported_op("Python's round of a tensor, which has none; write x.round()")
        if name == f"math.{kind.removeprefix('aten::')}":  # not `math.log(n) + x`
            self._check_math(node, name)
        if name not in ("sum", "any", "all") or kind != f"aten::{name}" or not _is_builtin(source, name):
            return None
        assert isinstance(first, TensorValue)
        if len(first.fake.shape) == 0:
            raise ProgramRaises("TypeError: iteration over a 0-d tensor")
        return [self._sum(first, arguments) if name == "sum" else self._truth(first, name)]

    def _unsupported(self, name: str, instead: str) -> Exception:
        return self._state.unsupported_op(
            f"Python's {name} of a tensor, which goes through its rows one by one; write {instead}"
        )

    def _check_math(self, node: Any, name: str) -> None:
        """Reject a function in `math` where TorchScript makes it a tensor."""
        results = [output for output in node.outputs() if str(output.type()) == "Tensor"]
        if any(use.user.kind().startswith("prim::") for output in results for use in output.uses()):
            raise self._state.unsupported_op(f"{name} of a tensor, which is a number; write float(x)")

    def _tensors(self, arguments: Sequence[Value]) -> list[TensorValue]:
        """The operands of `min(x, y)` and `min([x, y])` if all are tensors."""
        first = arguments[0] if arguments else None
        operands = arguments
        if isinstance(first, ListRef) and len(arguments) == 1:
            if self._containers.is_growing(first) or self._containers.has_dynamic_keys(first):
                return []
            operands = self._containers.elements(first)
        tensors = [operand for operand in operands if isinstance(operand, TensorValue)]
        return tensors if len(tensors) == len(operands) else []

    def _extreme(self, op: Any, tensors: Sequence[TensorValue]) -> Value:
        """The first of the tensors to which none is preferred, found as Python does, one after the other."""
        found: Value = tensors[0]
        for tensor in tensors[1:]:
            (preferred,) = self._call(op, [tensor, found])
            assert isinstance(preferred, TensorValue)
            condition = self._scalars.item(preferred, bool)
            if isinstance(condition, ConstValue):
                found = tensor if condition.value else found
            else:
                (found,) = self._choose(condition, partial(list, [tensor]), partial(list, [found]))
        return found

    def _sum(self, tensor: TensorValue, arguments: Sequence[Value]) -> Value:
        """`sum(x)`: 0, to which one row after the other is added."""
        rows = tensor.fake.shape[0]
        if len(arguments) > 2 or not isinstance(rows, int) or rows > _MOST_ADDED:
            raise self._unsupported("sum", "x.sum(0)")
        total: Value = ConstValue(0)
        for number in range(rows):
            (row,) = self._call(torch.ops.aten.select.int, [tensor, ConstValue(0), ConstValue(number)])
            op = torch.ops.aten.add.Tensor if number else torch.ops.aten.add.Scalar
            (total,) = self._call(op, [row, total, ConstValue(1)])
        return total

    def _truth(self, tensor: TensorValue, name: str) -> Value:
        """`any(x)` and `all(x)`: a bool, if each row is a number."""
        rows, *sizes = tensor.fake.shape
        if not all(isinstance(size, int) for size in sizes) or (sizes and not isinstance(rows, int)):
            raise self._unsupported(name, f"x.{name}()")
        count = torch.Size(sizes).numel()
        if count != 1 and rows > 0:
            many = "no values" if count == 0 else "more than one value"
            raise ProgramRaises(f"RuntimeError: Boolean value of Tensor with {many} is ambiguous")
        (truth,) = self._call(getattr(torch.ops.aten, name).default, [tensor])
        assert isinstance(truth, TensorValue)
        return self._scalars.item(truth, bool)


def _is_number_for_tensor(source: Any, value: Value) -> bool:
    """Whether a node takes a number that is a tensor to TorchScript."""
    is_number = isinstance(value, ScalarValue) or (isinstance(value, ConstValue) and type(value.value) in (bool, int))
    return is_number and bool(source.type().kind() == "TensorType")


def _is_read(node: Any) -> bool:
    """Whether a node compares the elements of a list that TorchScript makes of a tensor, which it reads for that."""
    made = next(node.inputs()).node()
    elements = list(made.inputs()) if made.kind() == "prim::ListConstruct" else []
    return len(elements) == 1 and elements[0].node().kind() in _READS


def _is_builtin(source: Any, name: str) -> bool:
    """Whether a name is Python's function in a function of the user's."""
    if not isinstance(source, types.FunctionType):
        return False
    own = getattr(builtins, name)
    return Names(source).get(name, own) is own
