"""`torch.tensor` of lists whose length is dynamic: of numbers, of tensors with one element, or of tuples of these."""

from __future__ import annotations

from typing import Any

import sympy
import torch

from ..containers.containers import Containers
from ..ir.emitter import DTYPE_NUMBERS
from ..tensors.tensor_ops import TensorOps
from ..values.dynamic_list_value import DynamicListValue, is_growing
from ..values.state import State
from ..values.symbols import expr_of
from ..values.values import ConstValue, ListRef, TensorValue, Value

__all__ = ["ListTensors"]

_RESHAPES = ("aten::view", "aten::reshape")
_FALSE, _NONE = ConstValue(False), ConstValue(None)


class ListTensors:
    """Makes tensors of such lists."""

    def __init__(self, state: State, tensors: TensorOps, containers: Containers) -> None:
        self._state, self._tensors, self._containers = state, tensors, containers

    def call(self, data: Value, dtype: int | None) -> TensorValue | None:
        """Emit `torch.tensor(data, dtype)`.

        Args:
            data: the operand.
            dtype: the number of the dtype, None if none is given.
        Returns:
            The tensor; None if `data` is no such list.
        """
        if not isinstance(data, ListRef):
            return None
        form = self._state.heap.forms.get(data.cell)
        if form is not None and form.parts and form.numbers is not None:
            return self._of_lists(data, form.numbers, dtype)
        if form is not None and not (form.columns and self._containers.tuple_lists.is_growing(data)):
            return None
        if form is None and not self._containers.is_growing(data):
            return None
        found = self._columns(data)
        if found is None:
            raise self._rejected()
        leaves, shape = found
        wanted = self._dtype(leaves) if dtype is None else dtype
        made = [self._converted(leaf, wanted) for leaf in leaves]
        self._check_length(
            expr_of(made[0].fake.shape[0]), dtype, wanted, has_rank=bool(shape) and not self._is_reshaped()
        )
        if not shape:
            return made[0]
        (stacked,) = self._tensors.call_arguments(torch.ops.aten.stack.default, [made, ConstValue(1)])
        if len(shape) == 1:
            return stacked
        sizes = [self._tensors.symbolic(expr_of(stacked.fake.shape[0])), *map(ConstValue, shape)]
        return self._tensors.call_arguments(torch.ops.aten.view.default, [stacked, sizes])[0]

    def _of_lists(self, data: ListRef, kind: type, dtype: int | None) -> TensorValue | None:
        """The tensor of a list of lists of numbers, which have to have one length."""
        parts = self._containers.ragged_lists
        flat = parts.rows(data)
        if flat is None:
            return None
        leaf = DynamicListValue(flat.buffer, flat.length, kind)
        wanted = self._dtype([leaf]) if dtype is None else dtype
        made, counts = self._converted(leaf, wanted), parts.ints(parts.lists(data)[2])
        has_rank = not self._is_reshaped()
        rows = self._containers.growing.rows(counts)
        self._check_length(expr_of(rows.fake.shape[0]), dtype, wanted, has_rank=has_rank)
        scalars = self._containers.growing.scalars
        some = scalars.emit("max", [counts.length, ConstValue(1)])
        count = parts.natural("numbers of each", scalars.emit("floordiv", [flat.length, some]))
        (others,) = self._tensors.call_arguments(torch.ops.aten.ne.Scalar, [rows, count])
        (found,) = self._tensors.call_arguments(torch.ops.aten.any.default, [others])
        message = "ValueError: torch.tensor of lists of different lengths"
        scalars.require(scalars.negated(scalars.item(found, bool)), message)
        if not has_rank:
            return made
        sizes = [parts.natural("number of lists", counts.length), count]
        return self._tensors.call_arguments(torch.ops.aten.view.default, [made, sizes])[0]

    def _check_length(self, length: Any, dtype: int | None, wanted: int, *, has_rank: bool) -> None:
        """Reject an empty list, of which PyTorch makes a tensor of one dimension, of floats if no dtype is given."""
        if has_rank or (dtype is None and wanted != DTYPE_NUMBERS[torch.get_default_dtype()]):
            remedy = "; ask for its length before" if has_rank else " without a dtype; give the dtype"
            self._state.check(
                sympy.Gt(length, 0), f"unsupported: torch.tensor of an empty list of run-time length{remedy}"
            )

    def _is_reshaped(self) -> bool:
        """Whether all that is done with the tensor is to give it another shape, so that its own does not matter."""
        users = self._state.locations.users()
        return bool(users) and all(user.kind() in _RESHAPES for user in users)

    def _columns(self, data: Value) -> tuple[list[DynamicListValue], list[int]] | None:
        """The lists of numbers that one of tuples is made of, and the shape of a tuple; None if they are others."""
        heap = self._state.heap
        if not isinstance(data, ListRef):
            return None
        contents = heap.contents[data.cell]
        form = heap.forms.get(data.cell)
        if form is None:
            if not is_growing(contents):
                return None
            value: Any = contents[0]
            return ([value], []) if value.buffer.fake.dim() == 1 else None
        if not form.columns:
            return None
        found = [self._columns(column) for column in contents]
        if any(part is None or part[1] != found[0][1] for part in found):  # type: ignore[index]
            return None
        return [leaf for part in found for leaf in part[0]], [len(found), *found[0][1]]  # type: ignore[index]

    def _dtype(self, leaves: list[DynamicListValue]) -> int:
        """The dtype that torch.tensor chooses."""
        kinds = {leaf.kind for leaf in leaves}
        if torch.Tensor in kinds:
            dtypes = {leaf.buffer.fake.dtype for leaf in leaves}
            if len(kinds) > 1 or len(dtypes) > 1:
                raise self._rejected()
            return DTYPE_NUMBERS[dtypes.pop()]
        if float in kinds:
            return DTYPE_NUMBERS[torch.get_default_dtype()]
        return DTYPE_NUMBERS[torch.int64 if int in kinds else torch.bool]

    def _converted(self, leaf: DynamicListValue, dtype: int) -> TensorValue:
        """The elements in a tensor of that dtype, made as from Python's numbers."""
        made = self._containers.growing.stacked(leaf)
        double = DTYPE_NUMBERS[torch.float64]
        narrow = dtype in (DTYPE_NUMBERS[each] for each in (torch.float32, torch.float16, torch.bfloat16))
        for number in (double, dtype) if leaf.kind is int and narrow else (dtype,):
            operands = [made, ConstValue(number), _FALSE, _FALSE, _NONE]
            made = self._tensors.call(torch.ops.aten.to.dtype, operands)[0]
        return made

    def _rejected(self) -> Exception:
        return self._state.unsupported_op(
            "torch.tensor of a list whose length depends on run-time values with other elements than numbers, or tuples "
            "of numbers; stack it first"
        )
