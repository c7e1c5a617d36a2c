"""Why a program, or a way to evaluate it, is given up."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ...errors import SourceLocation

__all__ = ["NeedsKnownError", "NotCompiledError", "OrderError", "RejectionError", "StatementsError"]


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


class StatementsError(OrderError):
    """An expression has to be written as statements that leave its value, of one of several types, in a variable.

    Args:
        statements: the statements, which read what the operands of the expression are.
        name: the variable.
        token: that of the expression, see `order.mark`.
    """

    def __init__(self, statements: Sequence[ast.stmt], name: str, token: int) -> None:
        super().__init__("a value of one of several types")
        self.statements = statements
        self.name = name
        self.token = token
