"""Ctrl-C while a program is compiled: it may come at any moment, but for those that would break the next compilation.

A module whose import is interrupted stays half loaded: PyTorch, SymPy and the MLIR bindings load parts of themselves
when they are first needed, and cannot do it again. A context that is left halfway stays as it is, and so does what is
registered once. An interrupt that comes at such a moment is raised when it is over.
"""

from __future__ import annotations

import _thread
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["InterruptGuard", "uninterrupted"]

_Function = TypeVar("_Function", bound=Callable[..., Any])

_CONTEXTS = frozenset({"__enter__", "__exit__"})
_IMPORT = "<frozen importlib._bootstrap"
_whole: set[Any] = set()
_AGAIN_S = 0.02


def uninterrupted(function: _Function) -> _Function:
    """Let a function run to its end, where an `InterruptGuard` is around it; of a generator, each of its steps."""
    _whole.add(function.__code__)
    return function


class InterruptGuard:
    """Defers interrupts of the main thread that come while a module is loaded, or a context entered or left, in its
    body.
    """

    _active = False

    def __init__(self) -> None:
        self._previous: Any = None
        self._base: Any = None
        self._pending = False
        self._asking = False  # a thread interrupts the main thread again and again
        self._asked = False  # the next interrupt is that thread's, not the user's
        self._leaving = False
        self._unraisable: Any = None

    def __enter__(self) -> None:
        if InterruptGuard._active or threading.current_thread() is not threading.main_thread():
            return  # only the main thread is interrupted
        previous = signal.getsignal(signal.SIGINT)
        if callable(previous):
            InterruptGuard._active = True
            self._base = sys._getframe(1)
            self._previous = previous
            self._unraisable, sys.unraisablehook = sys.unraisablehook, self._not_raised
            signal.signal(signal.SIGINT, self._handle)

    def __exit__(self, *_: object) -> None:
        if self._previous is None:
            return
        self._leaving = True
        pending, self._pending = self._pending, False
        while self._asking:  # its last interrupt must not meet the previous handler
            time.sleep(_AGAIN_S / 10)
        previous, self._previous, self._base = self._previous, None, None
        signal.signal(signal.SIGINT, previous)
        sys.unraisablehook = self._unraisable
        InterruptGuard._active = False
        if pending or self._pending:
            self._pending = False
            previous(signal.SIGINT, sys._getframe())

    def _handle(self, number: int, frame: Any) -> None:
        asked, self._asked = self._asked, False
        if asked and not self._pending:
            return  # it has been raised
        if self._leaving:
            self._pending = True
            return
        at = frame
        while at is not None and at is not self._base:
            code = at.f_code
            if code.co_name in _CONTEXTS or code.co_filename.startswith(_IMPORT) or code in _whole:
                self._defer()
                return
            at = at.f_back
        self._pending = False
        self._previous(number, frame)

    def _not_raised(self, unraisable: Any) -> None:
        """An interrupt came in a finaliser or a callback of a weak reference, which raise nothing: raise it later."""
        if issubclass(unraisable.exc_type, KeyboardInterrupt):
            self._defer()
        else:
            self._unraisable(unraisable)

    def _defer(self) -> None:
        self._pending = True
        if not self._asking:
            self._asking = True
            _thread.start_new_thread(self._ask_again, ())  # takes no lock that the interrupted code might hold

    def _ask_again(self) -> None:
        """Interrupt the main thread again and again until the interrupt has been raised."""
        main = threading.main_thread().ident
        while main is not None:
            time.sleep(_AGAIN_S)
            if not self._pending:
                break
            if not self._asked:
                self._asked = True
                signal.pthread_kill(main, signal.SIGINT)
        self._asking = False
