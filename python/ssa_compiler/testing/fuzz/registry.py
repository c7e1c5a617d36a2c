"""The ingredients of random programs: what they are, and where each module puts its own.

An ingredient is one function with a decorator, in the module of its family. Its name is the *feature* that a program
which uses it is counted under. Adding one is adding a function: the generator, the frequencies and `--help` find it
here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

__all__ = ["FACTS", "INGREDIENTS", "Ingredient", "describe_fact", "python", "statement", "untyped", "view", "write"]


Build = TypeVar("Build", bound=Callable[..., Any])
"""What writes an ingredient."""


@dataclass(frozen=True)
class Ingredient:
    """One way to continue a program.

    Attributes:
        name: the feature, `family.what`.
        kind: "view", "write", "statement", "python" or "untyped": how `build` is called.
        build: what writes it; see the decorators.
        weight: how often it is taken where nothing is wanted in particular, compared with others of its kind.
        nested: whether it opens a region, which deeply nested code may not.
    """

    name: str
    kind: str
    build: Callable[..., Any]
    weight: float = 1.0
    nested: bool = False

    @property
    def summary(self) -> str:
        """The first line of the function's description."""
        return (self.build.__doc__ or "").strip().splitlines()[0] if self.build.__doc__ else ""


INGREDIENTS: dict[str, Ingredient] = {}

# Features that are not chosen but observed, with what they mean: `Writer.mark` counts them.
FACTS: dict[str, str] = {}


def _add(ingredient: Ingredient) -> None:
    if ingredient.name in INGREDIENTS:
        raise ValueError(f"two ingredients are called {ingredient.name}")
    INGREDIENTS[ingredient.name] = ingredient


def view(name: str, weight: float = 1.0) -> Callable[[Build], Build]:
    """Register a view: a function of the writer and a tensor that returns how to view it, None if it cannot."""

    def add(build: Build) -> Build:
        _add(Ingredient(name, "view", build, weight))
        return build

    return add


def write(name: str, weight: float = 1.0) -> Callable[[Build], Build]:
    """Register a write: a function of the writer and a target that returns a statement, None if it does not fit."""

    def add(build: Build) -> Build:
        _add(Ingredient(name, "write", build, weight))
        return build

    return add


def statement(name: str, weight: float = 1.0, *, nested: bool = False) -> Callable[[Build], Build]:
    """Register statements: a function that emits them and returns True, or emits nothing and returns False."""

    def add(build: Build) -> Build:
        _add(Ingredient(name, "statement", build, weight, nested))
        return build

    return add


def python(name: str, weight: float = 1.0, *, nested: bool = False) -> Callable[[Build], Build]:
    """Register statements on Python's own values: like `statement`, but most of them go into programs of their own."""

    def add(build: Build) -> Build:
        _add(Ingredient(name, "python", build, weight, nested))
        return build

    return add


def untyped(name: str, weight: float = 1.0, *, nested: bool = False) -> Callable[[Build], Build]:
    """Register statements that TorchScript rejects: like `statement`, but they only go into programs of their own."""

    def add(build: Build) -> Build:
        _add(Ingredient(name, "untyped", build, weight, nested))
        return build

    return add


def describe_fact(name: str, text: str) -> None:
    """Declare a feature that is observed.

    Args:
        name: the feature.
        text: what it means.
    """
    FACTS[name] = text
