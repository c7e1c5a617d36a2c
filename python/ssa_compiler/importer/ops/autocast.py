"""What `torch.autocast` does to an op: it converts operands, and runs the op on them as if it were off."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from ...semantics.autocast import has_autocast_kernel
from ..containers.containers import Containers
from ..fake.dtype_probe import dtypes_under_autocast
from ..fake.fake_run import run
from ..tensors.tensor_ops import TensorOps
from ..values.values import ConstValue, ListRef, TensorValue, Value

__all__ = ["check_dtypes", "converted_operands"]


def converted_operands(
    tensors: TensorOps, containers: Containers, op: Any, arguments: Sequence[Value]
) -> list[Value] | None:
    """Emit the conversions that autocast makes of the operands of an op.

    Args:
        tensors: emits them.
        containers: makes lists of converted operands.
        op: the OpOverload.
        arguments: one value per schema argument.
    Returns:
        The operands to run the op on, without autocast; None if autocast leaves the op alone.
    """
    if op._schema.is_mutable or not has_autocast_kernel(op.name()):
        return None
    python = [tensors.python(tensors.argument(value)) for value in arguments]
    dtypes = {
        id(record.args[0]): record.out.dtype
        for record in run(tensors.state, op, python).records
        if record.op is torch.ops.aten._to_copy.default
    }

    def converted(value: Value) -> Value:
        if isinstance(value, ListRef) and not containers.is_growing(value):
            elements = containers.elements(value)
            parts = [converted(element) for element in elements]
            return value if all(a is b for a, b in zip(parts, elements)) else containers.new_list(parts)
        if not isinstance(value, TensorValue) or id(value.fake) not in dtypes:
            return value
        operands: list[Value] = [value, ConstValue(dtypes[id(value.fake)]), *[ConstValue(None)] * 5]
        operands[5] = ConstValue(False)  # non_blocking
        (result,) = tensors.call_arguments(torch.ops.aten._to_copy.default, operands)
        return result

    return [converted(value) for value in arguments]


def check_dtypes(tensors: TensorOps, op: Any, arguments: list[Any]) -> None:
    """Reject an op whose kernel returns another dtype under autocast than FakeTensors say, as `lstm` does on the CPU.

    Args:
        tensors: runs it.
        op: the OpOverload.
        arguments: its operands, with lists opened.
    Raises:
        UnsupportedOpError: it does.
    """
    if not torch._C._is_any_autocast_enabled() or op._schema.is_mutable:
        return
    real = dtypes_under_autocast(op, arguments)
    if not real:
        return
    found = run(tensors.state, op, [tensors.python(value) for value in arguments]).out
    fakes = found if isinstance(found, tuple) else [found]
    if any(isinstance(fake, torch.Tensor) and dtype not in (fake.dtype, None) for fake, dtype in zip(fakes, real)):
        raise tensors.state.unsupported_op(
            f"{op.name()} under torch.autocast, whose dtype depends on the kernel that PyTorch chooses; turn autocast off "
            "around it"
        )
