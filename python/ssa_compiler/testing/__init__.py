"""Tools to test the compiler with: an interpreter for the IR of every stage."""

from .interpreter import Interpreter, InterpreterError, interpret

__all__ = ["Interpreter", "InterpreterError", "interpret"]
