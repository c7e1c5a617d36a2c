"""Python's own values in a program that is being written: numbers, bools, strings, lists and dicts of them.

The writer keeps one `Scope` of them next to the names of tensors. It knows of each number whether it is *exact*, the
same bit for bit on every machine (sums, products, square roots; not `math.exp`, nor what is read from a reduction that
may be done in another order): results that are exact are compared bit for bit, and conditions read nothing else. It
knows of each list how many elements it has at least, so that most programs do not end with an IndexError.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any, TypeVar

__all__ = ["BOUNDARY_FLOATS", "BOUNDARY_INTS", "KINDS", "Cell", "Items", "Scalar", "Scope", "Table", "literal"]

KINDS = ("int", "float", "bool", "str")

# What arguments are in the later input sets. The first sets have small numbers.
_NEAR_32_BITS = tuple(f"{sign}{2**31 + d}" for sign in ("", "-") for d in (-1, 0, 1))
BOUNDARY_INTS = (
    *("0", "1", "-1", *_NEAR_32_BITS),
    *(str(2**53 + 1), str(2**62), str(-(2**62)), str(2**63 - 1), str(-(2**63))),
)
BOUNDARY_FLOATS = (
    *("float('nan')", "float('inf')", "-float('inf')", "-0.0", "0.0", "1e300", "-1e300", "1e16", "0.1"),
    *("5e-324", "2.0**53", "-2.5", "0.5"),
)
_STRINGS = ("''", "'a'", "'ab'", "'b'", "'hello'", "'B'")


@dataclass
class Scalar:
    """A number, bool or string that the program can name.

    Attributes:
        text: its name, or an expression without side effects.
        kind: one of `KINDS`.
        exact: whether its value does not depend on rounding.
        rebindable: whether it is a plain name.
    """

    text: str
    kind: str
    exact: bool = True
    rebindable: bool = True


@dataclass
class Cell:
    """What is known of one list object, under all its names.

    Attributes:
        least: how many elements it has at least.
        region: the region it was made in.
        exact: whether all its elements are exact.
        growing: whether its length may depend on run-time values.
        caller_owned: whether it is an argument.
    """

    least: int
    region: int
    exact: bool = True
    growing: bool = False
    caller_owned: bool = False


@dataclass
class Items:
    """A list of scalars that the program can name.

    Attributes:
        text: its name.
        kind: the kind of its elements.
        cells: the lists that it may be.
    """

    text: str
    kind: str
    cells: list[Cell]

    @property
    def least(self) -> int:
        """How many elements it has at least."""
        return min(cell.least for cell in self.cells)

    @property
    def exact(self) -> bool:
        """Whether its elements are exact."""
        return all(cell.exact for cell in self.cells)

    @property
    def growing(self) -> bool:
        """Whether its length may be dynamic."""
        return any(cell.growing for cell in self.cells)

    @property
    def caller_owned(self) -> bool:
        """Whether it may be an argument."""
        return any(cell.caller_owned for cell in self.cells)

    def taint(self, exact: bool) -> None:
        """Note what was written to it."""
        for cell in self.cells:
            cell.exact &= exact


@dataclass
class Table:
    """A dict of scalars or tensors.

    Attributes:
        text: its name.
        key: "str" or "int".
        value: kind of its values, or "Tensor".
        keys: literals of keys that it surely has.
        region: the region it was made in.
        exact: whether all its values are exact.
        caller_owned: whether it is an argument.
    """

    text: str
    key: str
    value: str
    keys: list[str]
    region: int
    exact: bool = True
    caller_owned: bool = False


T = TypeVar("T", Scalar, Items, Table)


@dataclass
class Scope:
    """The Python values in scope.

    Attributes:
        scalars: numbers, bools and strings.
        lists: lists of scalars.
        tables: dicts.
        arguments: further arguments of the program: name -> annotation and the text of each input set's value.
        sets: number of input sets.
        results: what the program returns of them, with the text of an early return's value, and whether it is exact.
        attributes: statements of the module's `__init__`.
        tensors_exact: whether what is read from tensors is exact.
    """

    scalars: list[Scalar] = field(default_factory=list)
    lists: list[Items] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    arguments: dict[str, tuple[str, list[str]]] = field(default_factory=dict)
    sets: int = 6
    results: list[tuple[str, str, bool]] = field(default_factory=list)
    attributes: list[str] = field(default_factory=list)
    tensors_exact: bool = True

    def save(self) -> tuple[list[Scalar], list[Items], list[Table]]:
        """The names in scope, to `restore` at the end of a region."""
        return copy.copy(self.scalars), copy.copy(self.lists), copy.copy(self.tables)

    def restore(self, saved: tuple[list[Scalar], list[Items], list[Table]]) -> None:
        """Forget names made since. What is known of an object that both know is what was learned last."""
        self.scalars, self.lists, self.tables = saved

    def find(self, choice: Random, of: list[T], fits: Callable[[T], bool] = lambda _: True) -> T | None:
        """One that fits, or None."""
        found = [each for each in of if fits(each)]
        return choice.choice(found) if found else None


def literal(choice: Random, kind: str, *, boundary: float = 0.15) -> str:
    """A literal of a kind.

    Args:
        choice: the source of decisions.
        kind: one of `KINDS`.
        boundary: how often it is a value at the edge of the kind's range.
    Returns:
        Its text.
    """
    if kind == "bool":
        return choice.choice(["True", "False"])
    if kind == "str":
        return choice.choice(_STRINGS)
    if kind == "int":
        return str(choice.choice([-3, -2, -1, 0, 1, 2, 3, 5, 7]))
    if choice.random() < boundary:
        return choice.choice(["float('nan')", "float('inf')", "-0.0", "1e16", "1e-3", "0.1", "-1e300"])
    return choice.choice(["0.5", "-1.5", "2.0", "3.25", "-0.25", "1.0", "-3.0", "0.0"])


def argument_values(choice: Random, kind: str, sets: int) -> list[str]:
    """Values of an argument in each input set: small ones first, then those at the edges."""
    if kind == "int":
        values = [str(choice.choice([5, 2, 3, 7])), str(choice.choice([-3, 0, 1]))]
        return values + choice.sample(BOUNDARY_INTS, sets - 2)
    if kind == "float":
        values = [choice.choice(["2.5", "0.75", "-1.25"]), choice.choice(["-3.0", "0.0", "1.5"])]
        return values + choice.sample(BOUNDARY_FLOATS, sets - 2)
    if kind == "bool":
        return [choice.choice(["True", "False"]), *(str(number % 2 == 0) for number in range(sets - 1))]
    return [literal(choice, kind)] * sets


def zero(kind: str) -> str:
    """A value for an early return."""
    return {"int": "0", "float": "0.0", "bool": "False", "str": "''"}.get(kind, "None")


def argument(g: Any, kind: str) -> Scalar | None:
    """An argument of a kind, a new one or one that the program has; None in a function, which has its own."""
    if g.in_helper:
        return None
    scope: Scope = g.python
    prefix = {"int": "a", "float": "u", "bool": "f", "str": "s"}[kind]
    names = [name for name, (annotation, _) in scope.arguments.items() if annotation == kind]
    if len(names) < 2 and (not names or g.choice.random() < 0.4):
        name = f"arg_{prefix}{len(names)}"
        scope.arguments[name] = (kind, argument_values(g.choice, kind, scope.sets))
        return Scalar(name, kind, rebindable=False)
    return Scalar(g.choice.choice(names), kind, rebindable=False)
