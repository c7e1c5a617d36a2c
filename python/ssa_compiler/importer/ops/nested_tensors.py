"""Nested tensors, as far as nn.TransformerEncoder makes them of a padded batch: the padded tensor, and which positions
are valid.

In eval mode and without gradients the encoder drops the padding, runs its layers on what is left, and pads the result
with zeros. Here the layers run on the padded tensor, and do not see the padding; what they make of it is replaced at
the end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from ..containers.containers import Containers
from ..tensors.tensor_ops import TensorOps
from ..values.values import NONE, ConstValue, ListRef, TensorValue, Value

__all__ = ["NestedTensors", "NestedValue"]

_KEY_PADDING = 1
"""The kind of mask that says of each position of each sequence that it is padding (`mask_type`)."""


@dataclass(eq=False)
class NestedValue(Value):
    """A batch of sequences of different lengths.

    Attributes:
        padded: float [batch, positions, width].
        valid: bool [batch, positions], the positions that there are.
    """

    padded: TensorValue
    valid: TensorValue


class NestedTensors:
    """Imports the ops that make, take and pad nested tensors.

    Args:
        tensors: emits ops.
        containers: knows the elements of lists.
        call: imports an op on tensors.
    """

    def __init__(
        self, tensors: TensorOps, containers: Containers, call: Callable[[Any, list[Value]], list[Value]]
    ) -> None:
        self._tensors, self._containers, self._call = tensors, containers, call

    def call(self, op: Any, arguments: Sequence[Value]) -> list[Value] | None:
        """Import an op; None if it is about no nested tensor.

        Args:
            op: the OpOverload.
            arguments: one value per schema argument.
        Raises:
            UnsupportedOpError: it does something else with a nested tensor.
        """
        name, state = op.name(), self._tensors.state
        if name == "aten::_nested_tensor_from_mask":
            tensor, mask, check = arguments
            if isinstance(tensor, TensorValue) and isinstance(mask, TensorValue):
                if isinstance(check, ConstValue) and not check.value:
                    # It is a copy: what is written to the tensor afterwards is not in it.
                    copies = [self._call(torch.ops.aten.clone.default, [value, NONE])[0] for value in (tensor, mask)]
                    padded, valid = (value for value in copies if isinstance(value, TensorValue))
                    return [NestedValue(padded, valid)]
        elif not any(isinstance(value, NestedValue) for value in arguments):
            return None
        first = arguments[0]
        if isinstance(first, NestedValue):
            if name == "aten::_transformer_encoder_layer_fwd" and self._is_none(arguments[-2]):
                (padding,) = self._call(torch.ops.aten.logical_not.default, [first.valid])
                given = [first.padded, *arguments[1:-2], padding, ConstValue(_KEY_PADDING)]
                (made,) = self._call(op, given)
                assert isinstance(made, TensorValue)
                return [NestedValue(made, first.valid)]
            if name in ("aten::to_padded_tensor", "aten::nested_to_padded_tensor") and self._has_shape(
                arguments[2], first
            ):
                (rows,) = self._call(torch.ops.aten.unsqueeze.default, [first.valid, ConstValue(-1)])
                return self._call(torch.ops.aten.where.ScalarOther, [rows, first.padded, arguments[1]])
        raise state.unsupported_op(
            f"{name} of a nested tensor; make nn.TransformerEncoder with enable_nested_tensor=False, or pass padded tensors"
        )

    @staticmethod
    def _is_none(value: Value) -> bool:
        return value is NONE or (isinstance(value, ConstValue) and value.value is None)

    def _has_shape(self, sizes: Value, nested: NestedValue) -> bool:
        """Whether a list holds the sizes of the padded tensor."""
        if not isinstance(sizes, ListRef):
            return False
        numbers = [self._tensors.python(value) for value in self._containers.elements(sizes)]
        return numbers == list(nested.padded.fake.shape)
