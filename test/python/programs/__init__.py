"""Imperative programs that the end-to-end tests compile, with the inputs that drive every loop and branch.

Each module registers its programs with `@program`; `PROGRAMS` holds them all, by name.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

__all__ = ["PROGRAMS", "Program", "program"]

Calls = Callable[[], Sequence[Any]]
Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True)
class Program:
    """A program and how to call it.

    Attributes:
        name: its name, unique.
        make: returns the model: a function or a new nn.Module.
        calls: returns the input sets, the first of which the model is compiled for.
        loops: how many loops of the source must still be loops in the final IR.
        tolerance: relative and absolute tolerance of floating-point results; None for those of the dtype.
    """

    name: str
    make: Callable[[], Any]
    calls: Calls
    loops: int = 0
    tolerance: float | None = None


PROGRAMS: dict[str, Program] = {}


def program(
    calls: Calls, *, loops: int = 0, tolerance: float | None = None, name: str | None = None
) -> Callable[[Function], Function]:
    """Register a function, or a function without arguments named `make_...` that returns a module.

    Args:
        calls: returns the input sets.
        loops: how many loops must still be loops in the final IR.
        tolerance: relative and absolute tolerance; None for those of the dtype.
        name: name of the program; by default the function's, without `make_`.
    Returns:
        A decorator that returns the function unchanged.
    """

    def register(function: Function) -> Function:
        makes = function.__name__.startswith("make_")
        label = name or function.__name__.removeprefix("make_")
        assert label not in PROGRAMS, f"two programs are called {label}"
        PROGRAMS[label] = Program(label, function if makes else lambda: function, calls, loops, tolerance)
        return function

    return register


for _module in ("loops", "branches", "views", "nested_views", "writes", "lists", "models", "decoder"):
    importlib.import_module(f"{__name__}.{_module}")
