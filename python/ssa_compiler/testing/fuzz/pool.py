"""Worker processes: each runs program after program; one that dies or takes too long is a result, not an end."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import wait

from ..worker_process import Died, TookTooLong, WorkerProcess
from .program import Program
from .record import AUTO, Record, generator_version

__all__ = ["Runner", "Task", "run_tasks"]

_RECYCLE = 400  # programs that one process runs: TorchScript keeps every function it has compiled


@dataclass(frozen=True)
class Task:
    """One program to run on one system.

    Attributes:
        system: see `record.SYSTEMS`.
        seed: which program the generator is to write.
        text: the program itself instead.
    """

    system: str
    seed: int | None = None
    text: str | None = None

    def program(self) -> Program:
        """The program."""
        if self.text is not None:
            return Program(self.text, self.seed)
        from .generate import generate
        from .sizes import auto_program

        assert self.seed is not None
        return auto_program(self.seed) if self.system in AUTO else generate(self.seed)


def _serve(request: tuple[Task, float]) -> Iterator[Record]:
    """The body of a worker: run one program."""
    from .run import run_program

    task, timeout_s = request
    yield run_program(task.program(), task.system, timeout_s=timeout_s)


class _Worker(WorkerProcess):
    """One process and what it is doing."""

    def __init__(self, memory_gib: float) -> None:
        super().__init__(_serve, int(memory_gib * 2**30))
        self.task: Task | None = None
        self.done = 0

    def start(self, task: Task, timeout_s: float) -> None:
        self.task = task
        self.ask((task, timeout_s), timeout_s)


def run_tasks(
    tasks: Iterable[Task], *, jobs: int = 1, timeout_s: float = 60.0, memory_gib: float = 8.0
) -> Iterator[tuple[Task, Record]]:
    """Run tasks in worker processes.

    Args:
        tasks: what to run.
        jobs: number of processes.
        timeout_s: wall-clock limit of each task in seconds.
        memory_gib: memory limit of each process in GiB; 0 for none.
    Yields:
        Each task with its record, as they are done.
    """
    waiting = iter(tasks)
    workers: list[_Worker] = []
    following = next(waiting, None)
    try:
        while following is not None or any(worker.task for worker in workers):
            while following is not None and len(workers) < jobs:
                workers.append(_Worker(memory_gib))
            for worker in list(workers):
                if worker.ready and worker.task is None and following is not None:
                    worker.start(following, timeout_s)
                    following = next(waiting, None)
            busy = [worker for worker in workers if worker.task is not None or not worker.ready]
            soonest = min(worker.deadline for worker in busy)
            answered = wait([worker.pipe for worker in busy], max(0.0, soonest - time.monotonic()))
            for worker in busy:
                finished = _look(worker, worker.pipe in answered, timeout_s)
                if finished is None:
                    continue
                task, record, lost = finished
                if lost or worker.done >= _RECYCLE:
                    workers.remove(worker)
                    worker.stop()
                if task is not None and record is not None:
                    yield task, record
    finally:
        for worker in workers:
            worker.stop()


def _look(worker: _Worker, answered: bool, timeout_s: float) -> tuple[Task | None, Record | None, bool] | None:
    """What became of a worker: its task, the record, and whether the process is lost; None if it is still busy."""
    task = worker.task
    if not answered and time.monotonic() < worker.deadline:
        return None
    if task is None:
        worker.wait_until_ready()
        return None
    try:
        record = worker.answer()
    except Died as error:
        return task, _lost(task, f"the process died: {error}"), True
    except TookTooLong:
        return task, _lost(task, f"no answer within {timeout_s:g} seconds"), True
    worker.task = None
    worker.done += 1
    return task, record, False


def _lost(task: Task, message: str) -> Record:
    features: list[str] = []
    if task.text is None and task.seed is not None:
        features = sorted(task.program().features)
    return Record(
        task.system, task.seed, "error", reason=message, message=message, features=features, version=generator_version()
    )


class Runner:
    """Runs one task after another in a process of its own, a new one after each that is lost."""

    def __init__(self, *, timeout_s: float = 60.0, memory_gib: float = 8.0) -> None:
        self._timeout_s, self._memory_gib = timeout_s, memory_gib
        self._worker: _Worker | None = None

    def run(self, task: Task) -> Record:
        """Run a task.

        Args:
            task: what to run.
        Returns:
            Its record, also if the process died or took too long.
        """
        worker = self._worker = self._worker or _Worker(self._memory_gib)
        while True:
            if worker.ready and worker.task is None:
                worker.start(task, self._timeout_s)
            answered = wait([worker.pipe], max(0.0, worker.deadline - time.monotonic()))
            finished = _look(worker, bool(answered), self._timeout_s)
            if finished is None:
                continue
            _, record, lost = finished
            if lost or worker.done >= _RECYCLE:
                self.close()
            assert record is not None
            return record

    def close(self) -> None:
        """End the process."""
        if self._worker is not None:
            self._worker.stop()
            self._worker = None
