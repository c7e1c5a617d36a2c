"""Run-time integers as symbols: a ShapeEnv in which nothing is learnt silently.

FakeTensors compute sizes with unbacked SymInts. PyTorch's ShapeEnv notes what an op requires of them as deferred
runtime assertions, and from then on assumes it everywhere. Here an op runs in a `transaction`: its requirements are
returned, so that the importer can emit them as assertions at that place, and are forgotten again, because they do
not hold in another branch. Guesses (`guard_or_false`) are returned as well.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import sympy
import torch
from torch.fx.experimental import symbolic_shapes
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode, ShapeEnv, SLoc  # type: ignore[attr-defined]
from torch.utils._sympy.value_ranges import bound_sympy

from ..isolation.fake_mode import FakeMode
from ..isolation.patching import replaced
from .argument_sizes import ArgumentSizes

__all__ = ["COUNTS", "Symbols", "Transaction", "expr_of"]

COUNTS = ("nonzero_memo", "item_memo", "unique_memo", "unique_consecutive_memo")
"""Where a FakeTensor keeps symbols that an op made of its numbers, which the next such op returns."""


def expr_of(value: Any) -> Any:
    """Return the sympy expression of a SymInt/SymFloat/SymBool, of an int, or a bool as it is."""
    if isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool)):
        return value.node.expr
    return sympy.Integer(value) if isinstance(value, int) and not isinstance(value, bool) else value


# What ShapeEnv counts to know whether what it has computed from its facts still holds; not all versions have both.
_COUNTERS = ("_version_counter", "_replacements_version_counter")
# Methods of ShapeEnv that answer from a cache what they have been asked before, without doing it again.
_REMEMBERING = (
    "_inner_evaluate_expr",
    "_maybe_guard_rel",
    "constrain_symbol_range",
    "guard_or_defer_runtime_assert",
)


@dataclass
class Transaction:
    """What an op asked of the symbols.

    Attributes:
        requirements: boolean expressions over symbols that existed before; they must hold for the result to be right.
        guesses: relations that PyTorch could not decide and took for granted.
        fresh: symbols made by the op.
    """

    requirements: list[Any] = field(default_factory=list)
    guesses: list[Any] = field(default_factory=list)
    fresh: set[sympy.Symbol] = field(default_factory=set)


class _ShapeEnv(ShapeEnv):
    """ShapeEnv that reports its guesses to the transaction that is open, and asks the example for sizes of
    arguments.
    """

    transaction: Transaction | None = None
    sizes: ArgumentSizes | None = None

    def evaluate_sym_node(self, sym_node: Any, size_oblivious: bool = False, fallback_value: Any = None) -> Any:
        try:
            result = super().evaluate_sym_node(sym_node, size_oblivious, fallback_value)
        except GuardOnDataDependentSymNode:
            if self.sizes is None or not self.sizes.covers(sym_node.expr):
                raise
            return self.sizes.decide(sym_node.expr)
        if fallback_value is not None and self.transaction is not None:
            expr = sym_node.expr
            if getattr(expr, "free_symbols", None):
                self.transaction.guesses.append(expr if result else sympy.Not(expr))
        return result

    def _make_data_dependent_error(self, expr: Any, *_: Any, **__: Any) -> GuardOnDataDependentSymNode:
        """PyTorch's own has the Python traces of all symbols, and loads torch._inductor to print them."""
        return GuardOnDataDependentSymNode(expr, f"{expr} is not known")

    def _set_replacement(self, *args: Any, **kwargs: Any) -> None:
        """PyTorch's own has a Python trace for its log of what becomes static; it loads torch._inductor for that."""
        with replaced(symbolic_shapes, "trace_structured", _not_logged):
            super()._set_replacement(*args, **kwargs)

    # Where in this package a symbol was asked for is nobody's concern; PyTorch loads torch.export to find that out.

    def _get_user_frame(self) -> None:
        return None

    def _get_stack_summary(self, is_debug: bool = False, framework_loc: str | None = None) -> tuple[SLoc, str]:
        return SLoc(framework_loc or "", None), ""  # 2.11 prints no place that is None

    def _log_create_unbacked_symbol(self, *args: Any, **kwargs: Any) -> None:
        pass

    def _log_guard(self, *args: Any, **kwargs: Any) -> None:
        pass


def _not_logged(*_: Any, **__: Any) -> None:
    pass


class Symbols:
    """Creates symbols, memoised by a key, so that another pass over a loop body gets the same ones.

    Attributes:
        env: what is known of the symbols.
        mode: runs ops on FakeTensors.
        layouts: FakeTensors in several layouts (`stride_provenance.other_layouts`), by sizes, dtype and device.
        at_most_one: sizes that are 0 or 1, those of `x[k : k + 1]`.
        slices: where such slices are, by their size.
    """

    def __init__(self, sizes: ArgumentSizes | None = None) -> None:
        self.env = _ShapeEnv()
        self.env.sizes = sizes
        self.mode = FakeMode(shape_env=self.env, allow_non_fake_inputs=False)
        self._memo: dict[Any, Any] = {}
        self.layouts: dict[Any, list[torch.Tensor]] = {}
        self.at_most_one: set[sympy.Expr] = set()
        self.slices: dict[sympy.Expr, set[Any]] = {}
        self._answers: dict[Any, tuple[list[Any], Any]] = {}

    def integer(self, key: Any, low: int | None = None, high: int | None = None) -> torch.SymInt:
        """Return the SymInt of `key`; `low` and `high` are bounds that it is known to keep (inclusive)."""
        key = ("int", key, low, high)
        if key not in self._memo:
            # A cached outcome of an op comes without what the op required and guessed.
            self.mode.cache_enabled = False
            sym = self.env.create_unbacked_symint()
            if low is not None or high is not None:
                self.env.constrain_symbol_range(
                    sym.node.expr, -(2**63) if low is None else low, 2**63 - 1 if high is None else high
                )
            self._memo[key] = sym
        return self._memo[key]

    def new_integer(self, low: Any, high: Any) -> torch.SymInt:
        """Return a SymInt that no other op has made; `low` and `high` are bounds that it is known to keep."""
        self.mode.cache_enabled = False  # as above
        sym = self.env.create_unbacked_symint()
        bounded = (-(2**63) if low == -sympy.oo else int(low)), (2**63 - 1 if high >= 2**63 - 1 else int(high))
        self.env.constrain_symbol_range(sym.node.expr, *bounded)
        return sym

    def floating(self, key: Any) -> torch.SymFloat:
        """Return the SymFloat of `key`."""
        key = ("float", key)
        if key not in self._memo:
            self._memo[key] = self.env.create_unbacked_symfloat()
        return self._memo[key]

    def boolean(self, key: Any) -> torch.SymBool:
        """Return the SymBool of `key`."""
        key = ("bool", key)
        if key not in self._memo:
            self._memo[key] = self.env.create_unbacked_symbool()
        return self._memo[key]

    def scalar(self, kind: type, key: Any) -> Any:
        """Return the symbol of `key` for a scalar of the given kind, or a generator that stands for one."""
        if kind is torch.Generator:
            return torch.Generator()
        if kind is int:
            return self.integer(key)
        return self.floating(key) if kind is float else self.boolean(key)

    def to_symint(self, expr: sympy.Expr) -> Any:
        """Return a SymInt (or an int) for an integer expression."""
        if isinstance(expr, (int, sympy.Integer)):
            return int(expr)
        return self.env.create_symintnode(expr, hint=None)

    def number(self, kind: type, expr: sympy.Expr) -> Any:
        """Return the symbolic number of a type (SymInt, SymFloat or SymBool) for an expression."""
        if kind is torch.SymInt:
            return self.env.create_symintnode(expr, hint=None)
        if kind is torch.SymBool:
            return self.env.create_symboolnode(expr)
        return self.env.create_symfloatnode(expr, hint=None)

    def forget_counts(self) -> None:
        """Let ops that count make symbols anew: tensors may hold other numbers from here on."""
        self.mode.epoch += 1

    def is_narrow(self, size: sympy.Expr) -> bool:
        """Whether a size is known to be 0 or 1."""
        return size in self.at_most_one or (size.is_Integer and 0 <= size <= 1)

    def bounds(self, expr: Any) -> tuple[Any, Any]:
        """Return sure lower and upper bounds of an integer expression (sympy numbers, perhaps infinite)."""
        expr, ranges = sympy.sympify(expr), self.env.var_to_range

        def bounded() -> tuple[Any, Any]:
            found = bound_sympy(expr, ranges)
            return found.lower, found.upper

        return self._while_known("bounds", expr, bounded)

    def known(self, relation: Any) -> bool | None:
        """Return True or False if a boolean expression is decided by the bounds of its symbols, None if it is not."""
        if relation is True or relation is sympy.true:
            return True
        if relation is False or relation is sympy.false:
            return False
        env = self.env

        def decide() -> bool | None:
            decided = env._maybe_evaluate_static(relation)
            return None if decided is None else bool(decided)

        if env.replacements or env.axioms or env.divisible:
            return decide()
        return self._while_known("relation", relation, decide)

    def _while_known(self, question: str, expr: Any, answer: Callable[[], Any]) -> Any:
        """Return the answer to a question about an expression; an earlier one while its symbols have their ranges."""
        ranges = [self.env.var_to_range.get(symbol) for symbol in expr.free_symbols]
        found = self._answers.get((question, expr))
        if found is None or len(found[0]) != len(ranges) or any(a is not b for a, b in zip(found[0], ranges)):
            found = self._answers[question, expr] = ranges, answer()
        return found[1]

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        """Run an op on FakeTensors: collect what it requires and guesses, then forget what it assumed."""
        env = self.env
        before = set(env.var_to_range)
        saved = (
            dict(env.var_to_range),
            dict(env.replacements),
            {symbol: list(asserts) for symbol, asserts in env.deferred_runtime_asserts.items()},
            dict(env.axioms),
            set(env.divisible),
            env.num_deferred_runtime_asserts,
        )
        outer, env.transaction = env.transaction, Transaction()
        transaction = env.transaction
        try:
            yield transaction
        finally:
            env.transaction = outer
            transaction.fresh = set(env.var_to_range) - before
            changed = (
                env.num_deferred_runtime_asserts != saved[5]
                or env.replacements != saved[1]
                # In the order of the symbols, as looking one up takes Python's time; new ones come last.
                or any(map(operator.is_not, env.var_to_range.values(), saved[0].values()))
            )
            for symbol, asserts in env.deferred_runtime_asserts.items():
                for item in asserts[len(saved[2].get(symbol, [])) :]:
                    if not item.expr.free_symbols & transaction.fresh:
                        transaction.requirements.append(item.expr)
            if changed:
                fresh_ranges = {symbol: env.var_to_range[symbol] for symbol in transaction.fresh}
                env.var_to_range.clear()
                env.var_to_range.update(saved[0])
                env.var_to_range.update(fresh_ranges)
                for target, source in ((env.replacements, saved[1]), (env.axioms, saved[3])):
                    target.clear()
                    target.update(source)
                env.deferred_runtime_asserts.clear()
                env.deferred_runtime_asserts.update(saved[2])
                env.divisible.clear()
                env.divisible.update(saved[4])
                env.num_deferred_runtime_asserts = saved[5]
                for name in _COUNTERS:
                    setattr(env, name, getattr(env, name, 0) + 1)
                # These keep answers, requirements that were noted included, whatever is forgotten.
                for name in _REMEMBERING:
                    getattr(ShapeEnv, name).cache_clear()
