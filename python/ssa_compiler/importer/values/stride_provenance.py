"""On whose strides a decision rests: an alias or a copy, `x.stride()`, the order in which random numbers are drawn.

FakeTensors have the strides that the example leads to. A call may pass tensors with others, and then eager may decide
in another way; also on what an op made of an argument, as most ops keep the order of dimensions. So each new tensor
remembers the op that made it; when a decision is found to depend on its strides, the op runs again with other layouts
of its operands, which shows whose strides its own come from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import sympy
import torch
from torch.utils._pytree import tree_leaves, tree_map

from ...errors import UnsupportedOpError
from ..ir.locations import Locations
from ..ir.torchscript_enums import python_argument
from . import fake_layout
from .argument_sizes import ArgumentSizes
from .plan import AnotherPlan
from .symbols import Symbols, expr_of
from .values import Site, TensorValue, made_at, tensor_values

__all__ = ["Layouts", "other_layouts"]

_OUTER = ("argument", "parameter")
# What raises for some strides, and is taken to do so where sizes are dynamic.
_RAISING = frozenset({torch.ops.aten.view.default, torch.ops.aten.view_as.default, torch.ops.aten.unflatten.int})


@dataclass(frozen=True)
class _Maker:
    op: Any
    python: list[Any]
    inputs: list[TensorValue]
    out: Any


@dataclass(frozen=True)
class _Decision:
    """An op that aliases or copies: what it may join, what its strides come from, and the op."""

    joined: frozenset[Site]
    sources: frozenset[Site]
    reason: str


class _Import(Protocol):
    """What following strides needs of the state of an import."""

    locations: Locations
    sizes: ArgumentSizes
    symbols: Symbols

    def unsupported_op(self, message: str) -> UnsupportedOpError: ...


class Layouts:
    """Follows strides back to arguments and parameters.

    Attributes:
        reasons: the op that needs the strides of an argument or parameter, by storage.
        exact: the storages of which also strides that lead nowhere matter, those of dimensions of size 1.
        held: the storages that stand for tensors of other strides, which a list of dynamic length has copied.

    Args:
        state: the state of the import.
        run: runs an op on FakeTensors; its result has the outcome as `out`.
    """

    def __init__(self, state: _Import, run: Callable[[Any, list[Any]], Any]) -> None:
        self.reasons: dict[Site, str] = {}
        self.exact: set[Site] = set()
        self.held: set[Site] = set()
        self._state, self._run = state, run
        self._makers: dict[Site, _Maker] = {}
        self._origins: dict[Site, frozenset[Site]] = {}
        self._ambiguous: dict[Site, bool] = {}
        self._decisions: list[_Decision] = []
        self._raising: dict[str, bool] = {}
        self._deciding: dict[str, list[int]] = {}

    def made(self, op: Any, args: Sequence[Any], python: list[Any], out: Any, values: Sequence[Any]) -> None:
        """Note the op that made tensors in new storages.

        Args:
            op: the OpOverload.
            args: its arguments, values and lists of them.
            python: the same as FakeTensors and numbers.
            out: its outcome.
            values: the results.
        """
        if not any(isinstance(leaf, torch.Tensor) and leaf.dim() > 1 for leaf in tree_leaves(out)):
            return  # others are always contiguous
        maker = _Maker(op, python, [value for argument in args for value in tensor_values(argument)], out)
        for value in values:
            if isinstance(value, TensorValue):
                for storage in map(made_at, value.storages):
                    if storage in self._makers:  # another pass over a loop, which knows less about what it carries
                        self._ambiguous.clear()
                        self._origins.clear()
                    self._makers[storage] = maker

    def need(self, storages: Iterable[Site], op: str, *, exact: bool = False) -> None:
        """Note that the program is right only for the strides that a tensor has.

        Args:
            storages: those of the tensor.
            op: what needs them.
            exact: whether the strides of dimensions of size 1 matter too.
        Raises:
            UnsupportedOpError: they depend on which way the run took.
        """
        storages = frozenset(storages)
        if any(map(self._is_ambiguous, map(made_at, storages))):
            raise self._state.unsupported_op(
                f"{op} of a tensor whose layout depends on control flow; make it contiguous() before"
            )
        self._need(storages, f"{op} at {self._state.locations.user()}", exact)

    def has_ambiguous_strides(self, value: TensorValue) -> bool:
        """Whether the strides of a tensor depend on which way the run took, though its FakeTensor has those of one way.

        Ops keep the layout of their operands. One of several tensors of different strides has strides that the run
        knows; what an op makes of it has the strides of one of them.
        """
        return value.fake.dim() > 1 and any(map(self._is_ambiguous, map(made_at, value.storages)))

    def _is_ambiguous(self, storage: Site) -> bool:
        if storage in self.held:
            return True
        if storage[0] in _OUTER or storage not in self._makers:
            return False
        if storage not in self._ambiguous:
            self._ambiguous[storage] = False  # what a loop forwards to itself
            self._ambiguous[storage] = any(
                _has_dynamic_strides(source.fake) or any(map(self._is_ambiguous, map(made_at, source.storages)))
                for source in self._sources(self._makers[storage])
            )
        return self._ambiguous[storage]

    def _need(self, storages: Iterable[Site], reason: str, exact: bool) -> None:
        for storage in storages:
            for origin in self._origin(made_at(storage)):
                self.reasons.setdefault(origin, reason)
                if exact:
                    self.exact.add(origin)

    def decide(self, source: TensorValue, results: Sequence[TensorValue], op: str) -> None:
        """Note that an op aliases or copies depending on the strides of `source`; `settle` says whether that
        matters.
        """
        joined = source.storages.union(*(value.storages for value in results))
        reason = f"{op} at {self._state.locations.user()}"
        self._decisions.append(_Decision(frozenset(map(made_at, joined)), source.storages, reason))

    def failed(self, op: Any, args: Sequence[Any], python: list[Any]) -> None:
        """Need the strides because of which an op raises.

        Args:
            op: the OpOverload.
            args: its arguments, values and lists of them.
            python: the same as FakeTensors and numbers.
        """
        for value in [value for argument in args for value in tensor_values(argument)]:
            fake = value.fake
            if fake.dim() > 1 and all(isinstance(size, int) for size in fake.shape):
                for other in other_layouts(self._state.symbols, fake):
                    try:
                        self._run(op, _replaced(python, {id(fake): other}))
                    except Exception:  # noqa: BLE001 - fails as well
                        continue
                    self.need(value.storages, f"{op.name()}, which raises,")
                    break

    def passed(self, op: Any, args: Sequence[Any], python: list[Any]) -> None:
        """Need the strides for want of which an op that shows a part of its operand (`view`) would raise.

        Args:
            op: the OpOverload, which did not raise.
            args: its arguments, values and lists of them.
            python: the same as FakeTensors and numbers.
        """
        if not any(result.alias_info is not None and not result.alias_info.is_write for result in op._schema.returns):
            return
        for value in [value for argument in args for value in tensor_values(argument)]:
            if value.fake.dim() > 1 and self._may_raise(op, value.fake, python):
                for maybe in value.maybe:
                    if maybe.retry is not None and not maybe.alike:
                        raise AnotherPlan.without({maybe.retry})
                self.need(value.storages, f"{op.name()}, which raises for others,")

    def _may_raise(self, op: Any, fake: torch.Tensor, python: list[Any]) -> bool:
        """Whether an op raises for other strides of an operand; also where its sizes are not known well enough to
        say.
        """
        hints = self._state.sizes.hints

        def concrete(leaf: Any) -> Any:
            """The leaf for the sizes of the example."""
            if isinstance(leaf, torch.SymInt):
                return int(leaf.node.expr.xreplace(hints))
            if not isinstance(leaf, torch.Tensor):
                return leaf
            sizes, strides = map(concrete, leaf.shape), map(concrete, leaf.stride())
            return torch.empty_strided(tuple(sizes), tuple(strides), dtype=leaf.dtype, device="meta")

        key = _question(op, python, [fake])
        if key not in self._raising:
            leaves = tree_leaves(python)
            try:
                given = {id(leaf): concrete(leaf) for leaf in leaves}
            except TypeError:  # of sizes that are computed nothing is known
                self._raising[key] = op in _RAISING
            else:
                own = _tried(op, python, given)
                tensor = given[id(fake)]
                others = [_tried(op, python, {**given, id(fake): layout()}) for layout in _layouts(tensor)]
                self._raising[key] = own and not all(others)
        return self._raising[key]

    def settle(self, seen: Iterable[Site]) -> None:
        """Need the strides on which an alias rests that somebody can tell from a copy.

        Args:
            seen: the storages that the program writes or returns.
        """
        told = set(map(made_at, seen))
        for decision in self._decisions:
            if decision.joined & told:
                self._need(decision.sources, decision.reason, False)

    def _origin(self, storage: Site) -> frozenset[Site]:
        """The storages of arguments and parameters on whose strides those of a tensor depend."""
        if storage[0] in _OUTER:
            return frozenset([storage])
        if storage not in self._origins:
            self._origins[storage] = frozenset()  # what a loop forwards to itself
            maker = self._makers.get(storage)
            found = [self._origin(made_at(s)) for value in self._sources(maker) for s in value.storages]
            self._origins[storage] = frozenset().union(*found)
        return self._origins[storage]

    def _sources(self, maker: _Maker | None) -> list[TensorValue]:
        """The operands of an op whose strides decide about those of its results."""
        if maker is None:
            return []
        inputs = list({id(value.fake): value for value in maker.inputs if value.fake.dim() > 1}.values())
        if not inputs:
            return []
        if not all(isinstance(size, int) for value in inputs for size in value.fake.shape):
            return [value for value in inputs if self._decides(value.fake, maker)]
        key = _question(maker.op, maker.python, [value.fake for value in inputs])
        if key not in self._deciding:
            self._deciding[key] = self._tell(maker, inputs)
        return [inputs[number] for number in self._deciding[key]]

    def _tell(self, maker: _Maker, inputs: list[TensorValue]) -> list[int]:
        """Which of the operands, of known sizes, make for other strides of the results if they have others."""
        expected = _strides(maker.out)

        def differs(changed: list[TensorValue]) -> bool:
            for number in range(max(len(other_layouts(self._state.symbols, value.fake)) for value in changed)):
                replaced = {}
                for value in changed:
                    layouts = other_layouts(self._state.symbols, value.fake)
                    replaced[id(value.fake)] = layouts[number % len(layouts)]
                try:
                    again = self._run(maker.op, _replaced(maker.python, replaced))
                except Exception:  # noqa: BLE001 - any failure with other strides means that strides matter
                    return True
                if _strides(again.out) != expected:
                    return True
            return False

        found = [number for number, value in enumerate(inputs) if differs([value])]
        if not found and len(inputs) > 1 and differs(inputs):
            return list(range(len(inputs)))
        return found

    def _decides(self, fake: torch.Tensor, maker: _Maker) -> bool:
        """Whether the strides of an operand matter for those of the results, tried for numbers in place of unknown
        sizes.
        """
        leaves = [leaf for leaf in tree_leaves(maker.python) if isinstance(leaf, (torch.Tensor, torch.SymInt))]
        numbers = [n for leaf in leaves for n in (leaf.shape if isinstance(leaf, torch.Tensor) else [leaf])]
        symbols = sorted({symbol for n in numbers for symbol in expr_of(n).free_symbols}, key=str)
        # Others for each: what is equal for one of them only is not equal.
        sizes = {symbol: sympy.Integer(sympy.prime(3 + n)) for n, symbol in enumerate(symbols)}

        def concrete(leaf: Any) -> Any:
            if isinstance(leaf, torch.SymInt):
                return int(expr_of(leaf).xreplace(sizes))
            if isinstance(leaf, torch.Tensor):
                return torch.empty([concrete(size) for size in leaf.shape], dtype=leaf.dtype, device="meta")
            return leaf

        try:
            given = {id(leaf): concrete(leaf) for leaf in leaves}
            layouts = _layouts(given[id(fake)])
            found = [_strides(_run_on(maker.op, maker.python, {**given, id(fake): layout()})) for layout in layouts]
        except Exception:  # noqa: BLE001 - any failure means that nothing is known
            return True
        return any(strides != found[0] for strides in found)


def other_layouts(symbols: Symbols, fake: torch.Tensor) -> list[torch.Tensor]:
    """Return FakeTensors of the same known sizes and dtype in several layouts.

    Args:
        symbols: makes the FakeTensors, and keeps them.
        fake: a tensor with at least one dimension.
    """
    key = (fake.shape, fake.dtype, fake.device)
    found = symbols.layouts.get(key)
    if found is None:
        found = symbols.layouts[key] = [
            _laid_out(symbols, fake, make()) for make in _layouts(fake_layout.on_meta(fake))
        ]
    return found


def _laid_out(symbols: Symbols, fake: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    """A FakeTensor in the layout of a tensor, with the dtype and device of another one."""
    length = like.untyped_storage().nbytes() // like.element_size()
    whole = fake_layout.made(symbols, [length], fake.dtype, fake.device)
    return fake_layout.viewed(symbols, whole, like.shape, like.stride(), 0)


def _layouts(like: torch.Tensor) -> list[Callable[[], torch.Tensor]]:
    """What makes tensors of the same sizes, dtype and device in several layouts."""
    sizes, rank = tuple(like.shape), like.dim()
    formats = {4: torch.channels_last, 5: torch.channels_last_3d}
    empty = partial(torch.empty, dtype=like.dtype, device=like.device)
    made: list[Callable[[], torch.Tensor]] = [
        lambda: empty(sizes),
        lambda: empty(sizes[::-1]).permute(*reversed(range(rank))),
        lambda: empty((*sizes, 2))[..., 0],
    ]
    if rank in formats:
        made.append(lambda: empty(sizes, memory_format=formats[rank]))
    return made


def _run_on(op: Any, python: list[Any], replaced: dict[int, Any]) -> Any:
    """Run an op on other tensors and numbers, given by the identity of those that they stand for."""
    given = _replaced(python, replaced)
    pairs = [(spec, python_argument(value, spec)) for spec, value in zip(op._schema.arguments, given)]
    with torch.no_grad():
        return op(
            *(value for spec, value in pairs if not spec.kwarg_only),
            **{spec.name: value for spec, value in pairs if spec.kwarg_only},
        )


def _tried(op: Any, python: list[Any], replaced: dict[int, Any]) -> bool:
    """Whether an op runs on other tensors and numbers."""
    try:
        _run_on(op, python, replaced)
    except Exception:  # noqa: BLE001 - an op raises whatever it likes
        return False
    return True


def _question(op: Any, python: list[Any], fakes: Sequence[torch.Tensor]) -> str:
    """All on which it may depend what an op does, for other strides of some of its operands too."""
    numbers = {id(fake): number for number, fake in enumerate(fakes)}
    return repr((op, tree_map(lambda leaf: (numbers.get(id(leaf)), _looks(leaf)), python)))


def _looks(leaf: Any) -> Any:
    """What an op sees of an argument."""
    if isinstance(leaf, torch.Tensor):
        return leaf.dtype, [str(size) for size in leaf.shape], [str(stride) for stride in leaf.stride()]
    return str(leaf)


def _replaced(python: list[Any], tensors: dict[int, torch.Tensor]) -> Any:
    """The arguments of an op with other tensors, by the identity of the old ones."""
    return tree_map(lambda leaf: tensors.get(id(leaf), leaf), python)


def _has_dynamic_strides(fake: torch.Tensor) -> bool:
    """Whether the strides contain symbols that no size contains: those of one of several tensors."""
    sizes, strides = (
        {symbol for n in numbers for symbol in expr_of(n).free_symbols} for numbers in (fake.shape, fake.stride())
    )
    return not strides <= sizes


def _strides(out: Any) -> list[Any]:
    tensors = [leaf for leaf in tree_leaves(out) if isinstance(leaf, torch.Tensor)]
    return [(tuple(map(expr_of, tensor.shape)), tuple(map(expr_of, tensor.stride()))) for tensor in tensors]
