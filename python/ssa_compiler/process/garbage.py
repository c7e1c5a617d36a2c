"""No garbage collections while a program is compiled.

A compilation makes many objects that stay, beside the millions that PyTorch, SymPy and the MLIR bindings consist of:
the collector would look through all of them again and again, for a fifth of the time. What became unreachable is
collected afterwards. The first compilation of a process imports hundreds of modules, too: what it made counts as old
at once, since looking through it takes a tenth of a second.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager

from .forks import new_lock

__all__ = ["collections_paused"]

_lock = new_lock()
_depth = 0
_enabled = False
_has_compiled = False


@contextmanager
def collections_paused() -> Iterator[None]:
    """Pause automatic garbage collections; of threads that compile at once, until the last one is done."""
    global _depth, _enabled
    with _lock:
        if not _depth:
            _enabled = gc.isenabled()
            gc.disable()
        _depth += 1
    try:
        yield
    finally:
        with _lock:
            _depth = max(_depth - 1, 0)  # 0 already in a process that was forked meanwhile
            if not _depth and _enabled:
                _resume_after_imports()
                gc.enable()


def _resume_after_imports() -> None:
    """Count all objects as old after the first compilation, unless somebody has frozen objects, as we would thaw them.

    Later ones make few objects that stay: theirs are young, as the collector comes by only where young ones do.
    """
    global _has_compiled
    if not _has_compiled and not gc.get_freeze_count():
        gc.freeze()
        gc.unfreeze()
    _has_compiled = True


def _resume() -> None:
    """In a forked process none of the threads is there that compiled, but for the one that forked, perhaps."""
    global _depth
    if _depth and _enabled:
        gc.enable()
    _depth = 0


os.register_at_fork(after_in_child=_resume)
