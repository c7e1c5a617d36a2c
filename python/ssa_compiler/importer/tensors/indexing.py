"""Indexing with tensors: 0-d integer tensors, which eager takes for ints, and checks of index tensors.

In eager `x[i]` with a 0-d integer tensor is `x.select(0, int(i))`: a view, but reading the number needs the host.
TorchScript makes it an advanced index. Here it is a gather of one row, which needs no host, as long as nobody can tell
it from the view; where somebody could, the import starts again (`AnotherPlan`) with the view at that place.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import sympy
import torch

from ...errors import UnsupportedOpError, program_error_name
from ..fake.fake_run import run
from ..fake.trace import Trace
from ..values.plan import AnotherPlan
from ..values.state import State
from ..values.symbols import expr_of
from ..values.values import ConstValue, TensorValue
from .index_checks import Check, bag_offsets, checks, demands, equal_sizes, is_checked
from .scalar_ops import ScalarOps
from .size_one import sizes_that_meet, with_asserted_ones, with_known_ones
from .tensor_emitter import TensorEmitter
from .views import Views

__all__ = ["Indexing", "stored_value"]

_WRITES = ("aten::index_put_", "aten::_index_put_impl_")
_INTEGERS = (torch.int64, torch.int32, torch.int16, torch.int8)


def stored_value(tensors: TensorEmitter, target: TensorValue, value: TensorValue) -> TensorValue:
    """Return what `x[...] = value` copies into the target.

    Eager broadcasts the value first, so that its rules about memory that the two share look at the broadcast one.

    Args:
        tensors: emits ops.
        target: the part of `x`.
        value: with as many dimensions as the target at most.
    """
    sizes, given = (tuple(map(expr_of, tensor.fake.shape)) for tensor in (target, value))
    if sizes == given or not (value.root is target.root or value.storages & target.storages):
        return value
    wanted = [tensors.symbolic(size) for size in sizes]
    return tensors.call_arguments(torch.ops.aten.expand.default, [value, wanted, ConstValue(False)])[0]


def _interferes(
    base: TensorValue, numbers: list[int], row: TensorValue, target: TensorValue, value: TensorValue
) -> bool:
    """Whether `target` shares some elements, or may, with the row of `base` that `value` is in, but not all of them
    alike.
    """
    fake = base.fake
    strides = [fake.stride(dim) for dim in range(fake.dim()) if dim not in numbers]
    apart = math.gcd(*(stride if type(stride := fake.stride(dim)) is int else 1 for dim in numbers))
    alike = (
        target.root is base.root
        and tuple(map(expr_of, target.fake.shape)) == tuple(map(expr_of, row.fake.shape))
        and [*target.fake.stride()] == strides
        and value.fake.shape == row.fake.shape
        and value.fake.stride() == row.fake.stride()
    )
    extent: Any = sum((size - 1) * stride for size, stride in zip(row.fake.shape, strides)) + 1
    if not alike or type(extent) is not int or extent > apart:
        return True
    distance = sympy.expand(target.offset - base.offset)
    return any(
        not (coefficient := term.as_coeff_Mul()[0]).is_Integer or int(coefficient) % apart
        for term in sympy.Add.make_args(distance)
    )


def _is_number(index: Any) -> bool:
    return isinstance(index, TensorValue) and index.fake.dim() == 0 and index.fake.dtype in _INTEGERS


class Indexing:
    """Imports `x[...]` where an index is a 0-d integer tensor, and emits the checks of every indexing op.

    Attributes:
        put_back: whether the part that is indexed next is only changed and put back.
    """

    def __init__(self, state: State, tensors: TensorEmitter, views: Views) -> None:
        self.state, self.tensors, self.views = state, tensors, views
        self.put_back = False
        self._checked_op: Any = None
        self._parts: dict[int, tuple[TensorValue, TensorValue, list[int], Any]] = {}
        self._scalars = ScalarOps(state)

    # 0-d indices.

    def call(self, op: Any, args: list[Any]) -> list[Any] | None:
        """Import an indexing op that has 0-d indices; None for every other op.

        Args:
            op: the OpOverload.
            args: its arguments.
        """
        name = op._schema.name
        if name not in ("aten::index", *_WRITES) or not any(_is_number(index) for index in args[1]):
            return None
        base, indices = args[0], list(args[1])
        only_numbers = all(_is_number(index) or self._absent(index) for index in indices)
        if name == "aten::index":
            if not only_numbers:  # a gather all the same
                base, indices = self._read(base, indices), [index for index in indices if not _is_number(index)]
                return self.tensors.call_arguments(op, [base, indices])
            if ("view", self.state.place()) in self.state.plan.retries:
                return [self._view(base, indices)]
            result = self._read(base, indices)
            numbers = [dim for dim, index in enumerate(indices) if _is_number(index)]
            if self.put_back:
                self._parts[id(result)] = (result, base, numbers, ("view", self.state.place()))
                return [result]
            interferes = partial(_interferes, base, numbers, result)
            strides = [stride for dim, stride in enumerate(base.fake.stride()) if dim not in numbers]
            self.state.storages.maybe_alias(
                result,
                [base],
                "an index",
                ("view", self.state.place()),
                interferes,
                alike=[*map(expr_of, strides)] == [*map(expr_of, result.fake.stride())],
            )
            return [result]
        if only_numbers and not self.tensors.python(args[3]):
            self._put(op, base, indices, args[2])
        else:
            rest = [index for index in indices if not _is_number(index)]
            self.tensors.call_arguments(op, [self._view(base, indices), rest, *args[2:]])
        return [base]

    def check_changed(self, part: TensorValue, values: Sequence[TensorValue]) -> None:
        """Let a part that is changed and put back be a view if eager has to see whether what it is changed by overlaps.

        Args:
            part: what an op writes.
            values: what it reads besides.
        Raises:
            AnotherPlan: it may overlap the part, and be another one.
        """
        if id(part) not in self._parts:
            return
        row, base, numbers, key = self._parts[id(part)]
        strides = [stride for dim, stride in enumerate(base.fake.stride()) if dim not in numbers]
        with self.state.symbols.mode, self.state.symbols.transaction(), torch.no_grad():
            shown = base.fake.as_strided(row.fake.shape, strides, base.fake.storage_offset())
        target = replace(base, fake=shown)
        for value in values:
            asked = [maybe.interferes for maybe in value.maybe if maybe.storages & base.storages]
            overlaps = any(interferes is None or interferes(target, value) for interferes in asked)
            if overlaps or (value.storages & base.storages and _interferes(base, numbers, row, value, row)):
                raise AnotherPlan.without({key})

    def _absent(self, index: Any) -> bool:
        return isinstance(index, ConstValue) and index.value is None

    def _rows(self, indices: list[Any]) -> tuple[list[Any], int]:
        """The 0-d indices with one element each and the others None, and the dimension that they make together."""
        unsqueeze = torch.ops.aten.unsqueeze.default
        none = ConstValue(None)
        rows = [
            self.tensors.call_arguments(unsqueeze, [index, ConstValue(0)])[0] if _is_number(index) else none
            for index in indices
        ]
        dims = [dim for dim, index in enumerate(indices) if _is_number(index)]
        adjacent = dims[-1] - dims[0] + 1 == len(dims)
        return rows[: dims[-1] + 1], dims[0] if adjacent else 0

    def _read(self, base: TensorValue, indices: list[Any]) -> TensorValue:
        rows, dim = self._rows(indices)
        gathered = self.tensors.call_arguments(torch.ops.aten.index.Tensor, [base, rows])[0]
        return self.tensors.call_arguments(torch.ops.aten.squeeze.dim, [gathered, ConstValue(dim)])[0]

    def _view(self, base: TensorValue, indices: list[Any]) -> TensorValue:
        """The view that eager makes, at positions that the host reads."""
        select = torch.ops.aten.select.int
        for dim, index in reversed(list(enumerate(indices))):
            if _is_number(index):
                position = self._scalars.item(index, int)
                base = self.tensors.call_arguments(select, [base, ConstValue(dim), position])[0]
        return base

    def _put(self, op: Any, base: TensorValue, indices: list[Any], value: TensorValue) -> None:
        """`base[indices] = value`, which in eager is `copy_` into the view: the value is converted and broadcast."""
        call, ops = self.tensors.call_arguments, torch.ops.aten
        rows, dim = self._rows(indices)
        behind = base.fake.dim() - sum(map(_is_number, indices)) - dim
        while value.fake.dim() > base.fake.dim() - sum(map(_is_number, indices)) and value.fake.shape[0] == 1:
            value = call(ops.select.int, [value, ConstValue(0), ConstValue(0)])[0]
        if value.root is base.root or value.storages & base.storages:
            view = self._view(base, indices)
            call(ops.copy_.default, [view, stored_value(self.tensors, view, value), ConstValue(False)])
            return
        if value.fake.dtype != base.fake.dtype:
            like = call(ops.empty_like.default, [base, *[ConstValue(None)] * 5])[0]
            value = call(ops.to.other, [value, like, ConstValue(False), ConstValue(False), ConstValue(None)])[0]
        if value.fake.dim() > behind:
            value = call(ops.unsqueeze.default, [value, ConstValue(value.fake.dim() - behind)])[0]
        call(op, [base, rows, value, *[ConstValue(False)] * (len(op._schema.arguments) - 3)])

    # Checks.

    def checked(self, op: Any, args: list[Any]) -> list[Any]:
        """Make the program raise what eager raises for indices that are out of range.

        Args:
            op: an OpOverload that is about to be emitted.
            args: its arguments.
        Returns:
            The arguments to emit it with. What is written is indexed from the front, as IREE writes somewhere else at
            negative indices, and an index that a check may reject is clamped: IREE may run the op before the host has
            read what the check found.
        """
        if not is_checked(op) or self.state.in_library or op is self._checked_op:
            return args
        if "index_put" in op._schema.name and self._checked_op is None:
            args = self._check_values(op, with_known_ones(self.views, op, args) or args)
        known = _tensors_by_fake(args)
        python = [self.tensors.python(argument) for argument in args]
        for condition, message in demands(op, python) if self._checked_op is None else ():
            self.state.check(condition, message)
        for relation, error in equal_sizes(op, python) if self._checked_op is None else ():
            self.state.require(relation, op._schema.name, error)
        if self._checked_op is None and (offsets := bag_offsets(op, python)) is not None:
            self._check_bags(args[offsets])
        for number, check in enumerate(checks(op, python)):
            given = index = known[id(check.tensor)]
            rejected = self._checked_op is None and self._check(check, index, ("range", number))
            low = check.low
            if "index_put" in op._schema.name and not self._known(check, index, 0, ("sign", number)):
                index, low = self._from_front(index, check.high), sympy.Integer(0)
            if rejected and check.names_elements:
                index = self._clamped(index, low, check.high)
            if index is not given:
                args = _with_index(args, check, given, index)
        return args

    def _check_bags(self, offsets: TensorValue) -> None:
        """Make the program raise unless bags begin with the first element, and one behind the other."""
        if not self.state.plan.index_checks or offsets.fake.dim() != 1:
            return
        call, ops = self.tensors.call_arguments, torch.ops.aten

        def part(start: int, end: int) -> TensorValue:
            bounds = [ConstValue(number) for number in (0, start, end, 1)]
            return call(ops.slice.Tensor, [offsets, *bounds])[0]

        first = call(ops.eq.Scalar, [part(0, 1), ConstValue(0)])[0]
        later = call(ops.ge.Tensor, [part(1, 2**63 - 1), part(0, -1)])[0]
        for flags, text in (
            (first, "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position 0."),
            (later, "Expected i < index_size to be true, but got false."),
        ):
            verdict = self._scalars.item(call(ops.all.default, [flags])[0], bool)
            self._scalars.require(verdict, f"RuntimeError: {text}")

    def _check_values(self, op: Any, args: list[Any]) -> list[Any]:
        """Make the program raise where indices do not fit one another, or values what is indexed; FakeTensors do not
        ask.

        Returns:
            The arguments, with values that are known to be repeated.
        """
        base, indices, values = (self.tensors.python(argument) for argument in args[:3])
        if any(index is not None and index.dtype in (torch.bool, torch.uint8) for index in indices):
            return args  # one value for all: the mask's sizes are those of what it indexes
        read = run(self.state, torch.ops.aten.index.Tensor, [base, indices])
        for requirement in read.requirements:
            self.state.require(requirement, op.name(), "IndexError", broadcasts=True)
        shape = read.out.shape
        args = with_asserted_ones(self.views, op, args, sizes_that_meet([values, read.out])) or args
        values = self.tensors.python(args[2])
        for number, wanted in enumerate(reversed(shape)):
            size = expr_of(values.shape[-1 - number]) if number < values.dim() else 1
            fits = sympy.Eq(size, expr_of(wanted))
            if size != 1 and self.state.sizes.covers(fits):
                self.state.require(fits, op.name())  # of a size that is 1 another time, the values are repeated
            elif size != 1:
                self.state.reject_broadcast(fits, [size], op.name())
                text = "RuntimeError: shape mismatch: the values cannot be broadcast to the indexing result"
                self.state.check(fits, text)
        return args

    @contextmanager
    def already_checked(self, op: Any) -> Iterator[None]:
        """Emit an op whose arguments have been through `checked`: what it consists of has to be in range, too.

        Only the ops that write parts of a tensor still count negative indices from the front.
        """
        before, self._checked_op = self._checked_op, op if is_checked(op) else self._checked_op
        try:
            yield
        finally:
            self._checked_op = before

    def is_hidden(self, args: list[Any], trace: Trace) -> bool:
        """Check the indexing ops that a composite op consists of.

        Args:
            args: the composite op's arguments.
            trace: what it consists of.
        Returns:
            Whether one of them indexes with a tensor that it makes itself, so that only its parts can be checked.
        """
        if not self.state.plan.index_checks or self._checked_op is not None:
            return False
        known = _tensors_by_fake(args)
        found = [check for record in trace.records if is_checked(record.op) for check in checks(record.op, record.args)]
        if any(id(check.tensor) not in known for check in found):
            return True
        for number, check in enumerate(found):
            self._check(check, known[id(check.tensor)], ("range", number))
        return False

    def _known(self, check: Check, index: TensorValue, low: Any, purpose: Any) -> bool:
        """Whether all numbers of an index are known to be in [low, size); noted, to be verified in the end."""
        state, key = self.state, (*purpose, self.state.place())
        if key in state.plan.retries:
            return False
        least, most = (int(n) if n.is_Integer else n for n in (sympy.sympify(low), check.high - 1))
        return state.ranges.conclude(key, index, (least, most), state.storages.written, state.storages.owners)

    def _from_front(self, index: TensorValue, size: Any) -> TensorValue:
        call, ops = self.tensors.call_arguments, torch.ops.aten
        negative = call(ops.lt.Scalar, [index, ConstValue(0)])[0]
        wrapped = call(ops.add.Scalar, [index, self.tensors.symbolic(size), ConstValue(1)])[0]
        return call(ops.where.self, [negative, wrapped, index])[0]

    def _clamped(self, index: TensorValue, low: Any, high: Any) -> TensorValue:
        call, ops = self.tensors.call_arguments, torch.ops.aten
        if index.fake.is_floating_point():
            return call(ops.where.ScalarOther, [self._between(index, low, high), index, ConstValue(0.0)])[0]
        index = self._wide(index)
        last = self.tensors.symbolic(sympy.expand(high - 1))
        index = call(ops.clamp_max.default, [index, last])[0]
        return call(ops.clamp_min.default, [index, self.tensors.symbolic(sympy.expand(low))])[0]

    def _wide(self, index: TensorValue) -> TensorValue:
        """An index as int64, which holds all limits."""
        if index.fake.dtype is torch.int64:
            return index
        arguments = [index, ConstValue(torch.int64), ConstValue(False), ConstValue(False), ConstValue(None)]
        return self.tensors.call_arguments(torch.ops.aten.to.dtype, arguments)[0]

    def _check(self, check: Check, index: TensorValue, purpose: Any) -> bool:
        """Emit a check; returns whether it may fail."""
        state, call, ops = self.state, self.tensors.call_arguments, torch.ops.aten
        unread = state.symbols.known(check.unread)
        if not state.plan.index_checks or unread or (isinstance(index.fake.numel(), int) and index.fake.numel() == 0):
            return False
        least = check.low if check.excluded is None else sympy.Integer(check.excluded + 1)
        if check.counted is not None:
            index = self._count(check.counted, index)
        elif not index.fake.is_floating_point() and self._known(check, index, least, purpose):
            return False
        inside = self._inside(check, index)
        if check.ignored is not None:
            ignored = call(ops.eq.Scalar, [index, self.tensors.value(check.ignored, {})])[0]
            inside = call(ops.logical_or.default, [inside, ignored])[0]
        if index.fake.dim():
            inside = call(ops.all.default, [inside])[0]
        verdict = self._scalars.item(inside, bool)
        if unread is None:
            # IREE would write at such indices, as soon as it has several of these kernels in one.
            condition = self._scalars.boolean(state.emitter.expression(check.unread), check.unread)
            rejection = "unsupported: indices that are out of range, of a dynamic tensor without elements"
            looked_at = self._scalars.either(verdict, self._scalars.negated(condition))
            self._scalars.require(looked_at, f"{program_error_name(UnsupportedOpError)}: {rejection}")
        state.emitter.assertion(verdict.ssa, check.message)  # type: ignore[attr-defined]
        return True

    def _count(self, sizes: Sequence[Any], mask: TensorValue) -> TensorValue:
        """How often a mask holds that is expanded to some sizes."""
        call, ops = self.tensors.call_arguments, torch.ops.aten
        wanted = [self.tensors.symbolic(size) for size in sizes]
        expanded = call(ops.expand.default, [mask, wanted, ConstValue(False)])[0]
        return call(ops.sum.default, [expanded, ConstValue(torch.int64)])[0]

    def _inside(self, check: Check, index: TensorValue) -> TensorValue:
        call, ops = self.tensors.call_arguments, torch.ops.aten
        if check.excluded is not None:
            return call(ops.ne.Scalar, [index, ConstValue(check.excluded)])[0]
        return self._between(index, check.low, check.high)

    def _between(self, index: TensorValue, low: Any, high: Any) -> TensorValue:
        """Where numbers are in [low, high), those that are no integers in [low, high - 1]; NaN is not."""
        call, ops = self.tensors.call_arguments, torch.ops.aten
        below, least = ops.lt.Scalar, self.tensors.symbolic(sympy.expand(low))
        if index.fake.is_floating_point():
            below, high = ops.le.Scalar, high - 1
        else:
            index = self._wide(index)
        reached, within = call(ops.ge.Scalar, [index, least])[0], call(below, [index, self.tensors.symbolic(high)])[0]
        return call(ops.logical_and.default, [reached, within])[0]


def _with_index(args: list[Any], check: Check, given: TensorValue, index: TensorValue) -> list[Any]:
    """Arguments with another index in the place that a check is of."""
    place = args[check.argument]
    if isinstance(place, list):
        assert place[check.position] is given
        changed: Any = [*place[: check.position], index, *place[check.position + 1 :]]
    else:
        changed = index
    return [*args[: check.argument], changed, *args[check.argument + 1 :]]


def _tensors_by_fake(args: list[Any]) -> dict[int, TensorValue]:
    flat = [value for argument in args for value in (argument if isinstance(argument, list) else [argument])]
    return {id(value.fake): value for value in flat if isinstance(value, TensorValue)}
