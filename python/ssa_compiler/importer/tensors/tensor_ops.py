"""Importing ATen ops on tensors: which op is emitted, and what its result aliases.

An op runs on FakeTensors first (`fake_run.run`). A fresh result comes from the op itself, where torch-mlir knows it;
what aliases, and composite ops that torch-mlir does not know, are emitted as the base ops that they consist of, so that
aliasing is always said by a view op.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from ...errors import SsaCompilerError, UnsupportedOpError
from ..fake.convolution_errors import check_elements
from ..fake.decompose import is_not_lowered
from ..fake.fake_run import run
from ..fake.inferred_sizes import with_inferred_size
from ..fake.trace import Record, Trace
from ..fake.unannotated_writes import writes_unannotated
from ..fake.unused_vectors import without_unused_vectors
from ..ir.schemas import MAY_RETURN_ARGUMENT, registered_name, with_numbers
from ..values.argument_sizes import MakeStatic
from ..values.diagnostics import ProgramRaises
from ..values.fake_layout import same_view, shares_storage
from ..values.state import State
from ..values.stride_provenance import other_layouts
from ..values.symbols import COUNTS
from ..values.values import ConstValue, ScalarValue, TensorValue, Value, tensor_values
from .comparisons import compared_alike
from .complex_scalars import takes_tensors, without_complex
from .indexing import Indexing
from .known_empty import computes_nothing, is_empty
from .metadata_mutation import change_object, extend_storage, needed_length
from .size_one import narrow_slice, sizes_that_meet, with_asserted_ones, with_known_ones
from .tensor_emitter import Argument, TensorEmitter
from .views import Views
from .writes import Writes

__all__ = ["TensorOps"]


def _is_autocast(trace: Trace) -> bool:
    """Whether `torch.autocast` converts operands, which the op's name does not say."""
    return torch._C._is_any_autocast_enabled() and any(
        record.op is torch.ops.aten._to_copy.default for record in trace.records
    )


def _has_one(tensor: torch.Tensor, dim: int) -> bool:
    """Whether a tensor has one element along a dimension."""
    if type(dim) is not int or not -tensor.dim() <= dim < tensor.dim():
        return False
    return type(size := tensor.shape[dim]) is int and size == 1


def _is_counted(fake: torch.Tensor) -> bool:
    """Whether a FakeTensor keeps symbols that an op made of its numbers."""
    return any(getattr(fake, name, None) is not None for name in COUNTS)


def _tensors(value: Any) -> list[torch.Tensor]:
    """The tensors in an argument or outcome."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, (list, tuple)):
        return [tensor for element in value for tensor in _tensors(element)]
    return []


def _writes_into(record: Record, inputs: Sequence[torch.Tensor]) -> bool:
    """Whether a recorded op writes the storage of one of the tensors."""
    for argument, value in zip(record.op._schema.arguments, record.args):
        if argument.alias_info is not None and argument.alias_info.is_write:
            if any(shares_storage(written, tensor) for written in _tensors(value) for tensor in inputs):
                return True
    return False


def _checks(trace: Trace) -> bool:
    """Whether an op consists of ops that compute nothing: they read numbers in order to raise."""
    return any(not record.op._schema.returns and not record.op._schema.is_mutable for record in trace.records)


class TensorOps(TensorEmitter):
    """Imports tensor ops.

    Attributes:
        programs: imports an op that a composite one consists of as the program that stands for it, if there is one.
    """

    def __init__(self, state: State) -> None:
        super().__init__(state)
        self.views = Views(state, self)
        self.indexing = Indexing(state, self, self.views)
        self.writes = Writes(state, self, self.indexing)
        self.programs: Callable[[Any, list[Argument]], list[Value] | None] = lambda op, arguments: None

    def call_or_inline(self, op: Any, args: list[Argument]) -> list[Any]:
        """Import an op as the program that stands for it, if there is one."""
        return self.programs(op, args) or self.call_arguments(op, args)

    def call_arguments(self, op: Any, args: list[Argument]) -> list[Any]:
        """Import one op whose list arguments are Python lists."""
        if op._schema.name == "aten::squeeze":
            args = with_known_ones(self.views, op, args, self.views.squeezed(*args[:2])) or args
        guards = dict(self.state.sizes.guards)
        try:
            return self._call_arguments(op, args)
        except MakeStatic:
            before = dict(self.state.sizes.guards)
            self.state.sizes.forget(guards)
            known = with_known_ones(self.views, op, args)
            if known is None:
                self.state.sizes.forget(before)
                raise
        return self._call_arguments(op, known)

    def _call_arguments(self, op: Any, args: list[Argument]) -> list[Any]:
        state = self.state
        indexed = self.indexing.call(op, args)
        if indexed is not None:
            return indexed
        if op.name() == "aten::narrow" and isinstance(args[2], ScalarValue):
            return [self.views.narrow(*args)]
        if torch.Tag.inplace_view in op.tags or op is torch.ops.aten.requires_grad_.default:
            return [change_object(self, self.views.strided, op, args)]
        if op is torch.ops.aten.slice.Tensor and isinstance(args[4], ScalarValue):
            args = [*args[:4], self.views.step(args[4])]
        python = with_inferred_size(state, op, [self.python(argument) for argument in args])
        if op is torch.ops.aten.select.int and type(python[2]) is not int and _has_one(python[0], python[1]):
            python[2] = 0  # what else a run-time index may be raises; PyTorch's guess of it might, too
        self._use(op, args)
        before = [(t, tuple(t.shape), t.stride(), t.dtype) for t in _tensors(python)]
        try:
            trace = run(state, op, python)
        except ProgramRaises:
            state.layouts.failed(op, args, python)
            raise
        except UnsupportedOpError:
            matching = sizes_that_meet(python) if torch.Tag.pointwise in op.tags else ()
            if (asserted := with_asserted_ones(self.views, op, args, matching)) is None:
                raise
            return self._call_arguments(op, asserted)
        broadcasts = op.overloadpacket in _REPEATING or _may_broadcast(python)
        if broadcasts and (asserted := with_asserted_ones(self.views, op, args, trace.requirements)) is not None:
            return self._call_arguments(op, asserted)
        state.storages.counted += [v for argument in args for v in tensor_values(argument) if _is_counted(v.fake)]
        check_elements(state, op, python)
        state.layouts.passed(op, args, python)
        settled = self._with_static_strides(op, args, python, trace)
        if settled is not None:
            return settled
        for tensor, shape, stride, dtype in before:
            if (tuple(tensor.shape), tensor.stride(), tensor.dtype) != (shape, stride, dtype):
                with state.symbols.mode, state.symbols.transaction(), torch.no_grad():
                    tensor.as_strided_(shape, stride)  # the loop around it may be imported once more, written out
                raise state.unsupported_op(f"{op.name()}, which changes the shape of a tensor in place")
        for record in trace.records:
            if writes_unannotated(record.op, record.args):
                raise state.defect(f"{record.op.name()} writes an argument, which its schema does not say")
        for requirement in trace.requirements:
            state.note_size(requirement, op.name())
            error = "IndexError" if op is torch.ops.aten.index.Tensor else "RuntimeError"
            state.require(requirement, op.name(), error, broadcasts=broadcasts)
        if op._schema.is_mutable:
            self.indexing.check_changed(args[0], [value for argument in args[1:] for value in tensor_values(argument)])
            args = self.indexing.checked(op, args)
            return self.writes.call(op, args, python, trace.out)
        outcome = self._outcome(op, args, python, trace)
        if op is torch.ops.aten.slice.Tensor:
            outcome = narrow_slice(self.views, outcome, *python[1:4])
        return outcome if len(op._schema.returns) != 1 else [outcome]

    def _with_static_strides(self, op: Any, args: list[Argument], python: list[Any], trace: Trace) -> list[Any] | None:
        """Import an op that aliases or copies (`reshape`) as a copy, if control flow decides on the layout of its
        operand.

        Eager may alias: the results must not be written, nor read after the operand is written.
        """
        if op._schema.is_mutable or (len(trace.records) == 1 and trace.records[0].op is op):
            return None
        annotated = any(result.alias_info is not None for result in op._schema.returns)
        for number, value in enumerate(args):
            if not isinstance(value, TensorValue):
                continue
            # Few ops alias; to find out where a layout comes from, ops run again.
            if not annotated and not any(shares_storage(out, value.fake) for out in _tensors(trace.out)):
                continue
            if self.state.layouts.has_ambiguous_strides(value) and self._depends_on_strides(op, python, trace, value):
                clone, contiguous = torch.ops.aten.clone.default, ConstValue(torch.contiguous_format)
                (copied,) = self.call_arguments(clone, [value, contiguous])
                results = self.call_arguments(op, [*args[:number], copied, *args[number + 1 :]])
                for result in tensor_values(results):
                    self.state.storages.maybe_alias(result, [value], op.name())
                return results
        return None

    def _use(self, op: Any, args: list[Argument]) -> None:
        for argument in args:
            for value in tensor_values(argument):
                self.state.storages.use(value, op.name())
                if op is not torch.ops.aten.detach.default:
                    self.state.storages.note_gradients(value)

    def _outcome(self, op: Any, args: list[Argument], python: list[Any], trace: Trace) -> Any:
        """Emit an op that writes nothing."""
        inputs = _tensors(python)
        shared = any(shares_storage(out, tensor) for out in _tensors(trace.out) for tensor in inputs)
        is_base = len(trace.records) == 1 and trace.records[0].op is op
        args = self.indexing.checked(op, args)
        if not shared and computes_nothing(op, trace.out):
            return self._nothing(trace.out)
        if is_base:
            return self._base(op, args, trace.out)
        annotated = any(result.alias_info is not None for result in op._schema.returns)
        writes = any(_writes_into(record, inputs) for record in trace.records)
        # A composite op whose schema announces an alias, but which copied, has to show the copy it made; so has one
        # that writes, which only its parts announce.
        named = not shared and not writes and (self._name_known(op) or not trace.records or _checks(trace))
        named = named and not (op.name() in _REGROUPING and any(map(is_empty, inputs)))
        named = named and not _is_autocast(trace)
        with self.indexing.already_checked(op):
            if named and not self.indexing.is_hidden(args, trace):
                result = self._fresh(op, args, trace.out)
            else:
                result = self._replay(op, args, python, trace)
        if annotated or shared:
            self._note_alias_decision(op, args, python, trace, result)
        return result

    def _nothing(self, out: Any) -> Any:
        made = [self.literal(torch.empty(tuple(t.shape), dtype=t.dtype)) for t in _tensors(out)]
        return made[0] if isinstance(out, torch.Tensor) else made

    def _name_known(self, op: Any) -> bool:
        name = registered_name(op._schema)
        if is_not_lowered(op):
            return False
        # An op that may alias, announced or not, is shown as what it does here.
        annotated = op._schema.name.partition("::")[2] in MAY_RETURN_ARGUMENT
        annotated = annotated or any(result.alias_info is not None for result in op._schema.returns)
        lists = any("List" in str(result.type) for result in op._schema.returns)
        return not annotated and not lists and self.emitter.registered(f"torch.{name}")

    def _note_alias_decision(self, op: Any, args: list[Argument], python: list[Any], trace: Trace, result: Any) -> None:
        """Keep what a decision between alias and copy rests on: guessed sizes, strides of arguments."""
        sources = [value for argument in args for value in tensor_values(argument)]
        if trace.guesses and not self._alike(op, python, trace, sources[:1]):
            # What was guessed of sizes of arguments only can be made sure, at the price of a guard.
            key = ("sizes", self.state.place()) if all(map(self.state.sizes.covers, trace.guesses)) else None
            if key is not None and key in self.state.plan.retries:
                for guess in trace.guesses:
                    self.state.require(guess, op.name())
            else:
                for value in tensor_values(result):
                    self.state.storages.maybe_alias(value, sources, op.name(), key)
        for source in sources[:1]:
            if op.name() in ("aten::resolve_conj", "aten::resolve_neg"):
                self.state.storages.need_plain(source, op.name().replace("aten::resolve", "is"), op.name())
            elif self._depends_on_strides(op, python, trace, source):
                self.state.layouts.decide(source, tensor_values(result), op.name())

    def _alike(self, op: Any, python: list[Any], trace: Trace, sources: list[TensorValue]) -> bool:
        """Whether an op does the same to a tensor of known sizes whatever its strides.

        What copies for some strides (`reshape`) copies where the elements are apart, and aliases where they are not.
        """
        for source in sources:
            sizes = source.fake.shape
            if not all(isinstance(size, int) for size in sizes):
                return False
            for gap in (0, 1):
                with self.state.symbols.mode, torch.no_grad():
                    whole = torch.empty([size + gap for size in sizes] + [1 + gap], dtype=source.fake.dtype)
                    other = whole[tuple(slice(size) for size in sizes)][..., 0]
                try:
                    again = run(self.state, op, [other if item is source.fake else item for item in python])
                except (ProgramRaises, SsaCompilerError):
                    return False
                if again.guesses or [record.op for record in again.records] != [record.op for record in trace.records]:
                    return False
        return True

    def _depends_on_strides(self, op: Any, python: list[Any], trace: Trace, source: TensorValue) -> bool:
        fake = source.fake
        if fake.dim() < 2 or not all(isinstance(size, int) for size in fake.shape):
            return fake.dim() > 0 and bool(trace.records)
        layouts = other_layouts(self.state.symbols, fake)
        try:
            runs = [run(self.state, op, [other if item is fake else item for item in python]) for other in layouts]
        except Exception:  # noqa: BLE001 - any failure with other strides means that strides matter
            return True
        expected = [record.op for record in trace.records]
        return any([record.op for record in again.records] != expected for again in runs)

    def _replay(self, op: Any, args: list[Argument], python: list[Any], trace: Trace) -> Any:
        """Emit the recorded base ops."""
        if any(isinstance(argument, torch.SymFloat) for argument in python) and trace.stands_in:
            raise self.state.unsupported_op(f"{op.name()} with a dynamic float")
        # Arguments that were checked may have other tensors in their places than the op was recorded with.
        given = [value for argument in args for value in tensor_values(argument)]
        known = {id(value.fake): value for value in given}
        known |= {id(tensor): value for tensor, value in zip(_tensors(python), given, strict=True)}
        for record in without_unused_vectors(trace):
            if torch.Tag.inplace_view in record.op.tags:
                # The recorded tensor has the shape after this op, not the one before.
                raise self.state.defect(f"{record.op.name()} inside a composite op")
            arguments = [self.value(argument, known) for argument in record.args]
            kinds = (int, float, torch.SymInt, torch.SymFloat)
            numbers = {i for i, a in enumerate(record.args) if isinstance(a, kinds) and not isinstance(a, bool)}
            op = with_numbers(record.op, numbers)
            arguments = self.indexing.checked(op, arguments)
            if op._schema.is_mutable:
                outcome: Any = self.programs(op, arguments) or self.writes.call(op, arguments, record.args, record.out)
                outcome = outcome[0] if len(outcome) == 1 else outcome
            else:
                with self.indexing.already_checked(op):
                    made = self.programs(op, arguments)
                if made is None:
                    outcome = self._base(op, arguments, record.out)
                else:
                    outcome = made[0] if len(op._schema.returns) == 1 else made
            self._remember(record.out, outcome, known)
        return self.value(trace.out, known)

    def _remember(self, out: Any, outcome: Any, known: dict[int, TensorValue]) -> None:
        if isinstance(out, torch.Tensor) and isinstance(outcome, TensorValue):
            known[id(out)] = outcome
        elif isinstance(out, (list, tuple)):
            for element, value in zip(out, outcome):
                self._remember(element, value, known)

    def _base(self, op: Any, args: list[Argument], out: Any) -> Any:
        """Emit a base op whose outcome is known."""
        if computes_nothing(op, out, indices=False):
            return self._nothing(out)
        special = self.views.several.get(op.name())
        if special is not None:
            return special(args, out)
        if op._schema.name == "aten::squeeze":
            self.views.check_squeeze(args[0], args[1] if len(args) > 1 else None)
        if isinstance(out, torch.Tensor):
            # A FakeTensor need not know where in its storage it begins, and as_strided may count from there. The
            # caller's tensors may have other strides than the example's, which it does not ask for.
            strided = op.name() == "aten::as_strided"
            placed = strided and not (isinstance(args[3], ConstValue) and args[3].value is None)
            for value in (v for argument in args for v in tensor_values(argument)):
                outer = strided and any(site[0] in ("argument", "parameter") for site in value.storages)
                if not placed and not outer and same_view(value.fake, out):
                    return replace(value, renewed=True)  # another tensor object: `x.detach() is x` is false
            for value in (v for argument in args for v in tensor_values(argument)):
                if shares_storage(value.fake, out):
                    return self.views.view(op, args, out, value)
        return self._fresh(op, args, out)

    def _fresh(self, op: Any, args: list[Argument], out: Any) -> Any:
        """Emit an op whose results are new tensors or scalars."""
        if op.name() == "aten::_unsafe_view":
            return self.views.view(torch.ops.aten.view.default, args[:2], out, args[0])  # nothing else sees the storage
        args = compared_alike(self, op, self._without_bools(op, args, out))
        op, args = without_complex(self, op, args, out)
        outs: list[Any] = []
        for element in out if isinstance(out, (list, tuple)) else [out]:
            outs += element if isinstance(element, (list, tuple)) else [element]
        kinds: list[Any] = []
        for element in outs:
            if isinstance(element, torch.Tensor):
                kinds.append(self.state.type_of(element))
            elif isinstance(element, (bool, int, float, torch.SymInt, torch.SymFloat, torch.SymBool)):
                kinds.append(self.emitter.scalar_type(_scalar_kind(element)))
            else:
                raise self.state.unsupported_op(f"{op.name()}, whose result is a {type(element).__name__}")
        lists = any("List" in str(result.type) for result in op._schema.returns)
        if lists and not all(isinstance(element, torch.Tensor) for element in outs):
            raise self.state.unsupported_op(f"{op.name()}, whose result is a list of numbers")
        # Lists are opened by the form of the op that runs on copies; it has none to make here.
        on_copies = lists or bool(takes_tensors(op, args)) or self.writes.draws_in_memory_order(op, args)
        results = self.writes.emit_on_copies(op, args, kinds) if on_copies else self.emit(op, args, kinds)
        values: list[Value] = []
        for ssa, element in zip(results, outs):
            if isinstance(element, torch.Tensor):
                made = self.state.fresh(ssa, element)
                self.state.storages.owners[made.root] = made
                length = needed_length(self.state, *made.storages)
                values.append(extend_storage(self, made, length)[1] if length else made)
            else:
                values.append(self.state.opaque_scalar(_scalar_kind(element), ssa))
        sources = [value for argument in args for value in tensor_values(argument)]
        python = [self.python(argument) for argument in args]
        self.state.ranges.note(op, python, sources, values, self.state.storages.owners)
        self.state.layouts.made(op, args, python, out, values)
        return _arranged(out, iter(values))

    def _without_bools(self, op: Any, args: list[Argument], out: Any) -> list[Argument]:
        """Return the arguments with ints where bools are given for numbers, which the IR has no type for."""
        bools = [
            number
            for number, (spec, value) in enumerate(zip(op._schema.arguments, args))
            if "number" in str(spec.type) and isinstance(value, ConstValue) and isinstance(value.value, bool)
        ]
        if not bools:
            return args
        args = [ConstValue(int(value.value)) if n in bools else value for n, value in enumerate(args)]
        again = run(self.state, op, [self.python(argument) for argument in args]).out
        if [tensor.dtype for tensor in _tensors(again)] != [tensor.dtype for tensor in _tensors(out)]:
            raise self.state.defect(f"{op.name()} with a bool for a number, which decides the dtype of its result")
        return args


_REPEATING = frozenset({torch.ops.aten.broadcast_to, torch.ops.aten.expand, torch.ops.aten.expand_as})
"""Ops of one tensor that repeat it where a size is 1."""
_REGROUPING = frozenset({"aten::einsum"})
"""Composite ops that torch-mlir decomposes by views, of sizes that it takes for others if there are no elements."""


def _may_broadcast(python: Sequence[Any]) -> bool:
    """Whether an op has several tensors, of which it may repeat one where a size is 1."""
    return sum(isinstance(leaf, torch.Tensor) for leaf in tree_leaves(list(python))) > 1


def _arranged(out: Any, values: Iterator[Value]) -> Any:
    """Arrange values as the elements of an outcome are."""
    return [_arranged(element, values) for element in out] if isinstance(out, (list, tuple)) else next(values)


def _scalar_kind(value: Any) -> type:
    if isinstance(value, (bool, torch.SymBool)):
        return bool
    return int if isinstance(value, (int, torch.SymInt)) else float
