"""Traces of ops, memoised: the same op on tensors with the same metadata does the same.

Loop bodies are imported until nothing new is known of what they carry, library programs at each of their calls, and a
program again if a decision about it was wrong; most ops then run on tensors like those of a run before. FakeTensors
take about a millisecond for each, several where sizes are symbols.

The key of a run has all that its outcome depends on: the op, the metadata of tensors (dtype, sizes, strides, which of
them share storage, ...), other arguments, and PyTorch's global settings. Symbols are renamed in the order in which they
appear, and stand in the key with what is known of each, so that a trace serves tensors whose sizes have other names, in
every import of the process. A relation that a trace requires or guesses is written in the order of names, and so are
these in its key. A trace that made symbols, made a size static or changed the metadata of an argument is not kept.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import sympy
import torch
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode, in_kernel_invocation_manager

from ..values.argument_sizes import ArgumentSizes
from ..values.fake_layout import empty_on_meta, is_plain
from ..values.symbols import Symbols
from .trace import Record, Trace

__all__ = ["memoised"]

_LARGEST = 8192
"""Traces that are kept, of all imports; a hundred bytes to a few thousand each."""
_PLAIN = (bool, int, str, type(None), torch.dtype, torch.device, torch.layout, torch.memory_format)
_SYMBOLIC = (torch.SymInt, torch.SymFloat, torch.SymBool)

_traces: dict[Any, _Template] = {}


class _Unknown(Exception):
    """A run has something of which nothing is known here."""


def memoised(symbols: Symbols, sizes: ArgumentSizes, what: Any, args: Any, run: Callable[[], Trace]) -> Trace:
    """Return the trace of an op: that of an earlier run, on tensors of this one, or else of this run.

    Args:
        symbols: the symbols of this import.
        sizes: counts the questions about sizes of arguments, whose answers an import keeps.
        what: the op, and whatever else decides on what `run` does.
        args: what it is called with: FakeTensors, symbols, constants, in lists, tuples and dicts.
        run: runs it.
    """
    try:
        question = _Question(symbols, args)
        key = (what, question.key, _settings())
        ordered = (key, question.order())  # of a trace that has relations
        found = _traces.get(key) or _traces.get(ordered)
    except (_Unknown, TypeError):  # TypeError: not hashable
        return run()
    if found is not None and (instance := _instance(found, symbols, sizes, question)) is not None:
        return instance
    before = sizes.asked
    trace = run()
    if sizes.asked != before:
        return trace
    try:
        if _Question(symbols, args).key != question.key:
            return trace
        template = _Template(trace, question)
    except _Unknown:
        return trace
    _traces[ordered if trace.requirements or trace.guesses else key] = template
    if len(_traces) > _LARGEST:
        for old in list(_traces)[: _LARGEST // 2]:  # other threads may import
            _traces.pop(old, None)
    return trace


def _instance(found: _Template, symbols: Symbols, sizes: ArgumentSizes, question: _Question) -> Trace | None:
    """The trace for these arguments; None if making its tensors asks for sizes that are not known."""
    if not question.renamed:
        return found.instance(symbols, question)
    guards, asked = dict(sizes.guards), sizes.asked
    try:
        with symbols.transaction():
            made = found.instance(symbols, question)
    except RuntimeError:
        made = None
    if sizes.asked != asked:
        sizes.forget(guards)
        made = None
    return made


def _settings() -> tuple[Any, ...]:
    """PyTorch's settings on which it depends what an op consists of, or which dtype its result has."""
    return (
        torch.get_default_dtype(),
        torch.are_deterministic_algorithms_enabled(),
        torch.is_inference_mode_enabled(),
        torch.is_autocast_enabled("cpu"),
        torch.is_autocast_enabled("cuda"),
        torch.get_autocast_dtype("cpu"),
        torch.get_autocast_dtype("cuda"),
        torch._C._get_math_sdp_enabled(),
        torch._C._get_flash_sdp_enabled(),
        torch._C._get_mem_efficient_sdp_enabled(),
    )


class _Question:
    """The arguments of a run, as a key.

    Attributes:
        tensors: the tensors, each once.
        storages: numbers of their storages, by address.
        symbolic: the symbolic numbers among sizes and arguments, by expression.
        renamed: the names that symbols have in the key.
        key: all that an op may see of them.
    """

    def __init__(self, symbols: Symbols, args: Any) -> None:
        self._env, self.mode = symbols.env, symbols.mode
        self.tensors: list[FakeTensor] = []
        self.storages: dict[int, int] = {}
        self.symbolic: dict[Any, Any] = {}
        self.renamed: dict[Any, Any] = {}
        self._numbers: dict[int, int] = {}
        self.key = (self._of(args), *map(self._facts, self.renamed))

    def number_of(self, tensor: torch.Tensor) -> int | None:
        """Return which of the tensors this is, None if it is none of them."""
        return self._numbers.get(id(tensor))

    def order(self) -> tuple[int, ...]:
        """Return the numbers of the symbols in the order of their names."""
        names = [symbol.name for symbol in self.renamed]
        return tuple(sorted(range(len(names)), key=names.__getitem__))

    def _of(self, value: Any) -> Any:
        kind = type(value)
        if kind is float or kind is complex:
            return kind, repr(value)  # -0.0 == 0.0
        if kind in _PLAIN:
            return kind, value
        if kind is FakeTensor:
            return self._of_tensor(value)
        if kind is list or kind is tuple or kind is torch.Size:
            return kind, tuple(map(self._of, value))
        if kind is dict:
            return tuple((name, self._of(item)) for name, item in value.items())
        if kind in _SYMBOLIC:
            return kind, self._number(value)
        raise _Unknown

    def _of_tensor(self, fake: FakeTensor) -> Any:
        known = self._numbers.get(id(fake))
        if known is not None:
            return "again", known
        _check(fake, self.mode)
        self._numbers[id(fake)] = len(self.tensors)
        self.tensors.append(fake)
        storage = fake.untyped_storage()
        place = self.storages.setdefault(storage._cdata, len(self.storages))
        sizes, strides, offset, *others = _looks(fake)
        # What reaches beyond a tensor's own elements, such as as_strided, looks at the size of the storage.
        numbers = (*sizes, *strides, offset, storage.nbytes())
        return len(sizes), tuple(map(self._number, numbers)), *others, place

    def _number(self, number: Any) -> Any:
        if type(number) is int:
            return number
        expr = number.node.expr
        self.symbolic.setdefault(expr, number)
        return self.in_key(expr, new=True)

    def in_key(self, expr: Any, *, new: bool = False) -> Any:
        """Return an expression as it stands in the key.

        Args:
            expr: an expression over symbols of the arguments.
            new: whether other symbols are arguments, too.
        Raises:
            _Unknown: it has other symbols.
        """
        for symbol in _symbols_in(expr):
            if symbol not in self.renamed:
                if not new:
                    raise _Unknown
                self.renamed[symbol] = _renamed(symbol, len(self.renamed))
        names = tuple(self.renamed[symbol] for symbol in _symbols_in(expr))
        return names[0] if expr.is_Symbol else _replaced(expr, names)

    def _facts(self, symbol: Any) -> Any:
        """What is known of a symbol."""
        env = self._env
        known = env.var_to_range.get(symbol)
        if known is None or env.replacements or env.axioms or env.divisible:
            raise _Unknown
        return known.lower, known.upper, symbol in env.size_like


@cache
def _renamed(symbol: Any, number: int) -> Any:
    return sympy.Symbol(f"memo{number}", **symbol.assumptions0)


@lru_cache(_LARGEST)
def _replaced(expr: Any, names: tuple[Any, ...]) -> Any:
    """An expression with other symbols, given in the order in which its own appear."""
    return expr.xreplace(dict(zip(_symbols_in(expr), names)))


@lru_cache(_LARGEST)
def _symbols_in(expr: Any) -> tuple[Any, ...]:
    """The symbols of an expression in the order in which they appear, each once."""
    if not expr.free_symbols:
        return ()
    return tuple(dict.fromkeys(part for part in sympy.preorder_traversal(expr) if part.is_Symbol))


def _check(fake: FakeTensor, mode: FakeTensorMode) -> None:
    """Turn down a tensor that has more to it than its metadata.

    Raises:
        _Unknown: it has.
    """
    if not is_plain(fake, mode):
        raise _Unknown


def _looks(fake: FakeTensor) -> tuple[Any, ...]:
    """The sizes, strides and offset of a tensor, and what else makes another like it."""
    offset = fake.storage_offset()
    return tuple(fake.shape), fake.stride(), offset, fake.dtype, fake.fake_device, fake.is_conj(), fake.is_neg()


@dataclass(frozen=True, slots=True)
class _Ref:
    """Stands for a tensor in a template."""

    number: int


@dataclass(frozen=True, slots=True)
class _Number:
    """Stands for a symbolic number in a template."""

    kind: type
    expr: Any


class _Template:
    """A trace whose tensors are descriptions.

    Args:
        trace: what was found.
        question: the arguments.
    Raises:
        _Unknown: it cannot be made again.
    """

    def __init__(self, trace: Trace, question: _Question) -> None:
        self._sources: dict[int, int] = {}  # an argument that has a storage, by the storage's number
        for number, tensor in enumerate(question.tensors):
            self._sources.setdefault(question.storages[tensor.untyped_storage()._cdata], number)
        self._made: list[tuple[int, tuple[Any, ...]]] = []  # storage and looks of the tensors that the run made
        self._bytes: dict[int, Any] = {}  # sizes of storages that it made
        described = _Description(question, self._made, self._bytes, self._sources)
        self._out = described.of(trace.out)
        self._records = [(r.op, described.of(r.args), described.of(r.out)) for r in trace.records]
        self._guesses, self._requirements = (
            list(map(described.relation, r)) for r in (trace.guesses, trace.requirements)
        )
        self._stands_in, self._decomposed = trace.stands_in, trace.decomposed

    def instance(self, symbols: Symbols, question: _Question) -> Trace:
        """Return the trace for arguments that look like those of the run it is of."""
        tensors: list[torch.Tensor] = list(question.tensors)
        symbolic = _Renaming(symbols, question)
        if self._made:
            mode, env = symbols.mode, symbols.env
            storages = {place: tensors[number].untyped_storage() for place, number in self._sources.items()}
            with in_kernel_invocation_manager(mode), env.suppress_guards():
                elements = [self._element(place, looks, storages, symbolic) for place, looks in self._made]
            # As FakeTensorMode makes what it has in its own cache.
            tensors += [FakeTensor(mode, element, looks[4]) for element, (_, looks) in zip(elements, self._made)]

        def filled(value: Any) -> Any:
            kind = type(value)
            if kind is _Ref:
                return tensors[value.number]
            if kind is _Number:
                return symbolic.number(value)
            return kind(map(filled, value)) if kind is list or kind is tuple else value

        records = [Record(op, filled(args), filled(out)) for op, args, out in self._records]
        guesses, requirements = (list(map(symbolic.expr, found)) for found in (self._guesses, self._requirements))
        return Trace(filled(self._out), records, guesses, requirements, self._stands_in, self._decomposed)

    def _element(
        self, place: int, looks: tuple[Any, ...], storages: dict[int, Any], symbolic: _Renaming
    ) -> torch.Tensor:
        """Make the meta tensor of a FakeTensor, and its storage if it is the first there."""
        sizes, strides, offset, dtype, _, conjugated, negated = looks
        sizes, strides = symbolic.numbers(sizes), symbolic.numbers(strides)
        if place not in storages and self._bytes[place] is None:
            made = empty_on_meta(sizes, strides, dtype)
            storages[place] = made.untyped_storage()
        else:
            if place not in storages:
                storages[place] = torch.UntypedStorage(self._bytes[place], device="meta")  # type: ignore[no-untyped-call]
            (offset,) = symbolic.numbers((offset,))
            made = torch.empty(0, dtype=dtype, device="meta").set_(storages[place], offset, sizes, strides)
        if conjugated:
            torch._C._set_conj(made, True)
        if negated:
            torch._C._set_neg(made, True)
        return made


class _Description:
    """Turns the tensors and symbols of a trace into what stands for them in a template.

    Args:
        question: the arguments.
        made: receives storage and looks of each tensor that is no argument.
        extents: receives the bytes of each storage that is of no argument; None if symbols decide on them.
        sources: the storages of arguments.
    """

    def __init__(
        self,
        question: _Question,
        made: list[tuple[int, tuple[Any, ...]]],
        extents: dict[int, Any],
        sources: dict[int, int],
    ) -> None:
        self._question, self._made, self._bytes, self._sources = question, made, extents, sources
        self._storages = dict(question.storages)
        self._numbers: dict[int, int] = {}

    def of(self, value: Any) -> Any:
        """Return a value of the trace with placeholders."""
        kind = type(value)
        if kind is list or kind is tuple:
            return kind(map(self.of, value))
        if kind is FakeTensor:
            return _Ref(self._number(value))
        if kind in _SYMBOLIC:
            return self._symbolic(value)
        if isinstance(value, torch.Size):
            return tuple(map(self.of, value))
        if isinstance(value, torch.Tensor | torch.Generator | tuple | dict):
            raise _Unknown
        return value

    def relation(self, relation: Any) -> Any:
        """Return a relation as it stands in the key."""
        return self._question.in_key(relation) if isinstance(relation, sympy.Basic) else relation

    def _symbolic(self, number: Any) -> Any:
        return number if type(number) is int else _Number(type(number), self._question.in_key(number.node.expr))

    def _number(self, fake: FakeTensor) -> int:
        given = self._question.number_of(fake)
        if given is not None:
            return given
        if id(fake) in self._numbers:
            return self._numbers[id(fake)]
        _check(fake, self._question.mode)
        sizes, strides, offset, *others = _looks(fake)
        storage = fake.untyped_storage()
        place = self._storages.setdefault(storage._cdata, len(self._storages))
        if place not in self._sources:
            extent: int | None = storage.nbytes()
            if type(extent) is not int:
                # Its one tensor makes it; nothing else is known of what lies where in it.
                if any(place == other for other, _ in self._made) or type(offset) is not int or offset:
                    raise _Unknown
                extent = None
            self._bytes[place] = extent
        looks = (
            tuple(map(self._symbolic, sizes)),
            tuple(map(self._symbolic, strides)),
            self._symbolic(offset),
            *others,
        )
        self._numbers[id(fake)] = len(self._question.tensors) + len(self._made)
        self._made.append((place, looks))
        return self._numbers[id(fake)]


class _Renaming:
    """Gives the symbolic numbers of a template the names that they have in a question."""

    def __init__(self, symbols: Symbols, question: _Question) -> None:
        self._symbols, self._question = symbols, question
        self._back = {name: symbol for symbol, name in question.renamed.items()}

    def expr(self, expr: Any) -> Any:
        """Return an expression, or relation, with these names."""
        if not isinstance(expr, sympy.Basic):
            return expr
        names = tuple(self._back[name] for name in _symbols_in(expr))
        return names[0] if expr.is_Symbol else _replaced(expr, names)

    def number(self, number: _Number) -> Any:
        """Return the symbolic number that one stands for."""
        expr = self.expr(number.expr)
        found = self._question.symbolic.get(expr)
        if found is not None and type(found) is number.kind:
            return found
        return self._symbols.number(number.kind, expr)

    def numbers(self, values: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return sizes, or strides."""
        return tuple(self.number(value) if type(value) is _Number else value for value in values)
