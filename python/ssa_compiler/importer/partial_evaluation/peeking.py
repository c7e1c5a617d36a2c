"""Evaluating an expression to see what it is, of which nothing stays."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from .interfaces import ExpressionEvaluator
from .rejections import NeedsKnownError, NotCompiledError

__all__ = ["peeked"]

_T = TypeVar("_T")


def peeked(expressions: ExpressionEvaluator, evaluate: Callable[[], _T]) -> _T | None:
    """Return what something is that is evaluated somewhere else; None if it is rejected.

    Args:
        expressions: what evaluates it; its scope stays as it is.
        evaluate: evaluates a copy of it.
    """
    scope = expressions.scope
    saved, hoisted, whole = scope.save(), len(scope.before), scope.whole
    scope.whole = None
    try:
        return evaluate()
    except (NeedsKnownError, NotCompiledError):
        return None
    finally:
        scope.restore(saved)
        del scope.before[hoisted:]
        scope.whole = whole
