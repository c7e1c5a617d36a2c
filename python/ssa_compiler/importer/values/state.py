"""The state of the abstract interpretation, shared by the modules of this package."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Any

import sympy
import torch

from ...errors import UnsupportedOpError, program_error_name
from ..ir.emitter import Emitter
from ..ir.locations import Locations
from .argument_sizes import ArgumentSizes
from .diagnostics import Diagnostics, ProgramRaises
from .heap import Heap
from .plan import Form, ImportPlan, form_key, inner_place
from .storages import Storages
from .stride_provenance import Layouts
from .symbols import Symbols, expr_of
from .value_ranges import Ranges
from .values import ConstValue, ScalarValue, Site, TensorValue, Value

__all__ = ["State"]

_INFERRING = ("aten::broadcast_to", "aten::expand", "aten::reshape", "aten::unflatten", "aten::view")
"""Ops that take -1 for a size."""


class State(Diagnostics):
    """Everything that importing one program needs: what it consists of, and values that ops make.

    Attributes:
        plan: the decisions under which the program is imported.
        emitter: builds the IR.
        heap: lists, dicts and objects.
        storages: when memory was written, and what may alias it.
        layouts: whose strides decide what ops do.
        symbols: sizes and scalars that are dynamic.
        sizes: the sizes of arguments that are dynamic.
        ranges: what is known about the numbers in integer tensors.
        scripted: whether the program came scripted: then lists are what they are to TorchScript.
        generated: whether partial evaluation wrote the function at hand; it knows which lists are tuples in eager, and
            compares and adds none of these to others.
        in_library: whether what is imported is a program of the library, which calls ops as they have to be called.
        arguments: the tensor arguments of `@main`, by index.
        examples: their example values.
        originals: objects of the caller's or the module's that changed sizes, strides or storage, by identity: their
            value, and a copy of it from before.
        identities: pairs of arguments of which the program asked whether they are one object, with the answer.
        scalars: the paths of the bool, int and float arguments that the plan does not have for constants, by their
            number among the arguments of `@main`.
        blamed: the paths of those that decide what the operands of a rejected op are.
        ints: the number among the arguments of `@main`, and the example, of each symbol that is an int argument.
        sizes_given: the int arguments that are sizes of which -1 would be inferred, with the op that takes them.
        outside: for each region that the code at hand is in, the cells that were there when it was entered.
        has_opaque_ops: whether an op decides by dynamic scalars, which `ImportPlan.opaque` would leave to PyTorch.
        kept_loops: the loops that are too large to be written out, so that the lists that they build are buffers.
        large_loops: those that turned out to be so when they were written out.
        inductions: the body of the loop of whose iterations a symbol is the number.
        joins: whether no branches were found that can only be joined if lists have another form.

    Args:
        plan: the decisions.
        sizes: the sizes of arguments that are dynamic.
        run: runs an op on FakeTensors; see `Layouts`.
    """

    def __init__(self, plan: ImportPlan, sizes: ArgumentSizes, run: Callable[[State, Any, list[Any]], Any]) -> None:
        super().__init__(Locations())
        self.plan = plan
        self.emitter = Emitter(self.locations)
        self.heap = Heap()
        self.texts: dict[Any, int] = {}
        self.storages = Storages(self)
        self.layouts = Layouts(self, partial(run, self))
        self.sizes = sizes
        self.symbols = Symbols(sizes)
        self.ranges = Ranges(self.symbols.known)
        self.scripted = False
        self.generated = False
        self.in_library = False
        self.arguments: dict[int, TensorValue] = {}
        self.examples: dict[int, torch.Tensor] = {}
        self.originals: dict[int, tuple[TensorValue, TensorValue]] = {}
        self.identities: dict[tuple[int, int], bool] = {}
        self.scalars: dict[int, str] = {}
        self.blamed: dict[Exception, list[str]] = {}
        self.kept_loops: set[Site] = set()
        self.large_loops: set[Site] = set()
        self.inductions: dict[Any, Site] = {}
        self.generators: dict[int, ScalarValue] = {}
        self.joins = True
        self._forms: tuple[frozenset[Form] | None, dict[Any, Form]] = (None, {})
        self.has_opaque_ops = False
        self.ints: dict[Any, tuple[int, int]] = {}
        self.sizes_given: dict[int, str] = {}
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
        self.outside.append(frozenset(self.heap.contents))
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

    def inside(self, cell: Site) -> AbstractContextManager[None]:
        """Enter the place at which the lists are made that a list in another form, made here, is made of."""
        return self.at(inner_place(cell)[-1])

    def place(self) -> Site:
        """Return the path of the node that is being imported."""
        return tuple(self._path)

    def site(self) -> Site:
        """Return a new site at the current place; the same in every pass over the same code."""
        self._counters[-1] += 1
        return (*self._path, self._counters[-1])

    def checkpoint(self) -> Callable[[], None]:
        """Return what takes back that code was imported from here on, but for the ops of the current block."""
        contents, frames, counter = dict(self.heap.contents), list(self.locations.frames), self._counters[-1]

        def take_back() -> None:
            self.heap.contents, self._counters[-1] = dict(contents), counter
            self.locations.frames[:] = frames

        return take_back

    def form(self, cell: Site) -> Form | None:
        """Return the form that a list or dict is made in, None for the plain one."""
        if self._forms[0] is not self.plan.forms:
            self._forms = self.plan.forms, {form.cell: form for form in self.plan.forms}
        return self._forms[1].get(form_key(cell))

    # Errors.

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

        Of sizes of arguments it is taken for granted, and checked by each call: eager may do something else for sizes
        that break it (broadcast a size of 1), and a call with such sizes is for another specialisation.

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
        self.storages.owners[value.root] = value
        if example.requires_grad:
            self.storages.requiring |= value.storages
        self.storages.lengths[value.root] = example.untyped_storage().nbytes() // max(example.element_size(), 1)
        if any(stride == 0 and size > 1 for size, stride in zip(example.shape, example.stride())):
            self.layouts.need(value.storages, "an example that shows elements several times")

    def scalar(self, kind: type, ssa: Any, sym: Any) -> Value:
        """Return a scalar; a constant if its symbol turns out to be one."""
        if kind is torch.Generator:
            made = ScalarValue(kind, ssa, sym)
            self.generators[id(sym)] = made
            return made
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
                    self.emitter.define_size(symbol, expr)
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
