"""dtypes and layouts, which are numbers to TorchScript and none to Python."""

from __future__ import annotations

from typing import Any

__all__ = ["Numbered", "unnumbered"]


class Numbered(int):
    """The number of a dtype or a layout; its text is that of what it stands for.

    Attributes:
        meaning: what it stands for.
    """

    meaning: Any

    def __new__(cls, number: int, meaning: Any) -> Numbered:
        made = super().__new__(cls, number)
        made.meaning = meaning
        return made

    def __repr__(self) -> str:
        return repr(self.meaning)

    def __reduce__(self) -> tuple[Any, ...]:
        return Numbered, (int(self), self.meaning)


def unnumbered(value: Any) -> Any:
    """Return a constant as Python has it."""
    return value.meaning if isinstance(value, Numbered) else value
