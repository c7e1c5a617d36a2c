"""Tools to test the compiler with: an interpreter for the IR of every stage, and a check of all against eager."""

from .auto_sizes import AutoChecked, check_auto_sizes
from .harness import Call, Checked, StageMismatch, check, compare_values
from .interpreter import Interpreter, InterpreterError, interpret

__all__ = [
    "AutoChecked",
    "Call",
    "Checked",
    "Interpreter",
    "InterpreterError",
    "StageMismatch",
    "check",
    "check_auto_sizes",
    "compare_values",
    "interpret",
]
