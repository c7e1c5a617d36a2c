"""The default device of whoever compiles a program (`torch.set_default_device`, `with torch.device(...)`).

The import computes with small tensors of its own, on purpose with indices that are out of range, too. On a GPU that
ends the use of it for the whole process, so they are made on the CPU, whatever the default device is.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar

import torch

__all__ = ["callers_default_device", "own_tensors_on_cpu"]

_CALLERS: ContextVar[torch.device | None] = ContextVar("_CALLERS", default=None)


@contextlib.contextmanager
def own_tensors_on_cpu() -> Iterator[None]:
    """Make tensors on the CPU for which no device is named; `callers_default_device` says where the caller does."""
    default = torch.get_default_device()
    if default.type == "cpu":
        yield
        return
    token = _CALLERS.set(default)
    try:
        with torch.device("cpu"):
            yield
    finally:
        _CALLERS.reset(token)


def callers_default_device() -> torch.device:
    """Return the default device, that of the caller inside of `own_tensors_on_cpu`."""
    return _CALLERS.get() or torch.get_default_device()
