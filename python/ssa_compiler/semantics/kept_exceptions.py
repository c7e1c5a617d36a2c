"""Operators that raise the program's own exceptions, for another process than the one that made the program.

The names of operators that call Python functions are a process's own. What raises an exception is known from its
message alone, so that it gets an operator again in the process that takes the program from the cache.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from ..abi.callback_sites import CallbackSite
from ..abi.numbered_messages import filled
from ..errors import program_error
from .ignored_functions import RAISING, IgnoredCall, find_call, is_ignored, operator_name, register

__all__ = ["KeptException", "keep_exceptions", "raising", "with_exceptions"]


@dataclass(frozen=True)
class KeptException:
    """An operator that raises an exception.

    Attributes:
        operator: its name in the process that made it.
        parameters: the part of its schema behind the name.
        call: what it runs, without the function.
    """

    operator: str
    parameters: str
    call: IgnoredCall


def raising(message: str) -> Callable[..., None]:
    """Return what raises an exception, given the numbers that its message says.

    Args:
        message: as of an assertion (`numbered_messages`).
    """

    def raise_error(*numbers: Any) -> None:
        raise program_error(filled(message, lambda position, kind: numbers[position]))

    return raise_error


def keep_exceptions(callbacks: Sequence[CallbackSite]) -> list[KeptException] | None:
    """Return the operators of some callbacks that raise exceptions; None if others call Python functions, too."""
    kept: list[KeptException] = []
    for operator in {site.op: None for site in callbacks if is_ignored(site.op)}:
        call = find_call(operator)
        if call is None or not call.message:
            return None
        name, _, overload = operator.partition("::")[2].partition(".")
        schema = str(getattr(getattr(torch.ops.ssa_ignored, name), overload)._schema)
        kept.append(KeptException(operator, schema[schema.index("(") :], replace(call, function=None)))
    return kept


def with_exceptions(callbacks: Sequence[CallbackSite], kept: Sequence[KeptException]) -> tuple[CallbackSite, ...]:
    """Return the callbacks of a program of another process, with operators of this one in the place of kept ones."""
    names: dict[str, str] = {}
    for each in kept:
        names[each.operator] = operator_name(RAISING)
        register(f"{names[each.operator]}{each.parameters}", replace(each.call, function=raising(each.call.message)))
    return tuple(replace(site, op=names.get(site.op, site.op)) for site in callbacks)
