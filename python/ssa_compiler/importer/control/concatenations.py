"""`torch.cat([first] + rest)`, where `rest` has a dynamic length and elements of another size."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch

from ..values.dynamic_list_value import DynamicListValue, LengthChanges
from ..values.values import ListRef, Value
from .chosen_inputs import ChosenInputs

__all__ = ["Concatenations"]

_CAT = ("aten::cat", "aten::concat", "aten::concatenate")
_LIST_MAKING = ("prim::Constant", "prim::ListConstruct")


@dataclass(frozen=True)
class _Joined(Value):
    """The elements of several lists, which nothing but a concatenation reads."""

    lists: tuple[ListRef, ...]


class Concatenations(ChosenInputs):
    """Imports a concatenation of lists that are joined for it."""

    def _one_node(self, node: Any, kind: str) -> list[Value]:
        if kind not in (*_CAT, "aten::add"):
            return super()._one_node(node, kind)
        operands = [self._environments[-1].get(value.debugName()) for value in list(node.inputs())[:2]]
        has_joined = any(isinstance(each, _Joined) for each in operands)
        if kind in _CAT and has_joined:
            dim = self._lookup(list(node.inputs())[1])
            parts = [part for each in operands[0].lists for part in self._parts(each, dim)]  # type: ignore[union-attr]
            return self.tensors.call_arguments(torch.ops.aten.cat.default, [parts, dim])
        if not has_joined and (kind in _CAT or not self._is_concatenated(node)):
            return super()._one_node(node, kind)
        if not has_joined:
            try:
                with self.state.emitter.attempt():
                    return super()._one_node(node, kind)
            except LengthChanges:
                if not all(map(self._can_be_parts, operands)):
                    raise
        elif not all(isinstance(each, _Joined) or self._can_be_parts(each) for each in operands):
            raise self.containers.growing.rejected()
        lists = [each.lists if isinstance(each, _Joined) else (each,) for each in operands]
        return [_Joined(tuple(part for each in lists for part in each))]  # type: ignore[misc]

    def _can_be_parts(self, value: Value | None) -> bool:
        """Whether a list is made of tensors, or of rows that can be concatenated however many there are."""
        if not isinstance(value, ListRef) or value.cell in self.state.heap.forms:
            return False
        contents = self.state.heap.contents[value.cell]
        return all(part.buffer.fake.dim() > 1 for part in contents if isinstance(part, DynamicListValue))

    def _parts(self, value: ListRef, dim: Value) -> Iterator[Value]:
        """The tensors that a list stands for in a concatenation: all elements of one of dynamic length are one."""
        for part in self.state.heap.contents[value.cell]:
            yield self.containers.growing.concatenated(part, dim) if isinstance(part, DynamicListValue) else part

    def _is_concatenated(self, node: Any) -> bool:
        """Whether lists are joined for a concatenation in the same expression, so that nothing changes them before."""
        uses = node.output().uses()
        if node.output().type().kind() != "ListType" or len(uses) != 1:
            return False
        user = uses[0].user
        between = user.prev()
        while node.output().debugName() not in [output.debugName() for output in between.outputs()]:
            is_pure = between.kind().startswith("aten::") and "!" not in between.schema()
            if not is_pure and between.kind() not in _LIST_MAKING:
                return False
            between = between.prev()
        return user.kind() in _CAT or (user.kind() == "aten::add" and self._is_concatenated(user))
