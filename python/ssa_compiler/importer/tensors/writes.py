"""Importing ops that write a tensor in place: which form of the op is emitted.

The op itself is emitted where the passes know its functional form and it means the same; otherwise the functional form,
whose result `copy_` stores in the target. An op that writes several tensors, or lists of them, is decomposed: into the
op on each element of the lists, or into a call on copies (`semantics/functionalized.py`), which `copy_` stores.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import sympy
import torch
from torch_mlir import ir

from ...semantics.functionalized import functionalized_name, functionalized_schema
from ..fake.dtype_probe import describe, rejects_written, replaces_storage
from ..fake.fake_run import ask_eager, run
from ..ir.schemas import element_of, functional_of, registered_name, with_numbers, written_arguments
from ..values.diagnostics import ProgramRaises
from ..values.state import State
from ..values.symbols import expr_of
from ..values.values import ConstValue, ScalarValue, TensorValue, is_generator, tensor_values
from .comparisons import is_comparison
from .complex_scalars import has_complex, takes_tensors
from .indexing import Indexing
from .overlap import check_write, repeated_dims
from .tensor_emitter import TensorEmitter

__all__ = ["Writes"]


_STORE_ONE = (
    "aten::fill_.Scalar",
    "aten::zero_",
    "aten::masked_fill_.Scalar",
    "aten::masked_fill_.Tensor",
)
"""In-place ops that store one number, and that eager lets write views which show elements several times."""


class Writes:
    """Emits ops that write one of their arguments."""

    def __init__(self, state: State, tensors: TensorEmitter, indexing: Indexing) -> None:
        self.state, self.tensors, self.indexing = state, tensors, indexing

    def call(self, op: Any, args: list[Any], python: list[Any], out: Any) -> list[Any]:
        """Emit an op that writes some of its arguments.

        Args:
            op: the OpOverload.
            args: one value, or list of values, per schema argument.
            python: the same as FakeTensors, symbols and Python values.
            out: its outcome on them.
        Returns:
            Its results, one per result of the schema: tensors that it writes, and new ones.
        """
        state, schema = self.state, op._schema
        written = written_arguments(schema)
        if schema.name == "aten::requires_grad_":
            return [args[0]]
        if torch.Tag.inplace_view in op.tags:
            return [args[0]]  # the caller has seen that sizes and strides stay
        if written == [0] and isinstance(args[0], TensorValue) and functional_of(op, 0) is None:
            if replaces_storage(op, describe(args)):
                raise state.unsupported_op(
                    f"{op.name()}, which gives a tensor the storage of another one; make a new one"
                )
        if any(isinstance(args[i], list) for i in written):
            element = element_of(op)
            if element is not None and not schema.returns:
                self._each(element, args)
                return []
        narrowed = self._narrowed(op, args) if written == [0] else None
        if narrowed is not None:
            self.tensors.call_arguments(op, narrowed)
            return [args[0]] * len(schema.returns)
        for index in written:
            for target in tensor_values(args[index]):
                check_write(state, op, target, [v for a in args for v in tensor_values(a)], python)
        if (
            len(written) == 1
            and isinstance(args[written[0]], TensorValue)
            and self._alone(op, args, python, written[0])
        ):
            state.storages.write(args[written[0]], op.name())
            return [args[written[0]]] * len(schema.returns)
        return self._on_copies(op, args, written, out)

    def _narrowed(self, op: Any, args: list[Any]) -> list[Any] | None:
        """Return the arguments of an op on a view that shows elements several times, for each element once.

        Eager lets few ops write such views: those that store one number, which do not care how often.

        Returns:
            The arguments; None if the view shows elements once, or the op may store different ones.
        """
        target = args[0]
        repeated = repeated_dims(target.fake) if isinstance(target, TensorValue) else []
        if repeated and op.name() == "aten::fill_.Tensor" and target.fake.dtype == torch.bool:
            # TorchScript makes a tensor of the bool; eager stores it as a number, but raises for a tensor.
            raise self.state.unsupported_op("fill_ of an expanded tensor of bools; fill the tensor itself")
        if not repeated or op.name() not in _STORE_ONE or 0 in target.fake.shape:
            return None
        others = list(args[1:])
        if op._schema.name == "aten::masked_fill_":
            sizes: list[Any] = [self.tensors.symbolic(expr_of(size)) for size in target.fake.shape]
            aten = torch.ops.aten
            mask = self.tensors.call_arguments(aten.expand.default, [others[0], sizes, ConstValue(False)])[0]
            for dim in repeated:
                mask = self.tensors.call_arguments(aten.any.dim, [mask, ConstValue(dim), ConstValue(True)])[0]
            others[0] = mask
        for dim in repeated:
            bounds = [ConstValue(number) for number in (dim, 0, 1, 1)]
            target = self.tensors.call_arguments(torch.ops.aten.slice.Tensor, [target, *bounds])[0]
        return [target, *others]

    def _each(self, element: Any, args: list[Any]) -> None:
        """Emit an op on lists (`_foreach_add_`) as the op on tensors, for one element of the lists after the other."""
        lengths = {len(argument) for argument in args if isinstance(argument, list)}
        if len(lengths) != 1:
            raise self.state.defect(f"{element.name()} for each element of lists of different lengths")
        for position in range(lengths.pop()):
            chosen = [argument[position] if isinstance(argument, list) else argument for argument in args]
            chosen += [ConstValue(a.default_value) for a in element._schema.arguments[len(chosen) :]]
            self.tensors.call_arguments(element, chosen)

    def _alone(self, op: Any, args: list[Any], python: list[Any], index: int) -> bool:
        """Emit an op that writes one tensor and returns nothing else; false, and nothing emitted, if there is no
        way.
        """
        state, schema, target = self.state, op._schema, args[index]
        if any(result.alias_info is None for result in schema.returns) or self.draws_in_memory_order(op, args):
            return False
        if any(map(is_generator, args)):
            return False  # the pure forms that passes know take none
        # Masks take no part in type promotion.
        operands = [value for spec, value in zip(schema.arguments, args) if spec.name != "mask"]
        flat = [value for argument in operands for value in tensor_values(argument)]
        is_out = schema.arguments[index].is_out
        pure_args = args[:index] + args[index + 1 :] if is_out else args
        functional = _of_numbers(functional_of(op, index), pure_args)
        pure_args = [
            _of_known_layout(state, argument) for argument in pure_args
        ]  # only the result's layout depends on it
        results = [state.type_of(target.fake)] * len(schema.returns)
        if op.name() == "aten::copy_":
            self.tensors.emit(op, args, results)
        elif functional is None:
            if is_out:
                return False
            self.tensors.emit(op, args, results)
        else:
            pure_trace = run(state, functional, [self.tensors.python(argument) for argument in pure_args])
            _check_cast(state, op, args, python, pure_trace.out, index)
            pointwise = torch.Tag.pointwise in op.tags
            same = (
                isinstance(pure_trace.out, torch.Tensor)
                and pure_trace.out.dtype == target.fake.dtype
                and _sizes(pure_trace.out) == _sizes(target.fake)
                and not (pointwise and _mixes_dtypes(target, flat))
                # Of logical and comparison ops, which give bools whatever they are given, the passes know no pure form.
                and not (pointwise and target.fake.dtype == torch.bool)
                and not is_comparison(functional)  # in place these are not tagged as pointwise
            )
            name = registered_name(schema)
            if not is_out and same and not has_complex(args) and self.state.emitter.registered(f"torch.{name}"):
                self.tensors.emit(op, args, results)
            else:
                self._functional(op, functional, pure_args, target)
        return True

    def _on_copies(self, op: Any, args: list[Any], written: list[int], out: Any) -> list[Any]:
        """Emit an op that runs on copies of what it writes, and store the copies."""
        state, schema = self.state, op._schema
        outs = list(out or ()) if len(schema.returns) != 1 else [out]
        targets = [target for index in written for target in tensor_values(args[index])]
        fresh = [element for element, spec in zip(outs, schema.returns) if spec.alias_info is None]
        if not all(isinstance(element, torch.Tensor) for element in fresh):
            raise state.unsupported_op(f"{op.name()}, which writes tensors and returns something other than tensors")
        types = [state.type_of(element) for element in (*(target.fake for target in targets), *fresh)]
        results = self.emit_on_copies(op, args, types)
        copy = torch.ops.aten.copy_.default
        for target, ssa in zip(targets, results):
            copied = TensorValue(ssa, target.fake, frozenset(), object(), sympy.Integer(0))
            self.tensors.emit(copy, [target, copied, ConstValue(False)], [state.type_of(target.fake)])
            state.storages.write(target, op.name())
        made = iter([state.fresh(ssa, element) for ssa, element in zip(results[len(targets) :], fresh)])
        by_set = {name: args[index] for index in written for name in schema.arguments[index].alias_info.before_set}
        returned: list[Any] = []
        for spec in schema.returns:
            if spec.alias_info is None:
                returned.append(next(made))
            else:
                returned.append(next(by_set[name] for name in spec.alias_info.before_set if name in by_set))
        return returned

    def draws_in_memory_order(self, op: Any, args: list[Any]) -> bool:
        """Whether a random op may draw its numbers in another order than that of the elements of its tensors."""
        if not self.state.emitter.is_random(op._schema) or not op._schema.name.startswith("aten::"):
            return False
        for value in (value for argument in args for value in tensor_values(argument) if value.fake.dim() > 1):
            self.state.layouts.need(value.storages, op.name())
        return any(not _surely_contiguous(value.fake) for argument in args for value in tensor_values(argument))

    def emit_on_copies(self, op: Any, args: list[Any], results: Sequence[Any]) -> list[Any]:
        """Emit an op that runs on copies of what it writes (`semantics/functionalized.py`) and return its SSA
        results.
        """
        emitter = self.state.emitter
        operands = [self.tensors.operand(value, str(spec.type)) for spec, value in zip(op._schema.arguments, args)]
        laid_out = self.draws_in_memory_order(op, args)
        if laid_out:
            strides = [n for a in args if isinstance(a, TensorValue) for n in a.fake.stride()]
            operands.append(emitter.list_of("int", [emitter.expression(expr_of(stride)) for stride in strides]))
        attributes = {
            "name": ir.StringAttr.get(f"torch.{functionalized_name(op._schema)}"),
            "tssa.schema": ir.StringAttr.get(
                functionalized_schema(op._schema, len(results), laid_out=laid_out, tensors=takes_tensors(op, args))
            ),
        }
        if emitter.is_random(op._schema):
            attributes["tssa.random"] = ir.UnitAttr.get()
        return list(emitter.op("torch.operator", results, operands, attributes).results)

    def _functional(self, op: Any, functional: Any, args: list[Any], target: TensorValue) -> None:
        """Emit the functional op, then `copy_` into the target."""
        with self.indexing.already_checked(functional):
            value = self.tensors.call_arguments(functional, args)[0]
        if not isinstance(value, TensorValue):
            raise self.state.defect(f"{op.name()}, whose functional form gives no tensor")
        if op._schema.arguments[-1].is_out and _sizes(value.fake) != _sizes(target.fake):
            raise self.state.unsupported_op(f"{op.name()}, which changes the shape of a tensor in place")
        copy = torch.ops.aten.copy_.default
        self.tensors.emit(copy, [target, value, ConstValue(False)], [self.state.type_of(target.fake)])


def _of_numbers(functional: Any, args: Sequence[Any]) -> Any:
    """The overload for the numbers that stand in the places of tensors; None if there is no functional form."""
    numbers = {number for number, value in enumerate(args) if isinstance(value, (ConstValue, ScalarValue))}
    return None if functional is None else with_numbers(functional, numbers)


def _check_cast(state: State, op: Any, args: Sequence[Any], python: list[Any], result: Any, index: int) -> None:
    """Raise what eager raises if an op's result does not fit the dtype of what it writes; FakeTensors let most pass.

    Args:
        state: the interpretation.
        op: an OpOverload.
        args: its arguments, a Value or a list of them each.
        python: the same as FakeTensors, symbols and Python values.
        result: what its functional form gives.
        index: which argument it writes.
    """
    written = args[index].fake.dtype
    if not isinstance(result, torch.Tensor) or result.dtype == written:
        return
    if not torch.can_cast(result.dtype, written):
        error = RuntimeError(f"result type {result.dtype} can't be cast to the desired output type {written}")
        outcome = ask_eager(state, op, python, error)
        if outcome is not None:
            raise outcome
    elif message := rejects_written(op, args, index, result.dtype):
        raise ProgramRaises(message)


def _mixes_dtypes(target: TensorValue, values: Sequence[TensorValue]) -> bool:
    """Whether an operand that takes part in type promotion has another dtype than the target."""
    return any(value.fake.dtype != target.fake.dtype for value in values)


def _sizes(tensor: torch.Tensor) -> tuple[Any, ...]:
    return tuple(expr_of(size) for size in tensor.shape)


def _of_known_layout(state: State, argument: Any) -> Any:
    """Return a tensor of known sizes whose strides are dynamic as if it were contiguous."""
    if not isinstance(argument, TensorValue):
        return argument
    fake = argument.fake
    unknown = [n for n in fake.stride() if not isinstance(n, int)]
    if not unknown or not all(isinstance(size, int) for size in fake.shape):
        return argument
    with state.symbols.mode, torch.no_grad():
        return replace(argument, fake=torch.empty(fake.shape, dtype=fake.dtype, device=fake.device))


def _surely_contiguous(tensor: torch.Tensor) -> bool:
    expected: Any = sympy.Integer(1)
    for size, stride in zip(map(expr_of, reversed(tensor.shape)), map(expr_of, reversed(tensor.stride()))):
        if size == 0:
            return True
        if size != 1 and stride != expected:
            return False
        expected *= size
    return True
