"""Names in modules of PyTorch that have another meaning for a while."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["replaced"]


@contextmanager
def replaced(module: Any, name: str, value: Any) -> Iterator[None]:
    """Give a name in a module of PyTorch another meaning."""
    before = getattr(module, name)
    try:
        setattr(module, name, value)
        yield
    finally:
        setattr(module, name, before)
