"""Ops that ask about values or make constants, answered at import: sizes, dtypes, None tests, tensor literals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import sympy
import torch
from torch_mlir import ir

from ...abi.results import TORCH_SIZE
from ...semantics.dtypes import by_mlir, by_torch
from ..containers.arenas import row_of
from ..containers.containers import Containers
from ..ir.emitter import DTYPE_NAMES, DTYPE_NUMBERS
from ..ir.locations import highlighted
from ..ir.torchscript_enums import Numbered
from ..tensors.range_lengths import derived_index, range_length
from ..tensors.scalar_ops import ScalarOps
from ..tensors.tensor_ops import TensorOps
from ..tensors.traced_sizes import NumberTensors
from ..torchscript.as_eager import ASKED
from ..values.diagnostics import ProgramRaises
from ..values.heap import TUPLE
from ..values.state import State
from ..values.symbols import expr_of
from ..values.values import (
    ConstValue,
    DictRef,
    ListRef,
    OptionalValue,
    ScalarValue,
    TensorValue,
    TupleValue,
    Value,
    is_generator,
)
from .list_tensors import ListTensors
from .nested_tensors import NestedValue
from .promotion import check_number, check_written

__all__ = ["Metadata"]

_READS = {
    "aten::item": None,
    "aten::Int": int,
    "aten::Float": float,
    "aten::Bool": bool,
    "aten::IntImplicit": int,
    "aten::FloatImplicit": float,
    "aten::ScalarImplicit": None,
    "aten::is_nonzero": bool,
}
_NO_NUMBER = "ValueError: only one element tensors can be converted to Python scalars"
_NO_INDEX = "TypeError: only integer tensors of a single element can be converted to an index"
_NO_BOOL = "RuntimeError: Boolean value of Tensor with no values, or more than one value, is ambiguous"
_READ_REJECTIONS = {
    "aten::Int": _NO_NUMBER,
    "aten::Float": _NO_NUMBER,
    "aten::FloatImplicit": _NO_NUMBER,
    "aten::IntImplicit": _NO_INDEX,
    "aten::Bool": _NO_BOOL,
    "aten::is_nonzero": _NO_BOOL,
}
"""What Python's conversions raise for tensors that have not one element, where it is not what `item` raises."""
_FLAGS = {
    "prim::is_cuda": "is_cuda",
    "prim::is_cpu": "is_cpu",
    "prim::is_sparse": "is_sparse",
    "prim::is_quantized": "is_quantized",
    "prim::is_mkldnn": "is_mkldnn",
    "prim::is_meta": "",
    "prim::is_nested": "is_nested",
    "prim::requires_grad": "requires_grad",
    "prim::layout": "layout",
    "prim::itemsize": "itemsize",
}
_OF_NESTED = frozenset(
    {"aten::dim", "aten::is_floating_point", "prim::device", "prim::dtype", "prim::is_nested", "prim::requires_grad"}
)
"""What is asked of a nested tensor, and is so of the padded one."""
_OF_NUMBERS = {float: torch.float64, int: torch.int64, bool: torch.bool}
"""The dtype of a number that TorchScript makes a tensor, of which torch.tensor would make one of the default dtype."""
_CALLS = {
    "aten::is_floating_point": lambda t: t.is_floating_point(),
    "aten::is_complex": lambda t: t.is_complex(),
    "aten::is_signed": lambda t: t.is_signed(),
    "aten::is_conj": lambda t: t.is_conj(),
    "aten::is_neg": lambda t: t.is_neg(),
    "aten::element_size": lambda t: t.element_size(),
}


class Metadata:
    """Answers by the name of the op; `call` returns None for every other op."""

    def __init__(self, state: State, tensors: TensorOps, scalars: ScalarOps, containers: Containers) -> None:
        self.state, self.tensors, self.scalars, self.containers = state, tensors, scalars, containers
        self.number_tensors = NumberTensors(state, scalars)
        self.list_tensors = ListTensors(state, tensors, containers)
        tensors.literal = self.literal

    def call(self, kind: str, node: Any, arguments: Sequence[Value]) -> list[Value] | None:
        """Import the node if it is such an op.

        Args:
            kind: `aten::size`, ...
            node: the node.
            arguments: its inputs.
        Returns:
            Its results; None if it is another kind of op.
        """
        first = arguments[0] if arguments else ConstValue(None)
        if kind in ("aten::__is__", "aten::__isnot__"):
            return [self._is(kind == "aten::__is__", arguments)]
        if kind == "prim::NumToTensor":
            made = self.tensor([first], [], _OF_NUMBERS.get(self.scalars.kind(first)))
            self.number_tensors.note(made, first)
            return [made]
        if kind == "aten::tensor":
            if not highlighted(node):
                if isinstance(first, ListRef) and self.containers.classes.is_tuple(first) and _is_of_tensors(node):
                    return [TupleValue(self.containers.elements(first))]  # `x[torch.where(m)]`
                self._check_stored(arguments)
            return [self.placed(self._tensor(arguments), arguments)]
        if kind == "aten::as_tensor" and not isinstance(first, (TensorValue, OptionalValue)):
            return [self.placed(self._tensor(arguments), arguments)]
        if kind == "aten::__range_length" or kind == "aten::__derive_index":
            counts = range_length if kind == "aten::__range_length" else derived_index
            return [counts(self.scalars, *arguments)]
        if kind == "aten::result_type":
            given = [a.kind(1) if isinstance(a, ScalarValue) else self.tensors.python(a) for a in arguments]
            return [self.dtype(torch.result_type(*given))]
        if kind == "aten::is_grad_enabled":
            return [ConstValue(self.state.storages.records_gradients())]
        if kind == "prim::unchecked_cast":
            return [first]
        if isinstance(first, NestedValue) and kind in _OF_NESTED:
            return self._of_tensor(kind, first.padded, arguments) if kind != "prim::is_nested" else [ConstValue(True)]
        if isinstance(first, TensorValue):
            return self._of_tensor(kind, first, arguments)
        return None

    def dtype(self, dtype: torch.dtype) -> Value:
        """Return a dtype as a value; where eager runs TorchScript, it is a number."""
        number = DTYPE_NUMBERS[dtype]
        return ConstValue(number if self.state.scripted else Numbered(number, dtype))

    def _is(self, wanted: bool, arguments: Sequence[Value]) -> Value:
        a, b = arguments
        if isinstance(b, ConstValue) and b.value == ASKED:
            self.containers.classes.asked(a)
            return ConstValue(False)
        nones = [isinstance(v, ConstValue) and v.value is None for v in (a, b)]
        if any(nones):
            other = b if nones[0] else a
            if isinstance(other, OptionalValue):
                return self.scalars.emit("__not__", [other.present]) if wanted else other.present
            return ConstValue(all(nones) == wanted)
        if isinstance(a, TensorValue) and isinstance(b, TensorValue):
            return ConstValue(self._same_object(a, b) == wanted)
        if isinstance(a, (ListRef, DictRef)) and isinstance(b, (ListRef, DictRef)):
            return ConstValue(self._same_container(a, b) == wanted)
        rows = [row_of(each) for each in (a, b)]
        if rows[0] is not None and rows[1] is not None:
            return self.scalars.emit("eq" if wanted else "ne", rows)
        if isinstance(a, ConstValue) and isinstance(b, ConstValue) and Numbered in (type(a.value), type(b.value)):
            return ConstValue((a.value == b.value) == wanted)
        if is_generator(a) and is_generator(b):
            numbers = [self.state.opaque_scalar(int, each.ssa) for each in (a, b)]
            return self.scalars.emit("eq" if wanted else "ne", numbers)
        raise self.state.unsupported_op("'is' on anything but None, tensors, lists, dicts and objects")

    def _same_container(self, a: ListRef | DictRef, b: ListRef | DictRef) -> bool:
        """Whether two names are one list, dict or object."""
        if a.cell == b.cell:
            return True
        state = self.state
        if any(value.cell in state.heap.frozen | {*state.heap.module_owned, *state.heap.views} for value in (a, b)):
            raise state.unsupported_op(
                "'is' on lists, dicts or objects that control flow chose or that belong to a module"
            )
        if a.cell in state.heap.caller_owned and b.cell in state.heap.caller_owned:
            raise state.unsupported_op("'is' on two lists, dicts or objects among the arguments")
        return False

    def _same_object(self, a: TensorValue, b: TensorValue) -> bool:
        """Whether two names are one tensor object; among arguments, what the example says, to be checked by calls."""
        if a is b:
            return True
        first, second = self._argument_index(a), self._argument_index(b)
        if first is not None and second is not None:
            same = self.state.examples[first] is self.state.examples[second]
            self.state.identities[(first, second)] = same
            return same
        outer = {site[0] for value in (a, b) for site in value.storages}
        if "parameter" in outer and outer <= {"argument", "parameter"} and len(outer) == 2:
            raise self.state.unsupported_op("'is' on an argument and a tensor of the module")
        if not a.storages & b.storages or not (a.chosen or b.chosen):
            return False
        if self.state.locations.is_in_library():
            return False  # attention asks whether it can spare a product
        raise self.state.unsupported_op("'is' on tensors that control flow chose")

    def _argument_index(self, value: TensorValue) -> int | None:
        return next((index for index, known in self.state.arguments.items() if known is value), None)

    def _of_tensor(self, kind: str, tensor: TensorValue, arguments: Sequence[Value]) -> list[Value] | None:
        fake = tensor.fake
        if kind in _READS:
            number = self.number_tensors.of(tensor)
            if number is not None and _READS[kind] in (int, None):
                return [number]
            return [self.scalars.item(tensor, _READS[kind], _READ_REJECTIONS.get(kind, ""))]
        if kind == "aten::size":
            if len(arguments) == 1:
                return [self._shape(fake)]
            return [self.integer(fake.shape[self.state.dim(arguments[1], fake.dim())])]
        if kind in ("aten::len",):
            if fake.dim() == 0:
                raise ProgramRaises("TypeError: len() of a 0-d tensor")
            return [self.integer(fake.shape[0])]
        if kind in ("aten::dim", "aten::ndimension"):
            return [ConstValue(fake.dim(), structural=True)]
        if kind == "prim::shape":
            return [self._shape(fake)]
        if kind == "aten::numel":
            return [self.integer(fake.numel())]
        if kind == "prim::dtype":
            return [self.dtype(fake.dtype)]
        if kind == "prim::device":
            return [ConstValue(fake.device)]
        if kind == "aten::get_device":
            return [ConstValue(-1 if fake.device.index is None else fake.device.index)]
        if kind == "prim::data":
            return self.tensors.call(torch.ops.aten.detach.default, [tensor])  # the same without gradients
        if kind == "prim::grad":
            return [ConstValue(None)]
        if kind in _FLAGS:
            value = getattr(fake, _FLAGS[kind]) if _FLAGS[kind] else False
            if kind == "prim::requires_grad":
                return [ConstValue(self._requires_grad(tensor))]
            if isinstance(value, torch.layout):
                return [ConstValue(0 if self.state.scripted else Numbered(0, value))]
            return [ConstValue(value)]
        if kind == "aten::is_inference":
            raise self.state.unsupported_op(
                "is_inference, as compiled code makes no inference tensors; ask torch.is_grad_enabled()"
            )
        if kind in ("aten::is_conj", "aten::is_neg"):
            self.state.storages.need_plain(tensor, kind.removeprefix("aten::"), kind)
        if kind in _CALLS:
            return [ConstValue(_CALLS[kind](fake))]
        if kind in ("aten::is_contiguous", "aten::stride", "aten::storage_offset"):
            return self._layout(kind, tensor, arguments)
        return None

    def _requires_grad(self, tensor: TensorValue) -> bool:
        self.state.storages.need_plain(tensor, "requires_grad", "prim::requires_grad")
        if not tensor.storages & self.state.storages.requiring:
            return False
        # A view of a parameter requires gradients if they are recorded.
        return self.state.storages.owners.get(tensor.root) is tensor or self.state.storages.records_gradients()

    def _shape(self, fake: torch.Tensor) -> Value:
        return self.containers.classes.note(
            self.containers.new_list([self.integer(size) for size in fake.shape]), TORCH_SIZE
        )

    def _layout(self, kind: str, tensor: TensorValue, arguments: Sequence[Value]) -> list[Value]:
        fake = tensor.fake
        if not all(isinstance(n, int) for n in (*fake.shape, *fake.stride())):
            raise self.state.unsupported_op(f"{kind} of a tensor whose sizes are dynamic")
        state = self.state
        state.storages.settle(tensor, kind, strides=kind != "aten::storage_offset")
        state.layouts.need(tensor.storages, kind, exact=kind == "aten::stride")
        if kind == "aten::storage_offset":
            callers = [value for value in state.storages.owners.values() if value.root in state.storages.lengths]
            for owner in callers:
                for storage in owner.storages & tensor.storages:
                    size = (
                        state.storages.storage_reasons[storage][1]
                        if storage in state.storages.storage_reasons
                        else None
                    )
                    reason = f"{kind} at {state.locations.user()}"
                    state.storages.storage_reasons[storage] = (int(owner.offset), size, reason)
        if kind == "aten::is_contiguous":
            if len(arguments) > 1:
                raise self.state.unsupported_op("is_contiguous with a memory format")
            return [ConstValue(fake.is_contiguous())]
        if kind == "aten::storage_offset":
            known = tensor.absolute and state.emitter.visible(tensor.offset)
            return [self.integer(state.symbols.to_symint(tensor.offset) if known else fake.storage_offset())]
        strides = [ConstValue(stride) for stride in fake.stride()]
        if len(arguments) > 1:
            return [strides[self.state.dim(arguments[1], fake.dim())]]
        return [self.containers.classes.note(self.containers.new_list(strides), TUPLE)]

    def integer(self, size: Any) -> Value:
        """Return a size as a constant or scalar."""
        expr = expr_of(size)
        if isinstance(expr, sympy.Integer):
            return ConstValue(int(expr))
        return self.state.scalar(int, self.state.emitter.expression(expr), size)

    # Tensor literals.

    def placed(self, made: Value, arguments: Sequence[Value]) -> Value:
        """Return a new tensor, made on the CPU, on the device that `torch.tensor` was asked for."""
        named = [a.value for a in arguments if isinstance(a, ConstValue) and isinstance(a.value, torch.device)]
        if not named or not isinstance(made, TensorValue) or made.fake.device.type == named[0].type:
            return made
        with self.state.symbols.mode, torch.no_grad():
            return replace(made, fake=made.fake.to(named[0]))

    def _tensor(self, arguments: Sequence[Value]) -> Value:
        data, dtype = arguments[0], arguments[1]
        if isinstance(data, TensorValue):
            if not isinstance(dtype, ConstValue) or dtype.value is None:
                return self.tensors.call(torch.ops.aten.clone.default, [data, ConstValue(None)])[0]
            operands = [data, dtype, ConstValue(False), ConstValue(True), ConstValue(None)]
            return self.tensors.call(torch.ops.aten.to.dtype, operands)[0]
        wanted = dtype.value if isinstance(dtype, ConstValue) else None
        number = {v: k for k, v in DTYPE_NUMBERS.items()}
        if (made := self.list_tensors.call(data, wanted)) is not None:
            return made
        leaves, shape = self._nested(data)
        leaves = [self._leaf(leaf, wanted) for leaf in leaves]
        return self.tensor(leaves, shape, None if wanted is None else number[wanted])

    def _check_stored(self, arguments: Sequence[Value]) -> None:
        """Check a number that `x[i] = number` makes a tensor of, by an op that rejects more than `torch.tensor`
        does.
        """
        number, dtype = arguments[0], arguments[1]
        if self.scalars.are_numbers([number]) and isinstance(dtype, ConstValue) and dtype.value is not None:
            none, op = ConstValue(None), torch.ops.aten.scalar_tensor.default
            check_written(self.tensors, self.scalars, op, [number, dtype, none, none, none], 0)

    def _leaf(self, leaf: Value, wanted: int | None) -> Value:
        """An element of a tensor literal: a number, also if it is a tensor that is passed for one."""
        if not isinstance(leaf, TensorValue):
            return leaf
        if wanted is None and leaf.fake.dtype not in (torch.int64, torch.bool, torch.get_default_dtype()):
            raise self.state.unsupported_op(
                f"torch.tensor of a list with a tensor of {leaf.fake.dtype}; give the dtype"
            )
        return self.scalars.item(leaf, None)

    def _nested(self, value: Value) -> tuple[list[Value], list[int]]:
        """Return the scalars of nested lists and the shape."""
        if not isinstance(value, (ListRef, TupleValue, DictRef)):
            return [value], []
        parts = [self._nested(element) for element in self.containers.elements(value)]
        if any(part[1] != parts[0][1] for part in parts):
            raise ProgramRaises("ValueError: expected sequences of equal length")
        shape = [len(parts), *(parts[0][1] if parts else [])]
        return [leaf for part in parts for leaf in part[0]], shape

    def tensor(self, leaves: Sequence[Value], shape: list[int], dtype: torch.dtype | None) -> TensorValue:
        """Make a new tensor from scalars.

        Args:
            leaves: constants and scalars, in row-major order.
            shape: sizes.
            dtype: its dtype; None chooses as torch.tensor does.
        """
        kinds = {self.scalars.kind(leaf) for leaf in leaves}
        if dtype is None:
            dtype = torch.get_default_dtype() if float in kinds or not kinds else torch.int64
            if kinds == {bool}:
                dtype = torch.bool
        if all(isinstance(leaf, ConstValue) for leaf in leaves):
            values = [leaf.value for leaf in leaves]  # type: ignore[attr-defined]
            try:
                made = torch.tensor(values, dtype=dtype)
            except (RuntimeError, OverflowError, TypeError) as error:
                raise ProgramRaises(f"{type(error).__name__}: {str(error).splitlines()[0]}") from error
            return self.literal(made.reshape(shape))
        if dtype is not torch.bool and not dtype.is_floating_point and not dtype.is_complex:
            name = str(dtype).removeprefix("torch.")
            message = f"RuntimeError: value cannot be converted to type {name} without overflow"
            for leaf in leaves:
                check_number(self.scalars, leaf, dtype, message)
        pieces = [self._full(leaf, dtype) for leaf in leaves]
        if not shape:
            return pieces[0]
        stacked = self.tensors.call_arguments(torch.ops.aten.stack.default, [pieces, ConstValue(0)])[0]
        if len(shape) == 1:
            return stacked
        sizes = [ConstValue(size) for size in shape]
        return self.tensors.call_arguments(torch.ops.aten.view.default, [stacked, sizes])[0]

    def _full(self, leaf: Value, dtype: torch.dtype) -> TensorValue:
        none = ConstValue(None)
        narrow = self.scalars.kind(leaf) is float and dtype in (torch.float32, torch.float16, torch.bfloat16)
        # A number that is too large is infinite to torch.tensor, and rejected by torch.full.
        made = torch.float64 if narrow and not isinstance(leaf, ConstValue) else dtype
        arguments = [[], leaf, ConstValue(DTYPE_NUMBERS[made]), none, none, none]
        full = self.tensors.call_arguments(torch.ops.aten.full.default, arguments)[0]
        if made is dtype:
            return full
        flag = ConstValue(False)
        return self.tensors.call(torch.ops.aten.to.dtype, [full, ConstValue(DTYPE_NUMBERS[dtype]), flag, flag, none])[0]

    def literal(self, tensor: torch.Tensor) -> TensorValue:
        """Make a tensor of known contents."""
        state = self.state
        tensor = tensor.detach().contiguous().cpu()
        if tensor.dtype in (torch.complex64, torch.complex128):  # MLIR's bindings for Python know no complex literals
            pairs = self.literal(torch.view_as_real(tensor))
            return self.tensors.call(torch.ops.aten.view_as_complex.default, [pairs])[0]
        carrier = by_torch()[tensor.dtype].carrier if tensor.dtype in by_torch() else ""
        if carrier:
            numbers = self.literal(tensor.view(by_mlir()[carrier].dtype))
            dtype = ConstValue(DTYPE_NUMBERS[tensor.dtype])
            return self.tensors.call(torch.ops.aten.view.dtype, [numbers, dtype])[0]
        if tensor.dtype not in DTYPE_NAMES:
            raise state.unsupported(f"a constant tensor of dtype {tensor.dtype}; make it an argument")
        element = DTYPE_NAMES[tensor.dtype]
        dims = "x".join([*(str(size) for size in tensor.shape), element])
        attribute = ir.Attribute.parse(f"dense<{_dense_text(tensor)}> : tensor<{dims}>", state.emitter.context)
        to = state.emitter.tensor_type(tensor.dtype, tensor.shape)
        ssa = state.emitter.op("torch.tensor.literal", [to], (), {"value": attribute}).result
        with state.symbols.mode:
            fake = torch.empty(tensor.shape, dtype=tensor.dtype)
        value = state.fresh(ssa, fake)
        if tensor.numel() and tensor.dtype in (torch.int64, torch.int32):
            state.ranges.add(value, (int(tensor.min()), int(tensor.max())))
        return value


def _dense_text(tensor: torch.Tensor) -> str:
    """The contents of an MLIR dense attribute, exact for every dtype."""
    if tensor.numel() == 0:
        return ""
    if tensor.dtype == torch.bool:
        return str(tensor.tolist()).lower()
    raw = tensor.reshape(-1).view(torch.uint8).numpy().tobytes()
    return f'"0x{raw.hex().upper()}"'


def _is_of_tensors(node: Any) -> bool:
    """Whether the first operand of a node is a list of tensors."""
    kind = next(node.inputs()).type()
    return bool(kind.kind() == "ListType" and kind.getElementType().kind() == "TensorType")
