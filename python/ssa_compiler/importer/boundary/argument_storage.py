"""Tensor objects of the caller's and the module's that change shape: what `@main` returns about them, and capacity for
more.

`metadata_mutation.py` makes their values stand for other views while the program is imported. Here, before the first
op, an argument whose storage the program makes larger is given one that is as large from the start, and one whose
storage the program looks at (`as_strided.py`) becomes a view of the storage, which `@main` takes instead; and at the
end it is collected what the caller's own objects have to become (`abi/object_writeback.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import sympy
import torch

from ...abi.object_writeback import ChangedObject
from ...abi.results import OutputLeaf, OutputSpec, OutputTuple
from ..ops.tensor_queries import Metadata
from ..tensors.as_strided import WHOLE_STORAGE
from ..tensors.metadata_mutation import become, extend_storage, needed_length
from ..tensors.tensor_ops import TensorOps
from ..values.modules import FoundParameter, Modules
from ..values.state import State
from ..values.values import ConstValue, TensorValue, Value

__all__ = ["CallersObjects"]


class CallersObjects:
    """Knows the arguments whose storage matters.

    Attributes:
        storages: numbers of the arguments of `@main` that are the whole storage of a tensor, flattened.

    Args:
        state: the interpretation.
        tensors: emits ops.
        metadata: makes values of sizes.
    """

    def __init__(self, state: State, tensors: TensorOps, metadata: Metadata) -> None:
        self.state, self.tensors, self.metadata = state, tensors, metadata
        self.storages: frozenset[int] = frozenset()
        self._extended: dict[int, TensorValue] = {}

    def prepare(self) -> None:
        """Let arguments of which an earlier import found that their storage matters be views of it, or of a larger
        one.
        """
        state = self.state
        for index, value in state.arguments.items():
            if (WHOLE_STORAGE, ("argument", index)) in state.plan.retries:
                self._take_storage(index, value)
            length = needed_length(state, ("argument", index))
            if length:
                reason = "the program makes it larger"
                state.layouts.need(value.storages, "aten::resize_", exact=True)
                state.storages.storage_reasons[("argument", index)] = (0, value.fake.numel(), reason)
                state.originals[id(value)] = (value, replace(value))
                self._extended[index], view = extend_storage(self.tensors, value, length)
                become(state, value, view)

    def _take_storage(self, index: int, value: TensorValue) -> None:
        """Let an argument of `@main` be the storage of a tensor, and the tensor a view of it."""
        state, storage, length = self.state, ("argument", index), self.state.storages.lengths[value.root]
        offset = int(value.offset)
        state.layouts.need(value.storages, "aten::as_strided", exact=True)
        state.storages.storage_reasons[storage] = (offset, length, "the program reads the storage of the argument")
        state.storages.need_plain(value, "is_conj" if value.fake.dtype.is_complex else "is_neg", "aten::as_strided")
        with state.symbols.mode, torch.no_grad():
            flat = torch.empty(length, dtype=value.fake.dtype, device=value.fake.device)
        argument = state.emitter.entry.arguments[index]
        argument.set_type(state.type_of(flat))
        whole = TensorValue(argument, flat, value.storages, object(), sympy.Integer(0))
        state.storages.owners[whole.root] = whole
        state.originals[id(value)] = (value, replace(value))
        sizes, strides = ([ConstValue(int(n)) for n in numbers] for numbers in (value.fake.shape, value.fake.stride()))
        as_strided = torch.ops.aten.as_strided.default
        (view,) = self.tensors.call_arguments(as_strided, [whole, sizes, strides, ConstValue(offset)])
        become(state, value, view)
        self.storages |= {index}

    def changed(
        self,
        parameters: Mapping[int, FoundParameter],
        modules: Modules,
        output: Callable[[Value], OutputSpec],
        leaf: Callable[[Any, type], OutputLeaf],
    ) -> tuple[ChangedObject, ...]:
        """Collect what the objects become.

        Args:
            parameters: the module's tensors, by the numbers of their arguments of `@main`.
            modules: knows their names.
            output: makes a value a result of `@main`, if it is no constant.
            leaf: makes an SSA value of a kind a result of `@main`.
        """
        state, integer = self.state, self.metadata.integer
        changed = []
        values = {index: found.value for index, found in parameters.items()}
        for index, value in {**state.arguments, **values}.items():
            if id(value) not in state.originals:
                continue
            if index in parameters:
                modules.check_one_object(parameters[index])
            before = state.originals[id(value)][1]
            sizes, strides = (
                OutputTuple(tuple(output(integer(number)) for number in numbers))
                for numbers in (value.fake.shape, value.fake.stride())
            )
            offset = output(self.tensors.symbolic(sympy.expand(value.offset - before.offset)))
            whole = self._extended.get(index)
            contents = leaf(whole.ssa, torch.Tensor) if whole is not None else None
            changed.append(ChangedObject(index, sizes, strides, offset, contents))
        return tuple(changed)
