"""Inlining the programs that stand for ops (`ssa_compiler.library`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch

from ..library import find_program
from ..ops import define_missing
from .values import ConstValue, TensorValue, TupleValue, Value, tensor_values

if TYPE_CHECKING:
    from .aten import TensorOps

__all__ = ["OpPrograms"]

define_missing()  # before anybody loads or scripts a program here

Call = Callable[[str, Any, Sequence[Value]], Value]


class OpPrograms:
    """Imports ops as the programs that stand for them.

    Args:
        tensors: emits ops.
        call: inlines a graph: its name, the graph and its arguments.
    """

    def __init__(self, tensors: TensorOps, call: Call) -> None:
        self._tensors, self._call = tensors, call

    def call(self, op: Any, arguments: Sequence[Value]) -> list[Value] | None:
        """Import an op as a program; None, and nothing done, if none stands for it.

        Args:
            op: the OpOverload.
            arguments: one value per schema argument.
        """
        names = [argument.name for argument in op._schema.arguments]
        opened = [self._tensors.argument(value) for value in arguments]
        if not any(tensor_values(value) for value in opened):
            return None
        python = [self._tensors.python(value) for value in opened]
        program = find_program(op.name(), dict(zip(names, python)))
        if program is None:
            return None
        values = dict(zip(names, arguments))
        graph = program.script.graph
        with self._trusted():
            result = self._call(program.script.qualified_name, graph, [values[name] for name in program.parameters])
        found = list(result.elements) if isinstance(result, TupleValue) else [result]
        results = [self._new(value) if isinstance(value, TensorValue) else value for value in found]
        sources = [value for argument in opened for value in tensor_values(argument)]
        self._tensors.state.ranges.note(op, python, sources, [r for r in results if isinstance(r, TensorValue)])
        return results

    def _new(self, value: TensorValue) -> TensorValue:
        """A tensor that nothing is known of but what the op says: the program has written where it made it."""
        tensors, clone = self._tensors, torch.ops.aten.clone.default
        state = tensors.state
        with state.symbols.mode, state.symbols.transaction(), torch.no_grad():
            fake = clone(value.fake, memory_format=torch.contiguous_format)
        operands = [value, ConstValue(torch.contiguous_format)]
        made = state.fresh(tensors.emit(clone, operands, [state.type_of(fake)])[0], fake)
        state.owners[made.root] = made
        return made

    @contextmanager
    def _trusted(self) -> Iterator[None]:
        """Check no indices: those of the program are in range."""
        state = self._tensors.state
        before, state.index_checks = state.index_checks, False
        try:
            with self._tensors.indexing.already_checked():
                yield
        finally:
            state.index_checks = before
