"""Compiled programs in processes that were forked or spawned: workers of a DataLoader, and what other threads held."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

import ssa_compiler
from ssa_compiler.process.forks import new_lock

pytestmark = pytest.mark.filterwarnings("ignore:.*use of fork")


def add_to_rows(x: Tensor, n: int) -> Tensor:
    y = x.clone()
    for i in range(n):
        y[i] = torch.sort(y[i] + i)[0]
    return y


class Rows(Dataset[Tensor]):
    """Each item has a shape of its own, which no process has met before."""

    def __init__(self, program: Callable[[Tensor, int], Tensor]) -> None:
        self.program = program

    def __len__(self) -> int:
        return 4

    def __getitem__(self, index: int) -> Tensor:
        return self.program(torch.ones(index + 2, 3), index)


@pytest.fixture(scope="module")
def compiled() -> ssa_compiler.CompiledProgram:
    program = ssa_compiler.compile(add_to_rows, (torch.zeros(3, 2), 2), cache=False)
    program(torch.zeros(3, 2), 1)
    return program


@pytest.mark.slow
@pytest.mark.parametrize(("way", "workers"), [("fork", 2), ("spawn", 1)])
def test_workers_of_a_data_loader_compile(way: str, workers: int, compiled: ssa_compiler.CompiledProgram) -> None:
    loader = DataLoader(Rows(compiled), batch_size=None, num_workers=workers, timeout=120, multiprocessing_context=way)
    items = Rows(add_to_rows)
    for number, actual in enumerate(loader):
        assert torch.equal(actual, items[number])
    assert number == len(items) - 1
    assert len(compiled.specialisations) == 1  # this process has not compiled


def _exit_status(child: Callable[[], None]) -> int:
    """Run something in a fork of this process; it is stopped after a minute."""
    process = os.fork()
    if process == 0:
        try:
            signal.alarm(60)
            child()
            os._exit(0)
        except BaseException:  # noqa: BLE001 - the parent is told by the status
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def test_a_fork_calls_and_compiles_while_a_thread_of_its_parent_compiles(
    compiled: ssa_compiler.CompiledProgram,
) -> None:
    def child() -> None:
        for x in (torch.ones(3, 2), torch.ones(2, 5)):
            assert torch.equal(compiled(x, 2), add_to_rows(x, 2))

    with _held(compiled._lock), _held(compiled.specialisations[0]._lock):
        assert _exit_status(child) == 0


def test_a_lock_that_is_held_is_open_in_a_fork() -> None:
    lock = new_lock()

    def child() -> None:
        assert lock.acquire(blocking=False)

    with _held(lock):
        assert not lock.acquire(blocking=False)
        assert _exit_status(child) == 0
        assert not lock.acquire(blocking=False)


class _held:
    """Another thread holds a lock."""

    def __init__(self, lock: threading.RLock) -> None:
        self._lock = lock
        self._taken, self._done = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._hold)

    def _hold(self) -> None:
        with self._lock:
            self._taken.set()
            self._done.wait()

    def __enter__(self) -> None:
        self._thread.start()
        self._taken.wait()

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()
