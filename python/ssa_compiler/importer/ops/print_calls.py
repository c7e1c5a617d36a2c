"""`print` as a function that TorchScript ignores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..values.runtime_strings import Template
from ..values.values import RuntimeStr, Value

__all__ = ["PrintCall"]


class PrintCall:
    """The node of a call of `print`, which is an op to TorchScript, as that of a Python function.

    Attributes:
        reason: why it stays Python.
    """

    reason = "compiled code cannot print"

    def __init__(self, printed: Sequence[Value]) -> None:
        """Create it.

        Args:
            printed: the operands; strings may have run-time values in them.
        """
        texts = [
            Template(value.pieces) if isinstance(value, RuntimeStr) and value.pieces else None for value in printed
        ]
        self._texts = texts
        self.values = [v for value, text in zip(printed, texts) for v in (text.values if text else [value])]

    def pyobj(self) -> Any:
        """Return what is called with the values."""

        def print_all(*values: Any) -> None:
            rest = iter(values)
            print(*(text.fill(rest) if text else next(rest) for text in self._texts))

        return print_all

    def pyname(self) -> str:
        """Return what the user calls it."""
        return "print"

    def outputsSize(self) -> int:
        """Return the number of results."""
        return 0
