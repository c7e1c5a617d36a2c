"""Tools to test the compiler with: an interpreter for the IR of every stage, and a check of all against eager."""

from .harness import Call, Checked, StageMismatch, check, compare_values
from .interpreter import Interpreter, InterpreterError, interpret

__all__ = [
    "Call",
    "Checked",
    "Interpreter",
    "InterpreterError",
    "StageMismatch",
    "check",
    "compare_values",
    "interpret",
]
