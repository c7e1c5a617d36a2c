"""Why a program, or a way to evaluate it, is given up."""

from __future__ import annotations

from ...errors import SourceLocation

__all__ = ["NeedsKnownError", "NotCompiledError", "OrderError", "RejectionError"]


class RejectionError(Exception):
    """Base of these.

    Attributes:
        location: the user's line that it is about; None where it is about the whole program.
    """

    location: SourceLocation | None = None


class NeedsKnownError(RejectionError):
    """A value has to be known before the program runs: which part of a module is meant, which attribute."""


class NotCompiledError(RejectionError):
    """Something that partial evaluation does not do; the message says what."""


class OrderError(NotCompiledError):
    """A statement has to be decomposed before it is evaluated."""
