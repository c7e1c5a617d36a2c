"""Inlining the programs that stand for ops (`ssa_compiler.library`), and for the in-place forms of these ops."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from ...errors import UnsupportedOpError
from ...library import OpProgram, constant, find_program
from ...ops import define_missing
from ..fake.decompose import has_carried
from ..fake.fake_run import run
from ..ir.schemas import written_arguments
from ..tensors.overlap import check_write
from ..tensors.tensor_ops import TensorOps
from ..values import fake_layout
from ..values.values import ConstValue, TensorValue, TupleValue, Value, tensor_values

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
        if op._schema.is_mutable:
            return self._call_in_place(op, arguments)
        names = [argument.name for argument in op._schema.arguments]
        opened = [self._tensors.argument(value) for value in arguments]
        known = constant(op.name(), [self._tensors.python(value) for value in opened])
        if known is not None:
            return [self._tensors.literal(known)]
        takes_tensors = any("Tensor" in str(argument.type) for argument in op._schema.arguments)
        if takes_tensors and not any(tensor_values(value) for value in opened):
            return None
        python = [self._tensors.python(value) for value in opened]
        program = None if has_carried(tree_leaves(python)) else self._find(op, dict(zip(names, python)))
        if program is None:
            return None
        self._check(op, python)
        checked = self._tensors.indexing.checked(op, opened)
        values = {
            name: after if isinstance(after, TensorValue) else value
            for name, value, after in zip(names, arguments, checked)
        }
        graph = program.script.graph
        with self._trusted():
            given = [values[name] for name in program.parameters]
            found = self._call_on_rows(program, graph, given) if program.rows else self._results(program, graph, given)
        if program.laid_out:
            return found
        sources = [value for argument in opened for value in tensor_values(argument)]
        strides: list[list[int] | None] = [None] * len(found)
        if any(_is_other_order(source.fake) for source in sources) or op.name() in _OWN_ORDER:
            out = run(self._tensors.state, op, python).out
            strides = [_strides(fake) for fake in (out if isinstance(out, (tuple, list)) else [out])]
        results = [
            self._new(value, stride) if isinstance(value, TensorValue) else value
            for value, stride in zip(found, strides)
        ]
        state = self._tensors.state
        state.ranges.note(
            op, python, sources, [r for r in results if isinstance(r, TensorValue)], state.storages.owners
        )
        return results

    def _check(self, op: Any, python: Sequence[Any]) -> None:
        """Raise what eager raises for operands that are known: programs of the library take what eager accepts.

        Args:
            op: the OpOverload.
            python: its arguments as FakeTensors and Python values.
        """
        leaves = tree_leaves(python)
        sizes = [size for leaf in leaves if isinstance(leaf, torch.Tensor) for size in leaf.shape]
        symbols = (torch.SymInt, torch.SymFloat, torch.SymBool)
        if self._tensors.state.in_library or any(isinstance(each, symbols) for each in (*leaves, *sizes)):
            return
        with suppress(UnsupportedOpError):  # FakeTensors do not say
            run(self._tensors.state, op, python)

    def _results(self, program: OpProgram, graph: Any, arguments: Sequence[Value]) -> list[Value]:
        result = self._call(program.script.qualified_name, graph, arguments)
        return list(result.elements) if isinstance(result, TupleValue) else [result]

    def _call_on_rows(self, program: OpProgram, graph: Any, arguments: Sequence[Value]) -> list[Value]:
        """Inline an elementwise program; of tensors without dimensions on rows of one element."""
        if any(value.fake.dim() > 0 for value in tensor_values(list(arguments))):
            return self._results(program, graph, arguments)
        reshape = torch.ops.aten.reshape.default

        def shaped(values: Sequence[Value], shape: list[int]) -> list[Value]:
            sizes: list[Value] = [ConstValue(size) for size in shape]
            return [
                self._tensors.call_arguments(reshape, [value, sizes])[0] if isinstance(value, TensorValue) else value
                for value in values
            ]

        return shaped(self._results(program, graph, shaped(arguments, [1])), [])

    def _find(self, op: Any, arguments: Mapping[str, Any]) -> OpProgram | None:
        return find_program(op.name(), arguments, kernels=self._tensors.state.plan.kernels)

    def _call_in_place(self, op: Any, arguments: Sequence[Value]) -> list[Value] | None:
        """Import an in-place op as the program of its functional form, whose result is copied into the target.

        Only where the result has the target's dtype and sizes: whatever else eager does, or rejects, is not decided
        here.
        """
        functional = _functional_form(op)
        if functional is None:
            return None
        tensors, state = self._tensors, self._tensors.state
        values = dict(zip((argument.name for argument in op._schema.arguments), arguments))
        given = [values[argument.name] for argument in functional._schema.arguments]
        opened = [tensors.argument(value) for value in given]
        python = [tensors.python(value) for value in opened]
        names = [argument.name for argument in functional._schema.arguments]
        target = tensors.argument(arguments[0])
        if not isinstance(target, TensorValue) or self._find(functional, dict(zip(names, python))) is None:
            return None
        whole = [tensors.argument(value) for value in arguments]
        run(state, op, [tensors.python(value) for value in whole])  # raises what eager raises
        out = run(state, functional, python).out
        if out.dtype != target.fake.dtype or tuple(out.shape) != tuple(target.fake.shape):
            return None
        check_write(state, op, target, [v for a in whole for v in tensor_values(a)], [tensors.python(v) for v in whole])
        found = self.call(functional, given)
        assert found is not None
        tensors.call(torch.ops.aten.copy_.default, [target, found[0], ConstValue(False)])
        return [arguments[0]]

    def _new(self, value: TensorValue, strides: list[int] | None) -> TensorValue:
        """A tensor that nothing is known of but what the op says: the program has written where it made it.

        Args:
            value: what the program returns.
            strides: those that eager gives it, None if they are those of a contiguous tensor.
        """
        tensors, clone, permute = self._tensors, torch.ops.aten.clone.default, torch.ops.aten.permute.default
        state = tensors.state
        order = sorted(range(value.fake.dim()), key=lambda dim: -strides[dim]) if strides is not None else []
        if order != sorted(order):
            numbers: list[Value] = [ConstValue(dim) for dim in order]
            (value,) = tensors.call_arguments(permute, [value, numbers])
        fake = fake_layout.made(state.symbols, value.fake.shape, value.fake.dtype, value.fake.device)
        operands = [value, ConstValue(torch.contiguous_format)]
        made = state.fresh(tensors.emit(clone, operands, [state.type_of(fake)])[0], fake)
        state.storages.owners[made.root] = made
        if order != sorted(order):
            back: list[Value] = [ConstValue(order.index(dim)) for dim in range(len(order))]
            (made,) = tensors.call_arguments(permute, [made, back])
        return made

    @contextmanager
    def _trusted(self) -> Iterator[None]:
        """Check no indices and dtypes: those of the program are right."""
        state = self._tensors.state
        checks, inside = state.plan.index_checks, state.in_library
        state.plan, state.in_library = replace(state.plan, index_checks=False), True
        try:
            yield
        finally:
            state.plan, state.in_library = replace(state.plan, index_checks=checks), inside


_OWN_ORDER = frozenset(
    {
        "aten::_fft_c2c",
        "aten::_fft_c2r",
        "aten::_fft_r2c",
        "aten::geqrf",
        "aten::inverse",
        "aten::linalg_householder_product",
        "aten::linalg_inv",
        "aten::linalg_qr",
        "aten::linalg_solve",
        "aten::ormqr",
        "aten::scaled_dot_product_attention",
    }
)
"""Ops whose results may lie in memory in another order than a contiguous tensor, though their arguments do not."""


def _is_other_order(fake: torch.Tensor) -> bool:
    """Whether a tensor of known sizes lies in memory in another order than a contiguous one."""
    return _strides(fake) is not None and fake.dim() > 1


def _strides(fake: torch.Tensor) -> list[int] | None:
    """The strides of a tensor of known sizes, None if they are those of a contiguous one."""
    if not all(isinstance(size, int) for size in (*fake.size(), *fake.stride())) or fake.is_contiguous():
        return None
    return list(fake.stride())


def _functional_form(op: Any) -> Any:
    """Return the overload that computes what an in-place op writes into its first argument, whatever the order of
    arguments.
    """
    schema = op._schema
    if written_arguments(schema) != [0] or schema.arguments[0].is_out or not schema.name.endswith("_"):
        return None
    packet = getattr(getattr(torch.ops, op.namespace), schema.name.partition("::")[2][:-1], None)
    if packet is None:
        return None
    expected = {argument.name: str(argument.type) for argument in schema.arguments}
    for candidate in (getattr(packet, overload) for overload in packet.overloads()):
        found = {argument.name: str(argument.type) for argument in candidate._schema.arguments}
        if not candidate._schema.is_mutable and len(candidate._schema.returns) == 1 and found == expected:
            return candidate
    return None
