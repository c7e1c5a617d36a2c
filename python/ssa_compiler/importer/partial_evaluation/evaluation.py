"""Evaluating a program until nothing more is learned of it, for as few values of its arguments as possible."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from .definitions import Specialised
from .extra_arguments import ExtraArguments
from .program import Program
from .rejections import NeedsKnownError, NotCompiledError, RejectionError
from .values import Value

__all__ = ["evaluated", "next_way"]

_PASSES = 24
_ALWAYS = (str, type(None))
_WAYS: tuple[tuple[tuple[type, ...], bool], ...] = (
    (_ALWAYS, False),
    (_ALWAYS, True),
    ((*_ALWAYS, bool), False),
    ((*_ALWAYS, bool, int), False),
)
"""Types of arguments whose values a program is made for, and whether dynamic numbers choose parts of it, in the order
in which that is tried.
"""


def next_way(arguments: Mapping[str, Any], way: int) -> int | None:
    """Return the number of the next of `_WAYS` in which more arguments are known; None if there is none.

    Args:
        arguments: examples of the arguments.
        way: the number of one.
    """
    counts = [sum(type(each) in kinds for each in arguments.values()) for kinds, _ in _WAYS]
    return next((number for number in range(way + 1, len(_WAYS)) if counts[number] > counts[way]), None)


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
    arguments = extra.arguments
    for way, (kinds, dispatches) in enumerate(_WAYS[first:], first):
        elements: dict[Any, Value] = {}
        try:
            for number in range(_PASSES):
                before = dict(elements)
                program = Program(owner, elements)
                try:
                    values = {key: program.argument(key, value, kinds) for key, value in arguments.items()}
                    made = program.functions.root(function, owner, name, values, extra=extra, dispatches=dispatches)
                except (NeedsKnownError, NotCompiledError):
                    if before == elements:
                        raise
                    continue  # what was learned may help
                if number and before == elements:
                    break
            else:
                raise NotCompiledError("what is known of the program does not settle")
            program.keep_called(made)
            program.states.depend_on_identities()
        except (NeedsKnownError, NotCompiledError) as error:
            rejection = error
            continue
        fixed = [key for key, value in arguments.items() if type(value) in kinds and type(value) in (bool, int)]
        return program, made, frozenset(fixed), way
    found = NotCompiledError(*rejection.args)
    found.location = rejection.location
    raise found from rejection
