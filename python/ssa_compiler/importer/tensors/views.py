"""Views: the op that says what a result shows of its base, and where in the storage it begins."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import sympy
import torch

from ..values.diagnostics import ProgramRaises
from ..values.state import State
from ..values.symbols import expr_of
from ..values.values import ConstValue, ScalarValue, TensorValue, Value
from .as_strided import Strided
from .overlap import meets_itself
from .tensor_emitter import TensorEmitter

__all__ = ["Views"]

Argument = Any
"""A Value, or a Python list of Values for list arguments."""


class Views:
    """Emits views.

    Attributes:
        several: ops that are imported as several views, by name.
        strided: makes views of storages.
    """

    def __init__(self, state: State, tensors: TensorEmitter) -> None:
        self.state, self._tensors = state, tensors
        self.strided = Strided(state, tensors)
        self.several: dict[str, Callable[[list[Argument], Any], Any]] = {
            "aten::split.Tensor": self._split,
            "aten::split_with_sizes": self._split,
            # Unsafe for autograd only: the pieces do share storage with the whole.
            "aten::unsafe_split.Tensor": self._split,
            "aten::unsafe_split_with_sizes": self._split,
            "aten::unbind.int": self._unbind,
            "aten::squeeze.dims": self._squeeze,  # torch-mlir does not know it
        }

    def view(self, op: Any, args: list[Argument], out: torch.Tensor, base: TensorValue) -> TensorValue:
        """Emit a view op on `base`."""
        if op.name() in ("aten::_reshape_alias", "aten::_unsafe_view"):
            op, args = torch.ops.aten.view.default, args[:2]
        if op.name() == "aten::view":
            args = self._with_kept_sizes(self._with_inferred_size(args, out), out, base)
        offset: sympy.Expr | None = None
        if op.name() == "aten::as_strided":
            args, offset = self.strided.operands(args)
            base = args[0]
        args = self._of_repeated(op, args, out, base)
        if offset is None and self._parts_windows(op, args, out, base):
            offset = self._offset(op, args, out, base)
            sizes, strides = ([ConstValue(number) for number in numbers] for numbers in (out.shape, out.stride()))
            op = torch.ops.aten.as_strided.default
            args, offset = self.strided.operands([base, sizes, strides, ConstValue(None)], offset)
        if op.name() == "aten::select.int" and not _is_checked(args, base):
            self.state.emitter.asserts = True  # it checks its index
        ssa = self._tensors.emit(op, args, [self.state.type_of(out)])[0]
        self.state.define_sizes(ssa, out)
        offset = self._offset(op, args, out, base) if offset is None else offset
        within = base.within + self._in_range(op, args, base)
        fake = self.state.with_counts(out)
        return TensorValue(ssa, fake, base.storages, base.root, offset, base.maybe, within, base.absolute)

    def _with_inferred_size(self, args: list[Argument], out: torch.Tensor) -> list[Argument]:
        """Write the size that -1 stands for: beside dynamic sizes, torch-mlir takes it for a size of -1."""
        sizes = args[1]
        if not isinstance(sizes, list):
            return args
        made: list[Value] = []
        for size, found in zip(sizes, map(expr_of, out.shape)):
            inferred = isinstance(size, ConstValue) and size.value == -1 and self.state.emitter.visible(found)
            made.append(self._tensors.symbolic(found) if inferred else size)
        return [args[0], made, *args[2:]]

    def _with_kept_sizes(self, args: list[Argument], out: torch.Tensor, base: TensorValue) -> list[Argument]:
        """Write the sizes that stay as those of the base, so that what compiles the view knows that they do."""
        before, after = [[expr_of(size) for size in tensor.shape] for tensor in (base.fake, out)]
        made = list(args[1]) if isinstance(args[1], list) else []
        if len(made) != len(after) or all(size.is_Integer for size in (*before, *after)):
            return args
        emitter, shortest = self.state.emitter, min(len(before), len(after))
        first = next((number for number in range(shortest) if before[number] != after[number]), shortest)
        rest = shortest - first
        behind = next((number for number in range(rest) if before[-1 - number] != after[-1 - number]), rest)
        for old, new in (*((n, n) for n in range(first)), *((-1 - n, -1 - n) for n in range(behind))):
            if not before[old].is_Integer:
                operands = [base.ssa, emitter.constant(old % len(before))]
                size = emitter.scalar_op("aten.size.int", int, operands)
                made[new] = ScalarValue(int, size, base.fake.shape[old])
        return [args[0], made, *args[2:]]

    def _of_repeated(self, op: Any, args: list[Argument], out: torch.Tensor, base: TensorValue) -> list[Argument]:
        """Of a dimension along which all elements are one in memory, take the first: conversion stores that one."""
        if op.name() not in ("aten::select.int", "aten::slice.Tensor"):
            return args
        dim = args[1].value % base.fake.dim()
        size = base.fake.shape[dim]
        if expr_of(base.fake.stride()[dim]) != 0 or not isinstance(size, int) or size < 2:
            return args
        if op.name() == "aten::select.int":
            self._check_index(expr_of(self._tensors.python(args[2])), dim, size)
            return [base, args[1], ConstValue(0)]
        length = out.shape[dim]
        return [base, args[1], ConstValue(0), ConstValue(length), ConstValue(1)] if isinstance(length, int) else args

    def _parts_windows(self, op: Any, args: list[Argument], out: torch.Tensor, base: TensorValue) -> bool:
        """Whether a view shows elements once, of a base that shows some several times (windows of `unfold`).

        What is written through it is not what the base shows there: it has to be a view of the storage. Only `select`
        is checked at run time, and that here.
        """
        if not meets_itself(base.fake) or meets_itself(out) is not False or not self.strided.knows(base):
            return False
        if op.name() == "aten::select.int" and isinstance(args[2], ScalarValue):
            index, dim = expr_of(args[2].sym), args[1].value % base.fake.dim()
            self._check_index(index, dim, base.fake.shape[dim])
            return True
        return not any(isinstance(item, ScalarValue) for a in args for item in (a if isinstance(a, list) else [a]))

    def _check_index(self, index: Any, dim: int, size: int) -> None:
        message = f"IndexError: select(): index out of range for tensor with dimension {dim} of size {size}"
        self.state.check(sympy.And(sympy.Le(-size, index), sympy.Lt(index, size)), message)

    def _in_range(self, op: Any, args: list[Argument], base: TensorValue) -> tuple[tuple[Any, int, int], ...]:
        """What is known once `select` has not raised."""
        if op.name() != "aten::select.int" or not isinstance(args[2], ScalarValue):
            return ()
        size = expr_of(base.fake.shape[args[1].value])
        return ((self._normalised(args[2], size, False), 0, int(size) - 1),) if size.is_Integer else ()

    def squeezed(self, base: TensorValue, dims: Argument = None) -> list[int]:
        """Return the dimensions that `squeeze` removes if they have size 1."""
        rank, listed = base.fake.dim(), dims if isinstance(dims, list) else [dims]
        if dims is None or not rank:
            return list(range(rank))
        asked = [self._tensors.python(dim) for dim in listed]
        return [dim % rank for dim in asked if isinstance(dim, int) and -rank <= dim < rank]

    def check_squeeze(self, base: TensorValue, dims: Argument) -> None:
        """Reject to squeeze a dimension that has size 1 or not, depending on a run-time value."""
        for dim in self.squeezed(base, dims):
            size = expr_of(base.fake.shape[dim])
            if not size.is_Integer and self.state.decided(sympy.Eq(size, 1), "aten::squeeze") is None:
                raise self.state.unsupported(
                    "squeeze of a dimension whose size is dynamic, and decides the rank; "
                    "name other dimensions, or select it"
                )

    def _offset(self, op: Any, args: list[Argument], out: torch.Tensor, base: TensorValue) -> sympy.Expr:
        """The storage offset of a view; where FakeTensors made up a symbol for it, in terms of the index."""
        offset = expr_of(out.storage_offset())
        before = expr_of(base.fake.storage_offset())
        if self.state.emitter.visible(offset) and base.offset == before:
            return offset
        if op.name() not in ("aten::select.int", "aten::slice.Tensor"):
            scale = sympy.Rational(base.fake.element_size(), out.element_size())
            return sympy.expand((base.offset - before) * scale + offset)
        dim, start = args[1].value, args[2]
        stride = expr_of(base.fake.stride()[dim])
        size = expr_of(base.fake.shape[dim])
        return sympy.expand(base.offset + stride * self._normalised(start, size, op.name() == "aten::slice.Tensor"))

    def _normalised(self, index: Value, size: sympy.Expr, clamp: bool) -> sympy.Expr:
        """An index counted from the front; a symbol of its own where its sign is not known."""
        expr = expr_of(self._tensors.python(index))
        if expr is None:
            return sympy.Integer(0)
        symbols, emitter = self.state.symbols, self.state.emitter
        nonnegative = symbols.known(sympy.Ge(expr, 0))
        if nonnegative and (not clamp or symbols.known(sympy.Le(expr, size))):
            return expr
        key = ("index", expr, size, clamp)
        symbol = symbols.integer(key, low=0).node.expr

        def make() -> Any:
            negative = emitter.scalar_op("aten.Int.bool", int, [emitter.expression(sympy.Lt(expr, 0))])
            wrap = emitter.scalar_op("aten.mul.int", int, [negative, emitter.expression(size)])
            index_ssa = emitter.scalar_op("aten.add.int", int, [emitter.expression(expr), wrap])
            if clamp:
                index_ssa = emitter.scalar_op("prim.max.int", int, [index_ssa, emitter.constant(0)])
                index_ssa = emitter.scalar_op("prim.min.int", int, [index_ssa, emitter.expression(size)])
            return index_ssa

        if emitter.scope.definition(symbol) is None:
            emitter.define(symbol, make)
        return symbol

    def step(self, value: ScalarValue) -> ScalarValue:
        """Check the step of a slice; the one returned is known to be positive."""
        state, expr = self.state, expr_of(value.sym)
        if state.symbols.known(sympy.Ge(expr, 1)):
            return value
        state.check(sympy.Ge(expr, 1), "ValueError: step must be greater than zero")
        positive = state.symbols.integer(("step", expr), low=1)
        if state.emitter.scope.definition(positive.node.expr) is None:
            state.emitter.define(positive.node.expr, lambda: value.ssa)
        return ScalarValue(int, value.ssa, positive)

    def _split(self, args: list[Argument], out: Sequence[torch.Tensor]) -> list[TensorValue]:
        base, dim = args[0], args[2].value
        pieces, start = [], sympy.Integer(0)
        for piece in out:
            end = start + expr_of(piece.shape[dim])
            pieces.append(self.slice(base, dim, self._tensors.symbolic(start), self._tensors.symbolic(end), piece))
            start = end
        return pieces

    def _squeeze(self, args: list[Argument], out: torch.Tensor) -> TensorValue:
        base: TensorValue = args[0]
        rank = base.fake.dim()
        chosen = (
            {self._tensors.python(dim) % rank for dim in args[1]} if rank else ()
        )  # of no dimensions, 0 and -1 may be named
        for dim in sorted(chosen, reverse=True):
            base = self._tensors.call_arguments(torch.ops.aten.squeeze.dim, [base, ConstValue(dim)])[0]
        return replace(base)

    def slice(self, base: TensorValue, dim: int, start: Value, end: Value, out: torch.Tensor) -> TensorValue:
        """Emit `base[.., start:end]`, whose FakeTensor is `out`."""
        args = [base, ConstValue(dim), start, end, ConstValue(1)]
        return self.view(torch.ops.aten.slice.Tensor, args, out, base)

    def select(self, base: TensorValue, dim: int, index: Value, out: torch.Tensor) -> TensorValue:
        """Emit `base[.., index]`, whose FakeTensor is `out`."""
        return self.view(torch.ops.aten.select.int, [base, ConstValue(dim), index], out, base)

    def narrow(self, base: TensorValue, dim: Value, start: ScalarValue, length: Value) -> TensorValue:
        """`narrow` at a run-time position: a slice whose size is the length, under narrow's own checks."""
        state, rank = self.state, base.fake.dim()
        axis = self._tensors.python(dim)
        if not -rank <= axis < rank:
            raise ProgramRaises(
                f"IndexError: Dimension out of range (expected to be in range of [{-rank}, {rank - 1}], but got {axis})"
            )
        size, begin, count = (expr_of(n) for n in (base.fake.shape[axis], start.sym, self._tensors.python(length)))
        state.check(sympy.Ge(count, 0), "RuntimeError: narrow(): length must be non-negative.")
        bounds = sympy.And(sympy.Le(-size, begin), sympy.Le(begin, size))
        state.check(bounds, f"IndexError: start out of range (expected to be in range of [-{size}, {size}])")
        first = self._normalised(start, size, False)
        state.check(sympy.Le(first + count, size), "RuntimeError: start + length exceeds dimension size")
        fake = base.fake
        sizes = [*fake.shape[: axis % rank], self._tensors.python(length), *fake.shape[axis % rank + 1 :]]
        with state.symbols.mode, state.symbols.transaction():
            offset = state.symbols.to_symint(expr_of(fake.storage_offset()) + first * expr_of(fake.stride()[axis]))
            out = fake.as_strided(sizes, fake.stride(), offset)
        begin_value, end_value = self._tensors.symbolic(first), self._tensors.symbolic(first + count)
        return self.slice(base, axis % rank, begin_value, end_value, out)

    def _unbind(self, args: list[Argument], out: Sequence[torch.Tensor]) -> list[TensorValue]:
        base, dim = args[0], args[1]
        select, state, pieces = torch.ops.aten.select.int, self.state, []
        for index, piece in enumerate(out):
            if piece.dim() == base.fake.dim():
                # Of a size that is only guarded, PyTorch keeps a dimension of size 1.
                axis = dim.value % base.fake.dim()
                sizes = [number for number, _ in enumerate(base.fake.shape) if number != axis]
                with state.symbols.mode, state.symbols.transaction(), torch.no_grad():
                    stride = expr_of(base.fake.stride()[axis])
                    offset = state.symbols.to_symint(expr_of(base.fake.storage_offset()) + index * stride)
                    shape = [base.fake.shape[number] for number in sizes]
                    piece = base.fake.as_strided(shape, [base.fake.stride()[number] for number in sizes], offset)
            pieces.append(self.view(select, [base, dim, ConstValue(index)], piece, base))
        return pieces


def _is_checked(args: list[Argument], base: TensorValue) -> bool:
    """Whether the index of a `select` and the size it is of are both known, so that FakeTensors have raised what it
    raises.
    """
    return isinstance(args[2], ConstValue) and type(base.fake.shape[args[1].value]) is int
