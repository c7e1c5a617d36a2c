"""Evaluating a program until nothing more is learned of it, for as few values of its arguments as possible."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch

from .dataclass_constructors import passed_dataclasses
from .definitions import Specialised
from .empty_arguments import declared_elements, with_declared
from .extra_arguments import ExtraArguments
from .learned_types import forget_unknown
from .program import Program
from .rejections import NeedsKnownError, NotCompiledError, RejectionError
from .samples import Samples
from .sequences import has_texts
from .values import Value

__all__ = ["evaluated", "next_way"]

_PASSES = 24
_ALWAYS = (str, type(None))


@dataclass(frozen=True)
class _Way:
    """A way to evaluate a program.

    Attributes:
        kinds: types of arguments whose values the program is made for.
        dispatches: whether dynamic numbers choose parts of it.
        lists_as_objects: as of `Program`.
        squeezes: as of `Program`.
    """

    kinds: tuple[type, ...]
    dispatches: bool = False
    lists_as_objects: bool = False
    squeezes: bool = False


_WAYS = (
    _Way(_ALWAYS),
    _Way(_ALWAYS, dispatches=True),
    _Way((*_ALWAYS, bool)),
    _Way((*_ALWAYS, bool, int)),
    _Way(_ALWAYS, lists_as_objects=True),
    _Way((*_ALWAYS, bool), lists_as_objects=True),
    _Way(_ALWAYS, squeezes=True),
    _Way((*_ALWAYS, bool), squeezes=True),
)
"""In the order in which they are tried."""


def next_way(program: Program, arguments: Mapping[str, Any], way: int) -> int | None:
    """Return the number of the next way that may help where a program is rejected later; None if there is none.

    Args:
        program: the program.
        arguments: examples of its arguments.
        way: the number of the way in which it was evaluated.
    """

    def fixed(number: int) -> int:
        return sum(type(each) in _WAYS[number].kinds for each in arguments.values())

    before = _WAYS[way]
    for number in range(way + 1, len(_WAYS)):
        other = _WAYS[number]
        if (other.squeezes, other.lists_as_objects) == (before.squeezes, before.lists_as_objects):
            if fixed(number) > fixed(way):
                return number
        elif program.has_squeezes if other.squeezes else any(map(has_texts, arguments.values())):
            return number
    return None


class _FixedPoint:
    """Tells whether another evaluation of a program would find what is known already.

    Args:
        elements: what is known, `Program.elements`.
    """

    def __init__(self, elements: dict[Any, Value]) -> None:
        self._elements, self._forgot = elements, False

    def is_reached(self, before: Mapping[Any, Value]) -> bool:
        """Whether an evaluation found nothing new; what it left unknown is found out anew once.

        Args:
            before: what was known before it.
        """
        if before != self._elements:
            return False
        if self._forgot:
            return True
        self._forgot = True
        return not forget_unknown(self._elements)


def evaluated(
    function: Any, owner: torch.nn.Module | None, name: str, extra: ExtraArguments, first: int = 0
) -> tuple[Program, Specialised, frozenset[str], int]:
    """Evaluate a program as far as that can be done.

    Args:
        function: the function.
        owner: the module whose method it is, None for a function.
        name: its name.
        extra: examples of its arguments; they are not changed.
        first: the number of the first of `_WAYS` that is tried.
    Returns:
        The program, its function, the numbers and bools among its arguments that it is made for, and the number of the
        way that helps.
    Raises:
        NotCompiledError: that does not help.
    """
    rejection: RejectionError = NotCompiledError()
    arguments, samples = extra.arguments, Samples()  # which remember what they were asked in earlier passes
    declared = declared_elements(function)
    for number, way in enumerate(_WAYS):
        is_other = way.squeezes is not _WAYS[first].squeezes or (
            way.lists_as_objects and not any(map(has_texts, arguments.values()))
        )
        if number < first or is_other:
            continue
        elements: dict[Any, Value] = {}
        fixed_point = _FixedPoint(elements)
        try:
            for passes in range(_PASSES):
                before = dict(elements)
                program = Program(
                    owner, elements, samples, squeezes=way.squeezes, lists_as_objects=way.lists_as_objects
                )
                program.passed = passed_dataclasses(arguments.values())
                try:
                    values = {
                        key: with_declared(program.argument(key, value, way.kinds), declared.get(key))
                        for key, value in arguments.items()
                    }
                    made = program.functions.root(function, owner, name, values, extra=extra, dispatches=way.dispatches)
                except (NeedsKnownError, NotCompiledError):
                    if fixed_point.is_reached(before):
                        raise
                    continue  # what was learned may help
                if passes and fixed_point.is_reached(before):
                    break
            else:
                raise NotCompiledError("what is known of the program does not settle")
            program.keep_called(made)
            program.states.depend_on_identities()
        except (NeedsKnownError, NotCompiledError) as error:
            rejection = error
            continue
        fixed = [key for key, value in arguments.items() if type(value) in way.kinds and type(value) in (bool, int)]
        return program, made, frozenset(fixed), number
    found = NotCompiledError(*rejection.args)
    found.location = rejection.location
    raise found from rejection
