"""A process that serves requests: one that dies or takes too long is a result, not an end."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import resource
import signal
import time
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from typing import Any

__all__ = ["Died", "TookTooLong", "WorkerProcess"]

_START_S = 120.0
"""Seconds that a process may take to import torch."""


class Died(Exception):
    """The process ended while it was asked; the text says how: "SIGSEGV", "exit status 1"."""


class TookTooLong(Exception):
    """There was no answer in time."""


class WorkerProcess:
    """One process, in a group of its own: tools that it starts die with it.

    Args:
        serve: the body of the process: a generator function, which yields the answers to a request.
        memory: limit of its data in bytes; 0 for none.
    Attributes:
        pipe: what becomes readable with each answer.
        deadline: the time of `time.monotonic` at which the next answer is late.
    """

    def __init__(self, serve: Callable[[Any], Iterator[Any]], memory: int = 0) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, other = context.Pipe()
        self._process = context.Process(target=_work, args=(other, serve, memory), daemon=True)
        self._process.start()
        other.close()
        self.deadline = time.monotonic() + _START_S
        self.ready = False

    def ask(self, request: Any, timeout_s: float) -> None:
        """Send a request to a process that is ready; the first answer may take so many seconds."""
        self.deadline = time.monotonic() + timeout_s
        self.pipe.send(request)

    def answer(self) -> Any:
        """Return the next answer, which is waited for until the deadline.

        Raises:
            Died: the process ended.
            TookTooLong: there was none.
        """
        try:
            if not self.pipe.poll(max(0.0, self.deadline - time.monotonic())):
                raise TookTooLong
            return self.pipe.recv()
        except (EOFError, OSError):
            self._process.join(5)
            status = self._process.exitcode
            how = signal.Signals(-status).name if status is not None and status < 0 else f"exit status {status}"
            raise Died(how) from None

    def wait_until_ready(self) -> None:
        """Wait for a process that was just started.

        Raises:
            RuntimeError: it does not start.
        """
        if self.ready:
            return
        try:
            self.answer()
        except (Died, TookTooLong) as error:
            raise RuntimeError(f"a worker did not start: {error or 'no answer in time'}") from None
        self.ready = True

    def stop(self) -> None:
        """End the process and what it started."""
        self._process.join(0)
        if self._process.pid is not None and self._process.exitcode is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.kill()
        self._process.join()
        self.pipe.close()


def _work(pipe: Connection, serve: Callable[[Any], Iterator[Any]], memory: int) -> None:
    """The body of the process."""
    import torch

    os.setpgid(0, 0)
    torch.set_num_threads(1)
    if memory:
        resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    silent = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):  # programs print, TorchScript and ATen warn
        os.dup2(silent, stream)
    pipe.send(None)
    with contextlib.suppress(EOFError, KeyboardInterrupt):
        while True:
            for answer in serve(pipe.recv()):
                pipe.send(answer)
