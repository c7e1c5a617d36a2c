"""One import at a time, which reads the source of each function and class once."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ...process.forks import new_lock
from .patching import replaced

__all__ = ["importing"]

_lock = new_lock()
_depth = 0


@contextmanager
def importing() -> Iterator[None]:
    """Let no other thread import, and let `inspect` find the source of each function and class once.

    Names of PyTorch's have another meaning meanwhile (`replaced`), which two threads would leave so. For the source of
    a class `inspect` parses the whole file, for that of a function it reads tokens until the function ends, and
    TorchScript and partial evaluation ask in each of their attempts.
    """
    global _depth
    with _lock:
        _depth += 1
        try:
            if _depth > 1:
                yield
                return
            with replaced(inspect, "getsourcelines", _remembering(inspect.getsourcelines)):
                yield
        finally:
            _depth -= 1


def _remembering(find: Any) -> Any:
    found: dict[int, tuple[Any, tuple[list[str], int]]] = {}

    def remembered(thing: Any) -> tuple[list[str], int]:
        if id(thing) not in found:
            found[id(thing)] = thing, find(thing)  # which keeps the id its own
        lines, number = found[id(thing)][1]
        return list(lines), number

    return remembered
