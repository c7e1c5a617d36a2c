"""Ctrl-C while a program is compiled leaves nothing behind that breaks the next compilation."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ssa_compiler.process.interrupts import InterruptGuard, uninterrupted

_CHILD = Path(__file__).parents[1] / "_interrupted_child.py"


@pytest.mark.slow
def test_compiling_after_interrupts_at_many_moments() -> None:
    """In a process of its own, which starts with none of the modules loaded that compiling needs."""
    done = subprocess.run([sys.executable, str(_CHILD)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    interrupted, finished = map(int, done.stdout.split())
    assert interrupted >= 5
    assert interrupted + finished == 13


def _interrupt() -> None:
    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)


@uninterrupted
def _critical(done: list[str]) -> None:
    _interrupt()
    time.sleep(0.05)
    done.append("critical")


class _Context:
    def __init__(self, done: list[str]) -> None:
        self._done = done

    def __enter__(self) -> None:
        _interrupt()
        self._done.append("entered")

    def __exit__(self, *_: object) -> None:
        self._done.append("left")


def _run(*steps: Callable[[], object]) -> None:
    with InterruptGuard():
        for step in steps:
            step()


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Let interrupts raise KeyboardInterrupt: a process that runs tests for another one ignores them."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_interrupts_wait_for_the_end_of_what_must_not_be_broken() -> None:
    before = signal.getsignal(signal.SIGINT)
    done: list[str] = []
    context = _Context(done)

    def late() -> None:
        time.sleep(5)  # the interrupt comes as soon as it may
        done.append("too late")

    def inside() -> None:
        with context:
            late()

    for steps, expected in (
        ((lambda: _critical(done), late), ["critical"]),
        ((inside,), ["entered", "left"]),
        ((_interrupt, late), []),
    ):
        done.clear()
        with pytest.raises(KeyboardInterrupt):
            _run(*steps)
        assert done == expected
    assert signal.getsignal(signal.SIGINT) is before


class _Interrupted:
    def __del__(self) -> None:
        _interrupt()
        time.sleep(0.05)


@pytest.mark.usefixtures("interruptible")
def test_interrupts_in_finalisers_are_raised_later() -> None:
    """Python itself would print that it ignores them."""
    done: list[str] = []
    hook = sys.unraisablehook

    def drop() -> None:
        _Interrupted()
        time.sleep(1)
        done.append("too late")

    with pytest.raises(KeyboardInterrupt):
        _run(drop)
    assert not done
    assert sys.unraisablehook is hook


@pytest.mark.usefixtures("interruptible")
def test_no_interrupt_comes_after_the_one_that_was_raised() -> None:
    """What makes a deferred interrupt come again ends with the guard."""
    for _ in range(20):
        with pytest.raises(KeyboardInterrupt):
            _run(lambda: _critical([]))
        time.sleep(0.03)


def test_other_handlers_and_threads_are_left_alone() -> None:
    seen: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: seen.append(number))
    try:
        with InterruptGuard():
            _critical([])
        assert seen == [signal.SIGINT]
        installed: list[object] = []

        def other() -> None:
            with InterruptGuard():
                installed.append(signal.getsignal(signal.SIGINT))

        mine = signal.getsignal(signal.SIGINT)
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        assert installed == [mine]
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        with InterruptGuard():
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
