"""Importing ops that write a tensor in place: which form of the op is emitted.

The op itself is emitted where the passes know its functional form and it means the same; otherwise the functional form,
whose result `copy_` stores in the target.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch

from .fakes import run
from .overlap import check_write
from .schemas import functional_of, registered_name
from .state import State
from .symbols import expr_of
from .values import ConstValue, TensorValue, tensor_values

if TYPE_CHECKING:
    from .aten import TensorOps

__all__ = ["Writes"]


class Writes:
    """Emits ops that write one of their arguments."""

    def __init__(self, state: State, tensors: TensorOps) -> None:
        self.state, self.tensors = state, tensors

    def call(self, op: Any, args: list[Any], python: list[Any]) -> list[Any]:
        """Emit an op that writes one of its arguments.

        Args:
            op: the OpOverload.
            args: one value, or list of values, per schema argument.
            python: the same as FakeTensors, symbols and Python values.
        Returns:
            The tensor that it writes, which is its result.
        """
        state, schema = self.state, op._schema
        written = [i for i, a in enumerate(schema.arguments) if a.alias_info is not None and a.alias_info.is_write]
        if len(written) != 1 or not isinstance(args[written[0]], TensorValue):
            raise state.refuse_op(f"{op.name()}, which writes several tensors")
        index = written[0]
        target: TensorValue = args[index]
        flat = [value for argument in args for value in tensor_values(argument)]
        check_write(state, op, target, flat, python)
        functional = functional_of(op, index)
        is_out = schema.arguments[index].is_out
        pure_args = args[:index] + args[index + 1 :] if is_out else args
        if op.name() == "aten::copy_":
            self.tensors.emit(op, args, [state.type_of(target.fake)])
        elif functional is None:
            if is_out:
                raise state.refuse_op(f"{op.name()}, which has no functional form")
            self.tensors.emit(op, args, [state.type_of(target.fake)])
        else:
            pure_trace = run(state, functional, [self.tensors.python(argument) for argument in pure_args])
            same = (
                isinstance(pure_trace.out, torch.Tensor)
                and pure_trace.out.dtype == target.fake.dtype
                and _sizes(pure_trace.out) == _sizes(target.fake)
                and not (torch.Tag.pointwise in op.tags and _mixes_dtypes(target, flat))
                # Of logical and comparison ops, which give bools whatever they are given, the passes know no pure form.
                and not (torch.Tag.pointwise in op.tags and target.fake.dtype == torch.bool)
            )
            name = registered_name(schema)
            if not is_out and same and self.state.emitter.registered(f"torch.{name}"):
                self.tensors.emit(op, args, [state.type_of(target.fake)])
            else:
                self._functional(op, functional, pure_args, target)
        state.write(target, op.name())
        return [target]

    def _functional(self, op: Any, functional: Any, args: list[Any], target: TensorValue) -> None:
        """Emit the functional op, then `copy_` into the target."""
        with self.tensors.indexing.already_checked():
            value = self.tensors.call_arguments(functional, args)[0]
        if not isinstance(value, TensorValue):
            raise self.state.refuse_op(f"{op.name()}, whose functional form gives no tensor")
        if op._schema.arguments[-1].is_out and _sizes(value.fake) != _sizes(target.fake):
            raise self.state.refuse_op(f"{op.name()}, which changes the size of its out argument")
        copy = torch.ops.aten.copy_.default
        self.tensors.emit(copy, [target, value, ConstValue(False)], [self.state.type_of(target.fake)])


def _mixes_dtypes(target: TensorValue, values: Sequence[TensorValue]) -> bool:
    """Whether an operand that takes part in type promotion has another dtype than the target; masks do not."""
    dtypes = {value.fake.dtype for value in values} - {torch.bool}
    return bool(dtypes - {target.fake.dtype})


def _sizes(tensor: torch.Tensor) -> tuple[Any, ...]:
    return tuple(expr_of(size) for size in tensor.shape)
