"""Sizes of arguments that stay dynamic: symbols with the example's values, and what is taken for granted of them.

Such a symbol is unbacked, so that PyTorch decides as little as possible. Where an op has to decide, it is decided as
for the example, and the relation that makes it right is kept as a guard, which a call checks: arguments that break it
are for another specialisation. A relation that leaves one value only starts the import again with that size static.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import sympy
from torch.utils._sympy.printers import PythonPrinter

from ...abi.size_guards import SizeChecks, SizeGuard, SizeUse
from .dynamic_shapes import SizeRequest
from .plan import AnotherPlan

__all__ = ["ArgumentSizes", "MakeStatic", "python_code"]


class MakeStatic(AnotherPlan):
    """The import has to start again with these sizes static.

    Attributes:
        roots: names of the sizes.
        reason: what needs them to be.
        location: the user's line.
    """

    def __init__(self, roots: set[str], reason: str, location: Any) -> None:
        why = dict.fromkeys(roots, f"{reason} [{location}]" if location else reason)
        super().__init__(reason, lambda plan: replace(plan, static={**plan.static, **why}))
        self.roots, self.reason, self.location = roots, reason, location


@dataclass
class _Root:
    symbol: sympy.Symbol
    request: SizeRequest
    uses: list[SizeUse]


class ArgumentSizes:
    """The dynamic sizes of one import.

    Attributes:
        hints: the example's value of each symbol.
        guards: the relations that are taken for granted, with what needs them.
        place: the op that is being imported, and the user's line.
        asked: how many questions about the sizes were decided by the example.

    Args:
        requests: what is asked of the sizes, by path and dimension.
        static: why a size that could be open is not, by its name.
    """

    def __init__(
        self, requests: Mapping[tuple[str, int], SizeRequest] | None = None, static: Mapping[str, str] | None = None
    ) -> None:
        self._requests = dict(requests or {})
        self._static = dict(static or {})
        self._roots: dict[str, _Root] = {}
        self.hints: dict[sympy.Symbol, sympy.Integer] = {}
        self.guards: dict[Any, str] = {}
        self._pending: MakeStatic | None = None
        self._derived: dict[sympy.Symbol, Any] = {}
        self.place: tuple[str, Any] = ("", None)
        self.asked = 0

    def request(self, path: str, dim: int) -> SizeRequest | None:
        """Return what is asked of a size, None if it is static."""
        found = self._requests.get((path, dim))
        return None if found is None or found.root in self._static else found

    def stand_for(self, request: SizeRequest, symbol: sympy.Symbol) -> None:
        """Note the symbol of a size."""
        if request.root not in self._roots:
            self._roots[request.root] = _Root(symbol, request, [])
            self.hints[symbol] = sympy.Integer(request.value)

    def read(self, use: SizeUse, request: SizeRequest) -> sympy.Symbol:
        """Note that a call reads a size from an argument, and return its symbol."""
        root = self._roots[request.root]
        root.uses.append(use)
        return root.symbol

    def known(self) -> dict[int, dict[str, list[int]]]:
        """Return what is known of the dynamic sizes of arguments, for cost models and bounds.

        Returns:
            By the number of an argument among `@main`'s, `tssa.example_sizes` and, where a maximum was declared,
            `tssa.max_sizes`: a number for each dimension, -1 for one of which nothing is known.
        """
        found: dict[int, dict[str, list[int]]] = {}
        for root in self._roots.values():
            for use in root.uses:
                for key, value in (("example", root.request.value), ("max", root.request.high)):
                    if value is None:
                        continue
                    sizes = found.setdefault(use.index, {}).setdefault(f"tssa.{key}_sizes", [])
                    sizes.extend([-1] * (use.dim + 1 - len(sizes)))
                    sizes[use.dim] = use.scale * value + use.offset
        return found

    # What is taken for granted.

    def derive(self, symbol: sympy.Symbol, expr: Any) -> None:
        """Note what a symbol stands for, if it is about dynamic sizes of arguments and nothing else."""
        if self.covers(expr):
            self._derived[symbol] = self.expanded(expr)

    def expanded(self, relation: Any) -> Any:
        """Return a relation in terms of the sizes of arguments."""
        return relation.xreplace(self._derived) if self._derived and isinstance(relation, sympy.Basic) else relation

    def covers(self, relation: Any) -> bool:
        """Whether a relation is about dynamic sizes of arguments and nothing else."""
        symbols: set[sympy.Symbol] = getattr(self.expanded(relation), "free_symbols", set())
        return bool(symbols) and symbols <= self.hints.keys()

    def decide(self, relation: Any) -> Any:
        """Return what a relation, or a number, is for the example, and keep that it is so.

        Args:
            relation: a sympy expression that is covered.
        """
        self.asked += 1
        relation = self.expanded(relation)
        value = relation.xreplace(self.hints)
        if value in (sympy.true, sympy.false):
            self.assume(relation if value is sympy.true else sympy.Not(relation))
        else:
            self.assume(sympy.Eq(relation, value))
        return value

    def assume(self, relation: Any) -> None:
        """Take a relation for granted; if the example breaks it, the sizes in it become static."""
        self.asked += 1
        relation = self.expanded(relation)
        if relation is sympy.true:
            return
        reason, location = self.place
        holds = relation is not sympy.false and relation.xreplace(self.hints) is sympy.true
        if holds and not _pins(relation):
            self.guards.setdefault(relation, f"{reason} at {location}" if location else reason)
            return
        names = {symbol: name for name, symbol in ((name, root.symbol) for name, root in self._roots.items())}
        shown = relation.subs({symbol: sympy.Symbol(name) for symbol, name in names.items()})
        roots = {names[symbol] for symbol in relation.free_symbols} or set(self._roots)
        if self._pending is None:
            self._pending = MakeStatic(roots, f"{reason} needs {shown}", location)

    def settle(self) -> None:
        """Start again if a size has to be static.

        Raises:
            MakeStatic: it has to.
        """
        if self._pending is not None:
            raise self._pending

    def stay_open(self, names: set[str]) -> bool:
        """Whether one of these sizes has to stay dynamic."""
        return any(self._roots[name].request.explicit for name in names & self._roots.keys())

    def forget(self, guards: Mapping[Any, str]) -> None:
        """Go back to these guards, before an op is tried in another way."""
        self.guards = dict(guards)
        self._pending = None

    def checks(self) -> SizeChecks | None:
        """Return what a call has to check of the sizes, None if none is open."""
        if not self._roots and not self._static:
            return None
        names = {root.symbol: sympy.Symbol(name) for name, root in self._roots.items()}
        return SizeChecks(
            tuple(
                (str(root.symbol), name, root.request.low, root.request.high, tuple(root.uses))
                for name, root in self._roots.items()
            ),
            tuple(
                SizeGuard(python_code(guard), str(guard.subs(names)), reason) for guard, reason in self.guards.items()
            ),
            tuple((name, reason) for name, reason in self._static.items()),
        )


class _Printer(PythonPrinter):
    """Prints what Python computes without torch."""

    def _print_ToFloat(self, expr: Any) -> str:
        return f"float({self._print(expr.args[0])})"


def python_code(expr: Any) -> str:
    """Return an expression over symbols as one of Python; the names in it are the symbols'."""
    return str(_Printer().doprint(sympy.sympify(expr)))


def _pins(relation: Any) -> bool:
    """Whether a relation leaves a size one value only."""
    if isinstance(relation, sympy.And):
        return any(map(_pins, relation.args))
    if not isinstance(relation, sympy.Eq) or len(relation.free_symbols) != 1:
        return False
    (symbol,) = relation.free_symbols
    difference = relation.lhs - relation.rhs
    return bool(difference.is_polynomial(symbol)) and sympy.degree(difference, symbol) == 1
