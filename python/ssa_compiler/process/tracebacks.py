"""Tracebacks as users see them: their own frames, without those of this package.

`SSA_COMPILER_TRACEBACKS=full` shows all frames, for whoever works on the compiler.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import TracebackType
from typing import TypeVar

from ..errors import InternalError, SsaCompilerError

__all__ = ["VARIABLE", "for_user"]

VARIABLE = "SSA_COMPILER_TRACEBACKS"

_PACKAGE = str(Path(__file__).parents[1]) + os.sep
_CALLER = str(Path(_PACKAGE) / "semantics" / "ignored_functions.py")
"""The file whose `__call__` runs what the user left to Python."""

_Error = TypeVar("_Error", bound=BaseException)


def for_user(error: _Error) -> _Error:
    """Leave out of an exception's traceback what is inside this package.

    Args:
        error: is on its way to the user; changed. An exception of the user's own functions keeps their frames; a defect
            keeps all: an `InternalError`, or what is not of `SsaCompilerError` and not from the user's functions.
    Returns:
        The same exception. The frame that raises it next comes first in its traceback.
    """
    if os.environ.get(VARIABLE) == "full" or isinstance(error, InternalError):
        return error
    users = _called_by_program(error.__traceback__)
    if not isinstance(error, SsaCompilerError):
        return error if users is None else error.with_traceback(users)
    context = error.__context__
    if context is not None and _begins_here(context.__traceback__):  # it was handled here, the user never sees it
        error.__suppress_context__ = True
    cause = error.__cause__
    while cause is not None:
        cause.__traceback__ = _last_part(cause.__traceback__)
        cause = cause.__cause__
    return error.with_traceback(users)


def _begins_here(entry: TracebackType | None) -> bool:
    """Whether the exception with this traceback was caught inside of this package."""
    return entry is not None and entry.tb_frame.f_code.co_filename.startswith(_PACKAGE)


def _called_by_program(entry: TracebackType | None) -> TracebackType | None:
    """The part of a traceback that begins with a function that the program left to Python; None without one."""
    called = False
    while entry is not None:
        code = entry.tb_frame.f_code
        if called and not code.co_filename.startswith(_PACKAGE):
            return entry
        called = called or (code.co_name == "__call__" and code.co_filename == _CALLER)
        entry = entry.tb_next
    return None


def _last_part(entry: TracebackType | None) -> TracebackType | None:
    """The part of a traceback behind the last frame of this package, without PyTorch's frames at its beginning."""
    torch = sys.modules.get("torch")
    folders = (_PACKAGE, *(path + os.sep for path in (torch.__path__ if torch is not None else ())))
    part = entry
    while entry is not None:
        if entry.tb_frame.f_code.co_filename.startswith(folders if entry is part else _PACKAGE):
            part = entry.tb_next
        entry = entry.tb_next
    return part
