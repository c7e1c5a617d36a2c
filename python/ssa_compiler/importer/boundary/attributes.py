"""What the program binds attributes of the module to, as results of `@main`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from ...abi.module_state import AttributeSpec, RebindingSpec
from ...errors import UnsupportedProgramError
from ..tensors.disjointness import provably_disjoint
from ..values.dynamic_list_value import DynamicListValue
from ..values.heap import Heap
from ..values.modules import NO_TENSOR, Modules, NewObject
from ..values.state import State
from ..values.symbols import expr_of
from ..values.values import (
    ChosenRef,
    DictRef,
    ListRef,
    OptionalValue,
    Site,
    TensorValue,
    TupleValue,
    Value,
    tensor_values,
)
from .outputs import Outputs

__all__ = ["Attributes"]


class Attributes:
    """Collects the attributes that a call assigns."""

    def __init__(self, state: State, modules: Modules, model: Any, outputs: Outputs) -> None:
        self._state, self._modules, self._model, self._outputs = state, modules, model, outputs

    def rebindings(self) -> tuple[RebindingSpec, ...]:
        """Collect the results of `@main` that tensor attributes are bound to after a call."""
        found = self._modules.assigned()
        for assigned in found:
            first, value = assigned.first, _tensor_of(assigned.value)
            kept = first if assigned.name not in self._modules.reshaped and isinstance(first, TensorValue) else None
            if value is not None and kept is not None:
                if not self._state.same_sizes(value, kept, "the assignment of an attribute"):
                    raise self._state.unsupported(
                        "a tensor that changes its shape in place while it is an attribute; assign a new one"
                    )
        for new in self._modules.new_objects:
            self._check_shared_state(new)
        returned = dict(self._outputs.leaves)
        objects = {
            NO_TENSOR - 1 - number: returned[id(new.value)][1]
            for number, new in enumerate(self._modules.new_objects)
            if id(new.value) in returned
        }
        return tuple(
            RebindingSpec(a.name, self._model, self._outputs.output(a.value), self._outputs.output(a.source), objects)
            for a in found
        )

    def replaced(self) -> dict[str, Value]:
        """Return what the attributes are bound to that are arguments and that the program assigned."""
        found = {path: self._state.heap.contents[("attribute", path)][0] for path in self._modules.held}
        return {path: value for path, value in found.items() if value is not self._modules.held[path]}

    def check_contents(self, own: set[Site]) -> None:
        """Reject a list, dict or tuple of the module that gets a view of another tensor of the module's: it would get a
        copy, which is no difference only as long as nothing writes what is shared.

        Args:
            own: the storages of the module's tensors.
        """
        heap, storages = self._state.heap, self._state.storages
        kept: list[tuple[str, TensorValue]] = []
        for path in self._modules.held:
            held = heap.contents[("attribute", path)][0]
            kept += [(path, tensor) for tensor in _tensors_in(heap, held, set())]
            kept += [(path, tensor) for tensor in _tensors_in(heap, self._modules.held[path], set())]
        arguments = list(self._state.emitter.entry.arguments)
        for number, (path, tensor) in enumerate(kept):
            if any(argument == tensor.ssa for argument in arguments) and not tensor.renewed:
                continue  # the object itself
            others = [other for _, other in kept[:number] if other.ssa != tensor.ssa and other.root is tensor.root]
            apart = all(provably_disjoint(self._state.symbols, tensor, other) for other in others)
            if tensor.storages & own & storages.written or not apart:
                held = self._modules.held[path]
                cells = [("attribute", path), *([held.cell] if isinstance(held, (ListRef, DictRef)) else [])]
                raise UnsupportedProgramError(
                    f"unsupported: the attribute {path}, which gets a tensor that may share memory with another one of the "
                    "module; clone() it",
                    location=next((heap.places[cell] for cell in cells if cell in heap.places), None),
                )

    def _check_shared_state(self, new: NewObject) -> None:
        """Reject an attribute that shares memory with another one in some runs, or with a part of it: it would be a
        copy.

        That is no difference as long as nothing writes what is shared.
        """
        storages = new.value.storages.union(*(tensor.storages for tensor in tensor_values(new.first)))
        for parameter in self._modules.found:
            name = next((name for name in parameter.names if name != new.name), None)
            if name is None or parameter.storage not in new.value.storages:
                continue
            if storages & self._state.storages.written or new.name in parameter.names:
                raise UnsupportedProgramError(
                    f"unsupported: the attribute {new.name}, bound to a tensor that may share memory with the attribute "
                    f"{name}; clone() it",
                    location=new.place,
                )

    def check_strides(self) -> None:
        """Reject an attribute whose strides matter and which is bound to a tensor with others.

        The module's own tensor keeps its strides; in eager the next call would find those of the new one.
        """
        for assigned in self._modules.assigned():
            first, value = assigned.first, _tensor_of(assigned.value)
            if not isinstance(first, TensorValue) or value is None:
                continue
            if assigned.name in self._modules.reshaped and _is_plain(value.fake):
                continue
            reasons = [self._state.layouts.reasons[s] for s in first.storages if s in self._state.layouts.reasons]
            sizes, old, new = (map(expr_of, n) for n in (first.fake.shape, first.fake.stride(), value.fake.stride()))
            others = any(size != 1 and a != b for size, a, b in zip(sizes, old, new))
            if reasons and (others or self._state.layouts.has_ambiguous_strides(value)):
                raise self._state.unsupported(
                    f"an attribute that is bound to a tensor with other strides ({reasons[0]} needs those it has); "
                    "assign its contiguous()"
                )

    def numbers(self, first: int) -> tuple[AttributeSpec, ...]:
        """Collect the results of `@main` that are numbers of the module; their arguments start at `first`."""
        return tuple(
            AttributeSpec(
                found.name,
                first + number,
                found.kind,
                self._model,
                self._outputs.output(self._state.heap.contents[found.cell][0]),
            )
            for number, found in enumerate(self._modules.numbers)
        )


def _is_plain(fake: torch.Tensor) -> bool:
    """Whether a tensor is contiguous, which can be told if its sizes are known."""
    return all(isinstance(number, int) for number in (*fake.shape, *fake.stride())) and fake.is_contiguous()


def _tensors_in(heap: Heap, value: Value, seen: set[Site]) -> Iterator[TensorValue]:
    """Iterate over the tensors in a value, each container of the heap once."""
    if isinstance(value, TensorValue):
        yield value
    elif isinstance(value, OptionalValue):
        yield from _tensors_in(heap, value.value, seen)
    elif isinstance(value, DynamicListValue):
        if value.kind is torch.Tensor:
            yield value.buffer
    elif isinstance(value, (ChosenRef, TupleValue)):
        for element in value.choices if isinstance(value, ChosenRef) else value.elements:
            yield from _tensors_in(heap, element, seen)
    elif isinstance(value, (ListRef, DictRef)) and value.cell not in seen:
        seen.add(value.cell)
        for element in heap.contents[value.cell]:
            yield from _tensors_in(heap, element, seen)


def _tensor_of(value: Value) -> TensorValue | None:
    """The tensor that a value is, or may be."""
    value = value.value if isinstance(value, OptionalValue) else value
    return value if isinstance(value, TensorValue) else None
