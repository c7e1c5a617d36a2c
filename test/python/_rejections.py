"""Why a program is rejected as long as the numbers among its arguments are dynamic."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ssa_compiler import UnsupportedOpError, UnsupportedProgramError
from ssa_compiler.importer import import_program

__all__ = ["rejection"]


def rejection(program: Callable[..., Any], args: tuple[Any, ...]) -> str:
    """Return the message, "" if it is not rejected.

    Where constants for the numbers help, the program is imported with them, and the message is their reason.
    """
    try:
        imported = import_program(program, args)
    except (UnsupportedOpError, UnsupportedProgramError) as rejected:
        return str(rejected)
    return next((spec.reason for spec in imported.constant_specs() if spec.reason), "")
