"""Generators of random numbers: `@main` has an int for each, which names the caller's own object.

Ops that draw from one run in PyTorch, on that object. So whoever else holds it sees it advance, as in eager mode.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

from ..errors import InternalError

__all__ = ["generator_of", "keep_generator", "kept_generators", "number_of", "with_generators"]

_known: weakref.WeakValueDictionary[int, torch.Generator] = weakref.WeakValueDictionary()


class _Made(threading.local):
    """The generators that the calls which are running have made, the innermost call last."""

    def __init__(self) -> None:
        self.calls: list[list[torch.Generator]] = []


_made = _Made()


def number_of(generator: torch.Generator) -> int:
    """Return the number of a generator, the same each time; good for as long as somebody holds the generator."""
    number = id(generator)
    _known[number] = generator
    return number


def keep_generator(generator: torch.Generator) -> int:
    """Return the number of a generator that the program has made, and hold it until the call ends."""
    if _made.calls:
        _made.calls[-1].append(generator)
    return number_of(generator)


@contextmanager
def kept_generators() -> Iterator[None]:
    """One call of a program that makes generators."""
    _made.calls.append([])
    try:
        yield
    finally:
        _made.calls.pop()


def generator_of(number: int) -> torch.Generator:
    """Return the generator of a number.

    Raises:
        InternalError: nobody holds it any more.
    """
    found = _known.get(number)
    if found is None:
        raise InternalError("a generator of random numbers that does not exist any more", location=None)
    return found


def with_generators(schema: Any, call: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that calls another one with generators for their numbers; that one itself if it takes none.

    Args:
        schema: the schema of the values.
        call: takes one value per argument of the schema, or fewer.
    """
    places = [number for number, argument in enumerate(schema.arguments) if "Generator" in str(argument.type)]
    if not places:
        return call

    def run(*values: Any) -> Any:
        given = list(values)
        for place in places:
            if place < len(given) and given[place] is not None:
                given[place] = generator_of(given[place])
        return call(*given)

    return run
