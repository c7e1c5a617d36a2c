"""What a call has to check of sizes that are not fixed: equal ones, ranges, and the guards that the importer took."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..errors import ArgumentValueError

__all__ = ["SizeChecks", "SizeGuard", "SizeUse"]


@dataclass(frozen=True)
class SizeUse:
    """A size of an argument that is `scale * root + offset`.

    Attributes:
        index: number of the argument among `@main`'s.
        dim: the dimension.
        scale: at least 1.
        offset: any integer.
        where: the size as messages name it.
        text: what it has to be, `2*n`.
    """

    index: int
    dim: int
    scale: int
    offset: int
    where: str
    text: str


@dataclass(frozen=True)
class SizeGuard:
    """A relation of sizes that has to hold.

    Attributes:
        code: the relation as a Python expression over the symbols.
        text: the relation over the user's names.
        reason: the op that needs it.
    """

    code: str
    text: str
    reason: str


@dataclass(frozen=True)
class SizeChecks:
    """The dynamic sizes of a program.

    Attributes:
        roots: symbol, name, least and greatest value of each size that is open, and where it is found.
        guards: relations that have to hold.
        static: the sizes that could have been open, with why they are not.
    """

    roots: tuple[tuple[str, str, int, int | None, tuple[SizeUse, ...]], ...]
    guards: tuple[SizeGuard, ...]
    static: tuple[tuple[str, str], ...]
    _compiled: list[Any] = field(default_factory=list, compare=False, repr=False)

    def describe(self) -> list[str]:
        """Return one line for each size that is open or could have been, and for each guard."""
        lines = []
        for _, name, low, high, uses in self.roots:
            where = ", ".join(dict.fromkeys(use.where.removeprefix("argument ") for use in uses))
            lines.append(f"{name} is dynamic, {low} to {'any' if high is None else high} ({where})")
        lines += [f"{name} is static: {reason}" for name, reason in self.static]
        lines += [f"only where {guard.text}: {guard.reason}" for guard in self.guards]
        return lines

    def text(self, index: int, dim: int) -> str | None:
        """Return what a size of an argument is, `2*n`, None if it is not open."""
        uses = (use for _, _, _, _, found in self.roots for use in found)
        return next((use.text for use in uses if (use.index, use.dim) == (index, dim)), None)

    def number(self, code: str | int) -> Callable[[Sequence[Any]], int]:
        """Return the function that computes an expression of Python over the symbols from `@main`'s arguments."""
        compute = _code([str(code)], [root[0] for root in self.roots])
        uses = [root[4][0] for root in self.roots]
        return lambda leaves: int(compute(*(_root(leaves, use) for use in uses)))

    def check(self, leaves: Sequence[Any]) -> None:
        """Check the sizes of a call's arguments; what has too few dimensions is left to the check of its shape.

        Args:
            leaves: `@main`'s arguments.
        Raises:
            ArgumentValueError: a size is out of its range, two that have to be equal differ, or a guard does not hold;
                the last is a mismatch.
        """
        values = []
        for _, name, low, high, uses in self.roots:
            value = None
            for use in uses:
                shape = getattr(leaves[use.index], "shape", ())
                if use.dim >= len(shape):
                    return
                size = shape[use.dim]
                if value is None:
                    value = (size - use.offset) // use.scale
                    if value < low or (high is not None and value > high):
                        most = "" if high is None else f" and at most {high}"
                        of = "it" if use.text == name else name
                        raise ArgumentValueError(
                            f"{use.where} ({use.text}): {of} has to be at least {low}{most} by dynamic_shapes, got {value}"
                        )
                if size != value * use.scale + use.offset:
                    raise ArgumentValueError(
                        f"{use.where}: expected {value * use.scale + use.offset} ({use.text} by dynamic_shapes), got {size}"
                    )
            values.append(value)
        if self.guards:
            self._check_guards(values)

    def _check_guards(self, values: list[Any]) -> None:
        symbols = [root[0] for root in self.roots]
        if not self._compiled:
            # In order: the first may say that the next does not divide by zero.
            self._compiled.append(_code([guard.code for guard in self.guards], symbols))
        if _holds(self._compiled[0], values):
            return
        for guard in self.guards:
            if not _holds(_code([guard.code], symbols), values):
                got = ", ".join(f"{root[1]}={value}" for root, value in zip(self.roots, values))
                raise ArgumentValueError(f"sizes: expected {guard.text} ({guard.reason}), got {got}").as_mismatch()


def _holds(code: Callable[..., Any], values: Sequence[Any]) -> bool:
    """Whether relations hold; one that divides by zero for these sizes does not."""
    try:
        return bool(code(*values))
    except ZeroDivisionError:
        return False


def _root(leaves: Sequence[Any], use: SizeUse) -> int:
    return (int(leaves[use.index].shape[use.dim]) - use.offset) // use.scale


def _code(exprs: Sequence[str], symbols: Sequence[str]) -> Callable[..., Any]:
    """Return the Python function of an expression, or of whether all of several hold."""
    text = " and ".join(f"({expr})" for expr in exprs)
    found: Callable[..., Any] = eval(f"lambda {', '.join(symbols)}: {text}", {"math": math})
    return found
