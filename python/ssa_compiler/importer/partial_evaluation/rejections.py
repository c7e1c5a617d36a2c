"""Why a program, or a way to evaluate it, is given up."""

from __future__ import annotations

__all__ = ["NeedsKnownError", "NotCompiledError", "OrderError"]


class NeedsKnownError(Exception):
    """A value has to be known before the program runs: which part of a module is meant, which attribute."""


class NotCompiledError(Exception):
    """Something that partial evaluation does not do; the message says what."""


class OrderError(NotCompiledError):
    """A statement has to be decomposed before it is evaluated."""
