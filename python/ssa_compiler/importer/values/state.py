"""The state of the abstract interpretation: the heap of lists, storages and when they were written, and error helpers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import sympy
import torch

from ...abi.results import Step
from ...errors import InternalError, UnsupportedOpError, UnsupportedProgramError, program_error_name
from ..ir.emitter import Emitter
from ..ir.locations import Locations
from .argument_sizes import ArgumentSizes
from .attempts import AnotherAttempt
from .stride_provenance import Layouts
from .symbols import COUNTS, Symbols, expr_of
from .value_ranges import Ranges
from .values import ConstValue, MaybeAlias, ScalarValue, Site, TensorValue, Value, made_at

__all__ = ["SHARED", "CallerContainer", "ProgramRaises", "Retry", "State", "Unjoinable", "View"]


SHARED = "shared containers"
"""The key of the `Retry` after which a container that is passed in two places is one."""

_IN_PYTHON = "call it in a function that is marked @torch.jit.ignore, which stays Python"


class Retry(AnotherAttempt):
    """The import has to start again without what it assumed at the places `keys`."""

    def __init__(self, keys: set[Any]) -> None:
        super().__init__(str(keys))
        self.keys = keys


class ProgramRaises(Exception):
    """The code being imported surely raises, if it is reached.

    Attributes:
        text: "ExceptionName: message".
        emitted: whether the code that was emitted raises it, with run-time values in the message.
    """

    def __init__(self, text: str, *, emitted: bool = False) -> None:
        super().__init__(text)
        self.text = text
        self.emitted = emitted


class Unjoinable(UnsupportedProgramError):
    """Two branches make values that have no common type, tensors of two ranks, or texts of which the program asks something."""

    def __init__(self, rejection: UnsupportedOpError | UnsupportedProgramError) -> None:
        super().__init__(str(rejection))
        self.location = rejection.location
        self._rejection = rejection

    def plain(self) -> UnsupportedOpError | UnsupportedProgramError:
        """Return the rejection as it is told."""
        return self._rejection


@dataclass(frozen=True)
class CallerContainer:
    """A list, dict or object of the caller's.

    Attributes:
        route: the position of the argument that it is, or is in, and the steps that lead to it.
        path: its name as the user sees it.
        elements: what it held at the start.
        keys: the keys of a dict, the names of an object's attributes.
        repeated: whether the example is passed in another place as well.
    """

    route: tuple[Step, ...]
    path: str
    elements: tuple[Value, ...]
    keys: tuple[Any, ...] = ()
    repeated: bool = False


@dataclass(frozen=True)
class View:
    """What `keys()`, `values()` or `items()` of a dict returned.

    Attributes:
        cell: the dict.
        kind: "keys", "values" or "items".
    """

    cell: Site
    kind: str


_INFERRING = ("aten::broadcast_to", "aten::expand", "aten::reshape", "aten::unflatten", "aten::view")
"""Ops that take -1 for a size."""


class State:
    """Everything that importing one program needs, shared by the modules of this package.

    Attributes:
        heap: contents of each list and dict, by cell.
        keys: keys of each dict cell.
        shapes: cells of lists that are the shape of a tensor, a torch.Size in eager.
        tuples: cells of lists that an op returns and that are a tuple in eager: of tensors, or strides.
        lists: cells of lists that are lists in eager, too; a tuple of ints that is passed for a list is one to TorchScript.
        scripted: whether the program came scripted: then lists are what they are to TorchScript.
        views: lists that show the keys or elements of a dict.
        module_owned: cells of lists and dicts of the module.
        caller_owned: those of the caller, with where they come from.
        frozen: cells whose identity was lost at a join; changing them is rejected.
        stamps: time of the last write to each storage.
        written: every storage written so far, whether that code is reached or not.
        counted: tensors of which an op has made symbols, such as the number of their nonzero elements, for the next such op.
        arguments: the tensor arguments of `@main`, by index.
        examples: their example values.
        originals: objects of the caller's or the module's that changed sizes, strides or storage, by identity: their value,
            and a copy of it from before.
        identities: pairs of arguments of which the program asked whether they are one object, with the answer.
        layouts: whose strides decide what ops do.
        requiring: storages of the caller's tensors that require gradients.
        grad_mode: whether gradients are recorded at import; None as long as the program does not ask.
        grad_modes: the contexts (`torch.no_grad()`) that the code at hand is in.
        recorded: the storages that ops use outside of `torch.no_grad()`, where eager may record gradients.
        plain_reasons: storages of tensors of which the program asked what no call may change, with what and the op.
        storage_reasons: storages of arguments that an op counts in from their start: the storage offset and, where it
            matters, the size of the storage, in elements, and the op.
        owners: the tensor that a storage was made with, by root.
        lengths: how many elements the storages of the caller's tensors hold, by root; the others hold one tensor each.
        retries: the keys of every `Retry` so far.
        constants: the bool, int and float arguments, by path, that this import takes for constants, with the reason.
        scalars: the paths of those that it does not.
        ints: the number among the arguments of `@main`, and the example, of each symbol that is an int argument.
        sizes_given: the int arguments that are sizes of which -1 would be inferred, with the op that takes them.
        splits: whether what follows branches that cannot be joined is imported in each of them.
        opaque: whether ops that decide by dynamic scalars are left to PyTorch.
        index_checks: whether indices are checked at run time.
        kernels: whether programs of the library may use ops that only native kernels have.
        in_library: whether what is imported is a program of the library, which calls ops as they have to be called.
        sizes: the sizes of arguments that are not fixed.
        ranges: what is known about the numbers in integer tensors.

    Args:
        run: runs an op on FakeTensors; see `Layouts`.
    """

    def __init__(
        self,
        retries: frozenset[Any] = frozenset(),
        constants: Mapping[str, str] | None = None,
        *,
        index_checks: bool = True,
        sizes: ArgumentSizes | None = None,
        splits: bool = False,
        opaque: bool = False,
        kernels: bool = False,
        run: Callable[[State, Any, list[Any]], Any],
    ) -> None:
        self.retries = retries
        self.constants = dict(constants or {})
        self.scalars: list[str] = []
        self.splits = splits
        self.opaque = opaque
        self.kernels = kernels
        self.ints: dict[Any, tuple[int, int]] = {}
        self.sizes_given: dict[int, str] = {}
        self.index_checks = index_checks
        self.in_library = False
        self.locations = Locations()
        self.emitter = Emitter(self.locations)
        self.sizes = sizes if sizes is not None else ArgumentSizes()
        self.symbols = Symbols(self.sizes)
        self.ranges = Ranges(self.symbols.known)
        self.heap: dict[Site, tuple[Value, ...]] = {}
        self.keys: dict[Site, tuple[Any, ...]] = {}
        self.shapes: set[Site] = set()
        self.tuples: set[Site] = set()
        self.lists: set[Site] = set()
        self.scripted = False
        self.views: dict[Site, View] = {}
        self.module_owned: set[Site] = set()
        self.caller_owned: dict[Site, CallerContainer] = {}
        self.frozen: set[Site] = set()
        self.stamps: dict[Site, int] = {}
        self.clock = 0
        self.written: set[Site] = set()
        self.counted: list[TensorValue] = []
        self.layouts = Layouts(self, partial(run, self))
        self.requiring: set[Site] = set()
        self.grad_mode: bool | None = None
        self.grad_modes: list[bool] = []
        self.recorded: set[Site] = set()
        self.plain_reasons: dict[Site, tuple[str, str]] = {}
        self.storage_reasons: dict[Site, tuple[int, int | None, str]] = {}
        self.owners: dict[Any, TensorValue] = {}
        self.lengths: dict[Any, int] = {}
        self.originals: dict[int, tuple[TensorValue, TensorValue]] = {}
        self.arguments: dict[int, TensorValue] = {}
        self.examples: dict[int, torch.Tensor] = {}
        self.identities: dict[tuple[int, int], bool] = {}
        self.has_maybe = False
        self.outside: list[frozenset[Site]] = []
        self._path: list[Any] = []
        self._counters: list[int] = [0]

    @property
    def conditional(self) -> bool:
        """Whether the code that is being imported may run another number of times than once."""
        return bool(self.outside)

    @contextmanager
    def region(self) -> Iterator[None]:
        """Enter code that runs depending on run-time values."""
        self.outside.append(frozenset(self.heap))
        try:
            yield
        finally:
            self.outside.pop()

    # Places.

    @contextmanager
    def at(self, step: Any) -> Iterator[None]:
        """Enter a step of the path: a node number, a block number, a pass-independent name."""
        self._path.append(step)
        self._counters.append(0)
        try:
            yield
        finally:
            self._path.pop()
            self._counters.pop()

    def place(self) -> Site:
        """Return the path of the node that is being imported."""
        return tuple(self._path)

    def site(self) -> Site:
        """Return a new site at the current place; the same in every pass over the same code."""
        self._counters[-1] += 1
        return (*self._path, self._counters[-1])

    # Errors.

    def unsupported(self, message: str) -> UnsupportedProgramError:
        """Return the error for a program whose meaning cannot be kept.

        Args:
            message: what is rejected, and after a semicolon the remedy.
        """
        return UnsupportedProgramError(f"unsupported: {message}", location=self.locations.user())

    def unsupported_op(self, message: str) -> UnsupportedOpError:
        """Return the error for an op that cannot be imported.

        Args:
            message: what is rejected, and after a semicolon the remedy; the op's own is to be called by Python.
        """
        remedy = "" if "; " in message else f"; {_IN_PYTHON}"
        return UnsupportedOpError(f"unsupported: {message}{remedy}", location=self.locations.user())

    def defect(self, what: str) -> InternalError:
        """Return the error for what no program should reach."""
        return InternalError(what, location=self.locations.user())

    def check(self, condition: Any, message: str) -> None:
        """Make the program raise `message` unless the symbolic or constant bool `condition` holds.

        Raises:
            ProgramRaises: it surely does not hold.
        """
        expr = expr_of(condition)
        known = self.symbols.known(expr)
        if known is False:
            raise ProgramRaises(message)
        if known is None:
            self.emitter.assertion(self.emitter.expression(expr), message)

    def require(self, relation: Any, op: str, error: str = "RuntimeError", *, broadcasts: bool = False) -> None:
        """Take for granted, or check at run time, what an op requires of sizes.

        Of sizes of arguments it is taken for granted, and checked by each call: eager may do something else for sizes that
        break it (broadcast a size of 1), and a call with such sizes is for another specialisation.

        Args:
            relation: a boolean expression over symbols.
            op: the op's name.
            error: the class of what is raised at run time.
            broadcasts: whether eager broadcasts its operands.
        Raises:
            ProgramRaises: it surely does not hold.
        """
        if self.sizes.covers(relation) and self.symbols.known(relation) is None:
            self.sizes.place = (op, self.locations.user())
            self.sizes.assume(relation)
            self.sizes.settle()
            return
        if broadcasts and isinstance(relation, sympy.Eq) and self.symbols.known(relation) is None:
            # Where FakeTensors require one size, eager also takes a size of 1 and another one.
            self.reject_broadcast(relation, relation.args, op)
        self.check(relation, f"{error}: {op}: the sizes do not fit, required {relation}")

    def reject_broadcast(self, relation: Any, sizes: Sequence[Any], op: str) -> None:
        """Make the program reject to go on where a relation does not hold and one of some sizes is 1.

        Args:
            relation: a boolean expression over symbols.
            sizes: the sizes which eager broadcasts if they are 1.
            op: the op's name.
        """
        differ = [sympy.Ne(size, 1) for size in sizes if self.symbols.known(sympy.Eq(size, 1)) is None]
        text = f"unsupported: {op} broadcasts a dynamic size of 1; for x[k:k + 1] write x[k][None]"
        self.check(sympy.Or(relation, sympy.And(*differ)), f"{program_error_name(UnsupportedOpError)}: {text}")

    def note_size(self, relation: Any, op: str) -> None:
        """Note which ints among the arguments an op takes for sizes where -1 stands for one that it infers.

        Args:
            relation: what the op requires.
            op: its name.
        Raises:
            UnsupportedOpError: the example is -1.
        """
        if op.partition(".")[0] not in _INFERRING or len(relation.free_symbols) != 1:
            return
        (symbol,) = relation.free_symbols
        plain = all(part == symbol or part.is_Integer for part in relation.args)
        if symbol in self.ints and plain and relation.subs(symbol, -1) == sympy.false:
            index, example = self.ints[symbol]
            if example == -1:
                raise self.unsupported_op(f"{op} with a dynamic size that is -1")
            self.sizes_given[index] = op

    def decided(self, relation: Any, op: str) -> bool | None:
        """Return whether a relation holds, if it is known, or is about sizes of arguments: then calls check that.

        Args:
            relation: a boolean expression over symbols.
            op: the op that needs to know.
        """
        known = self.symbols.known(relation)
        if known is None and self.sizes.covers(relation):
            self.sizes.place = (op, self.locations.user())
            known = bool(self.sizes.decide(relation))
            self.sizes.settle()
        return known

    def same_sizes(self, one: TensorValue, other: TensorValue, what: str) -> bool:
        """Whether two tensors surely have the same sizes, or have for the example: then calls check that.

        Args:
            one: a tensor.
            other: another.
            what: what needs to know.
        """
        if one.fake.dim() != other.fake.dim():
            return False
        pairs = [tuple(map(expr_of, sizes)) for sizes in zip(one.fake.shape, other.fake.shape)]
        return all(a == b or self.decided(sympy.Eq(a, b), what) for a, b in pairs)

    # Values.

    def dim(self, value: Value, rank: int) -> int:
        """Return the number of a dimension, counted from the first.

        Args:
            value: the number as the program gives it; negative ones count from the end.
            rank: how many dimensions there are.
        Raises:
            ProgramRaises: it is out of range.
            UnsupportedProgramError: it is dynamic.
        """
        if not isinstance(value, ConstValue):
            raise self.unsupported("a dynamic dimension number; use a constant, or an if for each")
        if not -rank <= value.value < rank:
            raise ProgramRaises(
                f"IndexError: Dimension out of range (expected to be in range of [{-rank}, {rank - 1}], "
                f"but got {value.value})"
            )
        return int(value.value) % rank

    def owns(self, value: TensorValue, example: torch.Tensor) -> None:
        """Note a tensor of the caller's, and the one in the example that it stands for."""
        self.owners[value.root] = value
        if example.requires_grad:
            self.requiring |= value.storages
        self.lengths[value.root] = example.untyped_storage().nbytes() // max(example.element_size(), 1)
        if any(stride == 0 and size > 1 for size, stride in zip(example.shape, example.stride())):
            self.layouts.need(value.storages, "an example that shows elements several times")

    def scalar(self, kind: type, ssa: Any, sym: Any) -> Value:
        """Return a scalar; a constant if its symbol turns out to be one."""
        if isinstance(sym, (bool, int, float)):
            return ConstValue(kind(sym))
        expr = expr_of(sym)
        if kind is int and isinstance(expr, sympy.Integer):
            return ConstValue(int(expr))
        if kind is bool:
            known = self.symbols.known(expr)
            if known is not None:
                return ConstValue(known)
        if isinstance(expr, sympy.Symbol):
            self.emitter.define(expr, lambda: ssa)
        else:
            self.emitter.scope.memo.setdefault(("expr", expr), ssa)
        return ScalarValue(kind, ssa, sym)

    def opaque_scalar(self, kind: type, ssa: Any, key: Any = None) -> Value:
        """Return a scalar of which nothing is known."""
        return self.scalar(kind, ssa, self.symbols.scalar(kind, key if key is not None else self.site()))

    def fresh(self, ssa: Any, fake: torch.Tensor) -> TensorValue:
        """Return a tensor in a new storage; sizes that are new symbols are defined by it."""
        self.define_sizes(ssa, fake)
        fake = self.with_counts(fake)
        return TensorValue(ssa, fake, frozenset([self.site()]), object(), expr_of(fake.storage_offset()))

    def define_sizes(self, ssa: Any, fake: torch.Tensor) -> None:
        """Define the symbols that are sizes of `fake` as the sizes of its SSA value."""
        emitter = self.emitter
        for dim, size in enumerate(fake.shape):
            expr = expr_of(size)
            if isinstance(expr, sympy.Symbol) and emitter.scope.definition(expr) is None:

                def make(dim: int = dim) -> Any:
                    return emitter.scalar_op("aten.size.int", int, [ssa, emitter.constant(dim)])

                emitter.define(expr, make)

    def with_counts(self, fake: torch.Tensor) -> torch.Tensor:
        """Return the tensor with sizes that are known not to be negative.

        The op that made a size such as `6 // n` has checked it, which later ops cannot know.
        """
        found: dict[sympy.Expr, sympy.Symbol] = {}
        for expr in map(expr_of, fake.shape):
            if not expr.is_Integer and self.symbols.bounds(expr)[0] < 0:
                symbol = self.symbols.integer(("size", expr), low=0).node.expr
                found[expr] = symbol
                self.sizes.derive(symbol, expr)
                if self.emitter.scope.definition(symbol) is None:
                    self.emitter.define(symbol, partial(self.emitter.expression, expr))
        if not found:
            return fake

        def count(number: Any) -> Any:
            expr = expr_of(number)
            return self.symbols.to_symint(found.get(expr, expr.subs(found)))

        sizes, strides = [count(size) for size in fake.shape], [count(stride) for stride in fake.stride()]
        with self.symbols.mode, self.symbols.transaction(), torch.no_grad():
            return fake.as_strided(sizes, strides, fake.storage_offset())

    def type_of(self, fake: torch.Tensor) -> Any:
        """Return the MLIR type for a FakeTensor."""
        return self.emitter.tensor_type(fake.dtype, fake.shape)

    # Storages.

    def records_gradients(self) -> bool:
        """Whether eager records gradients here; where it depends on the caller, calls check that."""
        if self.grad_modes:
            return self.grad_modes[-1]
        self.grad_mode = torch.is_grad_enabled()
        return self.grad_mode

    def need_plain(self, value: TensorValue, flag: str, op: str) -> None:
        """Note that the program asked for a flag of a tensor, and was told that it is off, or as in the example.

        Args:
            value: the tensor.
            flag: "is_conj", "is_neg" or "requires_grad".
            op: what asked.
        """
        for storage in value.storages:
            self.plain_reasons.setdefault(storage, (flag, f"{op} at {self.locations.user()}"))

    def note_gradients(self, value: TensorValue) -> None:
        """Note that an op uses a tensor, which eager may record for gradients."""
        if not self.grad_modes or self.grad_modes[-1]:
            self.recorded |= value.storages

    def use(self, value: TensorValue, op: str) -> None:
        """Check that the value's contents are what eager would see.

        Raises:
            UnsupportedProgramError: it aliases or not depending on a run-time size, and what it may alias was written.
        """
        for maybe in value.maybe:
            if any(self.stamps.get(made_at(storage), 0) > maybe.stamp for storage in maybe.storages):
                if maybe.retry is not None:
                    raise Retry({maybe.retry})
                raise self.unsupported(
                    f"{op} reads the result of {maybe.op} at {maybe.location}, which aliases or copies depending on a "
                    "run-time size, after what it may alias was written; call .clone() there"
                )

    def write(self, value: TensorValue, op: str) -> None:
        """Note a write to the value's storages.

        Raises:
            UnsupportedProgramError: it depends on a run-time size what is written.
        """
        for maybe in value.maybe:
            if maybe.retry is not None:
                raise Retry({maybe.retry})
            raise self.unsupported(
                f"{op} writes the result of {maybe.op} at {maybe.location}, which aliases or copies depending on a "
                "run-time size; call .clone() there"
            )
        self.clock += 1
        storages = {made_at(storage) for storage in value.storages}
        for counted in [value for value in self.counted if not storages.isdisjoint(map(made_at, value.storages))]:
            for name in COUNTS:
                setattr(counted.fake, name, None)
            self.counted.remove(counted)
        self.stamps.update(dict.fromkeys(storages, self.clock))
        self.written |= storages

    def maybe_alias(
        self,
        value: TensorValue,
        sources: list[TensorValue],
        op: str,
        retry: Any = None,
        interferes: Callable[[TensorValue, TensorValue], bool] | None = None,
    ) -> None:
        """Note that `value` aliases `sources` or is a copy, depending on a run-time size or on a layout that control flow decides.

        Args:
            value: a result.
            sources: the arguments that it may alias.
            op: the op that made it.
            retry: the key of a `Retry` that makes it a sure alias; None if it cannot be made one.
            interferes: see `MaybeAlias`.
        """
        self.has_maybe = True
        storages = frozenset().union(*(source.storages for source in sources))
        value.maybe += (MaybeAlias(storages, self.clock, op, self.locations.user(), retry, interferes),)
