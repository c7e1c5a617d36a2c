"""One call of a program under test."""

from __future__ import annotations

from typing import Any

__all__ = ["Call"]


class Call:
    """One input set with keyword arguments; without them a plain tuple will do."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.args = args
        self.kwargs = kwargs
