"""ssa-compiler: compile imperative TorchScript programs through TensorSSA and IREE.

`compile` is the entry point; the errors it raises derive from `SsaCompilerError`. Nothing heavy is imported before it
is needed.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from .errors import (
    ArgumentError,
    ArgumentTypeError,
    ArgumentValueError,
    InternalError,
    ProgramAssertionError,
    ProgramError,
    ProgramIndexError,
    ProgramKeyError,
    ProgramOverflowError,
    ProgramTypeError,
    ProgramValueError,
    ProgramZeroDivisionError,
    ScriptError,
    SourceLocation,
    SsaCompilerError,
    TargetError,
    ToolError,
    UnsupportedOpError,
    UnsupportedProgramError,
)

if TYPE_CHECKING:
    from .api import CallbackUse, CompiledProgram, Explanation, Specialisation, compile, script

__all__ = [
    "ArgumentError",
    "ArgumentTypeError",
    "ArgumentValueError",
    "CallbackUse",
    "CompiledProgram",
    "Explanation",
    "InternalError",
    "ProgramAssertionError",
    "ProgramError",
    "ProgramIndexError",
    "ProgramKeyError",
    "ProgramOverflowError",
    "ProgramTypeError",
    "ProgramValueError",
    "ProgramZeroDivisionError",
    "ScriptError",
    "SourceLocation",
    "Specialisation",
    "SsaCompilerError",
    "TargetError",
    "ToolError",
    "UnsupportedOpError",
    "UnsupportedProgramError",
    "compile",
    "script",
]

__version__ = "0.1.0"

_LAZY = ("CallbackUse", "CompiledProgram", "Explanation", "Specialisation", "compile", "script")

if "torch" in sys.modules:  # so that torch.jit.load knows them, too
    from .ops import define_missing

    define_missing()


if os.environ.get("SSA_COMPILER_LOGS"):
    from .process.logs import set_up_logs

    set_up_logs(os.environ["SSA_COMPILER_LOGS"])


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        from .process.interrupts import InterruptGuard

        with InterruptGuard():
            from . import api

        return getattr(api, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
