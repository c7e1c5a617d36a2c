"""Why a program is refused as long as the numbers among its arguments are known only at run time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ssa_compiler import UnsupportedOpError, UnsupportedProgramError
from ssa_compiler.importer import import_program

__all__ = ["refusal"]


def refusal(program: Callable[..., Any], args: tuple[Any, ...]) -> str:
    """Return the message, "" if it is not refused.

    Where constants for the numbers help, the program is imported with them, and the message is their reason.
    """
    try:
        imported = import_program(program, args)
    except (UnsupportedOpError, UnsupportedProgramError) as refused:
        return str(refused)
    return next((spec.reason for spec in imported.constant_specs() if spec.reason), "")
