"""Ctrl-C during a call of a kernel.

Python's own handler runs when the main thread is back in Python; a kernel may be long in coming back. The handler
underneath writes a byte to a file descriptor at once (`signal.set_wakeup_fd`), which a thread waits for: it tells the
kernel to stop.
"""

from __future__ import annotations

import _signal  # the functions of `signal` make enumerations of numbers
import os
import threading
from typing import Any

from ..abi.kernel_interface import INTERRUPT

__all__ = ["unwatch", "watch"]

_SIGINT = int(_signal.SIGINT)


class _Watch:
    """The thread, and the status buffer of the kernel that runs in the main thread."""

    def __init__(self) -> None:
        self.words: Any = None
        self.before = -1
        self._reader, self.writer = os.pipe()
        os.set_blocking(self.writer, False)
        threading.Thread(target=self._wait, name="ssa-compiler-interrupts", daemon=True).start()

    def _wait(self) -> None:
        while signals := os.read(self._reader, 64):
            words = self.words
            if words is not None and _SIGINT in signals:
                words[INTERRUPT] = 1
            if self.before != -1:  # of an event loop, which wants to know, too
                os.write(self.before, signals)


_watch: _Watch | None = None
_main_thread = threading.main_thread().ident


def watch(words: Any) -> bool:
    """Let Ctrl-C stop a kernel, if this is the main thread and Ctrl-C raises KeyboardInterrupt.

    Args:
        words: its status buffer.
    Returns:
        Whether it does, until `unwatch`.
    """
    global _watch
    if threading.get_ident() != _main_thread or _signal.getsignal(_SIGINT) is not _signal.default_int_handler:
        return False
    if _watch is None:
        _watch = _Watch()
    _watch.words = words
    before = _signal.set_wakeup_fd(_watch.writer)
    # Its own if an interrupt came before a call could undo it: signals would go round for ever.
    _watch.before = before if before != _watch.writer else -1
    return True


def unwatch() -> None:
    """Let Ctrl-C be what it was before `watch`."""
    assert _watch is not None
    _watch.words = None
    _signal.set_wakeup_fd(_watch.before)


def _forget() -> None:
    """A forked process has neither the thread nor a pipe of its own."""
    global _watch, _main_thread
    _watch, _main_thread = None, threading.get_ident()


os.register_at_fork(after_in_child=_forget)
