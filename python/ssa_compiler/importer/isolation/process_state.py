"""What an import must not touch of the process around it: warnings and random numbers.

Ops and functions run on FakeTensors, and some on examples, so that PyTorch warns of them where the program has not run
yet.
"""

from __future__ import annotations

import random
import sys
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import torch

from ...process.forks import new_lock

__all__ = ["own_numbers", "quiet"]

_lock = new_lock()
_depth = 0
_saved = ExitStack()


@contextmanager
def quiet() -> Iterator[None]:
    """Let no warnings through.

    Filters belong to the process: of threads that import at once, the first changes them and the last changes them
    back. PyTorch's warnings that are given once stay to be given.
    """
    global _depth
    with _lock:
        if not _depth:
            _saved.enter_context(warnings.catch_warnings())
            warnings.simplefilter("ignore")
            _saved.callback(torch.set_warn_always, torch.is_warn_always_enabled())
            torch.set_warn_always(True)
        _depth += 1
    try:
        yield
    finally:
        with _lock:
            _depth -= 1
            if not _depth:
                _saved.close()


@contextmanager
def own_numbers() -> Iterator[None]:
    """Leave the random numbers of PyTorch, Python and NumPy to the caller, whatever the user's code draws meanwhile."""
    numpy = sys.modules.get("numpy.random")
    python, others = random.getstate(), numpy.get_state() if numpy is not None else None
    try:
        with torch.random.fork_rng(devices=[]):
            yield
    finally:
        random.setstate(python)
        if numpy is not None:
            numpy.set_state(others)
