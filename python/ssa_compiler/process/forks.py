"""What a forked process must not wait for: threads that it does not have, and locks that these held.

A worker of a DataLoader that meets a new shape compiles in a process which was forked, perhaps while another thread of
its parent compiled or called. Of its parent's threads it has one.
"""

from __future__ import annotations

import os
import threading
import weakref
from typing import Any

__all__ = ["new_context", "new_lock"]

_locks: weakref.WeakSet[Any] = weakref.WeakSet()


def new_context(ir: Any, *dialects: str) -> Any:
    """Make an MLIR context that has no threads: MLIR starts some by default, and waits for them in a forked process,
    too.

    Args:
        ir: the bindings it belongs to: `torch_mlir.ir` or `iree.compiler.ir`.
        dialects: those that ops are made of before any text with one is parsed, which loads its dialect. All that there
            are would take 12 ms.
    """
    context = ir.Context(load_on_create_dialects=["builtin", *dialects])
    context.enable_multithreading(False)
    return context


def new_lock() -> Any:
    """Make a re-entrant lock that a forked process finds open, as whoever may have held it is not there."""
    lock = threading.RLock()
    _locks.add(lock)
    return lock


def _open_locks() -> None:
    for lock in _locks:
        lock._at_fork_reinit()


os.register_at_fork(after_in_child=_open_locks)
